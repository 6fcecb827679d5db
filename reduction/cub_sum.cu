#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <limits>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "reduction/array_sums.hpp"

namespace syncbench::reduction {
namespace {

constexpr long long kMostInt = std::numeric_limits<int>::max();

// CUB counts with the type of the count, here an int where it fits; before CUB
// 2.2 it has nothing else.
template <class T>
cudaError_t sum(void* memory, std::size_t& bytes, const T* data, T* result,
                long long count, cudaStream_t stream) {
#if CUB_VERSION >= 200200
  if (count > kMostInt) {
    return cub::DeviceReduce::Sum(memory, bytes, data, result, count, stream);
  }
#endif
  return cub::DeviceReduce::Sum(memory, bytes, data, result,
                                static_cast<int>(count), stream);
}

template <class T>
class CubSum : public ArraySum {
 public:
  CubSum(const Gpu& gpu, long long most)
      : memory_(gpu.index, bytes_for(gpu, most)) {}

  void spoil() override { memory_.spoil(); }
  Remark refuses(long long count) const override {
    if (CUB_VERSION >= 200200 || count <= kMostInt) return {};
    return {"toolkit", "this toolkit's CUB sums fewer than 2^31"};
  }
  void enqueue(const void* data, long long count, void* result,
               cudaStream_t stream) override {
    std::size_t bytes = memory_.size();
    check(sum(memory_.get(), bytes, static_cast<const T*>(data),
              static_cast<T*>(result), count, stream));
  }

 private:
  static void check(cudaError_t code) {
    check_cuda(code, "cub::DeviceReduce::Sum", __FILE__, __LINE__);
  }

  // What either kind of count needs.
  static std::size_t bytes_for(const Gpu& gpu, long long most) {
    const DeviceGuard guard(gpu.index);
    std::size_t largest = 1;
    for (const long long count : {std::min(most, kMostInt), most}) {
      if (CUB_VERSION < 200200 && count > kMostInt) continue;
      std::size_t bytes = 0;
      check(sum<T>(nullptr, bytes, nullptr, nullptr, count, nullptr));
      largest = std::max(largest, bytes);
    }
    return largest;
  }

  DeviceBuffer<char> memory_;
};

}  // namespace

std::unique_ptr<ArraySum> make_cub_sum(Element element, Gpu gpu,
                                       long long most) {
  return make_for<ArraySum, CubSum>(element, gpu, most);
}

}  // namespace syncbench::reduction
