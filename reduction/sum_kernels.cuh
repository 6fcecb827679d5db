// The two kernels of a sum whose barrier is the end of the first (study, Figure
// 14), and how kernels that sum are launched.
#pragma once

#include <type_traits>

#include "common/full_sm.cuh"
#include "common/launch.hpp"
#include "reduction/array_sum.cuh"
#include "reduction/sum_grid.hpp"

namespace syncbench {

/// partials[b]: the share of block b.
template <class T>
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    partial_sums(const T* data, long long count, T* partials) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const T sum = sum_of_block(share_of_thread(data, count));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// One block. A programmatic launch may start it before the kernel that writes
/// the partial sums has ended; it then waits for that end.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    sum_partials(const T* partials, int count, T* sum) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const T total = sum_of_partials(partials, count);
  if (threadIdx.x == 0) *sum = total;
}

/// Launches `kernel` with the arguments `given`, which are of its types.
template <class... Arguments>
cudaError_t launch_sum(void (*kernel)(Arguments...), int blocks, int threads,
                       cudaStream_t stream, const LaunchAttributes& attributes,
                       std::common_type_t<Arguments>... given) {
  void* arguments[] = {&given...};
  KernelCall call;
  call.kernel = reinterpret_cast<const void*>(kernel);
  call.grid = dim3(blocks);
  call.block = dim3(threads);
  call.arguments = arguments;
  return launch(call, stream, attributes);
}

}  // namespace syncbench
