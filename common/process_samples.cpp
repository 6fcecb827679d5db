#include "common/process_samples.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace syncbench {
namespace {

// Mean of each process.
std::vector<double> means_of(const ProcessSamples& processes) {
  std::vector<double> means;
  for (const auto& samples : processes)
    means.push_back(summarize(samples).mean);
  return means;
}

}  // namespace

void add_process(const NamedSamples& samples, Collected& collected) {
  for (const auto& [name, values] : samples) collected[name].push_back(values);
}

Collected of_one_process(const NamedSamples& samples) {
  Collected collected;
  add_process(samples, collected);
  return collected;
}

std::string samples_to_text(const NamedSamples& samples) {
  std::string text;
  for (const auto& [name, values] : samples) {
    if (!text.empty()) text += '\t';
    text += name + '=';
    for (const double value : values) {
      char number[32];
      std::snprintf(number, sizeof number, "%.12g ", value);
      text += number;
    }
    text.pop_back();
  }
  return text;
}

std::vector<std::string> split_tabs(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '\t');) {
    words.push_back(word);
  }
  return words;
}

void add_samples(const std::string& word, NamedSamples& samples) {
  const std::size_t equals = word.find('=');
  std::vector<double> values;
  if (equals != std::string::npos) {
    std::istringstream stream(word.substr(equals + 1));
    for (std::string number; stream >> number;) {
      char* end = nullptr;
      values.push_back(std::strtod(number.c_str(), &end));
      if (*end != '\0') values.clear();
    }
  }
  if (values.empty()) throw std::invalid_argument("bad samples: " + word);
  samples[word.substr(0, equals)] = std::move(values);
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
