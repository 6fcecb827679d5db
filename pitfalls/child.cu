#include <algorithm>
#include <cstdio>

#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "common/provenance.hpp"
#include "pitfalls/child.cuh"

namespace syncbench::pitfalls {
namespace {

constexpr long long kWatchdogLimit = 2 * kLongestSpin;

__global__ void look(unsigned* answer) { *answer += 42; }

__global__ void watch(const volatile int* over) {
  const long long start = read_global_timer();
  while (*over == 0) {
    if (read_global_timer() - start > kWatchdogLimit) __trap();
  }
}

// Throws unless each GPU runs a kernel and gives the right answer.
void look_at(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    DeviceBuffer<unsigned> answer(gpu.index, 1);
    answer.set_to_zero();
    look<<<1, 1>>>(answer.get());
    CUDA_CHECK(cudaGetLastError());
    if (answer.read()[0] != 42) {
      throw std::runtime_error("GPU " + std::to_string(gpu.index) +
                               " gives a wrong answer");
    }
  }
}

void run_case(Child& child, const Task& task) {
  for (const Case& one : all_cases()) {
    if (one.name == task.name) return one.run(child, task.form);
  }
  throw UsageError("no case " + quoted(task.name));
}

}  // namespace

// Where it throws, the destructor is called: the other constructor is done.
Watchdog::Watchdog(const std::vector<int>& devices)
    : Watchdog(make_streams(devices)) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceGuard guard(devices[i]);
    watch<<<1, 1, 0, streams_[i].get()>>>(over_.get());
    CUDA_CHECK(cudaGetLastError());
  }
}

Watchdog::~Watchdog() {
  *static_cast<volatile int*>(over_.get()) = 1;
  for (const Stream& stream : streams_) cudaStreamSynchronize(stream.get());
}

void Child::require_architecture(int first) const {
  for (const Gpu& gpu : gpus_) {
    if (gpu.major * 10 + gpu.minor < first) {
      throw CannotMeasure(
          "architecture",
          "needs compute capability " + std::to_string(first / 10) + ".0");
    }
  }
}

void Child::require_peer_access() const {
  if (gpus_.size() > 1 && !enable_peer_access(devices())) {
    throw CannotMeasure("no-peer-access", "no peer access between these GPUs");
  }
}

Watchdog Child::launch() {
  tell(kLaunchLine);
  // Where launches wait for their kernels, they would wait for it.
  return Watchdog(launches_wait_for_kernels() ? std::vector<int>() : devices());
}

void Child::tell(const char* word, const Cells& cells) {
  std::string line = word;
  for (const std::string& cell : cells) line += "\t" + cell;
  out_.line(line);
}

void run_task(const Task& task, const Options& options, LineWriter& out) {
  std::vector<Gpu> gpus = find_gpus();
  const std::size_t needed = std::max(task.gpus, task.gpus_to_look_at);
  if (gpus.size() < needed) {
    throw NoDeviceError(std::to_string(gpus.size()) + " of " +
                        std::to_string(needed) + " GPUs are left");
  }
  gpus.resize(needed);
  prepare_gpus(gpus);
  require_code_for(gpus);
  look_at(gpus);
  gpus.resize(task.gpus);
  Child child(options, out, gpus);
  child.tell(kReadyLine);
  if (task.name.empty()) return;
  try {
    run_case(child, task);
  } catch (const CannotMeasure& error) {
    child.tell(kSkippedLine, {error.tag, error.what()});
  } catch (const CudaError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    child.tell(kErrorLine, {cudaGetErrorName(error.code())});
  }
}

}  // namespace syncbench::pitfalls
