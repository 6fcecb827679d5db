// Sizes of fields and how often they are stepped. Pure host code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/sets.hpp"

namespace syncbench::stencil {

/// Cells that a thread computes together: one load of 16 bytes.
inline constexpr int kQuad = 4;

/// What each GPU has of a field: whole layers, along the slowest axis. A layer
/// is a row in two dimensions. Width and rows are powers of two.
struct FieldShape {
  int dimensions = 2;
  int width = kQuad;      ///< cells of a row, at least kQuad
  int rows = 1;           ///< of a layer
  int layers = 1;         ///< of each GPU, the same number for each block
  Set set = Set::kToday;  ///< of its rows

  long long layer() const { return static_cast<long long>(width) * rows; }
  long long cells() const { return layer() * layers; }
  /// Bytes of two copies, of which a step reads one and writes the other.
  long long bytes() const { return 2 * cells() * 4; }
  /// "512x1056", the slowest axis last.
  std::string text() const;
};

/// From one small tile for each of `blocks` blocks up to `most_bytes` (bytes()
/// of each GPU), in equal ratios: 6 in two dimensions, 5 in three. Sizes that
/// would be the same are one. None where not even the smallest fits. Every
/// second one is evidence.
std::vector<FieldShape> field_shapes(int dimensions, int blocks,
                                     long long most_bytes);

/// The smallest of them.
FieldShape smallest_shape(int dimensions, int blocks);

/// A small one with a tile of three layers for each block.
FieldShape proof_shape(int dimensions, int blocks);

/// Steps after which the host compares some layers of a field: the second one
/// needs what GPUs have stored for each other in the first.
inline constexpr int kHostSteps = 2;

/// The layers of a GPU that it compares, as Slab counts them: both ends, where
/// GPUs store for each other, and one between.
inline std::array<int, 3> compared_layers(int layers) {
  return {1, (layers + 1) / 2, layers};
}

/// Time steps of the longer of the two runs that make a row: fewer of large
/// fields. A multiple of 4; the shorter run has a quarter.
int steps_of(const FieldShape& shape);
/// Of all fields.
inline constexpr int kMostSteps = 512;

/// Bytes of shared memory that hold the tile of one of `blocks` blocks twice.
long long tile_bytes(const FieldShape& shape, int blocks);

/// Layers that a thread computes one after the other where `threads` share the
/// field: so that each has as much to do, and loads few layers twice.
int march_of(const FieldShape& shape, long long threads);

/// Parts of a field, of so many, that a block skips where it takes another in
/// each step: it comes to all, and late to one that it had, or one beside it.
int part_stride(int parts);

}  // namespace syncbench::stencil
