// Sizes of fields, the steps of the host, and the code of Stencil's kernels,
// whose threads run here one after the other.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

// What a thread of a kernel has, before the kernels' code is included.
static uint3 blockIdx, threadIdx;
static dim3 gridDim, blockDim;
static void __syncthreads() {}
using std::min;

#include "stencil/host_steps.hpp"
#include "stencil/slab_step.cuh"

namespace syncbench::stencil {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

// The fields of several GPUs, as Field makes them.
class Fields {
 public:
  Fields(const FieldShape& shape, int gpus, int march)
      : shape_(shape), layer_(static_cast<std::size_t>(shape.layer())) {
    const std::size_t all = layer_ * (shape.layers + 2);
    copies_.assign(std::size_t{2} * gpus, std::vector<float>(all, kNoNumber));
    for (int rank = 0; rank < gpus; ++rank) {
      const std::size_t first = rank * layer_ * shape.layers;
      for (std::size_t i = 0; i < all; ++i) {
        copies_[std::size_t{2} * rank][i] = first_value(first + i);
      }
    }
    for (std::size_t i = 0; i < layer_; ++i) {  // what is fixed
      copies_[1][i] = copies_[0][i];
      copies_.back()[all - 1 - i] = copies_[2 * gpus - 2][all - 1 - i];
    }
    for (int rank = 0; rank < gpus; ++rank) {
      Slab slab = {};
      for (int copy = 0; copy < 2; ++copy) {
        slab.copies[copy] = data(rank, copy);
        if (rank > 0) {
          slab.halo_before[copy] = data(rank - 1, copy) + all - layer_;
        }
        if (rank + 1 < gpus) slab.halo_after[copy] = data(rank + 1, copy);
      }
      slab.width = shape.width;
      slab.layer = static_cast<int>(layer_);
      while (kQuad << slab.quad_bits < slab.layer) ++slab.quad_bits;
      slab.layers = shape.layers;
      slab.march = march;
      slabs_.push_back(slab);
    }
  }

  const std::vector<Slab>& slabs() const { return slabs_; }

  std::vector<float> after(int steps) {
    std::vector<float> cells;
    for (std::size_t rank = 0; rank < slabs_.size(); ++rank) {
      const float* begin = data(static_cast<int>(rank), steps % 2) + layer_;
      cells.insert(cells.end(), begin, begin + shape_.cells());
    }
    return cells;
  }

 private:
  float* data(int rank, int copy) { return copies_[2 * rank + copy].data(); }

  FieldShape shape_;
  std::size_t layer_;
  std::vector<std::vector<float>> copies_;  // two of each GPU
  std::vector<Slab> slabs_;
};

// Calls body(block, thread) of all, as the threads of a grid.
template <class Body>
void for_threads(int blocks, int threads, Body body) {
  gridDim = dim3(blocks);
  blockDim = dim3(threads);
  for (int block = 0; block < blocks; ++block) {
    for (int thread = 0; thread < threads; ++thread) {
      blockIdx.x = static_cast<unsigned>(block);
      threadIdx.x = static_cast<unsigned>(thread);
      body(block, thread);
    }
  }
}

template <int kDimensions>
std::vector<float> in_memory(const FieldShape& shape, int gpus, int blocks,
                             int threads, int march, int steps,
                             int stride = 0) {
  Fields fields(shape, gpus, march);
  for (int step = 0; step < steps; ++step) {
    for (const Slab& slab : fields.slabs()) {
      for_threads(blocks, threads, [&](int block, int) {
        step_in_memory<kDimensions>(slab, step,
                                    (block + step * stride) % blocks);
      });
    }
  }
  return fields.after(steps);
}

template <int kDimensions>
std::vector<float> in_tiles(const FieldShape& shape, int gpus, int blocks,
                            int threads, int steps) {
  Fields fields(shape, gpus, 1);
  const auto bytes = static_cast<std::size_t>(tile_bytes(shape, blocks));
  std::vector<std::vector<float>> shared(
      static_cast<std::size_t>(gpus) * blocks,
      std::vector<float>(bytes / sizeof(float), kNoNumber));
  std::vector<Tile<kDimensions>> tiles;  // one a thread
  const auto for_all = [&](auto body) {
    int number = 0;
    for (int rank = 0; rank < gpus; ++rank) {
      for_threads(blocks, threads, [&](int block, int) {
        body(fields.slabs()[rank], shared[rank * blocks + block], number++);
      });
    }
  };
  for_all([&](const Slab& slab, std::vector<float>& memory, int) {
    tiles.emplace_back(slab, memory.data());
    tiles.back().load(slab);
  });
  for (int step = 0; step < steps; ++step) {
    for_all([&](const Slab& slab, const std::vector<float>&, int number) {
      tiles[number].step(slab, step);
    });
  }
  for_all([&](const Slab& slab, const std::vector<float>&, int number) {
    tiles[number].store(slab, steps);
  });
  return fields.after(steps);
}

constexpr FieldShape kFlat = {2, 16, 1, 12}, kDeep = {3, 8, 4, 12};

TEST(HostSteps, AreThoseOfTheFormula) {
  const FieldShape shape = {2, 4, 1, 1};
  const std::vector<float> field = host_steps(shape, 1, 1);
  const auto value = [](int index) { return first_value(index); };
  EXPECT_EQ(field[0], value(4));  // a side
  EXPECT_EQ(field[3], value(7));
  EXPECT_FLOAT_EQ(
      field[1], value(5) / 2 + (value(4) + value(6) + value(1) + value(9)) / 8);
}

TEST(HostSteps, FusedMultiplyAddsChangeNoBit) {
  for (int i = 0; i < 1000; ++i) {
    const auto value = [i](int offset) { return first_value(5 * i + offset); };
    const float sum = (value(1) + value(2)) + (value(3) + value(4));
    EXPECT_EQ(relaxed(value(0), value(1), value(2), value(3), value(4)),
              std::fma(0.5f, value(0), 0.125f * sum));
    EXPECT_EQ(relaxed(value(0), value(1), value(2), value(3), value(4)),
              std::fma(0.125f, sum, 0.5f * value(0)));
  }
}

// A field cannot settle, or a step that is left out would not be seen.
TEST(HostSteps, MostCellsStillChangeAtTheEnd) {
  for (const int dimensions : {2, 3}) {
    const FieldShape shape = field_shapes(dimensions, 4, 1 << 19).at(0);
    const int steps = steps_of(shape);
    const auto now = host_steps(shape, 1, steps - 1);
    const auto next = host_steps(shape, 1, steps);
    int same = 0;
    for (std::size_t i = 0; i < now.size(); ++i) same += now[i] == next[i];
    EXPECT_LT(same, static_cast<int>(now.size() / 4));
  }
}

TEST(StepInMemory, IsThatOfTheHost) {
  for (const int gpus : {1, 2, 3}) {
    for (const int steps : {1, 2, 7}) {
      for (const int march : {1, 5, 12}) {
        for (const int threads : {1, 7, 64}) {
          EXPECT_EQ(in_memory<2>(kFlat, gpus, 2, threads, march, steps),
                    host_steps(kFlat, gpus, steps));
          EXPECT_EQ(in_memory<3>(kDeep, gpus, 2, threads, march, steps),
                    host_steps(kDeep, gpus, steps));
        }
      }
    }
  }
}

TEST(StepInMemory, BlocksMayTakePartsOfOthers) {
  for (const int blocks : {1, 2, 5}) {
    const int stride = part_stride(blocks);
    EXPECT_EQ(in_memory<2>(kFlat, 2, blocks, 7, 1, 7, stride),
              host_steps(kFlat, 2, 7));
    EXPECT_EQ(in_memory<3>(kDeep, 2, blocks, 7, 5, 7, stride),
              host_steps(kDeep, 2, 7));
  }
}

TEST(Tile, StepsAreThoseOfTheHost) {
  for (const int gpus : {1, 2, 3}) {
    for (const int steps : {1, 2, 7}) {
      for (const int blocks : {1, 4, 12}) {  // of one layer, too
        for (const int threads : {1, 7, 64}) {
          EXPECT_EQ(in_tiles<2>(kFlat, gpus, blocks, threads, steps),
                    host_steps(kFlat, gpus, steps));
          EXPECT_EQ(in_tiles<3>(kDeep, gpus, blocks, threads, steps),
                    host_steps(kDeep, gpus, steps));
        }
      }
    }
  }
}

// What is wrong in wide fields alone is not in the small ones above.
TEST(LargerFields, StepsAreThoseOfTheHost) {
  constexpr int kBlocks = 4, kThreads = 64;
  for (const int dimensions : {2, 3}) {
    for (const FieldShape& shape : field_shapes(dimensions, kBlocks, 1 << 21)) {
      const auto right = host_steps(shape, 2, kHostSteps);
      const int march = march_of(shape, 1LL * kBlocks * kThreads);
      const auto memory = dimensions == 2 ? in_memory<2> : in_memory<3>;
      const auto tiles = dimensions == 2 ? in_tiles<2> : in_tiles<3>;
      EXPECT_TRUE(memory(shape, 2, kBlocks, kThreads, march, kHostSteps, 0) ==
                  right)
          << shape.text();
      EXPECT_TRUE(tiles(shape, 2, kBlocks, kThreads, kHostSteps) == right)
          << shape.text();
    }
  }
}

TEST(FieldShapes, GoFromSmallTilesToTheWholeOfTheMemory) {
  for (const int dimensions : {2, 3}) {
    for (const int sms : {1, 8, 80, 132, 148}) {
      for (const long long most : {1LL << 24, 1LL << 30, 35LL << 30}) {
        const auto shapes = field_shapes(dimensions, sms, most);
        ASSERT_FALSE(shapes.empty());
        EXPECT_LE(shapes.size(), dimensions == 2 ? 6u : 5u);
        EXPECT_LE(tile_bytes(shapes[0], sms), 48 << 10);
        EXPECT_LE(shapes.back().bytes(), most);
        EXPECT_GT(shapes.back().bytes(), most / 4);
        for (const FieldShape& shape : shapes) {
          EXPECT_EQ(shape.dimensions, dimensions);
          EXPECT_EQ(shape.layers % sms, 0);
          EXPECT_GE(shape.width, 2 * kQuad);
          EXPECT_EQ(shape.width & (shape.width - 1), 0);
          EXPECT_EQ(shape.rows & (shape.rows - 1), 0);
          EXPECT_EQ(shape.rows > 1, dimensions == 3);
          EXPECT_GE(steps_of(shape), 4);
          EXPECT_EQ(steps_of(shape) % 4, 0);
        }
      }
    }
  }
}

TEST(FieldShapes, NoneBelowTheSmallest) {
  for (const int dimensions : {2, 3}) {
    const FieldShape smallest = smallest_shape(dimensions, 132);
    EXPECT_TRUE(field_shapes(dimensions, 132, smallest.bytes() - 1).empty());
    const auto shapes = field_shapes(dimensions, 132, smallest.bytes());
    ASSERT_EQ(shapes.size(), 1u);
    EXPECT_EQ(shapes[0].text(), smallest.text());
  }
}

TEST(MarchOf, SharesTheFieldEvenly) {
  FieldShape shape = {2, 1024, 1, 1000};  // 256 quads a layer
  EXPECT_EQ(march_of(shape, 256LL * 1000), 1);
  EXPECT_EQ(march_of(shape, 256LL * 1001), 1);
  EXPECT_EQ(march_of(shape, 256LL * 500), 2);
  EXPECT_EQ(march_of(shape, 256LL * 10), 50);  // twice: 100 would be too long
  shape.layers = 3;
  EXPECT_EQ(march_of(shape, 1), 3);
}

TEST(PartStride, ComesToAllPartsAndLateToThoseBeside) {
  const auto of_gpus = {66, 78, 80, 108, 114, 132, 144, 148, 160};
  for (int parts = 1; parts <= 300; ++parts) {
    const int stride = part_stride(parts);
    int part = stride % parts, steps = 1;
    const auto is_near = [&] { return part <= 1 || part == parts - 1; };
    for (; !is_near(); ++steps) part = (part + stride) % parts;
    if (parts > 32) {
      const bool has = std::count(of_gpus.begin(), of_gpus.end(), parts) > 0;
      EXPECT_GE(steps, has ? 13 : 3) << parts;
    }
    for (; part != 0; ++steps) part = (part + stride) % parts;
    EXPECT_EQ(steps, parts);
  }
}

}  // namespace
}  // namespace syncbench::stencil
