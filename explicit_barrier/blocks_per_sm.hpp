// The grids that a program sweeps, by their blocks per SM.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/options.hpp"

namespace syncbench::explicit_barrier {

/// What --blocks-per-sm says; by default 1, 2, 4, ... up to `most`.
struct BlocksPerSm {
  int most;
  std::string rows = "";  ///< that it is of, for --help; empty: all
  std::vector<int> given = {};

  /// The option, which refers to this object.
  Option option() {
    return {"blocks-per-sm", "N[,N...]",
            rows + "grids of so many blocks per SM instead of 1, 2, 4, ... " +
                std::to_string(most),
            [this](const std::string& value, Options&) {
              for (const std::string& word : split_words(value)) {
                const int count = parse_count(word, "--blocks-per-sm", most);
                const auto end = given.end();
                if (std::find(given.begin(), end, count) == end) {
                  given.push_back(count);
                }
              }
            }};
  }

  /// In the order of rows, each once.
  std::vector<int> swept() const {
    std::vector<int> counts = given;
    for (int count = 1; given.empty() && count <= most; count *= 2) {
      counts.push_back(count);
    }
    return counts;
  }
};

}  // namespace syncbench::explicit_barrier
