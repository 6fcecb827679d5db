#include <algorithm>
#include <numeric>
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

// A kernel a step.

__global__ void step_kernel(StepData data, int step) {
  do_step(data, step, false);
}

template <bool kWaits>
__global__ void programmatic_step(StepData data, int step) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (kWaits) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  do_step(data, step, false);
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

// The host's side.

/// A kernel a step, launched by a way. Their arguments are the chain's data
/// and, but of the kernel that launches itself, the number of the step.
class LaunchedSteps : public StepChain {
 public:
  LaunchedSteps(ways::Maker make, const StepPlace& place,
                const StepShape& shape, const void* kernel)
      : StepChain(place, shape), numbers_(shape.steps) {
    std::iota(numbers_.begin(), numbers_.end(), 0);
    arguments_.resize(2 * numbers_.size());
    ways::Steps steps = {{}, numbers_};
    for (int i = 0; i < shape.steps; ++i) {
      arguments_[2 * i] = const_cast<StepData*>(&data());
      arguments_[2 * i + 1] = &numbers_[i];
      steps.kinds.push_back({{kernel, dim3(shape.blocks), dim3(shape.threads),
                              &arguments_[2 * i]}});
    }
    way_ = make(place.pool, {place.gpu}, steps);
  }

 private:
  double run_all() override { return way_->run(shape().steps).total; }

  std::vector<int> numbers_;
  std::vector<void*> arguments_;
  std::unique_ptr<Way> way_;
};

// All blocks are one cluster.
cudaError_t launch_cluster(const KernelCall& call, cudaStream_t stream) {
  LaunchAttributes attributes;
  attributes.cluster = static_cast<int>(call.grid.x);
  return launch(call, stream, attributes);
}
constexpr LaunchApi kClusterApi = {"cudaLaunchKernelExC", launch_cluster};

/// One kernel of all steps, which is one step of its way.
template <class Between>
class FusedSteps : public StepChain {
 public:
  FusedSteps(const LaunchApi& api, const StepPlace& place,
             const StepShape& shape, typename Between::Argument argument)
      : StepChain(place, shape),
        argument_(argument),
        arguments_{const_cast<StepData*>(&data()), &argument_},
        way_(api, place.pool,
             ways::all_of({reinterpret_cast<const void*>(steps_kernel<Between>),
                           dim3(shape.blocks), dim3(shape.threads),
                           arguments_})) {}

 private:
  double run_all() override { return way_.run(1).total; }

  typename Between::Argument argument_;
  void* arguments_[2];
  ways::StreamWay way_;
};

using Made = std::unique_ptr<StepChain>;

template <ways::Maker kMake, auto kKernel>
Made make_launched(const StepPlace& place, const StepShape& shape) {
  return std::make_unique<LaunchedSteps>(
      kMake, place, shape, reinterpret_cast<const void*>(kKernel));
}
// relaunching_step() is in another unit, so no constant.
Made make_device_graph_steps(const StepPlace& place, const StepShape& shape) {
  return std::make_unique<LaunchedSteps>(make_device_graph, place, shape,
                                         relaunching_step());
}

// All blocks at once.
template <class Between>
Made make_resident(const StepPlace& place, const StepShape& shape) {
  ways::require_cooperative({place.gpu});
  return std::make_unique<FusedSteps<Between>>(kCooperativeApi, place, shape,
                                               typename Between::Argument{});
}

/// Keeps the barrier's memory.
class PeerGridSteps : public FusedSteps<Meeting<peer_grid::Barrier>> {
 public:
  PeerGridSteps(const StepPlace& place, const StepShape& shape,
                peer_grid::BarrierSet set)
      : FusedSteps(kCooperativeApi, place, shape,
                   set.for_blocks(shape.blocks).at(0)),
        set_(std::move(set)) {}

 private:
  void check() const override {
    if (const auto failure = set_.failure()) throw std::runtime_error(*failure);
  }
  peer_grid::BarrierSet set_;
};

Made make_peer_grid(const StepPlace& place, const StepShape& shape) {
  ways::require_cooperative({place.gpu});
  try {
    return std::make_unique<PeerGridSteps>(
        place, shape, peer_grid::BarrierSet({place.gpu.index}));
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
}

Made make_cluster(const StepPlace& place, const StepShape& shape) {
  constexpr int kMostBlocks = 8;  // of a cluster, on every GPU that has them
  if (shape.blocks > kMostBlocks) {
    throw CannotMeasure("does-not-fit",
                        "a cluster has at most 8 blocks everywhere");
  }
  const auto* kernel = reinterpret_cast<const void*>(steps_kernel<ClusterSync>);
  if (code_version(kernel) < 90) {
    throw CannotMeasure("no-clusters",
                        "no clusters before compute capability 9.0");
  }
  return std::make_unique<FusedSteps<ClusterSync>>(kClusterApi, place, shape,
                                                   Nothing{});
}

}  // namespace

StepChain::StepChain(const StepPlace& place, const StepShape& shape)
    : shape_(shape), memory_(place.memory) {
  data_ = {memory_.words.get(), memory_.flags.get(), memory_.failed.get(),
           shape.cycles,        shape.late,          shape.steps,
           shape.reads};
}

double StepChain::run() {
  const std::vector<unsigned> first(shape_.blocks, 1u);
  memory_.words.set_to_zero();
  memory_.flags.set_to_zero();
  *memory_.failed.get() = 0;
  CUDA_CHECK(cudaMemcpy(memory_.words.get(), first.data(),
                        first.size() * sizeof first[0],
                        cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
  const double taken = run_all();
  check();
  if (*memory_.failed.get() != 0) {
    throw std::runtime_error("a block has waited for seconds");
  }
  if (!shape_.reads) return taken;
  std::vector<unsigned> last(shape_.blocks);
  CUDA_CHECK(
      cudaMemcpy(last.data(),
                 memory_.words.get() +
                     static_cast<std::size_t>(shape_.steps) * shape_.blocks,
                 last.size() * sizeof last[0], cudaMemcpyDeviceToHost));
  const auto expected = static_cast<unsigned>(shape_.steps + 1);
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
  static const std::vector<StepWay> all = {
      {"traditional_launch", "",
       make_launched<make_on_one_gpu<StreamWay, kTraditionalApi>, step_kernel>},
      {"graph_launch", "",
       make_launched<make_on_one_gpu<GraphWay, kTraditionalApi>, step_kernel>},
      {"programmatic_launch", "",
       make_launched<make_on_one_gpu<StreamWay, kProgrammaticApi>,
                     programmatic_step<true>>},
      {"graph_programmatic", "",
       make_launched<make_programmatic_graph, programmatic_step<true>>},
      {"device_graph_launch", "", make_device_graph_steps},
      {"launch_and_wait", "a launch and cudaStreamSynchronize for each step",
       make_launched<make_on_one_gpu<WaitedWay, kTraditionalApi>, step_kernel>},
      {"steps_grid_sync", "one kernel, grid_group::sync() after each step",
       make_resident<Meeting<GridBarrier>>},
      {"steps_peer_grid_sync", "one kernel, this suite's barrier on one GPU",
       make_peer_grid},
      {"steps_counter", "one kernel, a counter a step that all blocks poll",
       make_resident<Counter>},
      {"steps_tile_flags",
       "one kernel; a block waits for the flag of the one that it reads from",
       make_resident<TileFlags>, true},
      {"steps_data_flag",
       "one kernel; a block polls the word that it reads, without a fence",
       make_resident<DataFlag>, true},
      {"steps_cluster_sync", "one kernel of one cluster, cluster barrier",
       make_cluster}};
  return all;
}

const std::vector<StepWay>& unordered_step_ways() {
  using namespace ways;
  static const std::vector<StepWay> all = {
      {"programmatic launch without wait", "",
       make_launched<make_on_one_gpu<StreamWay, kProgrammaticApi>,
                     programmatic_step<false>>},
      {"one kernel without barrier", "", make_resident<InKernel>}};
  return all;
}

}  // namespace syncbench::implicit_barrier
