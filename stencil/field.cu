#include <type_traits>

#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "libraries/team_barriers.cuh"
#include "stencil/field.hpp"
#include "stencil/relax.hpp"

namespace syncbench::stencil {

using libraries::ClosedTogether;

namespace {

constexpr int kThreads = 256;

__device__ long long this_thread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ long long all_threads() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}

__global__ void fill_cells(float* cells, unsigned long long first,
                           long long count) {
  for (long long i = this_thread(); i < count; i += all_threads()) {
    cells[i] = first_value(first + i);
  }
}

__global__ void digest_cells(const float* cells, unsigned long long first,
                             long long count, unsigned long long* sum) {
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  unsigned long long own = 0;
  for (long long i = this_thread(); i < count; i += all_threads()) {
    own += digest_of(first + i, __float_as_uint(cells[i]));
  }
  atomicAdd(&of_block, own);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

// All cells by a grid that fills the GPU.
template <class... Parameters>
void launch_on_all(const Gpu& gpu, void (*kernel)(Parameters...),
                   std::common_type_t<Parameters>... given) {
  void* arguments[] = {&given...};
  CUDA_CHECK(
      launch_traditional({reinterpret_cast<const void*>(kernel),
                          dim3(8 * gpu.sm_count), dim3(kThreads), arguments},
                         cudaStreamLegacy));
}

int bits_of(long long power) {
  int bits = 0;
  while (1LL << bits < power) ++bits;
  return bits;
}

}  // namespace

Field::Field(Team& team, const FieldShape& shape, const FieldGrid& grid)
    : team_(team), shape_(shape), grid_(grid) {
  const long long threads = static_cast<long long>(grid.blocks) * grid.threads;
  if (grid_.march == 0) grid_.march = march_of(shape, threads);
  const std::vector<float*> cells_of = allocate();
  const auto layer = static_cast<std::size_t>(shape.layer());
  const std::size_t all = cells_with_halos();
  for (int number = team.first(); number < team.first() + gpu_count();
       ++number) {
    float* cells = cells_of[number];
    Slab slab = {{cells, cells + all},
                 {},
                 {},
                 shape.width,
                 static_cast<int>(layer),
                 bits_of(shape.layer() / kQuad),
                 shape.layers,
                 grid_.march};
    for (int copy = 0; copy < 2 && !no_stores_; ++copy) {
      if (number > 0) {
        slab.halo_before[copy] =
            cells_of[number - 1] + (copy + 1) * all - layer;
      }
      if (number + 1 < team.total()) {
        slab.halo_after[copy] = cells_of[number + 1] + copy * all;
      }
    }
    slabs_.push_back(slab);
    sums_.emplace_back(gpus()[number - team.first()].index, 1);
  }
}

// The cells of all GPUs of the team; null where this process has no access.
std::vector<float*> Field::allocate() {
  const std::size_t cells = 2 * cells_with_halos();
  std::vector<float*> cells_of(team_.total());
  if (team_.nodes() > 1) {
    no_stores_ = {"several-nodes",
                  "GPUs of several nodes cannot store into each other's "
                  "memory"};
  } else if (team_.processes() > 1) {
    try {
      const auto shared =
          std::make_shared<ClosedTogether<peer_grid::ProcessMemory>>(
              gpus()[0].index, cells * sizeof(float), processes_of(team_));
      for (int number = 0; number < team_.total(); ++number) {
        cells_of[number] = static_cast<float*>((*shared)->of_rank()[number]);
      }
      shared_ = shared;
      return cells_of;
    } catch (const peer_grid::CannotJoin& error) {  // in all processes
      no_stores_ = {"no-peer-access", error.what()};
    }
  } else if (!enable_peer_access(device_numbers(gpus()))) {
    no_stores_ = {"no-peer-access", "no peer access between these GPUs"};
  }
  for (int rank = 0; rank < gpu_count(); ++rank) {
    memory_.emplace_back(gpus()[rank].index, cells);
    cells_of[team_.first() + rank] = memory_.back().get();
  }
  return cells_of;
}

std::size_t Field::cells_with_halos() const {
  return static_cast<std::size_t>(shape_.cells() + 2 * shape_.layer());
}

std::uint64_t Field::first_index(int rank) const {
  return static_cast<std::uint64_t>(team_.first() + rank) *
         static_cast<std::uint64_t>(shape_.cells());
}

void Field::require_stores() const {
  if (no_stores_) throw CannotMeasure(no_stores_.tag, no_stores_.text);
}

void Field::wait() const {
  for (const Gpu& gpu : gpus()) {
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void Field::fill() {
  const long long all = static_cast<long long>(cells_with_halos());
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const Gpu& gpu = gpus()[rank];
    const Slab& slab = slabs_[rank];
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaMemset(slab.copies[1], 0xff, all * sizeof(float)));
    const auto fill_some = [&](int copy, long long from, long long count) {
      launch_on_all(gpu, fill_cells, slab.copies[copy] + from,
                    first_index(rank) + from, count);
    };
    fill_some(0, 0, all);
    const int number = team_.first() + rank;
    if (number == 0) fill_some(1, 0, slab.layer);
    if (number + 1 == team_.total()) fill_some(1, all - slab.layer, slab.layer);
  }
  wait();
}

std::uint64_t Field::digest(int steps) {
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const Slab& slab = slabs_[rank];
    const DeviceGuard guard(gpus()[rank].index);
    sums_[rank].set_to_zero();
    launch_on_all(
        gpus()[rank], digest_cells, slab.copies[steps % 2] + slab.layer,
        first_index(rank) + slab.layer, shape_.cells(), sums_[rank].get());
  }
  wait();
  std::uint64_t sum = 0;
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const DeviceGuard guard(gpus()[rank].index);
    sum += sums_[rank].read()[0];
  }
  return sum;
}

std::vector<float> Field::read(int steps, int rank, int first,
                               int count) const {
  const Slab& slab = slabs_[rank];
  std::vector<float> cells(static_cast<std::size_t>(slab.layer) * count);
  const DeviceGuard guard(gpus()[rank].index);
  CUDA_CHECK(cudaMemcpy(cells.data(), slab.at(steps % 2, first),
                        cells.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return cells;
}

}  // namespace syncbench::stencil
