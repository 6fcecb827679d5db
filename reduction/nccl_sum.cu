#include <memory>

#include "common/errors.hpp"
#include "common/nccl_calls.hpp"
#include "reduction/local_sums.cuh"

namespace syncbench::reduction {
namespace {

template <class T>
constexpr ncclDataType_t nccl_type() {
  if constexpr (std::is_same_v<T, int>) return ncclInt;
  if constexpr (std::is_same_v<T, float>) return ncclFloat;
  return ncclDouble;
}

/// Each GPU adds up its part as `implicit` does; NCCL adds up their sums.
template <class T>
class NcclSum : public LocalSums<T> {
 public:
  explicit NcclSum(const std::vector<Gpu>& gpus)
      : LocalSums<T>(gpus), results_(gpus.size()) {
    std::vector<ncclComm_t> handles(gpus.size());
    const ncclResult_t result = ncclCommInitAll(handles.data(), this->gpus(),
                                                device_numbers(gpus).data());
    if (result != ncclSuccess)
      throw CannotMeasure("nccl", ncclGetErrorString(result));
    for (const ncclComm_t handle : handles) communicators_.emplace_back(handle);
    for (const Gpu& gpu : gpus) sums_.emplace_back(gpu.index, 1);
  }

  double time_ns(const std::vector<Part>& parts) override {
    const int blocks = this->grid().blocks(this->bytes(parts));
    const double time = this->threads().run([&](int rank) {
      CallResult result;
      const cudaStream_t stream = this->stream(rank);
      T* sum = sums_[rank].get();
      result.note(launch_sum(partial_sums<T>, blocks, kSumThreads, stream, {},
                             static_cast<const T*>(parts[rank].data),
                             parts[rank].count, this->partials(rank)),
                  "cudaLaunchKernelExC");
      result.note(launch_sum(sum_partials<T>, 1, kSumThreads, stream, {},
                             this->partials(rank), blocks, sum),
                  "cudaLaunchKernelExC");
      results_[rank] =
          ncclReduce(sum, this->result(), 1, nccl_type<T>(), ncclSum, 0,
                     communicators_[rank].get(), stream);
      result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      return result;
    });
    for (const ncclResult_t result : results_) check_nccl(result, "ncclReduce");
    return time;
  }

 private:
  struct Destroy {
    void operator()(ncclComm_t handle) const {
      keep_nccl_failure(ncclCommDestroy(handle), "ncclCommDestroy");
    }
  };
  std::vector<DeviceBuffer<T>> sums_;
  std::vector<std::unique_ptr<ncclComm, Destroy>> communicators_;
  std::vector<ncclResult_t> results_;
};

}  // namespace

std::unique_ptr<NodeSum> make_nccl_sum(Element element, std::vector<Gpu> gpus) {
  return make_for<NodeSum, NcclSum, std::vector<Gpu>>(element, gpus);
}

}  // namespace syncbench::reduction
