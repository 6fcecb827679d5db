#include "common/asked_for.hpp"

#include "common/errors.hpp"

namespace syncbench {

void AskedFor::measured(const std::string& method) { measured_.insert(method); }

void AskedFor::skipped(const std::string& method, const std::string& point,
                       const std::string& reason) {
  skipped_.emplace(method, point + ": " + reason);
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
