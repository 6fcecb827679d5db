// What a measuring process hands to the one that prints rows: a line of text
// for every point that it has measured. Host code.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "common/process_samples.hpp"

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
  std::string text() const {
    std::string text = section + '\t' + method;
    for (const int number : {gpus, repeats, blocks, threads, work_ns, lead}) {
      text += '\t' + std::to_string(number);
    }
    return text;
  }

  /// For messages.
  std::string name() const {
    return method + " on " + std::to_string(gpus) + " GPUs, " +
           std::to_string(blocks) + " x " + std::to_string(threads);
  }
};

/// A line from a measuring process: the samples of a point, or why it has none.
struct Record {
  Point point;
  NamedSamples samples;
  std::string skipped;  ///< the reason; empty: there are samples
};

inline constexpr const char* kSamplesWord = "samples";
inline constexpr const char* kSkippedWord = "skipped";

inline std::string record_text(const Record& record) {
  return record.skipped.empty() ? kSamplesWord + ('\t' + record.point.text()) +
                                      '\t' + samples_to_text(record.samples)
                                : kSkippedWord + ('\t' + record.point.text()) +
                                      '\t' + record.skipped;
}

/// The record of a line; std::invalid_argument where it is none.
inline Record parse_record(const std::string& line) {
  constexpr std::size_t kFixed = 9;
  const std::vector<std::string> words = split_tabs(line);
  if (words.size() <= kFixed ||
      (words[0] != kSamplesWord && words[0] != kSkippedWord)) {
    throw std::invalid_argument("not a record: " + line);
  }
  Record record;
  record.point.section = words[1];
  record.point.method = words[2];
  int* const numbers[] = {&record.point.gpus,    &record.point.repeats,
                          &record.point.blocks,  &record.point.threads,
                          &record.point.work_ns, &record.point.lead};
  for (std::size_t i = 0; i < 6; ++i) *numbers[i] = std::stoi(words[3 + i]);
  if (words[0] == kSkippedWord) {
    record.skipped = words[kFixed];
    return record;
  }
  for (std::size_t i = kFixed; i < words.size(); ++i) {
    add_samples(words[i], record.samples);
  }
  return record;
}

}  // namespace syncbench
