#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "common/device_clock.cuh"
#include "common/launch.hpp"
#include "explicit_barrier/sm_windows.hpp"
#include "reduction/shared_sums.hpp"
#include "reduction/sum_kernels.cuh"

namespace syncbench::reduction {

using explicit_barrier::check_order;

namespace {

constexpr int kMostThreads = 1024;

// Small and whole, so that all sums are exact in each of the types.
__host__ __device__ constexpr int value_at(unsigned index) {
  return static_cast<int>(index % 8 + 1);
}

/// The same pointer, ready in a register: otherwise some compilers make it anew
/// wherever the time is taken. They go on to know that it is to shared memory.
template <class Type>
__device__ __forceinline__ Type* made_before(Type* values) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(values));
  asm volatile("" : "+r"(address));
  return static_cast<Type*>(__cvta_shared_to_generic(address));
}

template <class Type>
__device__ const Type* fill(Type* values, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    values[i] = value_at(i);
  }
  __syncthreads();
  return made_before(values);
}

/// The loop of Figure 10, with its two additions a value. Four values a round,
/// loaded before they are added one by one, as nvcc compiles that loop with int
/// indices. Written out, it is the same with every compiler and needs no
/// division for the number of rounds.
template <class Type>
__device__ __forceinline__ Type strided_sum(Type sum, const Type* values,
                                            unsigned count, unsigned first,
                                            unsigned stride) {
  unsigned i = first;
#pragma unroll 1
  while (i + 3 * stride < count) {
    const Type a = values[i], b = values[i + stride];
    const Type c = values[i + 2 * stride], d = values[i + 3 * stride];
    sum += a;
    sum += b;
    sum += c;
    sum += d;
    i += 4 * stride;
  }
#pragma unroll 1
  while (i < count) {
    sum += values[i];
    i += stride;
  }
  return sum;
}

/// `stride` is the number of threads; the compiler is not to know it.
template <class Type>
__global__ void __launch_bounds__(kMostThreads)
    loop_kernel(unsigned count, unsigned stride, int passes,
                WarpRecord* records, double* sums) {
  __shared__ Type room[kMostSharedBytes / sizeof(Type)];
  const Type* values = fill(room, count);
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));  // else it may be looked up in each pass
  Type sum = 0;
  WarpRecord record = {};
#pragma unroll 1
  for (int pass = 0; pass <= passes; ++pass) {
    asm volatile("" : "+r"(pass));  // else the loop may be split
    if (pass == 1) record.start = read_sm_clock();
    sum = strided_sum(sum, values, count, thread, stride);
  }
  record.end = read_sm_clock();
  sums[threadIdx.x] = static_cast<double>(sum);
  if (threadIdx.x % 32 == 0) records[threadIdx.x / 32] = record;
}

/// The first 32 threads have the sums of all those that are 32, 64, ... behind
/// them: five steps with a barrier each.
template <class Type>
__device__ __forceinline__ Type block_steps(Type sum, Type* partial) {
#pragma unroll
  for (unsigned step = kMostThreads / 2; step >= 32; step /= 2) {
    if (threadIdx.x < 2 * step) partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < step) sum += partial[threadIdx.x + step];
  }
  return sum;
}

template <class Type, int kThreads>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(unsigned count, unsigned stride, int trips, double* result) {
  __shared__ Type room[kMostSharedBytes / sizeof(Type)];
  __shared__ Type room_of_partial[kThreads];
  const Type* values = fill(room, count);
  Type* partial = made_before(room_of_partial);
  long long start = 0, end = 0;
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
    __syncthreads();
    asm volatile("" : "+r"(count));  // so that no trip knows another's loads
    wait_for_deferred(static_cast<int>(count));
    start = read_sm_clock();
    Type sum = strided_sum(Type(0), values, count, threadIdx.x, stride);
    if constexpr (kThreads == 32) sum = sum_of_warp(sum);
    if constexpr (kThreads > 32) {
      sum = block_steps(sum, partial);
      if (threadIdx.x < 32) sum = sum_of_warp(sum);
    }
    if (threadIdx.x == 0) partial[0] = sum;
    end = read_sm_clock();
  }
  if (threadIdx.x == 0) {
    result[0] = static_cast<double>(partial[0]);
    result[1] = static_cast<double>(end - start);
  }
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

template <class Type>
SharedSumKernels kernels_of(const char* type) {
  return {type,
          sizeof(Type),
          address_of(&loop_kernel<Type>),
          address_of(&sum_kernel<Type, 1>),
          address_of(&sum_kernel<Type, 32>),
          address_of(&sum_kernel<Type, kMostThreads>)};
}

}  // namespace

std::vector<SharedSumKernels> shared_sum_kernels() {
  return {kernels_of<double>("double"), kernels_of<float>("float"),
          kernels_of<int>("int")};
}

SharedSums::SharedSums(const SharedSumKernels& kernels, int device)
    : kernels_(kernels),
      stream_(device),
      records_(device, kMostThreads / 32),
      sums_(device, kMostThreads),
      result_(device, 2) {
  records_.set_to_zero();
  sums_.set_to_zero();
}

double SharedSums::loop_cycles(int threads, int bytes, int passes) {
  unsigned count = bytes / value_bytes(), stride = threads;
  WarpRecord* records = records_.get();
  double* sums = sums_.get();
  void* arguments[] = {&count, &stride, &passes, &records, &sums};
  launch(kernels_.loop, threads, arguments);
  const std::vector<double> found = sums_.read();
  check(std::accumulate(found.begin(), found.begin() + threads, 0.), threads,
        bytes, passes + 1);
  const std::vector<WarpRecord> warps = records_.read();
  long long first = warps[0].start, last = warps[0].end;
  for (int warp = 0; warp < (threads + 31) / 32; ++warp) {
    check_order(warps[warp].start, warps[warp].end);
    first = std::min(first, warps[warp].start);
    last = std::max(last, warps[warp].end);
  }
  return static_cast<double>(last - first);
}

double SharedSums::sum_cycles(int threads, int bytes) {
  unsigned count = bytes / value_bytes(), stride = threads;
  int trips = 4;
  double* result = result_.get();
  void* arguments[] = {&count, &stride, &trips, &result};
  launch(threads == 1    ? kernels_.thread
         : threads == 32 ? kernels_.warp
                         : kernels_.block,
         threads, arguments);
  const std::vector<double> found = result_.read();
  check(found[0], threads, bytes, 1);
  if (found[1] > 0) return found[1];
  throw std::runtime_error("a sum took " + std::to_string(found[1]) +
                           " cycles, which cannot be");
}

void SharedSums::launch(const void* kernel, int threads, void** arguments) {
  CUDA_CHECK(launch_traditional({kernel, dim3(1), dim3(threads), arguments},
                                stream_.get()));
  CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
}

void SharedSums::check(double sum, int threads, int bytes, int times) const {
  double right = 0;
  for (int i = 0; i < bytes / value_bytes(); ++i) right += value_at(i);
  right *= times;
  if (sum == right) return;
  throw std::runtime_error(
      "the sum of " + std::to_string(bytes) + " bytes of " + type() + " by " +
      std::to_string(threads) + " threads is " + std::to_string(sum) +
      ", which should be " + std::to_string(right));
}

}  // namespace syncbench::reduction
