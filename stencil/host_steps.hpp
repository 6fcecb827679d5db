// Time steps on the host, to compare with. Pure host code.
#pragma once

#include <vector>

#include "stencil/field_shape.hpp"

namespace syncbench::stencil {

/// All layers of a field of `gpus` GPUs after so many steps, one after the
/// other; without the two layers around it, which are fixed as its sides are.
std::vector<float> host_steps(const FieldShape& shape, int gpus, int steps);

}  // namespace syncbench::stencil
