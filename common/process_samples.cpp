#include "common/process_samples.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/child_processes.hpp"

namespace syncbench {
namespace {

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
  std::string text = "section=" + std::to_string(record.section);
  for (const auto& [name, word] : record.point) {
    text.append("\t").append(name).append("=").append(word);
  }
  if (record.skipped) {
    return text + "\tskipped=" + record.skipped.tag +
           "\treason=" + record.skipped.text;
  }
  text += "\tmhz=" + number_text(record.mhz);
  for (const auto& [name, numbers] : record.samples) {
    text += '\t' + name;
    for (const double number : numbers) text += ' ' + number_text(number);
  }
  return text;
}

Record parse_record(const std::string& line) try {
  Record record;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, '\t');) {
    const std::size_t end = std::min(field.find_first_of("= "), field.size());
    const std::string name = field.substr(0, end);
    if (field[end] == '=') {
      record.point[name] = field.substr(end + 1);
      continue;
    }
    std::istringstream numbers(field.substr(end));
    std::vector<double>& samples = record.samples[name];
    for (std::string word; numbers >> word;) samples.push_back(number_of(word));
  }
  // What is no label of the point.
  const auto take = [&](const char* name) {
    const auto label = record.point.extract(name);
    if (label) return label.mapped();
    throw std::invalid_argument(std::string("no ") + name);
  };
  record.section = std::stoul(take("section"));
  if (record.point.count("skipped") != 0) {
    record.skipped = {take("skipped"), take("reason")};
  } else {
    record.mhz = number_of(take("mhz"));
    if (record.samples.empty()) throw std::invalid_argument("no samples");
  }
  for (const auto& [name, numbers] : record.samples) {
    if (numbers.empty() ||
        numbers.size() != record.samples.begin()->second.size()) {
      throw std::invalid_argument("samples are not whole");
    }
  }
  return record;
} catch (const std::logic_error& error) {
  throw std::invalid_argument("not a record: " + line + " (" + error.what() +
                              ")");
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
