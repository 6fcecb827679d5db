// Kernels of a module of their own, for what is paid once.
#pragma once

#include <cuda_runtime.h>

namespace syncbench {

/// Empty, and launched by nothing but the section `first use`.
__global__ void first_of_module();
__global__ void second_of_module();

}  // namespace syncbench
