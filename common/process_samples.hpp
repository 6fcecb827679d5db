// Samples from several processes: how a process hands them over, and what a row
// says about them. Host code only.
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

/// Samples of one quantity, process by process; equally many from each.
using ProcessSamples = std::vector<std::vector<double>>;

/// What processes have measured of one point. A Sample is a struct of doubles.
template <class Sample>
struct Measured {
  std::vector<std::vector<Sample>> samples;  ///< process by process
  std::vector<double> mhz;  ///< SM clock of GPU 0 at the end, of each process

  void add(std::vector<Sample> of_process, double clock_mhz) {
    samples.push_back(std::move(of_process));
    mhz.push_back(clock_mhz);
  }

  /// One quantity of all samples, a member or a function of Sample:
  /// of(&FusionSample::one).
  template <class Quantity>
  ProcessSamples of(Quantity quantity) const {
    ProcessSamples values;
    for (const auto& process : samples) {
      values.emplace_back();
      for (const Sample& sample : process) {
        values.back().push_back(std::invoke(quantity, sample));
      }
    }
    return values;
  }
};

/// A line from a measuring process: what it has measured of a point of a
/// section, or why it has not.
struct Record {
  std::size_t section = 0;      ///< by number
  std::string point;            ///< without tabs; unique in its section
  Remark skipped;               ///< the reason; none: there are samples
  double mhz = kNan;            ///< SM clock of GPU 0 at the end
  std::vector<double> numbers;  ///< of the samples, one after the other
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

template <class Sample>
void check_is_numbers() {
  static_assert(std::is_trivially_copyable_v<Sample> &&
                    sizeof(Sample) % sizeof(double) == 0,
                "a sample is a struct of doubles");
}

/// What Record::numbers holds of these samples.
template <class Sample>
std::vector<double> numbers_of(const std::vector<Sample>& samples) {
  check_is_numbers<Sample>();
  std::vector<double> numbers(samples.size() * sizeof(Sample) / sizeof(double));
  std::memcpy(numbers.data(), samples.data(), numbers.size() * sizeof(double));
  return numbers;
}

/// The reverse; std::invalid_argument where a sample is not whole.
template <class Sample>
std::vector<Sample> samples_of(const std::vector<double>& numbers) {
  check_is_numbers<Sample>();
  const std::size_t bytes = numbers.size() * sizeof(double);
  if (bytes == 0 || bytes % sizeof(Sample) != 0) {
    throw std::invalid_argument("samples are not whole");
  }
  std::vector<Sample> samples(bytes / sizeof(Sample));
  std::memcpy(samples.data(), numbers.data(), bytes);
  return samples;
}

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
