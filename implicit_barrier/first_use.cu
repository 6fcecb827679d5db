#include "implicit_barrier/first_use.hpp"

namespace syncbench {

__global__ void first_of_module() {}
__global__ void second_of_module() {}

}  // namespace syncbench
