// Time steps on the host, to compare with. Pure host code.
#pragma once

#include <vector>

#include "stencil/field_shape.hpp"

namespace syncbench::stencil {

/// So many layers of the field of all GPUs after so many steps, one after the
/// other. Layers are counted from 0: layer 0 and the last one, `layers` of each
/// GPU later and one more, are fixed as the sides of each layer are. Few
/// layers after few steps take little, however large the field.
std::vector<float> host_layers(const FieldShape& shape, int gpus, int steps,
                               int first, int count);

/// All layers but the fixed ones.
std::vector<float> host_steps(const FieldShape& shape, int gpus, int steps);

}  // namespace syncbench::stencil
