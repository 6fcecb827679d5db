#include "common/measuring_run.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/cpus.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "common/provenance.hpp"

namespace syncbench {

MeasuringRun::MeasuringRun(const ProgramInfo& info, const Options& options,
                           LineWriter& out)
    : quiet_(info.quiet), options_(options), out_(out), gpus_(find_gpus()) {
  const auto found = gpus_.size();
  const bool by_default =
      info.takes_gpu_count && options.only_gpu < 0 && options.gpu_count == 0;
  std::vector<Gpu> of_others;  // of the processes before this one
  if (options.only_gpu >= 0) {
    for (int i = 0; i < options.only_gpu; ++i) {
      of_others.push_back(gpus_[static_cast<std::size_t>(i) % found]);
    }
    gpus_ = {gpus_[static_cast<std::size_t>(options.only_gpu) % found]};
  } else {
    gpus_.resize(
        info.takes_gpu_count
            ? resolve_gpu_count(options.gpu_count, static_cast<int>(found))
            : 1);
  }
  prepare_gpus(gpus_, of_others);
  const bool access = enable_peer_access(device_numbers(gpus_));
  require_code_for(gpus_);
  pin_this_thread(gpus_[0].cpu);
  for (const Gpu& gpu : gpus_) probes_.emplace_back(gpu.index);
  write_programs(out_, info, options_);
  write_gpus(out_, gpus_, probes_, found, access);
  warn_of_host();
  if (by_default && found < kDefaultGpuCount) {
    warn("",
         {"fewer-gpus", "the default is " + std::to_string(kDefaultGpuCount) +
                            " GPUs but this node has " + std::to_string(found) +
                            "; measuring with that"});
  }
}

void MeasuringRun::warn(const std::string& key, const Remark& remark) {
  if (remark) out_.annotate(Kind::kWarning, key, remark);
}

void MeasuringRun::show(const std::string& point) {
  point_ = point;
  if (!quiet_) progress_.show(point);
}

void MeasuringRun::begin_section(const std::string& name) {
  judge_spreads();
  show(name);
  clock_watch_.begin(probes_[0].read_mhz());
  look_for_others();
}

Table MeasuringRun::begin_section(const std::string& title, Row columns) {
  begin_section(name_of_section(title));
  return {out_, title, std::move(columns)};
}

void MeasuringRun::measure(const std::function<void()>& body) {
  try {
    body();
  } catch (const UsageError&) {
    throw;
  } catch (const NoDeviceError&) {
    throw;
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    progress_.clear();
    if (point_.empty()) throw;
    throw std::runtime_error(point_ + ": " + error.what());
  }
}

double MeasuringRun::clock_mhz() {
  const double mhz = probes_[0].read_mhz();
  warn("", clock_watch_.check(mhz));
  return least_of_processes(mhz);
}

double MeasuringRun::least_of_processes(double value) const {
  char text[32];
  std::snprintf(text, sizeof text, "%a", value);  // the whole number
  double least = value;
  for (const std::string& one : gather_(text)) {
    least = std::min(least, std::stod(one));
  }
  return least;
}

// A line a GPU: its number, its clock, the highest one, and why it is slow.
std::string MeasuringRun::clocks_of_this_process(int gpus) {
  std::string text;
  SlowClock clocks;
  for (int i = 0; i < gpus; ++i) {
    const Gpu& gpu = gpus_[i];
    const double mhz = probes_[i].read_mhz(),
                 highest = probes_[i].highest_mhz();
    const bool slow = clocks.add(gpu.index, mhz, highest);
    text += std::to_string(gpu.index) + ' ' + std::to_string(mhz) + ' ' +
            std::to_string(highest) + ' ' +
            (slow ? nvml_.clock_reasons(gpu.pci_bus_id) : "") + '\n';
  }
  return text;
}

SlowClock MeasuringRun::look_at_clocks(int gpus) {
  SlowClock clocks;
  for (const std::string& text : gather_(clocks_of_this_process(gpus))) {
    std::istringstream lines(text);
    int gpu = 0;
    double mhz = 0, highest = 0;
    std::string reasons;
    while (lines >> gpu >> mhz >> highest) {
      std::getline(lines.ignore(), reasons);
      if (clocks.add(gpu, mhz, highest)) clocks.explain(reasons);
    }
  }
  return clocks;
}

AtClock MeasuringRun::sample_at_full_clock(int gpus,
                                           std::vector<TimedPoint>& points,
                                           int samples) {
  Remark repeated;
  for (int attempt = 1;; ++attempt) {
    sample_in_turn(points, samples);
    const SlowClock clocks = look_at_clocks(gpus);
    if (!clocks.slow()) return {clocks.mhz(), {}, repeated};
    if (attempt == kAttempts) {
      return {clocks.mhz(), clocks.warning(attempt), {}};
    }
    repeated = clocks.repeated(attempt + 1);
  }
}

void MeasuringRun::check_row(const RowKey& key, const Summary& summary) {
  if (key.method != watched_method_) judge_spreads();
  watched_method_ = key.method;
  asked_.measured(key.method);
  spread_watch_.add(key, summary);
  const auto now = HostClock::now();
  if (elapsed_ns(last_look_, now) > 1e9) look_for_others();
}

void MeasuringRun::skip(Table& table, const RowKey& key, const Remark& reason) {
  asked_.skipped(key.method, key, reason.text);
  table.skip(key, reason);
}

void MeasuringRun::measure_or_skip(Table& table, const RowKey& key,
                                   const std::function<void()>& measure) {
  show(key);
  try {
    measure();
  } catch (const CannotMeasure& error) {
    skip(table, key, {error.tag, error.what()});
  }
}

void MeasuringRun::measure_all(const std::function<std::string()>& sections) {
  std::string failure;
  measure([&] { failure = sections(); });
  judge_spreads();
  progress_.clear();
  out_.end();
  gather_("");  // a process that ends first would end the one that writes
  if (!failure.empty()) throw std::runtime_error(failure);
  asked_.check(options_.methods);
}

void MeasuringRun::judge_spreads() {
  for (const auto& [key, remark] : spread_watch_.finish()) warn(key, remark);
}

void MeasuringRun::look_for_others() {
  last_look_ = HostClock::now();
  for (const Gpu& gpu : gpus_) {
    const int others = nvml_.others_on(gpu.pci_bus_id);
    if (others <= 0 || !shared_.insert(gpu.index).second) continue;
    std::string tag = "shared-gpu gpu=" + std::to_string(gpu.index);
    tag += " processes=" + std::to_string(others);
    warn("", {tag, "GPU " + std::to_string(gpu.index) + " is used by " +
                       std::to_string(others) +
                       " other process(es); the rows from here on contain its "
                       "work"});
  }
}

void MeasuringRun::warn_of_host() {
  std::set<int> cpus;
  for (const Gpu& gpu : gpus_) cpus.insert(gpu.cpu);
  if (cpus.size() < gpus_.size()) {
    warn("", {"few-cpus",
              "fewer CPUs than GPUs are allowed: threads of several GPUs share "
              "one, which slows them"});
  }
  if (launches_wait_for_kernels()) {
    warn("", {"launch-blocking",
              "CUDA_LAUNCH_BLOCKING is set: in all rows every launch waits for "
              "its kernel"});
  }
}

}  // namespace syncbench
