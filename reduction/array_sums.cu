#include <cooperative_groups.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <limits>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/sum_kernels.cuh"

namespace syncbench::reduction {
namespace {

namespace cg = cooperative_groups;

template <class T>
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    sum_by_grid(const T* data, long long count, T* partials, T* sum) {
  const T share = sum_of_block(share_of_thread(data, count));
  if (threadIdx.x == 0) partials[blockIdx.x] = share;
  cg::this_grid().sync();
  if (blockIdx.x != 0) return;
  const T total = sum_of_partials(partials, gridDim.x);
  if (threadIdx.x == 0) *sum = total;
}

/// `arrived` is 0 before the first kernel, and each leaves it so.
template <class T>
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    sum_by_last_block(const T* data, long long count, T* partials,
                      unsigned* arrived, T* sum) {
  __shared__ bool last;
  const T share = sum_of_block(share_of_thread(data, count));
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = share;
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  const T total = sum_of_partials(partials, gridDim.x);
  if (threadIdx.x == 0) *sum = total;
}

constexpr int kTreeThreads = 256;

/// The kernel that introductions end with: each thread adds elements one by
/// one, two a trip, then a tree in shared memory with a barrier at each step.
template <class T>
__global__ void __launch_bounds__(kTreeThreads)
    tree_sums(const T* data, long long count, T* sums) {
  __shared__ T shared[kTreeThreads];
  const long long stride = 2LL * kTreeThreads * gridDim.x;
  T sum = 0;
  for (long long i = 2LL * kTreeThreads * blockIdx.x + threadIdx.x; i < count;
       i += stride) {
    sum += data[i];
    if (i + kTreeThreads < count) sum += data[i + kTreeThreads];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int step = kTreeThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

/// Reads whole packets. `never` is no exclusive or of all the words that a
/// thread reads, which the compiler does not know.
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    read_packets(const Packet<int>* packets, long long count, long long never,
                 int* out) {
  int bits = 0;
  for_each_packet(packets, count, thread_of_grid(), threads_of_grid(),
                  [&](const Packet<int>& packet) {
                    for (const int word : packet.values) bits ^= word;
                  });
  if (bits == never) *out = bits;
}

/// What all have: the GPU and memory for partial sums.
template <class T>
class WithPartials : public ArraySum {
 public:
  explicit WithPartials(const Gpu& gpu)
      : grid_(gpu), partials_(gpu.index, grid_.blocks(1LL << 60)) {}

  void spoil() override { partials_.spoil(); }

 protected:
  SumGrid grid_;
  DeviceBuffer<T> partials_;
};

/// Two kernels; the end of one is the barrier before the next (Figure 14).
template <class T>
class Implicit : public WithPartials<T> {
 public:
  Implicit(const Gpu& gpu, long long) : WithPartials<T>(gpu) {}
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    const int blocks = this->grid_.blocks(count * sizeof(T));
    CUDA_CHECK(launch_sum(partial_sums<T>, blocks, kSumThreads, stream, {},
                          static_cast<const T*>(data), count,
                          this->partials_.get()));
    CUDA_CHECK(launch_sum(sum_partials<T>, 1, kSumThreads, stream, second_,
                          this->partials_.get(), blocks, static_cast<T*>(sum)));
  }

 protected:
  LaunchAttributes second_;  // of the second kernel
};

template <class T>
struct Programmatic : Implicit<T> {
  Programmatic(const Gpu& gpu, long long most) : Implicit<T>(gpu, most) {
    const auto* kernel = reinterpret_cast<const void*>(sum_partials<T>);
    if (gpu.major < 9 || code_version(kernel) < 90) {
      throw CannotMeasure(
          "architecture",
          "programmatic launches need compute capability 9.0, and code for it");
    }
    this->second_.programmatic = true;
  }
};

/// One cooperative kernel (Figure 13).
template <class T>
class GridSync : public WithPartials<T> {
 public:
  GridSync(const Gpu& gpu, long long) : WithPartials<T>(gpu) {
    if (!gpu.cooperative_launch) {
      throw CannotMeasure("no-cooperative-launch",
                          "no cooperative launch on this GPU");
    }
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &most_, sum_by_grid<T>, kSumThreads, 0));
  }
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    LaunchAttributes attributes;
    attributes.cooperative = true;
    CUDA_CHECK(launch_sum(
        sum_by_grid<T>, this->grid_.resident_blocks(count * sizeof(T), most_),
        kSumThreads, stream, attributes, static_cast<const T*>(data), count,
        this->partials_.get(), static_cast<T*>(sum)));
  }

 private:
  int most_ = 0;  // blocks that an SM holds
};

/// No barrier: the last block to finish its share finds all the others.
template <class T>
class LastBlock : public WithPartials<T> {
 public:
  LastBlock(const Gpu& gpu, long long)
      : WithPartials<T>(gpu), arrived_(gpu.index, 1) {
    arrived_.set_to_zero();
  }
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    CUDA_CHECK(launch_sum(
        sum_by_last_block<T>, this->grid_.blocks(count * sizeof(T)),
        kSumThreads, stream, {}, static_cast<const T*>(data), count,
        this->partials_.get(), arrived_.get(), static_cast<T*>(sum)));
  }

 private:
  DeviceBuffer<unsigned> arrived_;
};

template <class T>
class TwoPassTree : public ArraySum {
 public:
  TwoPassTree(const Gpu& gpu, long long)
      : most_(8 * gpu.sm_count), partials_(gpu.index, most_) {}
  void spoil() override { partials_.spoil(); }
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    const long long blocks =
        std::min<long long>((count - 1) / (2 * kTreeThreads) + 1, most_);
    CUDA_CHECK(launch_sum(tree_sums<T>, static_cast<int>(blocks), kTreeThreads,
                          stream, {}, static_cast<const T*>(data), count,
                          partials_.get()));
    CUDA_CHECK(launch_sum(tree_sums<T>, 1, kTreeThreads, stream, {},
                          partials_.get(), blocks, static_cast<T*>(sum)));
  }

 private:
  int most_;
  DeviceBuffer<T> partials_;
};

template <class T>
class ReadLimit : public ArraySum {
 public:
  ReadLimit(const Gpu& gpu, long long) : grid_(gpu) {}
  Remark refuses(long long count) const override {
    if (count * sizeof(T) >= 32) return {};
    return {"too-small", "it reads whole loads of 16 bytes"};
  }
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto aligned = (first + 15) / 16 * 16;
    const long long bytes = count * static_cast<long long>(sizeof(T));
    const long long packets =
        (bytes - static_cast<long long>(aligned - first)) / 16;
    CUDA_CHECK(launch_sum(read_packets, grid_.most_blocks(bytes), kSumThreads,
                          stream, {},
                          reinterpret_cast<const Packet<int>*>(aligned),
                          packets, 1LL << 32, static_cast<int*>(sum)));
  }

 private:
  SumGrid grid_;
};

constexpr long long kMostInt = std::numeric_limits<int>::max();

// CUB counts with the type of the count, here an int where it fits; before CUB
// 2.2 it has nothing else.
template <class T>
cudaError_t sum(void* memory, std::size_t& bytes, const T* data, T* result,
                long long count, cudaStream_t stream) {
#if CUB_VERSION >= 200200
  if (count > kMostInt) {
    return cub::DeviceReduce::Sum(memory, bytes, data, result, count, stream);
  }
#endif
  return cub::DeviceReduce::Sum(memory, bytes, data, result,
                                static_cast<int>(count), stream);
}

/// DeviceReduce::Sum of the CUB that comes with the toolkit, its temporary
/// memory allocated beforehand.
template <class T>
class CubSum : public ArraySum {
 public:
  CubSum(const Gpu& gpu, long long most)
      : memory_(gpu.index, bytes_for(gpu, most)) {}

  void spoil() override { memory_.spoil(); }
  Remark refuses(long long count) const override {
    if (CUB_VERSION >= 200200 || count <= kMostInt) return {};
    return {"toolkit", "this toolkit's CUB sums fewer than 2^31"};
  }
  void enqueue(const void* data, long long count, void* result,
               cudaStream_t stream) override {
    std::size_t bytes = memory_.size();
    check(sum(memory_.get(), bytes, static_cast<const T*>(data),
              static_cast<T*>(result), count, stream));
  }

 private:
  static void check(cudaError_t code) {
    check_cuda(code, "cub::DeviceReduce::Sum", __FILE__, __LINE__);
  }

  // What either kind of count needs.
  static std::size_t bytes_for(const Gpu& gpu, long long most) {
    const DeviceGuard guard(gpu.index);
    std::size_t largest = 1;
    for (const long long count : {std::min(most, kMostInt), most}) {
      if (CUB_VERSION < 200200 && count > kMostInt) continue;
      std::size_t bytes = 0;
      check(sum<T>(nullptr, bytes, nullptr, nullptr, count, nullptr));
      largest = std::max(largest, bytes);
    }
    return largest;
  }

  DeviceBuffer<char> memory_;
};

}  // namespace

const std::vector<ArraySumMethod>& array_sum_methods() {
  static const std::vector<ArraySumMethod> methods = {
      {"read_limit", "a kernel that reads the array and sums nothing",
       make_for<ArraySum, ReadLimit, Gpu, long long>, Set::kToday, false},
      {"implicit", "two kernels; the end of the first is the barrier",
       make_for<ArraySum, Implicit, Gpu, long long>, Set::kStudy},
      {"programmatic",
       "the same, the second launched before the first ends (sm_90)",
       make_for<ArraySum, Programmatic, Gpu, long long>},
      {"grid_sync", "one cooperative kernel with grid.sync()",
       make_for<ArraySum, GridSync, Gpu, long long>, Set::kStudy},
      {"last_block",
       "one kernel whose last block, by an atomic counter, ends it",
       make_for<ArraySum, LastBlock, Gpu, long long>},
      {"cub", "DeviceReduce::Sum of the toolkit's CUB",
       make_for<ArraySum, CubSum, Gpu, long long>, Set::kStudy},
      {"two_pass_tree",
       "two kernels with a tree in shared memory, as introductions teach it",
       make_for<ArraySum, TwoPassTree, Gpu, long long>},
  };
  return methods;
}

}  // namespace syncbench::reduction
