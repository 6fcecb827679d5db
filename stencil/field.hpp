// A field in the memory of one GPU or several.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/devices.hpp"
#include "common/launch.hpp"
#include "common/table.hpp"
#include "libraries/team.hpp"
#include "stencil/field_shape.hpp"

namespace syncbench::stencil {

using libraries::Team;

/// What the kernels of one GPU get of a field. Layers are counted from 0; layer
/// 0 and layer `layers` + 1 are halos: the next GPU's layer, or the fixed side
/// of the whole field. Step s reads copy s % 2 and writes the other.
struct Slab {
  float* copies[2];  ///< `layers` + 2 layers each
  /// Where the GPU before (after) has a halo of this GPU's first (last) layer,
  /// in each copy; null where there is none, or this GPU cannot store there.
  float* halo_before[2];
  float* halo_after[2];
  int width;      ///< cells of a row
  int layer;      ///< cells of a layer
  int quad_bits;  ///< a layer has 2^quad_bits quads of cells
  int layers;     ///< that this GPU computes
  int march;      ///< layers that a thread computes one after the other

  /// The first cell of a layer of copy 0 or 1.
  float* at(int copy, int number) const {
    return copies[copy] + static_cast<std::size_t>(number) * layer;
  }
  /// The same for kernels that store nothing on other GPUs.
  Slab without_stores() const {
    Slab slab = *this;
    for (int copy = 0; copy < 2; ++copy) {
      slab.halo_before[copy] = slab.halo_after[copy] = nullptr;
    }
    return slab;
  }
};

/// How a field is cut up for threads.
struct FieldGrid {
  int blocks;     ///< of each GPU
  int threads;    ///< of a block
  int march = 0;  ///< Slab::march; 0: march_of()
};

class Field {
 public:
  /// Of all GPUs of the team, which outlives it. All processes make it, and
  /// let it go, at the same time.
  Field(Team& team, const FieldShape& shape, const FieldGrid& grid);

  Team& team() const { return team_; }
  /// Those of this process; `rank` counts them.
  const std::vector<Gpu>& gpus() const { return team_.gpus(); }
  int gpu_count() const { return team_.local(); }
  const FieldShape& shape() const { return shape_; }
  const FieldGrid& grid() const { return grid_; }
  const Slab& slab(int rank) const { return slabs_[rank]; }

  /// A kernel on its grid, of each GPU.
  KernelCall call(const void* kernel, void** arguments,
                  std::size_t shared_bytes = 0) const {
    return {kernel, dim3(grid_.blocks), dim3(grid_.threads), arguments,
            shared_bytes};
  }

  /// CannotMeasure where a GPU cannot store into the memory of another.
  void require_stores() const;

  /// The field before the first step in copy 0, what is no number in copy 1.
  /// Waits for the GPUs.
  void fill();

  /// Sum of digest_of() of all cells of this process after so many steps. Waits
  /// for the GPUs.
  std::uint64_t digest(int steps);

  /// So many layers of a GPU after so many steps, as host_layers() has them;
  /// `first` is one of Slab.
  std::vector<float> read(int steps, int rank, int first, int count) const;

 private:
  std::vector<float*> allocate();
  std::uint64_t first_index(int rank) const;
  std::size_t cells_with_halos() const;
  void wait() const;

  Team& team_;
  FieldShape shape_;
  FieldGrid grid_;
  // Both copies of each GPU: by itself, or in memory of all processes.
  std::vector<DeviceBuffer<float>> memory_;
  std::shared_ptr<void> shared_;
  std::vector<DeviceBuffer<unsigned long long>> sums_;
  std::vector<Slab> slabs_;
  Remark no_stores_;  // why not
};

}  // namespace syncbench::stencil
