#include <cmath>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "reduction/test_data.hpp"

namespace syncbench::reduction {
namespace {

constexpr int kBlocks = 1024, kThreads = 256;

/// Mixes all bits of `index` into all bits of the result (SplitMix64).
__device__ unsigned long long hash_of(unsigned long long index) {
  index += 0x9e3779b97f4a7c15;
  index = (index ^ (index >> 30)) * 0xbf58476d1ce4e5b9;
  index = (index ^ (index >> 27)) * 0x94d049bb133111eb;
  return index ^ (index >> 31);
}

template <class T>
__device__ T element_at(unsigned long long index) {
  const unsigned long long bits = hash_of(index);
  if constexpr (sizeof(T) == sizeof(double)) {
    return static_cast<T>(bits >> 11) * 0x1p-53;
  } else {
    return static_cast<T>(bits >> 40) * 0x1p-24f;
  }
}
template <>
__device__ int element_at<int>(unsigned long long index) {
  return 2 * static_cast<int>(hash_of(index) >> 56) - 255;
}

template <class T>
__global__ void fill_kernel(T* data, long long first, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i =
           static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    data[i] = element_at<T>(first + i);
  }
}

/// Thread t of block (x, y) adds up every so many elements of array y.
template <class T>
__global__ void reference_kernel(const T* data, long long count,
                                 DoubleDouble* of_blocks) {
  __shared__ DoubleDouble of_threads[kThreads];
  const T* array = data + blockIdx.y * count;
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  DoubleDouble sum;
  for (long long i =
           static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += step) {
    sum = sum + DoubleDouble{static_cast<double>(array[i]), 0};
  }
  of_threads[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < kThreads; ++i) sum = sum + of_threads[i];
  of_blocks[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

}  // namespace

void fill_array(Element element, int device, void* data, long long first,
                long long count) {
  const DeviceGuard guard(device);
  with_type(element, [&](auto zero) {
    fill_kernel<<<kBlocks, kThreads>>>(static_cast<decltype(zero)*>(data),
                                       first, count);
  });
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

std::vector<DoubleDouble> reference_sums(Element element, int device,
                                         const void* data, long long count,
                                         int arrays) {
  const DeviceGuard guard(device);
  const int blocks = (kBlocks - 1) / arrays + 1;  // of each array
  DeviceBuffer<DoubleDouble> of_blocks(
      device, static_cast<std::size_t>(blocks) * arrays);
  with_type(element, [&](auto zero) {
    reference_kernel<<<dim3(blocks, arrays), kThreads>>>(
        static_cast<const decltype(zero)*>(data), count, of_blocks.get());
  });
  CUDA_CHECK(cudaGetLastError());
  const std::vector<DoubleDouble> shares = of_blocks.read();
  std::vector<DoubleDouble> sums(arrays);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sums[i / blocks] = sums[i / blocks] + shares[i];
  }
  return sums;
}

bool is_right(const ElementType& type, const void* sum, long long count,
              int sm_count, const DoubleDouble& reference) {
  const double value = with_type(type.element, [&](auto host) {
    CUDA_CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    return static_cast<double>(host);
  });
  const double depth = static_cast<double>(count / (512 * sm_count) + 64);
  const DoubleDouble error = reference + DoubleDouble{-value, 0};
  return std::abs(error.high) <=
         4 * std::sqrt(depth) * type.roundoff * reference.high;
}

}  // namespace syncbench::reduction
