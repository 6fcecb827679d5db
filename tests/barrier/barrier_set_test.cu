// When the set of the multi-GPU barrier waits for its GPUs and frees memory. A
// peer's kernel may write to the memory of a GPU that is done, so all have to
// be waited for before anything is freed. On GPUs another order hardly shows;
// here the library calls functions that note what they are called for.
#include <cstdio>
#include <string>
#include <utility>

#include "tests/barrier/noted_cuda.hpp"

namespace {

using noted::calls;
using noted::current;

int failures = 0;

// Whether these calls have been made since the last look.
void expect(const char* what, const std::string& expected) {
  const bool right = calls == expected && current == 5;
  std::printf("%s: %s%s\n", what, calls.c_str(), right ? "" : "FAILED");
  if (!right) ++failures;
  calls.clear();
}

int run() {
  using peer_grid::BarrierSet;
  current = 5;  // has to be so after each call
  const std::string all = "wait 3, wait 4, free, free, free, ";
  {
    BarrierSet set({3, 4}), other({4, 3});
    calls.clear();
    BarrierSet moved = std::move(set);
    expect("moved", "");
    moved = std::move(other);
    expect("assigned", all);
    BarrierSet& same = moved;
    moved = std::move(same);
    expect("assigned to itself", "");
    set = std::move(moved);
    expect("assigned to a moved one", "");
    if (set.for_blocks(8).size() != 2 || !moved.for_blocks(8).empty())
      ++failures;
    set = BarrierSet({3, 4});
    calls.erase(0, calls.find("wait 4, wait 3"));  // the constructor's
    expect("assigned a new one", "wait 4, wait 3, free, free, free, ");
  }
  expect("destroyed", all);
  {
    const BarrierSet set({3, 4});
    calls.clear();
    noted::is_broken = true;
  }
  noted::is_broken = false;
  expect("destroyed after an error", all);
  try {
    const BarrierSet set({3, 3});
    ++failures;
  } catch (const peer_grid::CannotJoin&) {
    expect("refused", "");
  }
  if (!noted::allocated.empty() || !noted::host.empty() ||
      !noted::problems.empty()) {
    ++failures;
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main() { return run(); }
