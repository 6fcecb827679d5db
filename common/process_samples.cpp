#include "common/process_samples.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/child_processes.hpp"

namespace syncbench {
namespace {

constexpr const char* kSamplesWord = "samples";
constexpr const char* kSkippedWord = "skipped";

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

double number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') return number;
  throw std::invalid_argument("not a number: " + text);
}

// Mean of each process.
std::vector<double> means_of(const ProcessSamples& processes) {
  std::vector<double> means;
  for (const auto& samples : processes)
    means.push_back(summarize(samples).mean);
  return means;
}

}  // namespace

ProcessSamples Measured::of(const std::string& name) const {
  ProcessSamples values;
  for (const Samples& process : samples) values.push_back(process.at(name));
  return values;
}

std::string record_text(const Record& record) {
  std::string text = (record.skipped ? kSkippedWord : kSamplesWord) +
                     ('\t' + std::to_string(record.section)) + '\t' +
                     record.point + '\t';
  if (record.skipped)
    return text + record.skipped.tag + '\t' + record.skipped.text;
  text += number_text(record.mhz);
  for (const auto& [name, numbers] : record.samples) {
    text += '\t' + name;
    for (const double number : numbers) text += ' ' + number_text(number);
  }
  return text;
}

Record parse_record(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) {
    words.push_back(word);
  }
  const bool skipped = words.size() == 5 && words[0] == kSkippedWord;
  const bool samples = words.size() >= 5 && words[0] == kSamplesWord;
  if (!skipped && !samples) {
    throw std::invalid_argument("not a record: " + line);
  }
  Record record;
  record.section = std::stoul(words[1]);
  record.point = words[2];
  if (skipped) {
    record.skipped = {words[3], words[4]};
    return record;
  }
  record.mhz = number_of(words[3]);
  for (std::size_t i = 4; i < words.size(); ++i) {
    std::istringstream numbers(words[i]);
    std::string word;
    numbers >> word;
    std::vector<double>& of_name = record.samples[word];
    while (numbers >> word) of_name.push_back(number_of(word));
  }
  return record;
}

void run_samplers(char** argv, int count, LineWriter& out, Relay relay,
                  const std::function<void(int, const Record&)>& take) {
  std::set<std::string> told;
  run_processes(argv, count, [&](int number, const std::string& line) {
    if (line.rfind('#', 0) != 0) return take(number, parse_record(line));
    const bool wanted = line.rfind("# warning[", 0) == 0 ||
                        (relay == Relay::kAllOfTheFirst && number == 0);
    if (wanted && told.insert(line).second) out.comment(line.substr(2));
  });
}

Summary summarize_processes(const ProcessSamples& processes) {
  std::vector<double> all;
  for (const auto& samples : processes) {
    all.insert(all.end(), samples.begin(), samples.end());
  }
  Summary result = summarize(std::move(all));
  if (processes.size() > 1) result.ci95 = summarize(means_of(processes)).ci95;
  return result;
}

Summary difference_of_processes(const ProcessSamples& longer,
                                const ProcessSamples& shorter, double steps) {
  Summary result = difference(summarize_processes(longer),
                              summarize_processes(shorter), steps);
  if (longer.size() < 2) return result;
  std::vector<double> each = means_of(longer);
  const std::vector<double> less = means_of(shorter);
  for (std::size_t i = 0; i < each.size(); ++i) {
    each[i] = (each[i] - less.at(i)) / steps;
  }
  result.ci95 = summarize(std::move(each)).ci95;
  return result;
}

}  // namespace syncbench
