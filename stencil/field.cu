#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "stencil/field.hpp"
#include "stencil/relax.hpp"

namespace syncbench {
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
                   Parameters... given) {
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

Field::Field(const std::vector<Gpu>& gpus, const FieldShape& shape,
             const FieldGrid& grid)
    : gpus_(gpus), shape_(shape), grid_(grid) {
  if (!enable_peer_access(device_numbers(gpus))) {
    no_stores_ = {"no-peer-access", "no peer access between these GPUs"};
  }
  const long long threads = static_cast<long long>(grid.blocks) * grid.threads;
  if (grid_.march == 0) grid_.march = march_of(shape, threads);
  const auto layer = static_cast<std::size_t>(shape.layer());
  for (const Gpu& gpu : gpus) {
    memory_.emplace_back(gpu.index, 2 * cells_with_halos());
    sums_.emplace_back(gpu.index, 1);
    float* cells = memory_.back().get();
    slabs_.push_back({{cells, cells + cells_with_halos()},
                      {},
                      {},
                      shape.width,
                      static_cast<int>(layer),
                      bits_of(shape.layer() / kQuad),
                      shape.layers,
                      grid_.march});
  }
  if (no_stores_) return;
  const std::size_t last = cells_with_halos() - layer;
  for (int rank = 0; rank < gpu_count(); ++rank) {
    for (int copy = 0; copy < 2; ++copy) {
      if (rank > 0) {
        slabs_[rank].halo_before[copy] = slabs_[rank - 1].copies[copy] + last;
      }
      if (rank + 1 < gpu_count()) {
        slabs_[rank].halo_after[copy] = slabs_[rank + 1].copies[copy];
      }
    }
  }
}

std::size_t Field::cells_with_halos() const {
  return static_cast<std::size_t>(shape_.cells() + 2 * shape_.layer());
}

std::uint64_t Field::first_index(int rank) const {
  return static_cast<std::uint64_t>(rank) *
         static_cast<std::uint64_t>(shape_.cells());
}

void Field::require_stores() const {
  if (no_stores_) throw CannotMeasure(no_stores_.tag, no_stores_.text);
}

void Field::wait() const {
  for (const Gpu& gpu : gpus_) {
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void Field::fill() {
  const long long all = static_cast<long long>(cells_with_halos());
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const Gpu& gpu = gpus_[rank];
    const Slab& slab = slabs_[rank];
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaMemset(slab.copies[1], 0xff, all * sizeof(float)));
    const auto fill_some = [&](int copy, long long from, long long count) {
      launch_on_all<float*, unsigned long long, long long>(
          gpu, fill_cells, slab.copies[copy] + from, first_index(rank) + from,
          count);
    };
    fill_some(0, 0, all);
    if (rank == 0) fill_some(1, 0, slab.layer);
    if (rank + 1 == gpu_count()) fill_some(1, all - slab.layer, slab.layer);
  }
  wait();
}

std::uint64_t Field::digest(int steps) {
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const Slab& slab = slabs_[rank];
    const DeviceGuard guard(gpus_[rank].index);
    sums_[rank].set_to_zero();
    launch_on_all<const float*, unsigned long long, long long,
                  unsigned long long*>(
        gpus_[rank], digest_cells, slab.copies[steps % 2] + slab.layer,
        first_index(rank) + slab.layer, shape_.cells(), sums_[rank].get());
  }
  wait();
  std::uint64_t sum = 0;
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const DeviceGuard guard(gpus_[rank].index);
    sum += sums_[rank].read()[0];
  }
  return sum;
}

std::vector<float> Field::read(int steps) const {
  const auto cells = static_cast<std::size_t>(shape_.cells());
  std::vector<float> all(cells * gpus_.size());
  for (int rank = 0; rank < gpu_count(); ++rank) {
    const DeviceGuard guard(gpus_[rank].index);
    CUDA_CHECK(cudaMemcpy(&all[rank * cells],
                          slabs_[rank].copies[steps % 2] + slabs_[rank].layer,
                          cells * sizeof(float), cudaMemcpyDeviceToHost));
  }
  return all;
}

}  // namespace syncbench
