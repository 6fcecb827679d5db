#include "barrier_explorer.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "barrier_steps.hpp"

namespace barrier_model {
namespace {

// Of the operations that a schedule is told by.
constexpr const char* kNames[] = {
    "begins",  "enters",     "meets its block", "meets its warp",
    "arrives", "has waited", "leaves",          "'s store lands",
    "fences",  "fences",     "loads",           "loads",
    "arrives", "arrives",    "has waited",      "has received",
    "gives up"};

struct Hash {
  std::uint64_t first, second;
  bool operator==(const Hash& other) const {
    return first == other.first && second == other.second;
  }
};
struct HashOfHash {
  std::size_t operator()(const Hash& hash) const { return hash.first; }
};

Hash hash_of(const Situation& now) {
  Hash hash{0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};
  const auto add = [&hash](std::uint64_t value) {
    hash.first = (hash.first ^ value) * 0xff51afd7ed558ccdu;
    hash.first ^= hash.first >> 32;
    hash.second = (hash.second + value) * 0xc4ceb9fe1a85ec53u;
    hash.second ^= hash.second >> 29;
  };
  const auto add_released = [&add](const Released& released) {
    add(released.on_gpu);
    add(released.to_all);
    add(static_cast<std::uint64_t>(released.gpu));
  };
  const auto add_word = [&](const Word& word) {
    add(word.value);
    add_released(word.released);
  };
  for (const Word& word : now.words) add_word(word);
  for (const ThreadState& thread : now.threads) {
    add(static_cast<std::uint64_t>(thread.node));
    add(thread.view);
    add_released(thread.fenced);
    add(thread.arrivals);
    add(thread.pending.size());
    for (const Store& store : thread.pending) {
      add(store.index);
      add_word(store.word);
    }
  }
  for (const Cluster& cluster : now.clusters) {
    add(cluster.arrivals);
    add(cluster.arriving);
    add(cluster.arrived);
  }
  return hash;
}

class Explorer {
 public:
  explicit Explorer(Programs& programs)
      : threads_(programs.threads()), steps_(programs) {}

  std::size_t explore() {
    try {
      visit(steps_.start());
    } catch (const BadEnd& end) {
      throw Broken(account_of(end));
    }
    return seen_.size();
  }

 private:
  void visit(const Situation& now) {
    if (!seen_.insert(hash_of(now)).second) return;
    for (const Move& move : steps_.from(now)) {
      path_.push_back(move);
      visit(steps_.after(now, move));
      path_.pop_back();
    }
  }

  std::string account_of(const BadEnd& end) const {
    std::ostringstream text;
    text << end.why << ": " << name_of(end.thread) << " after";
    for (const Move& move : path_) {
      text << "\n  " << name_of(move.thread) << ' ' << kNames[move.kind];
    }
    return text.str();
  }

  std::string name_of(std::size_t i) const {
    const Thread& thread = threads_[i];
    std::ostringstream text;
    text << "launch " << thread.launch << " GPU " << thread.gpu << " block "
         << thread.block << " lane " << thread.lane;
    return text.str();
  }

  const std::vector<Thread>& threads_;
  Steps steps_;
  std::unordered_set<Hash, HashOfHash> seen_;
  std::vector<Move> path_;  // to the state that is visited
};

}  // namespace

std::size_t explore(Programs& programs) { return Explorer(programs).explore(); }

}  // namespace barrier_model
