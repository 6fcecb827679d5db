#include "common/asked_for.hpp"

#include "common/errors.hpp"

namespace syncbench {

std::string method_of(const std::string& point) {
  return point.substr(0, point.find(' '));
}

void AskedFor::measured(const std::string& point) {
  measured_.insert(method_of(point));
}

bool AskedFor::skipped(const std::string& point, const std::string& reason) {
  skipped_.emplace(method_of(point), point + ": " + reason);
  return reasons_.emplace(method_of(point), reason).second;
}

void AskedFor::check(const std::vector<std::string>& methods) const {
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

}  // namespace syncbench
