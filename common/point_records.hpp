// What a measuring process hands to the one that prints rows: a line of text
// for every point that it has measured. Host code.
#pragma once

#include <string>

#include "common/process_samples.hpp"
#include "common/table.hpp"

namespace syncbench {

/// What was launched.
struct Point {
  std::string section;
  std::string method;
  int gpus = 1;
  int repeats = 0;
  int blocks = 0;   ///< on each GPU
  int threads = 0;  ///< of a block
  int work_ns = 0;  ///< of each kernel, or asked of each sleep
  int lead = 0;     ///< launches in the queue before those that count

  /// One line without line end, unique in a run.
  std::string text() const;

  /// What was launched, for messages: "METHOD on GPUS GPUs, BLOCKS x THREADS".
  std::string name() const;
};

/// A line from a measuring process: the samples of a point, or why it has none.
struct Record {
  Point point;
  NamedSamples samples;
  Remark skipped;  ///< the reason; none: there are samples
};

inline constexpr const char* kSamplesWord = "samples";
inline constexpr const char* kSkippedWord = "skipped";

std::string record_text(const Record& record);

/// The record of a line; std::invalid_argument where it is none.
Record parse_record(const std::string& line);

}  // namespace syncbench
