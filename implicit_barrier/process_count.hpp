// In how many processes ImplicitBarrier measures.
#pragma once

#include <string>

#include "common/child_processes.hpp"
#include "common/options.hpp"

namespace syncbench::implicit_barrier {

/// What --processes says; by default fewer on many GPUs, of which each makes a
/// process slower to begin and end.
struct ProcessCount {
  static constexpr int kFewGpus = 4, kOnFew = 10, kOnMany = 5;
  int given = 0;

  /// The option, which refers to this object.
  Option option() {
    return {"processes", "N",
            "measure in N processes, one after the other (default " +
                std::to_string(kOnFew) + ", on more than " +
                std::to_string(kFewGpus) + " GPUs " + std::to_string(kOnMany) +
                "); m, s and the interval are those of all of them",
            [this](const std::string& value, Options&) {
              given = parse_count(value, "--processes", kMaxProcesses);
            }};
  }

  /// `gpu_count`: as in Options.
  int on(int gpu_count) const {
    if (given > 0) return given;
    return gpu_count > kFewGpus ? kOnMany : kOnFew;
  }
};

}  // namespace syncbench::implicit_barrier
