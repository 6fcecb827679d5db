#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <limits>
#include <string>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "reduction/array_sums.hpp"

namespace syncbench {
namespace {

// CUB before 2.2 counts elements with an int.
#if CUB_VERSION < 200200
using Count = int;
#else
using Count = long long;
#endif

template <class T>
class CubSum : public ArraySum {
 public:
  CubSum(const Gpu& gpu, long long most)
      : memory_(gpu.index, bytes_for(gpu, most)) {}
  void spoil() override { memory_.spoil(); }
  std::string refuses(long long count) const override {
    return count <= kMost ? "" : "this toolkit's CUB sums fewer than 2^31";
  }
  void enqueue(const void* data, long long count, void* sum,
               cudaStream_t stream) override {
    std::size_t bytes = memory_.size();
    CUDA_CHECK(cub::DeviceReduce::Sum(
        memory_.get(), bytes, static_cast<const T*>(data), static_cast<T*>(sum),
        static_cast<Count>(count), stream));
  }

 private:
  static constexpr long long kMost = std::numeric_limits<Count>::max();

  static std::size_t bytes_for(const Gpu& gpu, long long most) {
    const DeviceGuard guard(gpu.index);
    std::size_t bytes = 0;
    CUDA_CHECK(cub::DeviceReduce::Sum(
        nullptr, bytes, static_cast<const T*>(nullptr),
        static_cast<T*>(nullptr), static_cast<Count>(std::min(most, kMost))));
    return bytes;
  }

  DeviceBuffer<char> memory_;
};

}  // namespace

std::unique_ptr<ArraySum> make_cub_sum(Element element, Gpu gpu,
                                       long long most) {
  return make_for<ArraySum, CubSum>(element, gpu, most);
}

}  // namespace syncbench
