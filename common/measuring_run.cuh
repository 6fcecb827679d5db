// One measuring run of a program: the GPUs it uses, the provenance lines at the
// top of its output, and the watch on the SM clock.
#pragma once

#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "common/asked_for.hpp"
#include "common/device_clock.cuh"
#include "common/devices.hpp"
#include "common/gpu_sharing.hpp"
#include "common/launch.hpp"
#include "common/noise.hpp"
#include "common/peer_access.hpp"
#include "common/program.hpp"
#include "common/provenance.cuh"
#include "common/timing.hpp"

namespace syncbench {

class MeasuringRun {
 public:
  /// Finds and prepares the GPUs, gives them access to each other's memory
  /// where they can have it, warms up their clocks, pins this thread next to
  /// GPU 0 and writes the provenance lines.
  MeasuringRun(const ProgramInfo& info, const Options& options, LineWriter& out)
      : name_(info.name), options_(options), out_(out), gpus_(find_gpus()) {
    const auto found = gpus_.size();
    bool clamped = false;
    gpus_.resize(info.takes_gpu_count
                     ? resolve_gpu_count(options.gpu_count,
                                         static_cast<int>(found), &clamped)
                     : 1);
    prepare_gpus(gpus_);
    const bool access = enable_peer_access(device_numbers(gpus_));
    require_code_for(gpus_);
    pin_this_thread(gpus_[0].cpu);
    for (const Gpu& gpu : gpus_) probes_.emplace_back(gpu.index);
    write_programs(out_, version_text(info) + ", samples " +
                             std::to_string(options_.samples));
    write_gpus(out_, gpus_, probes_, found, access);
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

  /// What is being measured from here on, beginning with the method's name:
  /// shown on a terminal, named by warnings.
  void show(const std::string& point) {
    point_ = point;
    progress_.show(point);
  }

  /// Starts the watches on the SM clock and on other processes for a section.
  void begin_section() {
    judge_spreads();
    clock_watch_.begin(probes_[0].read_mhz());
    look_for_others();
  }

  /// SM clock of GPU 0 now, in MHz. Warns when it has moved more than 1% since
  /// the section began, and takes the new value as the one to compare with.
  double clock_mhz() {
    const double mhz = probes_[0].read_mhz();
    warn_if(clock_watch_.check(mhz));
    return mhz;
  }

  /// To be called after the row of the point shown, whose main quantity is
  /// `summary`. Warns when another process has come, and after the last row of
  /// a method of those with a spread far from that of the rows beside them.
  void check_row(const Summary& summary) {
    const std::string method = method_of(point_);
    if (method != watched_method_) judge_spreads();
    watched_method_ = method;
    asked_.measured(point_);
    spread_watch_.add(point_, summary);
    const auto now = HostClock::now();
    if (elapsed_ns(last_look_, now) > 1e9) look_for_others();
  }

  /// Says on stderr and in a comment line of `table` that `point`, which begins
  /// with a method's name, cannot be measured.
  template <class Table>
  void skip(Table& table, const std::string& point, const std::string& reason) {
    progress_.clear();
    std::fprintf(stderr, "%s: warning: %s not measured: %s\n", name_.c_str(),
                 point.c_str(), reason.c_str());
    table.skip(point, reason);
    asked_.skipped(point, reason);
  }

  /// Runs `measure`; a point that this machine cannot have is skipped.
  template <class Table, class Measure>
  void measure_or_skip(Table& table, const std::string& point,
                       Measure measure) {
    try {
      measure();
    } catch (const CannotMeasure& error) {
      skip(table, point, error.what());
    } catch (const CudaError& error) {
      if (error.code() != cudaErrorNotSupported) throw;
      skip(table, point, error.what());
    }
  }

  /// To be called after the last row. Throws where a method that was asked for
  /// by name has been skipped somewhere or has no row.
  void finish() {
    judge_spreads();
    asked_.check(options_.methods);
  }

 private:
  void warn_if(const std::string& text) {
    if (!text.empty()) warn(text);
  }

  // Of the rows since the last call; the texts name them.
  void judge_spreads() {
    const std::string point = point_;
    point_.clear();
    for (const std::string& text : spread_watch_.finish()) warn(text);
    point_ = point;
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
  std::string watched_method_;
  AskedFor asked_;
  ComputeProcesses processes_;
  HostClock::time_point last_look_;
  std::set<int> shared_;  // GPUs found to be used by others
};

}  // namespace syncbench
