// Time steps on the host, to compare with. Pure host code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stencil/field_shape.hpp"
#include "stencil/relax.hpp"

namespace syncbench::stencil {

/// The row that begins at `at` of a layer is at a side of it, where nothing
/// changes.
inline bool is_fixed(const FieldShape& shape, long long at) {
  return shape.dimensions == 3 &&
         (at == 0 || at == shape.layer() - shape.width);
}

inline float next_value(const FieldShape& shape, const float* cell) {
  const long long layer = shape.layer();
  if (shape.dimensions == 2) {
    return relaxed(cell[0], cell[-1], cell[1], cell[-layer], cell[layer]);
  }
  return relaxed(cell[0], cell[-1], cell[1], cell[-shape.width],
                 cell[shape.width], cell[-layer], cell[layer]);
}

/// So many layers of the field of all GPUs after so many steps, one after the
/// other. Layers are counted from 0: layer 0 and the last one, `layers` of each
/// GPU later and one more, are fixed as the sides of each layer are. Few
/// layers after few steps take little, however large the field.
inline std::vector<float> host_layers(const FieldShape& shape, int gpus,
                                      int steps, int first, int count) {
  const long long layer = shape.layer();
  // Of the layers around those asked for, the outermost stay as they are; what
  // that makes wrong comes nearer by a layer a step.
  const int begin = std::max(first - steps, 0);
  const int end = std::min(first + count + steps, gpus * shape.layers + 2);
  const long long cells = (end - begin) * layer;
  std::vector<float> now(static_cast<std::size_t>(cells));
  for (long long i = 0; i < cells; ++i) {
    now[i] = first_value(begin * layer + i);
  }
  std::vector<float> next = now;
  for (int step = 0; step < steps; ++step) {
    for (long long row = layer; row < cells - layer; row += shape.width) {
      if (is_fixed(shape, row % layer)) continue;
      for (long long i = row + 1; i < row + shape.width - 1; ++i) {
        next[i] = next_value(shape, &now[i]);
      }
    }
    now.swap(next);
  }
  const auto from = now.begin() + (first - begin) * layer;
  return {from, from + count * layer};
}

/// All layers but the fixed ones.
inline std::vector<float> host_steps(const FieldShape& shape, int gpus,
                                     int steps) {
  return host_layers(shape, gpus, steps, 1, gpus * shape.layers);
}

}  // namespace syncbench::stencil
