#include "stencil/field_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncbench::stencil {
namespace {

constexpr double kSmallestTile = 4096;  // cells
constexpr int kFewestLayers = 4;        // of such a tile
constexpr int kLongestMarch = 64;  // the two layers beside it are read again

// The power of two that is next to `value` by ratio.
long long near_power(double value) {
  return 1LL << std::lround(std::max(0., std::log2(value)));
}

// A shape of about so many cells a block.
FieldShape shape_of(int dimensions, int blocks, double tile) {
  FieldShape shape;
  shape.dimensions = dimensions;
  const double side = std::pow(tile * blocks, 1. / dimensions);
  const double most = tile / kFewestLayers;  // cells of a layer
  const long long layer =
      near_power(std::min(std::pow(side, dimensions - 1), most));
  shape.rows = dimensions == 2 ? 1
                               : static_cast<int>(near_power(std::sqrt(
                                     static_cast<double>(layer) / 1.5)));
  shape.width = static_cast<int>(layer / shape.rows);
  shape.layers =
      blocks * std::max(1, static_cast<int>(tile / static_cast<double>(layer)));
  return shape;
}

}  // namespace

std::string FieldShape::text() const {
  std::string text = std::to_string(width);
  if (dimensions == 3) text += 'x' + std::to_string(rows);
  return text + 'x' + std::to_string(layers);
}

std::vector<FieldShape> field_shapes(int dimensions, int blocks,
                                     long long most_bytes) {
  const int count = dimensions == 2 ? 6 : 5;
  const double largest =
      static_cast<double>(most_bytes) / sizeof(float) / 2 / blocks;
  const double ratio =
      std::pow(std::max(1., largest / kSmallestTile), 1. / (count - 1));
  std::vector<FieldShape> shapes;
  for (int i = 0; i < count; ++i) {
    FieldShape shape =
        shape_of(dimensions, blocks, kSmallestTile * std::pow(ratio, i));
    if (i % 2 == 1) shape.set = Set::kEvidence;
    if (shape.bytes() > most_bytes) break;
    if (shapes.empty() || shape.cells() > shapes.back().cells()) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

FieldShape smallest_shape(int dimensions, int blocks) {
  return shape_of(dimensions, blocks, kSmallestTile);
}

FieldShape proof_shape(int dimensions, int blocks) {
  FieldShape shape;
  shape.dimensions = dimensions;
  shape.width = dimensions == 2 ? 64 : 16;
  shape.rows = dimensions == 2 ? 1 : 8;
  shape.layers = 3 * blocks;
  return shape;
}

int steps_of(const FieldShape& shape) {
  const long long steps = (1LL << 31) / shape.bytes();
  return static_cast<int>(std::clamp<long long>(steps / 4 * 4, 4, kMostSteps));
}

long long tile_bytes(const FieldShape& shape, int blocks) {
  return shape.bytes() / blocks;
}

int march_of(const FieldShape& shape, long long threads) {
  const long long quads = shape.cells() / kQuad;
  const long long marches = (quads - 1) / (threads * kLongestMarch) + 1;
  const long long march = (quads - 1) / (threads * marches) + 1;
  return static_cast<int>(std::min<long long>(march, shape.layers));
}

int part_stride(int parts) {
  constexpr double kGoldenSection = 0.618;  // it spreads any number of steps
  int stride = std::max(1, static_cast<int>(kGoldenSection * parts));
  while (std::gcd(stride, parts) != 1) ++stride;
  return stride;
}

}  // namespace syncbench::stencil
