// Which steps the threads of a scenario can take, and what the steps change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "barrier_programs.hpp"

namespace barrier_model {

/// The round that each cell is known to hold, four bits a cell.
using View = std::uint64_t;

/// What a release or a fence makes known: on its own GPU, and to all.
struct Released {
  View on_gpu = 0, to_all = 0;
  int gpu = 0;
};

/// A word of memory.
struct Word {
  unsigned value;
  Released released{};  ///< with the value
};

/// A store that has not landed.
struct Store {
  unsigned index;  ///< of the word
  Word word;
};

/// What has become of a thread.
struct ThreadState {
  int node;  ///< of Programs
  View view = 0;
  Released fenced{};  ///< what its last fence makes known
  std::vector<Store> pending{};
  unsigned arrivals = 0;  ///< at the barrier of its cluster
};

/// The barrier of a cluster. It is complete when all threads have arrived as
/// often.
struct Cluster {
  unsigned arrivals = 0;
  View arriving = 0;  ///< what arrivals at the next barrier have released
  View arrived = 0;   ///< and those at the last complete one
};

/// A state of memory and of all threads.
struct Situation {
  std::vector<Word> words;
  std::vector<ThreadState> threads;
  std::vector<Cluster> clusters;
};

/// A thread's next operation, or the landing of one of its pending stores.
struct Move {
  std::size_t thread;
  Operation::Kind kind;
  std::optional<std::size_t> store{};
};

/// Thrown where a schedule ends badly.
struct BadEnd {
  const char* why;
  std::size_t thread;
};

/// The rules of barrier_model.hpp; each function may throw BadEnd.
class Steps {
 public:
  explicit Steps(Programs& programs);

  Situation start();
  /// All that can be taken next; none when all kernels have ended.
  std::vector<Move> from(const Situation& now) const;
  Situation after(Situation now, const Move& move);

 private:
  const Operation& next_of(const Situation& now, std::size_t i) const {
    return programs_.next(now.threads[i].node);
  }
  void advance(Situation& now, std::size_t i, unsigned result) {
    now.threads[i].node = programs_.after(now.threads[i].node, result);
  }
  void settle(Situation& now);
  bool settle(Situation& now, std::size_t i);
  bool may_begin(const Situation& now, const Thread& thread) const;
  bool meet(Situation& now, std::size_t first);
  bool arrive(Situation& now, std::size_t i);
  bool has_waited(Situation& now, std::size_t i);
  View seen_after(const Thread& reader, unsigned round) const;
  bool can_take(const Situation& now, std::size_t i) const;
  bool is_storing(const Situation& now, std::size_t i,
                  const unsigned* at) const;
  bool landed(const Situation& now, const Thread& thread) const;
  void take(Situation& now, std::size_t i);

  Programs& programs_;
  const std::vector<Thread>& threads_;
  std::map<const unsigned*, unsigned> index_;  // of each word
  std::vector<std::size_t> cluster_of_;        // of each thread, its index
};

}  // namespace barrier_model
