// Were the methods that the command line names measured? Pure host code.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace syncbench {

/// The method that a point is of: its first word.
inline std::string method_of(const std::string& point) {
  return point.substr(0, point.find(' '));
}

class AskedFor {
 public:
  /// A row of `point` has been printed.
  void measured(const std::string& point) {
    measured_.insert(method_of(point));
  }

  /// `point` cannot be measured here.
  void skipped(const std::string& point, const std::string& reason) {
    skipped_.emplace(method_of(point), point + ": " + reason);
  }

  /// Throws when one of `methods`, those named, was skipped somewhere or has no
  /// row: success means that all that was asked for was measured.
  void check(const std::vector<std::string>& methods) const {
    for (const std::string& method : methods) {
      const auto skipped = skipped_.find(method);
      if (skipped != skipped_.end()) {
        throw std::runtime_error("asked for and not measured: " +
                                 skipped->second);
      }
      if (measured_.count(method) == 0) {
        throw std::runtime_error("asked for and not measured: " + method +
                                 ": no row of it is possible here");
      }
    }
  }

 private:
  std::set<std::string> measured_;
  std::map<std::string, std::string> skipped_;  // method -> point: reason
};

}  // namespace syncbench
