#include <algorithm>
#include <cstdio>

#include "common/check.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/options.hpp"
#include "common/provenance.hpp"
#include "pitfalls/child.hpp"
#include "pitfalls/isolation.hpp"
#include "pitfalls/spin.cuh"
#include "pitfalls/task.hpp"

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

const Case& find_case(const std::vector<Case>& cases, const std::string& name) {
  for (const Case& one : cases) {
    if (one.name == name) return one;
  }
  throw UsageError("no case " + quoted(name));
}

}  // namespace

Watchdog::Watchdog(const std::vector<int>& devices)
    : streams_(make_streams(devices)) {
  *over_.get() = 0;
  try {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const DeviceGuard guard(devices[i]);
      watch<<<1, 1, 0, streams_[i].get()>>>(over_.get());
      CUDA_CHECK(cudaGetLastError());
    }
  } catch (...) {  // no destructor is called
    end();
    throw;
  }
}

Watchdog::~Watchdog() { end(); }

void Watchdog::end() {
  *static_cast<volatile int*>(over_.get()) = 1;
  for (const Stream& stream : streams_) cudaStreamSynchronize(stream.get());
}

Child::Child(const Options& options, LineWriter& out, std::vector<Gpu> gpus)
    : out_(out), gpus_(std::move(gpus)), tries_(options.samples) {}

void Child::require_architecture(int first) const {
  for (const Gpu& gpu : gpus_) {
    if (gpu.major * 10 + gpu.minor < first) {
      throw CannotMeasure(
          "architecture",
          "needs compute capability " + std::to_string(first / 10) + ".0");
    }
  }
}

Watchdog Child::launch() {
  out_.line(kLaunchLine);
  // Where launches wait for their kernels, they would wait for it.
  return Watchdog(launches_wait_for_kernels() ? std::vector<int>() : devices());
}

void Child::result(const std::vector<std::string>& cells) {
  line(kResultLine, cells);
}

void Child::row(const std::vector<std::string>& cells) {
  line(kRowLine, cells);
}

void Child::note(const std::string& text) { line(kNoteLine, {text}); }

void Child::line(const char* first, const std::vector<std::string>& cells) {
  std::string text = first;
  for (const std::string& cell : cells) text += "\t" + cell;
  out_.line(text);
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
  out.line(kReadyLine);
  if (task.name.empty()) return;
  gpus.resize(task.gpus);
  const std::vector<Case> cases = all_cases();
  Child child(options, out, gpus);
  try {
    find_case(cases, task.name).run(child, task.form);
  } catch (const CannotMeasure& error) {
    out.line(std::string(kSkippedLine) + "\t" + error.tag + "\t" +
             error.what());
  } catch (const CudaError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    out.line(std::string(kErrorLine) + "\t" + cudaGetErrorName(error.code()));
  }
}

}  // namespace syncbench::pitfalls
