#include <algorithm>
#include <string>
#include <utility>

#include "common/bounded_wait.cuh"
#include "common/cooperative_barriers.cuh"
#include "common/errors.hpp"
#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/step_work.cuh"
#include "implicit_barrier/steps.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace syncbench::implicit_barrier {
namespace {

// Until the word is at least `value`.
__device__ void wait_for(const unsigned* address, unsigned value,
                         unsigned* failed) {
  const bool came = poll_until(
      [=] { return peer_grid::generic::Gpu::load_acquire(address) >= value; });
  if (!came) *failed = 1;
}

// All steps in one kernel.

struct Nothing {};

/// What is between two steps: before() one, and after() it.
struct InKernel {
  using Argument = Nothing;
  static constexpr bool kPolls = false;
  __device__ explicit InKernel(Nothing) {}
  __device__ void before(const StepData&, int) {}
  __device__ void after(const StepData&, int) {}
};

/// All blocks meet.
template <class Barrier>
struct Meeting {
  using Argument = typename Barrier::End;
  static constexpr bool kPolls = false;
  __device__ explicit Meeting(const Argument& end) : barrier(end) {}
  __device__ void before(const StepData&, int) {}
  __device__ void after(const StepData&, int) { barrier.sync(); }
  Barrier barrier;
};

/// Every block adds to the step's counter and polls it.
struct Counter : InKernel {
  using InKernel::InKernel;
  __device__ void after(const StepData& data, int step) {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned* counter = &data.flags[step];
      peer_grid::global::Gpu::add_release(counter, 1);
      wait_for(counter, gridDim.x, data.failed);
    }
    __syncthreads();
  }
};

/// A block waits for the one whose word it reads, and for no other.
struct TileFlags : InKernel {
  using InKernel::InKernel;
  __device__ void before(const StepData& data, int step) {
    if (step == 0) return;
    if (threadIdx.x == 0) {
      wait_for(&data.flags[other_block()], static_cast<unsigned>(step),
               data.failed);
    }
    __syncthreads();
  }
  __device__ void after(const StepData& data, int step) {
    __syncthreads();
    if (threadIdx.x == 0) {
      peer_grid::global::Gpu::store_release(&data.flags[blockIdx.x], step + 1);
    }
  }
};

/// A word that is not 0 is there: no flag, no fence.
struct DataFlag : InKernel {
  using InKernel::InKernel;
  static constexpr bool kPolls = true;
};

struct ClusterSync : InKernel {
  using InKernel::InKernel;
  __device__ void after(const StepData&, int) {
#if __CUDA_ARCH__ >= 900
    // Release and acquire, as without a modifier, which CUDA 11.8 has none of.
    asm volatile(
        "barrier.cluster.arrive.aligned;\n"
        "barrier.cluster.wait.aligned;" ::
            : "memory");
#endif
  }
};

template <class Between>
__global__ void steps_kernel(StepData data,
                             typename Between::Argument argument) {
  Between between(argument);
#pragma unroll 1
  for (int step = 0; step < data.steps; ++step) {
    between.before(data, step);
    do_step(data, step, Between::kPolls);
    if (step + 1 < data.steps) between.after(data, step);
  }
}

// All blocks are one cluster.
cudaError_t launch_cluster(const KernelCall& call, cudaStream_t stream) {
  LaunchAttributes attributes;
  attributes.cluster = static_cast<int>(call.grid.x);
  return launch(call, stream, attributes);
}
constexpr LaunchApi kClusterApi = {"cudaLaunchKernelExC", launch_cluster};

std::unique_ptr<Way> make_cluster(const StreamPool& pool,
                                  const std::vector<Gpu>&,
                                  const ways::Steps& steps) {
  constexpr int kMostBlocks = 8;  // of a cluster, on every GPU that has them
  const KernelCall& call = steps.kinds[0][0];
  if (call.grid.x > kMostBlocks) {
    throw CannotMeasure("does-not-fit",
                        "a cluster has at most 8 blocks everywhere");
  }
  if (code_version(call.kernel) < 90) {
    throw CannotMeasure("no-clusters",
                        "no clusters before compute capability 9.0");
  }
  return std::make_unique<ways::StreamWay>(kClusterApi, pool, steps);
}

}  // namespace

struct StepChain::PeerBarrier {
  PeerBarrier(const Gpu& gpu, int blocks)
      : set({gpu.index}), end(set.for_blocks(blocks).at(0)) {}

  peer_grid::BarrierSet set;
  peer_grid::BarrierEnd end;
};

StepChain::StepChain(const StepWay& way, const StepPlace& place,
                     const StepShape& shape)
    : memory_(place.memory),
      data_{memory_.words.get(), memory_.flags.get(), memory_.failed.get(),
            shape.cycles,        shape.late,          shape.steps,
            shape.reads},
      blocks_(shape.blocks),
      launches_(way.makes == StepKernel::kOneStep ? shape.steps : 1) {
  if (way.makes == StepKernel::kAllAtPeerBarrier) {
    ways::require_cooperative({place.gpu});
    try {
      barrier_ = std::make_shared<PeerBarrier>(place.gpu, shape.blocks);
    } catch (const peer_grid::CannotJoin& error) {
      throw CannotMeasure("no-barrier", error.what());
    }
  }
  const dim3 grid(shape.blocks), block(shape.threads);
  ways::Steps steps = {{}, {}};
  for (int i = 0; i < launches_; ++i) {
    steps.order.push_back(i);
    steps.kinds.push_back(
        {barrier_ ? call_with(way.kernel, grid, block, data_, barrier_->end)
                  : call_with(way.kernel, grid, block, data_, i)});
  }
  way_ = way.make(place.pool, {place.gpu}, steps);
}

double StepChain::run() {
  const std::vector<unsigned> first(blocks_, 1u);
  memory_.words.set_to_zero();
  memory_.flags.set_to_zero();
  *memory_.failed.get() = 0;
  CUDA_CHECK(cudaMemcpy(memory_.words.get(), first.data(),
                        first.size() * sizeof first[0],
                        cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
  const double taken = way_->run(launches_).total;
  if (barrier_) {
    const auto failure = barrier_->set.failure();
    if (failure) throw std::runtime_error(*failure);
  }
  if (*memory_.failed.get() != 0) {
    throw std::runtime_error("a block has waited for seconds");
  }
  if (!data_.reads) return taken;
  std::vector<unsigned> last(blocks_);
  CUDA_CHECK(cudaMemcpy(
      last.data(),
      memory_.words.get() + static_cast<std::size_t>(data_.steps) * blocks_,
      last.size() * sizeof last[0], cudaMemcpyDeviceToHost));
  const auto expected = static_cast<unsigned>(data_.steps + 1);
  const auto wrong = last.size() - static_cast<std::size_t>(std::count(
                                       last.begin(), last.end(), expected));
  if (wrong == 0) return taken;
  throw std::runtime_error(
      "the steps are not in order: " + std::to_string(wrong) + " of " +
      std::to_string(last.size()) +
      " blocks have read another word than that of the "
      "step before");
}

const std::vector<StepWay>& step_ways() {
  using namespace ways;
  constexpr Maker resident = make_on_one_gpu<StreamWay, kCooperativeApi>;
  constexpr StepKernel one_step = StepKernel::kOneStep;
  const void* step = address_of(step_kernel<Plain>);
  const void* programmatic =
      address_of(step_kernel<Programmatic<Trigger::kFirst>>);
  static const std::vector<StepWay> all = {
      {"traditional_launch", "", make_on_one_gpu<StreamWay, kTraditionalApi>,
       step, one_step},
      {"graph_launch", "", make_on_one_gpu<GraphWay, kTraditionalApi>, step,
       one_step},
      {"programmatic_launch", "", make_on_one_gpu<StreamWay, kProgrammaticApi>,
       programmatic, one_step},
      {"graph_programmatic", "", make_programmatic_graph, programmatic,
       one_step},
      {"device_graph_launch", "", make_device_graph, relaunching_step(),
       one_step},
      {"launch_and_wait", "a launch and cudaStreamSynchronize for each step",
       make_on_one_gpu<WaitedWay, kTraditionalApi>, step, one_step},
      {"steps_grid_sync", "one kernel, grid_group::sync() after each step",
       resident, address_of(steps_kernel<Meeting<GridBarrier>>)},
      {"steps_peer_grid_sync", "one kernel, this suite's barrier on one GPU",
       resident, address_of(steps_kernel<Meeting<peer_grid::Barrier>>),
       StepKernel::kAllAtPeerBarrier},
      {"steps_counter", "one kernel, a counter a step that all blocks poll",
       resident, address_of(steps_kernel<Counter>)},
      {"steps_tile_flags",
       "one kernel; a block waits for the flag of the one that it reads from",
       resident, address_of(steps_kernel<TileFlags>), StepKernel::kAllSteps,
       true},
      {"steps_data_flag",
       "one kernel; a block polls the word that it reads, without a fence",
       resident, address_of(steps_kernel<DataFlag>), StepKernel::kAllSteps,
       true},
      {"steps_cluster_sync", "one kernel of one cluster, cluster barrier",
       make_cluster, address_of(steps_kernel<ClusterSync>)}};
  return all;
}

const std::vector<StepWay>& unordered_step_ways() {
  using namespace ways;
  static const std::vector<StepWay> all = {
      {"programmatic launch without wait", "",
       make_on_one_gpu<StreamWay, kProgrammaticApi>,
       address_of(step_kernel<Programmatic<Trigger::kNoWait>>),
       StepKernel::kOneStep},
      {"one kernel without barrier", "",
       make_on_one_gpu<StreamWay, kCooperativeApi>,
       address_of(steps_kernel<InKernel>)}};
  return all;
}

}  // namespace syncbench::implicit_barrier
