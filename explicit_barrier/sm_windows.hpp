// How long each SM was at work on a launch, by its own clock.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "explicit_barrier/method_entry.hpp"

namespace syncbench::explicit_barrier {

inline constexpr int kSmSlots = 1024;  ///< more than any GPU's SM numbers

/// From the first warp to enter to the last to leave, for one SM; unused SMs
/// have end == 0.
struct SmWindow {
  unsigned long long start;
  unsigned long long end;
};

/// Throws where `end` lies before `start`, two reads of one clock.
inline void check_order(long long start, long long end) {
  if (end >= start) return;
  throw std::runtime_error("a warp ended at cycle " + std::to_string(end) +
                           " of its SM's clock, before it began at " +
                           std::to_string(start));
}

/// `records` less those of warps that took no part. Throws where none is left
/// or where one of them cannot be.
inline std::vector<WarpRecord> of_those_that_took_part(
    std::vector<WarpRecord> records) {
  records.erase(std::remove_if(records.begin(), records.end(),
                               [](const WarpRecord& r) { return r.end == 0; }),
                records.end());
  if (records.empty()) throw std::runtime_error("no warp took part");
  for (const WarpRecord& record : records) {
    check_order(record.start, record.end);
    if (record.sm < kSmSlots) continue;
    throw std::runtime_error("a warp ran on SM number " +
                             std::to_string(record.sm) + ", and GPUs have " +
                             std::to_string(kSmSlots) + " at most");
  }
  return records;
}

/// Merges `count` warp records into one window an SM, windows[SM number], both
/// in the current GPU's memory; in its default stream.
void merge_windows(const WarpRecord* records, unsigned count,
                   SmWindow* windows);

}  // namespace syncbench::explicit_barrier
