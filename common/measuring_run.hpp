// One measuring run of a program: the GPUs it uses, the provenance lines at the
// top of its output, and the watch on the SM clock.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/asked_for.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/noise.hpp"
#include "common/nvml.hpp"
#include "common/program.hpp"
#include "common/sampler.hpp"
#include "common/sm_clock.hpp"
#include "common/timing.hpp"

namespace syncbench {

/// At which SM clock rows were measured.
struct AtClock {
  double mhz = kNan;     ///< of the slowest GPU
  Remark warning = {};   ///< it was slow at the last attempt
  Remark repeated = {};  ///< it was slow at earlier attempts only
};

class MeasuringRun {
 public:
  static constexpr int kAttempts = 3;

  /// Finds and prepares the GPUs, those that the options say, gives them access
  /// to each other's memory where they can have it, warms up their clocks, pins
  /// this thread next to GPU 0 and writes the provenance lines.
  MeasuringRun(const ProgramInfo& info, const Options& options,
               LineWriter& out);

  const Options& options() const { return options_; }
  LineWriter& out() { return out_; }
  const std::vector<Gpu>& gpus() const { return gpus_; }
  const Gpu& gpu() const { return gpus_[0]; }

  /// Says in a comment line that something casts doubt on the rows of `key`, or
  /// of the section; nothing where `remark` says nothing.
  void warn(const std::string& key, const Remark& remark);

  /// What is being measured from here on, a row's key: shown on a terminal,
  /// named by errors.
  void show(const std::string& point);

  /// Starts the watches on the SM clock and on other processes for a section,
  /// which is what is being measured until show().
  void begin_section(const std::string& name = "");

  /// The same of a title, and the section's table.
  Table begin_section(const std::string& title, Row columns);

  /// Runs `body`. An error that it ends with names what was being measured,
  /// unless it is one of usage, of devices or of the output.
  void measure(const std::function<void()>& body);

  /// Runs a part of it, measured at `point`, and returns what it returns. It
  /// costs and shows nothing unless it fails.
  template <class Body>
  auto measure_at(const std::string& point, Body body) {
    try {
      return body();
    } catch (...) {
      point_ = point;
      throw;
    }
  }

  /// SM clock of GPU 0 now, in MHz; of several processes, all of which call
  /// this, that of the slowest one's. Warns when GPU 0's has moved more than 1%
  /// since the section began, and takes the new value as the one to compare
  /// with.
  double clock_mhz();

  /// Where several processes measure together: gives all of them what each
  /// says. They then judge the SM clocks of all.
  using Gather = std::function<std::vector<std::string>(const std::string&)>;
  void share_clocks(const Gather& gather) { gather_ = gather; }

  /// The least of what the processes that share clocks give, all of which call
  /// this: what they decide by, which have to decide alike.
  double least_of_processes(double value) const;

  /// Samples all points in turn until the SM clocks of the first `gpus` GPUs
  /// are not slow after it, but at most kAttempts times; the last attempt
  /// counts. A clock is slow when it is more than 2% below the highest that
  /// this run has seen on its GPU.
  AtClock sample_at_full_clock(int gpus, std::vector<TimedPoint>& points,
                               int samples);

  /// To be called after the row of `key`, whose main quantity is `summary`.
  /// Warns of new processes on the GPU, and after a method's last row of rows
  /// with a spread far from their neighbours'.
  void check_row(const RowKey& key, const Summary& summary);

  /// Says in a comment line of `table` that the rows of `key` cannot be
  /// measured.
  void skip(Table& table, const RowKey& key, const Remark& reason);

  /// Shows `key` and runs `measure`; what this machine cannot have is skipped.
  void measure_or_skip(Table& table, const RowKey& key,
                       const std::function<void()>& measure);

  /// measure() of all rows of a program: `sections` returns what has failed, or
  /// nothing. Ends the output, then throws that, or where a method that was
  /// asked for by name has been skipped somewhere or has no row.
  void measure_all(const std::function<std::string()>& sections);

 private:
  SlowClock look_at_clocks(int gpus);
  std::string clocks_of_this_process(int gpus);

  // Of the rows since the last call.
  void judge_spreads();

  // Warns once a GPU.
  void look_for_others();

  void warn_of_host();

  const bool quiet_;
  std::string point_;
  const Options& options_;
  LineWriter& out_;
  std::vector<Gpu> gpus_;
  std::vector<SmClockProbe> probes_;
  Gather gather_ = [](const std::string& text) {
    return std::vector<std::string>{text};
  };
  Progress progress_;
  ClockWatch clock_watch_;
  SpreadWatch spread_watch_;
  std::string watched_method_;
  AskedFor asked_;
  Nvml nvml_;
  HostClock::time_point last_look_;
  std::set<int> shared_;  // GPUs found to be used by others
};

}  // namespace syncbench
