#include "common/told.hpp"

#include <cmath>
#include <cstdlib>

namespace syncbench {
namespace {

// |percent| of a tag that has it; -1 where it has none.
double percent_of(const std::string& tag) {
  const std::string name = " percent=";
  const std::size_t found = tag.find(name);
  if (found == tag.npos) return -1;
  return std::abs(std::strtod(tag.c_str() + found + name.size(), nullptr));
}

}  // namespace

void Told::add(const std::string& comment) {
  const std::size_t open = comment.find('['), close = comment.find(']');
  const std::string word = comment.substr(0, open);
  if ((word != "warning" && word != "skipped") || close == comment.npos) return;
  const std::string tag = comment.substr(open + 1, close - open - 1);
  const std::string name = tag.substr(0, tag.find(' '));
  if (name == "does-not-fit") return;
  const std::size_t colon = comment.find(": ", close);
  Kind& kind = kinds_[{word, name}];
  std::string key;
  if (colon > close + 2) key = comment.substr(close + 2, colon - close - 2);
  ++kind.count;
  kind.methods.insert(key.substr(0, key.find(' ')));
  const double percent = percent_of(tag);
  if (kind.count > 1 && !(percent > kind.percent)) return;
  kind.percent = percent;
  kind.key = key;
  kind.text = comment.substr(colon + 2);
}

std::vector<std::string> Told::lines() const {
  std::vector<std::string> lines;
  for (const auto& [name, kind] : kinds_) {
    const bool skipped = name.first == "skipped";
    std::string line = skipped ? "not measured" : name.first;
    if (skipped && kind.methods.size() > 1) {
      line += ": " + std::to_string(kind.methods.size()) + " methods";
    } else if (kind.count > 1) {
      line += ": " + std::to_string(kind.count) +
              (kind.percent < 0 ? " times, first" : " rows, the worst");
    }
    line += (kind.key.empty() ? "" : ": " + kind.key) + ": " + kind.text;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace syncbench
