// Were the methods that the command line names measured? Pure host code.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace syncbench {

class AskedFor {
 public:
  /// A row of `method` has been printed.
  void measured(const std::string& method);

  /// `point`, one of `method`, cannot be measured here.
  void skipped(const std::string& method, const std::string& point,
               const std::string& reason);

  /// Throws NotMeasured when one of `methods`, those named, was skipped
  /// somewhere or has no row: success means that all that was asked for was
  /// measured.
  void check(const std::vector<std::string>& methods) const;

 private:
  std::set<std::string> measured_;
  std::map<std::string, std::string> skipped_;  // method -> point: reason
};

}  // namespace syncbench
