#include "common/device_clock.cuh"
#include "explicit_barrier/method_entry.hpp"
#include "reduction/shared_sums.hpp"
#include "reduction/sum_kernels.cuh"

namespace syncbench::reduction {

using explicit_barrier::WarpRecord;

namespace {

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
    values[i] = shared_value_at(i);
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
__global__ void __launch_bounds__(kMostSharedThreads)
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
  for (unsigned step = kMostSharedThreads / 2; step >= 32; step /= 2) {
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
          address_of(&sum_kernel<Type, kMostSharedThreads>)};
}

}  // namespace

std::vector<SharedSumKernels> shared_sum_kernels() {
  return {kernels_of<double>("double"), kernels_of<float>("float"),
          kernels_of<int>("int")};
}

}  // namespace syncbench::reduction
