// What all ways to sum over several GPUs have: a thread, a stream and memory
// for partial sums a GPU.
#pragma once

#include <algorithm>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/gpu_threads.hpp"
#include "reduction/node_sums.hpp"
#include "reduction/sum_kernels.cuh"

namespace syncbench::reduction {

template <class T>
class LocalSums : public NodeSum {
 public:
  explicit LocalSums(const std::vector<Gpu>& gpus)
      : gpus_(gpus),
        threads_(gpus),
        streams_(make_streams(device_numbers(gpus))),
        grid_(gpus[0]),
        gathered_(gpus[0].index, gpus.size() * most_blocks()),
        sum_(gpus[0].index, 1) {
    for (const Gpu& gpu : gpus)
      partials_.emplace_back(gpu.index, most_blocks());
  }

  void spoil() override {
    for (int rank = 0; rank < gpus(); ++rank) {
      const DeviceGuard guard(device(rank));
      if (rank == 0) gathered_.spoil();
      if (rank == 0) sum_.spoil();
      partials_[rank].spoil();
    }
  }

  void* sum() const override { return sum_.get(); }

 protected:
  int gpus() const { return static_cast<int>(gpus_.size()); }
  int device(int rank) const { return gpus_[rank].index; }
  cudaStream_t stream(int rank) const { return streams_[rank].get(); }
  GpuThreads& threads() { return threads_; }
  T* result() const { return sum_.get(); }
  /// Memory of the first GPU for the partial sums of all.
  T* gathered() const { return gathered_.get(); }
  T* partials(int rank) const { return partials_[rank].get(); }

  /// The grid on each GPU, all of one kind; bytes of the largest part.
  const SumGrid& grid() const { return grid_; }
  static long long bytes(const std::vector<Part>& parts) {
    return parts[0].count * static_cast<long long>(sizeof(T));
  }

 private:
  std::size_t most_blocks() const { return grid_.blocks(1LL << 60); }

  std::vector<Gpu> gpus_;
  GpuThreads threads_;
  std::vector<Stream> streams_;
  SumGrid grid_;
  DeviceBuffer<T> gathered_;
  DeviceBuffer<T> sum_;
  std::vector<DeviceBuffer<T>> partials_;
};

}  // namespace syncbench::reduction
