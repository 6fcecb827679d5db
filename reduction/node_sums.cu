// Ways to sum over several GPUs: a thread, a stream and memory for partial sums
// on each.
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "common/cooperative_barriers.cuh"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/gpu_threads.hpp"
#include "common/peer_access.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "reduction/array_sums.hpp"
#include "reduction/sum_kernels.cuh"
#ifdef SYNCBENCH_NCCL
#include "common/nccl_calls.hpp"
#endif

namespace syncbench::reduction {
namespace {

/// What all have. The grid is the same on each GPU, all of one kind.
template <class T>
class LocalSums : public NodeSum {
 public:
  explicit LocalSums(const std::vector<Gpu>& gpus)
      : devices_(device_numbers(gpus)),
        gpus_(static_cast<int>(gpus.size())),
        threads_(gpus),
        streams_(make_streams(devices_)),
        grid_(gpus[0]),
        gathered_(devices_[0], gpus.size() * most_blocks()),
        sum_(devices_[0], 1) {
    for (const int device : devices_) {
      partials_.emplace_back(device, most_blocks());
    }
  }

  void spoil() override {
    for (int rank = 0; rank < gpus_; ++rank) {
      const DeviceGuard guard(devices_[rank]);
      if (rank == 0) gathered_.spoil();
      if (rank == 0) sum_.spoil();
      partials_[rank].spoil();
    }
  }

  void* sum() const override { return sum_.get(); }

 protected:
  /// Bytes of the largest part.
  static long long bytes(const std::vector<Part>& parts) {
    return parts[0].count * static_cast<long long>(sizeof(T));
  }

  /// Enqueues a kernel in the stream of a GPU.
  template <class... Arguments>
  void enqueue(CallResult& result, int rank, void (*kernel)(Arguments...),
               int blocks, std::common_type_t<Arguments>... given) const {
    result.note(launch_sum(kernel, blocks, kSumThreads, stream(rank),
                           attributes_, given...),
                "cudaLaunchKernelExC");
  }

  /// The first of two kernels, and the second (Figure 14).
  void enqueue_partial_sums(CallResult& result, int rank, int blocks,
                            const Part& part, T* partials) const {
    enqueue(result, rank, partial_sums<T>, blocks,
            static_cast<const T*>(part.data), part.count, partials);
  }
  void enqueue_sum(CallResult& result, int rank, const T* partials, int count,
                   T* sum) const {
    enqueue(result, rank, sum_partials<T>, 1, partials, count, sum);
  }

  void wait(CallResult& result, int rank) const {
    result.note(cudaStreamSynchronize(stream(rank)), "cudaStreamSynchronize");
  }

  cudaStream_t stream(int rank) const { return streams_[rank].get(); }

  const std::vector<int> devices_;
  const int gpus_;
  GpuThreads threads_;
  std::vector<Stream> streams_;
  LaunchAttributes attributes_;
  SumGrid grid_;
  DeviceBuffer<T> gathered_;  // on the first GPU: the partial sums of all
  DeviceBuffer<T> sum_;
  std::vector<DeviceBuffer<T>> partials_;

 private:
  std::size_t most_blocks() const { return grid_.blocks(1LL << 60); }
};

/// A thread and a kernel a GPU; the partial sums are copied to the first GPU,
/// which adds them up once all threads have met (Figure 14).
template <class T>
class ImplicitMulti : public LocalSums<T> {
 public:
  using LocalSums<T>::LocalSums;

  double time_ns(const std::vector<Part>& parts) override {
    const int blocks = this->grid_.blocks(this->bytes(parts));
    return this->threads_.run([&](int rank) {
      CallResult result;
      T* place = this->gathered_.get() + rank * blocks;
      T* partials = rank == 0 ? place : this->partials_[rank].get();
      this->enqueue_partial_sums(result, rank, blocks, parts[rank], partials);
      if (rank > 0) {
        result.note(cudaMemcpyPeerAsync(place, this->devices_[0], partials,
                                        this->devices_[rank],
                                        blocks * sizeof(T), this->stream(rank)),
                    "cudaMemcpyPeerAsync");
      }
      this->wait(result, rank);
#pragma omp barrier
      if (rank > 0) return result;
      this->enqueue_sum(result, 0, this->gathered_.get(), this->gpus_ * blocks,
                        this->sum_.get());
      this->wait(result, 0);
      return result;
    });
  }
};

/// What one kernel a GPU gets: its part, where all partial sums go, in the
/// memory of the first GPU, and how it meets the others.
template <class T, class End>
struct SumArguments {
  const T* data;
  long long count;
  int rank, gpus;
  T* gathered;
  T* sum;
  End end;
};

template <class Barrier>
__device__ void meet(const typename Barrier::End& end) {
  Barrier barrier(end);
  barrier.sync();
}

/// Each block stores its share on the first GPU, all blocks of all GPUs meet,
/// and one block there adds up (Figure 13).
template <class T, class Barrier>
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    sum_by_node(const SumArguments<T, typename Barrier::End> own) {
  const T share = sum_of_block(share_of_thread(own.data, own.count));
  if (threadIdx.x == 0) {
    own.gathered[own.rank * gridDim.x + blockIdx.x] = share;
  }
  meet<Barrier>(own.end);
  if (own.rank > 0 || blockIdx.x > 0) return;
  const T total = sum_of_partials(own.gathered, own.gpus * gridDim.x);
  if (threadIdx.x == 0) *own.sum = total;
}

/// The same for both barriers of several GPUs.
template <class T, class Barrier>
class OneKernel : public LocalSums<T> {
 public:
  explicit OneKernel(const std::vector<Gpu>& gpus) : LocalSums<T>(gpus) {
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fit_, sum_by_node<T, Barrier>, kSumThreads, 0));
    this->attributes_.cooperative = true;
  }

 protected:
  using Arguments = SumArguments<T, typename Barrier::End>;
  static constexpr auto kKernel = sum_by_node<T, Barrier>;

  int resident_blocks(const std::vector<Part>& parts) const {
    return this->grid_.resident_blocks(this->bytes(parts), fit_);
  }

  Arguments arguments(int rank, const Part& part,
                      const typename Barrier::End& end) const {
    return {static_cast<const T*>(part.data),
            part.count,
            rank,
            this->gpus_,
            this->gathered_.get(),
            this->sum_.get(),
            end};
  }

 private:
  int fit_ = 0;
};

/// This suite's barrier; a thread a GPU launches.
template <class T>
class PeerGridSum : public OneKernel<T, peer_grid::Barrier> {
 public:
  explicit PeerGridSum(const std::vector<Gpu>& gpus) try : OneKernel
    <T, peer_grid::Barrier>(gpus), set_(device_numbers(gpus)) {}
  catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }

  double time_ns(const std::vector<Part>& parts) override {
    const int blocks = this->resident_blocks(parts);
    const auto ends = set_.for_blocks(blocks);
    try {
      return this->threads_.run([&](int rank) {
        CallResult result;
        this->enqueue(result, rank, this->kKernel, blocks,
                      this->arguments(rank, parts[rank], ends[rank]));
        this->wait(result, rank);
        return result;
      });
    } catch (const CudaError& error) {
      const auto why = set_.failure();
      if (!why) throw;
      throw std::runtime_error(*why + "\n" + error.what());
    }
  }

 private:
  peer_grid::BarrierSet set_;
};

#if CUDART_VERSION < 13000

/// Cooperative groups' barrier; one call launches on all GPUs.
template <class T>
class MultiGridSum : public OneKernel<T, MultiGridBarrier> {
 public:
  explicit MultiGridSum(const std::vector<Gpu>& gpus)
      : OneKernel<T, MultiGridBarrier>(gpus) {
    if (!enable_peer_access(this->devices_)) {
      throw CannotMeasure("no-peer-access",
                          "no peer access between these GPUs");
    }
  }

  double time_ns(const std::vector<Part>& parts) override {
    std::vector<KernelCall> calls;
    for (int rank = 0; rank < this->gpus_; ++rank) {
      calls.push_back(call_with(reinterpret_cast<const void*>(this->kKernel),
                                dim3(this->resident_blocks(parts)),
                                dim3(kSumThreads),
                                this->arguments(rank, parts[rank], {})));
    }
    MultiDeviceLaunch launch(calls, this->devices_,
                             stream_handles(this->streams_));
    const auto start = HostClock::now();
    check_cuda(launch(), "cudaLaunchCooperativeKernelMultiDevice", __FILE__,
               __LINE__);
    for (const Stream& stream : this->streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    }
    return elapsed_ns(start, HostClock::now());
  }
};

#endif

#ifdef SYNCBENCH_NCCL

/// Each GPU adds up its part as `implicit` does; NCCL adds up their sums.
template <class T>
class NcclSum : public LocalSums<T> {
 public:
  explicit NcclSum(const std::vector<Gpu>& gpus)
      : LocalSums<T>(gpus), results_(gpus.size()) {
    std::vector<ncclComm_t> handles(gpus.size());
    const ncclResult_t result =
        ncclCommInitAll(handles.data(), this->gpus_, this->devices_.data());
    if (result != ncclSuccess)
      throw CannotMeasure("nccl", ncclGetErrorString(result));
    for (const ncclComm_t handle : handles) communicators_.emplace_back(handle);
    for (const int device : this->devices_) sums_.emplace_back(device, 1);
  }

  double time_ns(const std::vector<Part>& parts) override {
    const int blocks = this->grid_.blocks(this->bytes(parts));
    const double time = this->threads_.run([&](int rank) {
      CallResult result;
      T* partials = this->partials_[rank].get();
      T* sum = sums_[rank].get();
      this->enqueue_partial_sums(result, rank, blocks, parts[rank], partials);
      this->enqueue_sum(result, rank, partials, blocks, sum);
      results_[rank] =
          ncclReduce(sum, this->sum_.get(), 1, kType, ncclSum, 0,
                     communicators_[rank].get(), this->stream(rank));
      this->wait(result, rank);
      return result;
    });
    for (const ncclResult_t result : results_) check_nccl(result, "ncclReduce");
    return time;
  }

 private:
  struct Destroy {
    void operator()(ncclComm_t handle) const {
      keep_nccl_failure(ncclCommDestroy(handle), "ncclCommDestroy");
    }
  };
  static constexpr ncclDataType_t kType = std::is_same_v<T, int> ? ncclInt
                                          : std::is_same_v<T, float>
                                              ? ncclFloat
                                              : ncclDouble;

  std::vector<DeviceBuffer<T>> sums_;
  std::vector<std::unique_ptr<ncclComm, Destroy>> communicators_;
  std::vector<ncclResult_t> results_;
};

#endif

}  // namespace

std::vector<NodeSumMethod> node_sum_methods() {
  using Gpus = std::vector<Gpu>;
  return {
    {"implicit_multi",
     "a thread and two kernels; partial sums are copied to the first GPU",
     make_for<NodeSum, ImplicitMulti, Gpus>, Set::kStudy},
#if CUDART_VERSION < 13000
        {"multi_grid", "one kernel a GPU with multi_grid_group::sync()",
         make_for<NodeSum, MultiGridSum, Gpus>, Set::kStudy},
#endif
        {"peer_grid", "one kernel a GPU with the barrier of peer_grid_barrier/",
         make_for<NodeSum, PeerGridSum, Gpus>},
#ifdef SYNCBENCH_NCCL
        {"nccl", "two kernels a GPU, then ncclReduce of the GPUs' sums",
         make_for<NodeSum, NcclSum, Gpus>},
#endif
  };
}

std::vector<MethodInfo> missing_node_sum_methods() {
  std::vector<MethodInfo> missing;
#if CUDART_VERSION >= 13000
  missing.push_back({"multi_grid",
                     "CUDA 13 removed it; a build with CUDA 11 or 12 measures "
                     "it (cmake --preset before13)"});
#endif
#ifndef SYNCBENCH_NCCL
  missing.push_back(
      {"nccl", "NCCL was not found when this program was configured"});
#endif
  return missing;
}

}  // namespace syncbench::reduction
