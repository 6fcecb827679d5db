// One measuring run of a program: the GPUs it uses, the provenance lines at the
// top of its output, and the watch on the SM clock.
#pragma once

#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "common/device_clock.cuh"
#include "common/devices.hpp"
#include "common/gpu_sharing.hpp"
#include "common/launch.hpp"
#include "common/noise.hpp"
#include "common/program.hpp"
#include "common/timing.hpp"

namespace syncbench {

class MeasuringRun {
 public:
  /// Finds and prepares the GPUs, warms up their clocks, pins this thread next
  /// to GPU 0 and writes the provenance lines.
  MeasuringRun(const ProgramInfo& info, const Options& options, LineWriter& out)
      : name_(info.name), options_(options), out_(out), gpus_(find_gpus()) {
    const auto found = gpus_.size();
    bool clamped = false;
    gpus_.resize(info.takes_gpu_count
                     ? resolve_gpu_count(options.gpu_count,
                                         static_cast<int>(found), &clamped)
                     : 1);
    prepare_gpus(gpus_);
    require_code_for_gpus();
    pin_this_thread(gpus_[0].cpu);
    for (const Gpu& gpu : gpus_) probes_.emplace_back(gpu.index);
    write_provenance(info, found);
    warn_of_host();
    if (clamped) {
      warn("the default is " + std::to_string(kDefaultGpuCount) +
           " GPUs but this node has " + std::to_string(found) +
           "; measuring with that");
    }
  }

  const Options& options() const { return options_; }
  LineWriter& out() { return out_; }
  const std::vector<Gpu>& gpus() const { return gpus_; }
  const Gpu& gpu() const { return gpus_[0]; }

  /// Says on stderr and in a comment line that something casts doubt on rows.
  void warn(const std::string& text) {
    progress_.clear();
    std::fprintf(stderr, "%s: warning: %s%s\n", name_.c_str(),
                 point_.empty() ? "" : (point_ + ": ").c_str(), text.c_str());
    out_.comment("warning: " + text);
  }

  /// What is being measured from here on: shown on a terminal, named by
  /// warnings.
  void show(const std::string& point) {
    point_ = point;
    progress_.show(point);
  }

  /// Starts the watches on the SM clock, on other processes and on the spread
  /// of rows for a section.
  void begin_section() {
    clock_watch_.begin(probes_[0].read_mhz());
    spread_watch_.begin();
    look_for_others();
  }

  /// SM clock of GPU 0 now, in MHz. Warns when it has moved more than 1% since
  /// the section began, and takes the new value as the one to compare with.
  double clock_mhz() {
    const double mhz = probes_[0].read_mhz();
    warn_if(clock_watch_.check(mhz));
    return mhz;
  }

  /// To be called after a row whose main quantity is `summary`: warns when its
  /// spread is far from its neighbours', or when another process has come.
  void check_row(const Summary& summary) {
    warn_if(spread_watch_.check(summary));
    const auto now = HostClock::now();
    if (elapsed_ns(last_look_, now) > 1e9) look_for_others();
  }

 private:
  // An executable built for other architectures than the node's has no code
  // for its GPU; found here, the message can say what to build.
  void require_code_for_gpus() {
    for (const Gpu& gpu : gpus_) {
      const DeviceGuard guard(gpu.index);
      cudaFuncAttributes attributes = {};
      const cudaError_t error =
          cudaFuncGetAttributes(&attributes, clock_rate_kernel);
      if (error == cudaSuccess) continue;
      cudaGetLastError();
      const std::string architecture =
          std::to_string(gpu.major) + std::to_string(gpu.minor);
      throw NoDeviceError(
          "no code for GPU " + std::to_string(gpu.index) + " (" + gpu.name +
          ") in this build: " + cudaGetErrorString(error) +
          "; build with -DCMAKE_CUDA_ARCHITECTURES=" + architecture);
    }
  }

  // An idle GPU runs slow and takes a while to speed up: probes follow each
  // other until five in a row agree, for at most half a second.
  static double settled_mhz(SmClockProbe& probe) {
    double mhz = probe.read_mhz();
    int steady = 0;
    for (int i = 0; i < 2500 && steady < 5; ++i) {
      const double next = probe.read_mhz();
      steady = i > 250 && std::abs(next / mhz - 1) < 0.002 ? steady + 1 : 0;
      mhz = next;
    }
    return mhz;
  }

  void write_provenance(const ProgramInfo& info, std::size_t found) {
    int driver = 0, runtime = 0;
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    out_.comment(version_text(info) + ", samples " +
                 std::to_string(options_.samples));
    out_.comment("cuda: driver " + cuda_version_text(driver) + ", runtime " +
                 cuda_version_text(runtime) + ", built with nvcc " +
                 std::to_string(__CUDACC_VER_MAJOR__) + "." +
                 std::to_string(__CUDACC_VER_MINOR__) + "." +
                 std::to_string(__CUDACC_VER_BUILD__) + ", gcc " __VERSION__);
    out_.comment("gpus: " + std::to_string(found) + " visible, " +
                 std::to_string(gpus_.size()) + " used");
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const Gpu& gpu = gpus_[i];
      out_.comment(
          "gpu " + std::to_string(gpu.index) + ": " + gpu.name + ", " +
          std::to_string(gpu.sm_count) + " SMs, compute capability " +
          std::to_string(gpu.major) + "." + std::to_string(gpu.minor) +
          ", SM clock seen " + format_number(settled_mhz(probes_[i]), 0) +
          " MHz, code for " + code_version(gpu) + ", driven from CPU " +
          (gpu.cpu < 0 ? "any" : std::to_string(gpu.cpu)));
    }
    out_.comment(std::string("host waits: ") +
                 (waits_spinning() ? "spinning (cudaDeviceScheduleSpin)"
                                   : "not spinning") +
                 "; kernels loaded: CUDA_MODULE_LOADING=EAGER");
  }

  // Compute capability the code was compiled for; where only PTX was there for
  // this GPU, the driver compiled it.
  static std::string code_version(const Gpu& gpu) {
    const DeviceGuard guard(gpu.index);
    cudaFuncAttributes attributes = {};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, clock_rate_kernel));
    const auto text = [](int version) {
      return std::to_string(version / 10) + "." + std::to_string(version % 10);
    };
    if (attributes.binaryVersion == attributes.ptxVersion) {
      return text(attributes.binaryVersion);
    }
    return text(attributes.binaryVersion) +
           " made by the driver from PTX for " + text(attributes.ptxVersion);
  }

  void warn_if(const std::string& text) {
    if (!text.empty()) warn(text);
  }

  // Warns once a GPU.
  void look_for_others() {
    last_look_ = HostClock::now();
    for (const Gpu& gpu : gpus_) {
      const int others = processes_.others_on(gpu.pci_bus_id);
      if (others <= 0 || !shared_.insert(gpu.index).second) continue;
      warn("GPU " + std::to_string(gpu.index) + " is used by " +
           std::to_string(others) +
           " other process(es); the rows from here on contain its work");
    }
  }

  void warn_of_host() {
    std::set<int> cpus;
    for (const Gpu& gpu : gpus_) cpus.insert(gpu.cpu);
    if (cpus.size() < gpus_.size()) {
      warn(
          "fewer CPUs than GPUs are allowed; threads of several GPUs share "
          "one, which slows what is CPU-side");
    }
    if (launches_wait_for_kernels()) {
      warn(
          "CUDA_LAUNCH_BLOCKING is set: every launch waits for its kernel, and "
          "the rows are those of that");
    }
  }

  std::string name_;
  std::string point_;
  const Options& options_;
  LineWriter& out_;
  std::vector<Gpu> gpus_;
  std::vector<SmClockProbe> probes_;
  Progress progress_;
  ClockWatch clock_watch_;
  SpreadWatch spread_watch_;
  ComputeProcesses processes_;
  HostClock::time_point last_look_;
  std::set<int> shared_;  // GPUs found to be used by others
};

/// Runs `measure`; what a GPU or driver does not support becomes a comment line
/// that names `point`.
template <class Table, class Measure>
void measure_or_skip(Table& table, const std::string& point, Measure measure) {
  try {
    measure();
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorNotSupported) throw;
    table.skip(point, error.what());
  }
}

}  // namespace syncbench
