#include <stdexcept>
#include <string>

#include "common/cooperative_barriers.cuh"
#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "reduction/local_sums.cuh"
#include "reduction/node_sums.hpp"

namespace syncbench::reduction {
namespace {

/// A thread and a kernel a GPU; the partial sums are copied to the first GPU,
/// which adds them up once all threads have met (Figure 14).
template <class T>
class ImplicitMulti : public LocalSums<T> {
 public:
  using LocalSums<T>::LocalSums;

  double time_ns(const std::vector<Part>& parts) override {
    const int blocks = this->grid().blocks(this->bytes(parts));
    return this->threads().run([&](int rank) {
      CallResult result;
      T* place = this->gathered() + rank * blocks;
      result.note(
          launch_sum(partial_sums<T>, blocks, kSumThreads, this->stream(rank),
                     {}, static_cast<const T*>(parts[rank].data),
                     parts[rank].count,
                     rank == 0 ? place : this->partials(rank)),
          "cudaLaunchKernelExC");
      if (rank > 0) {
        result.note(
            cudaMemcpyPeerAsync(place, this->device(0), this->partials(rank),
                                this->device(rank), blocks * sizeof(T),
                                this->stream(rank)),
            "cudaMemcpyPeerAsync");
      }
      result.note(cudaStreamSynchronize(this->stream(rank)),
                  "cudaStreamSynchronize");
#pragma omp barrier
      if (rank > 0) return result;
      result.note(
          launch_sum(sum_partials<T>, 1, kSumThreads, this->stream(0), {},
                     this->gathered(), this->gpus() * blocks, this->result()),
          "cudaLaunchKernelExC");
      result.note(cudaStreamSynchronize(this->stream(0)),
                  "cudaStreamSynchronize");
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
  }

 protected:
  using End = typename Barrier::End;
  static constexpr auto kKernel = sum_by_node<T, Barrier>;

  int resident_blocks(const std::vector<Part>& parts) const {
    return this->grid().resident_blocks(this->bytes(parts), fit_);
  }

  SumArguments<T, End> arguments(int rank, const Part& part,
                                 const End& end) const {
    return {static_cast<const T*>(part.data),
            part.count,
            rank,
            this->gpus(),
            this->gathered(),
            this->result(),
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
    LaunchAttributes attributes;
    attributes.cooperative = true;
    try {
      return this->threads().run([&](int rank) {
        CallResult result;
        result.note(launch_sum(this->kKernel, blocks, kSumThreads,
                               this->stream(rank), attributes,
                               this->arguments(rank, parts[rank], ends[rank])),
                    "cudaLaunchKernelExC");
        result.note(cudaStreamSynchronize(this->stream(rank)),
                    "cudaStreamSynchronize");
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
    if (!enable_peer_access(device_numbers(gpus))) {
      throw CannotMeasure("no-peer-access",
                          "no peer access between these GPUs");
    }
  }

  double time_ns(const std::vector<Part>& parts) override {
    std::vector<SumArguments<T, MultiGridBarrier::End>> shares;
    for (int rank = 0; rank < this->gpus(); ++rank) {
      shares.push_back(this->arguments(rank, parts[rank], {}));
    }
    std::vector<void*> arguments;
    for (auto& share : shares) arguments.push_back(&share);
    std::vector<KernelCall> calls;
    std::vector<int> devices;
    std::vector<cudaStream_t> streams;
    for (int rank = 0; rank < this->gpus(); ++rank) {
      calls.push_back({reinterpret_cast<const void*>(this->kKernel),
                       dim3(this->resident_blocks(parts)), dim3(kSumThreads),
                       &arguments[rank]});
      devices.push_back(this->device(rank));
      streams.push_back(this->stream(rank));
    }
    MultiDeviceLaunch launch(calls, devices, streams);
    const auto start = HostClock::now();
    check_cuda(launch(), "cudaLaunchCooperativeKernelMultiDevice", __FILE__,
               __LINE__);
    for (const cudaStream_t stream : streams) {
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    return elapsed_ns(start, HostClock::now());
  }
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
         make_nccl_sum},
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
