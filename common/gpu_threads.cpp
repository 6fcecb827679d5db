#include "common/gpu_threads.hpp"

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

void GpuThreads::check(int threads, const std::vector<CallResult>& results,
                       const std::vector<char>& pinned) const {
  if (threads != static_cast<int>(gpus_.size())) {
    throw std::runtime_error("OpenMP gave " + std::to_string(threads) +
                             " threads for " + std::to_string(gpus_.size()) +
                             " GPUs (OMP_THREAD_LIMIT?)");
  }
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    const std::string gpu = "GPU " + std::to_string(gpus_[rank].index);
    const CallResult& result = results[rank];
    check_cuda(result.code, (std::string(result.call) + " on " + gpu).c_str(),
               __FILE__, __LINE__);
    if (!pinned[rank]) {
      throw std::runtime_error("cannot pin the thread of " + gpu + " to CPU " +
                               std::to_string(gpus_[rank].cpu));
    }
  }
}

}  // namespace syncbench
