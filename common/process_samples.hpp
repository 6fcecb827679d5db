// Samples from several processes: how a process hands them over, and what a row
// says about them. Host code only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/sampler.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

/// Samples of one quantity, process by process; equally many from each.
using ProcessSamples = std::vector<std::vector<double>>;

/// Words by name, without tabs.
using Labels = std::map<std::string, std::string>;

/// A line from a measuring process: what it has measured of a point of a
/// section, or why it has not.
struct Record {
  std::size_t section = 0;  ///< by number
  Labels point;             ///< unique in its section
  Remark skipped = {};      ///< the reason; none: there are samples
  double mhz = kNan;        ///< SM clock of GPU 0 at the end
  Samples samples = {};
};

/// What processes have measured of one point.
struct Measured {
  std::vector<Samples> samples;  ///< process by process
  std::vector<double> mhz;  ///< SM clock of GPU 0 at the end, of each process
  Remark skipped;           ///< why a process has no samples

  void add(Samples of_process, double clock_mhz) {
    samples.push_back(std::move(of_process));
    mhz.push_back(clock_mhz);
  }

  void add(const Record& record) {
    if (!record.skipped) return add(record.samples, record.mhz);
    skipped = record.skipped;
  }

  /// One quantity of all samples. std::out_of_range where there is none.
  ProcessSamples of(const std::string& name) const;
};

std::string record_text(const Record& record);

/// The record of a line; std::invalid_argument where it is none.
Record parse_record(const std::string& line);

/// Comments of measuring processes that are passed on, each once.
enum class Relay {
  kWarnings,       ///< of all processes
  kAllOfTheFirst,  ///< these, and what else the first process says
};

/// run_processes() of processes that write records and comments: calls
/// take(number, record), and passes comments on to `out`.
void run_samplers(char** argv, int count, LineWriter& out, Relay relay,
                  const std::function<void(int, const Record&)>& take);

/// Mean, standard deviation and median of all samples of all processes, so that
/// the spread between processes is in them. The interval is that of the means
/// of the processes (Student's t, one degree of freedom less than processes):
/// the samples of one process are not independent. Of a single process it is
/// that of its samples.
Summary summarize_processes(const ProcessSamples& processes);

/// difference() of two totals sampled in the same processes: mean and standard
/// deviation as Eq. 6 to 8 of all samples, interval as summarize_processes()
/// from the difference that each process found.
Summary difference_of_processes(const ProcessSamples& longer,
                                const ProcessSamples& shorter, double steps);

}  // namespace syncbench
