#include <stdexcept>
#include <string>

#include "common/check.hpp"
#include "common/errors.hpp"
#include "common/graphs.hpp"
#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/step_work.cuh"
#include "implicit_barrier/unit_work.cuh"

namespace syncbench::implicit_barrier {
namespace {

__device__ Relaunches relaunches;

/// Of kernels that launch their graph again. The launch takes effect when the
/// graph has ended, so it may come first.
struct Relaunching {
  static __device__ void begin() {
#if CUDART_VERSION >= 12000
    if (blockIdx.x != 0 || threadIdx.x != 0 || relaunches.left == 0) return;
    --relaunches.left;
    const cudaError_t error =
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
    if (error != cudaSuccess) relaunches.error = error;
#endif
  }
};

__global__ void relaunching_step_kernel(StepData data) {
  Relaunching::begin();
  const unsigned step = data.flags[blockIdx.x];
  do_step(data, static_cast<int>(step), false);
  __syncthreads();
  if (threadIdx.x == 0) data.flags[blockIdx.x] = step + 1;
}

/// A graph of one kernel, launched once; its kernel launches it again for each
/// further step (a tail launch), so nothing queues up behind it.
class DeviceGraphWay : public ways::QueuedWay {
 public:
  DeviceGraphWay(const ways::StreamPool& pool, const ways::Steps& steps)
      : QueuedWay(pool, steps), graph_(device_graph(Stream(pool.device(0)))) {
    graph_.upload(pool.stream(0));
    CUDA_CHECK(cudaStreamSynchronize(pool.stream(0)));
  }

  ways::LaunchTimes run(int count) override {
    const ways::LaunchTimes times = QueuedWay::run(count);
    Relaunches now = {};
    CUDA_CHECK(cudaMemcpyFromSymbol(&now, relaunches, sizeof now));
    check_cuda(static_cast<cudaError_t>(now.error),
               "cudaGraphLaunch in a kernel", __FILE__, __LINE__);
    if (now.left == 0) return times;
    throw std::runtime_error("a graph has not launched itself " +
                             std::to_string(now.left) + " times");
  }

 private:
  // From here on the kernel of the next graph launches it so many times more on
  // the current GPU.
  void prepare(int count) override {
    const Relaunches told = {count - 1, cudaSuccess};
    CUDA_CHECK(cudaMemcpyToSymbol(relaunches, &told, sizeof told));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
  }

  void launch(int) override { graph_.launch(pool().stream(0)); }

  GraphExec device_graph(const Stream& capturing) const {
    const KernelCall& call = steps().kinds[0][0];
    return GraphExec(
        Graph(capturing.get(),
              [&] { CUDA_CHECK(launch_traditional(call, capturing.get())); }),
        GraphExec::kLaunchedByKernels);
  }

  GraphExec graph_;
};

}  // namespace

const UnitKernels& relaunching_kernels() {
  static const UnitKernels kernels = kernels_behind<Relaunching>(nullptr);
  return kernels;
}

const void* relaunching_step() { return address_of(relaunching_step_kernel); }

std::unique_ptr<ways::Way> make_device_graph(const ways::StreamPool& pool,
                                             const std::vector<Gpu>&,
                                             const ways::Steps& steps) {
  if (CUDART_VERSION < 12000) {
    throw CannotMeasure("toolkit", "kernels launch graphs from CUDA 12 on");
  }
  return std::make_unique<DeviceGraphWay>(pool, steps);
}

}  // namespace syncbench::implicit_barrier
