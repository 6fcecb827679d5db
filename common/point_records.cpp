#include "common/point_records.hpp"

#include <stdexcept>
#include <vector>

namespace syncbench {

std::string Point::text() const {
  std::string text = section + '\t' + method;
  for (const int number : {gpus, repeats, blocks, threads, work_ns, lead}) {
    text += '\t' + std::to_string(number);
  }
  return text;
}

std::string Point::name() const {
  return method + " on " + std::to_string(gpus) + " GPUs, " +
         std::to_string(blocks) + " x " + std::to_string(threads);
}

std::string record_text(const Record& record) {
  const std::string point = '\t' + record.point.text() + '\t';
  return record.skipped
             ? kSkippedWord + point + record.skipped.tag + '\t' +
                   record.skipped.text
             : kSamplesWord + point + samples_to_text(record.samples);
}

Record parse_record(const std::string& line) {
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
    record.skipped = {words.at(kFixed), words.at(kFixed + 1)};
    return record;
  }
  for (std::size_t i = kFixed; i < words.size(); ++i) {
    add_samples(words[i], record.samples);
  }
  return record;
}

}  // namespace syncbench
