#include <stdexcept>
#include <string>

#include "common/check.hpp"
#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/step_work.cuh"
#include "implicit_barrier/unit_work.cuh"

namespace syncbench::implicit_barrier {
namespace {

__device__ Relaunches relaunches;

// The launch takes effect when the graph has ended, so it may come first.
__device__ void launch_own_graph() {
#if CUDART_VERSION >= 12000
  if (blockIdx.x != 0 || threadIdx.x != 0 || relaunches.left == 0) return;
  --relaunches.left;
  const cudaError_t error =
      cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  if (error != cudaSuccess) relaunches.error = error;
#endif
}

__global__ void relaunching_null() { launch_own_graph(); }

__global__ void relaunching_spin(int units, long long cycles) {
  launch_own_graph();
  spin_units(units, cycles);
}

__global__ void relaunching_sleep(int units, long long sleeps) {
  launch_own_graph();
  sleep_units(units, sleeps);
}

__global__ void relaunching_link(Links links) {
  launch_own_graph();
  be_link(links);
}

__global__ void relaunching_step_kernel(StepData data) {
  launch_own_graph();
  const unsigned step = data.flags[blockIdx.x];
  do_step(data, static_cast<int>(step), false);
  __syncthreads();
  if (threadIdx.x == 0) data.flags[blockIdx.x] = step + 1;
}

}  // namespace

const UnitKernels& relaunching_kernels() {
  static const UnitKernels kernels = {
      address_of(relaunching_null), address_of(relaunching_spin),
      address_of(relaunching_sleep), nullptr, address_of(relaunching_link)};
  return kernels;
}

const void* relaunching_step() {
  return reinterpret_cast<const void*>(relaunching_step_kernel);
}

void launch_again(int times) {
  const Relaunches told = {times, cudaSuccess};
  CUDA_CHECK(cudaMemcpyToSymbol(relaunches, &told, sizeof told));
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
}

void check_launched_again() {
  Relaunches now = {};
  CUDA_CHECK(cudaMemcpyFromSymbol(&now, relaunches, sizeof now));
  check_cuda(static_cast<cudaError_t>(now.error), "cudaGraphLaunch in a kernel",
             __FILE__, __LINE__);
  if (now.left == 0) return;
  throw std::runtime_error("a graph has not launched itself " +
                           std::to_string(now.left) + " times");
}

}  // namespace syncbench::implicit_barrier
