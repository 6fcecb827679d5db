// A module of its own, which is loaded when one of its kernels is first
// launched.
#include "implicit_barrier/kernels.hpp"

namespace syncbench::implicit_barrier {

__global__ void first_of_module() {}
__global__ void second_of_module() {}

}  // namespace syncbench::implicit_barrier
