#include "stencil/host_steps.hpp"

#include <cstddef>

#include "stencil/relax.hpp"

namespace syncbench::stencil {
namespace {

// The cell `at` of a layer is at a side of it, where nothing changes.
bool is_fixed(const FieldShape& shape, long long at) {
  const long long column = at % shape.width, row = at / shape.width;
  return column == 0 || column == shape.width - 1 ||
         (shape.dimensions == 3 && (row == 0 || row == shape.rows - 1));
}

float next_value(const FieldShape& shape, const float* cell) {
  const long long layer = shape.layer();
  if (shape.dimensions == 2) {
    return relaxed(cell[0], cell[-1], cell[1], cell[-layer], cell[layer]);
  }
  return relaxed(cell[0], cell[-1], cell[1], cell[-shape.width],
                 cell[shape.width], cell[-layer], cell[layer]);
}

}  // namespace

std::vector<float> host_steps(const FieldShape& shape, int gpus, int steps) {
  const long long layer = shape.layer();
  const long long cells = gpus * shape.cells();
  std::vector<float> now(static_cast<std::size_t>(cells + 2 * layer));
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = first_value(i);
  std::vector<float> next = now;
  for (int step = 0; step < steps; ++step) {
    for (long long i = layer; i < layer + cells; ++i) {
      if (!is_fixed(shape, i % layer)) {
        next[static_cast<std::size_t>(i)] = next_value(shape, &now[i]);
      }
    }
    now.swap(next);
  }
  return {now.begin() + layer, now.end() - layer};
}

}  // namespace syncbench::stencil
