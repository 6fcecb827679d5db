#include "common/gpu_threads.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include "common/check.hpp"
#include "common/cpus.hpp"

namespace syncbench {

bool GpuThreads::pin(int cpu) {
  try {
    pin_this_thread(cpu);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool GpuThreads::succeeded(const std::vector<CallResult>& results) {
  return std::all_of(
      results.begin(), results.end(),
      [](const CallResult& result) { return result.code == cudaSuccess; });
}

void GpuThreads::check(int threads, const std::vector<CallResult>& results,
                       const std::vector<char>& pinned) const {
  if (threads != static_cast<int>(gpus_.size())) {
    throw std::runtime_error("OpenMP gave " + std::to_string(threads) +
                             " threads for " + std::to_string(gpus_.size()) +
                             " GPUs (OMP_THREAD_LIMIT?)");
  }
  const CallResult* first = nullptr;
  for (const CallResult& result : results) {
    if (result.code == cudaSuccess) continue;
    if (first == nullptr || result.when < first->when) first = &result;
  }
  const auto gpu = [this](std::size_t rank) {
    return "GPU " + std::to_string(gpus_[rank].index);
  };
  if (first != nullptr) {
    const std::string call =
        std::string(first->call) + " on " + gpu(first - results.data());
    throw_cuda_error(first->code, call.c_str(), __FILE__, __LINE__);
  }
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    if (pinned[rank]) continue;
    throw std::runtime_error("cannot pin the thread of " + gpu(rank) +
                             " to CPU " + std::to_string(gpus_[rank].cpu));
  }
}

}  // namespace syncbench
