// What the comments of an output have said, for a few lines on standard error.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace syncbench {

class Told {
 public:
  /// Takes in a comment: warnings and reasons why there is no row, as
  /// annotation() writes them, and nothing else. That blocks of a size do not
  /// fit is none: it is so on every GPU.
  void add(const std::string& comment);

  /// A line for each kind of them: how many rows or methods, the worst and what
  /// is said of it.
  std::vector<std::string> lines() const;

 private:
  struct Kind {
    int count = 0;
    std::set<std::string> methods;
    double percent = -1;  // of the worst
    std::string key, text;
  };

  std::map<std::pair<std::string, std::string>, Kind> kinds_;  // by word, tag
};

}  // namespace syncbench
