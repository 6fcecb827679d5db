// Were the methods that the command line names measured? Pure host code.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/errors.hpp"

namespace syncbench {

class AskedFor {
 public:
  /// A row of `method` has been printed.
  void measured(const std::string& method) { measured_.insert(method); }

  /// `point`, one of `method`, cannot be measured here.
  void skipped(const std::string& method, const std::string& point,
               const std::string& reason) {
    skipped_.emplace(method, point + ": " + reason);
  }

  /// Throws NotMeasured when one of `methods`, those named, was skipped
  /// somewhere or has no row: success means that all that was asked for was
  /// measured.
  void check(const std::vector<std::string>& methods) const {
    for (const std::string& method : methods) {
      const auto skipped = skipped_.find(method);
      if (skipped != skipped_.end()) {
        throw NotMeasured("asked for and not measured: " + skipped->second);
      }
      if (measured_.count(method) == 0) {
        throw NotMeasured("asked for and not measured: " + method +
                          ": no row of it is possible here");
      }
    }
  }

 private:
  std::set<std::string> measured_;
  std::map<std::string, std::string> skipped_;  // method -> point: reason
};

}  // namespace syncbench
