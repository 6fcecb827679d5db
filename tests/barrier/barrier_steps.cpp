#include "barrier_steps.hpp"

#include <algorithm>
#include <tuple>

namespace barrier_model {
namespace {

View view_of(unsigned cell, View round) { return round << 4 * cell; }

// The later round of each cell.
View joined(View one, View other) {
  View both = 0;
  for (unsigned cell = 0; cell < 16; ++cell) {
    const View mask = view_of(cell, 15);
    both |= std::max(one & mask, other & mask);
  }
  return both;
}

// By a thread of `gpu`, at system scope or that of its GPU.
void acquire(View& view, int gpu, bool system, const Released& released) {
  if (released.gpu == gpu) view = joined(view, released.on_gpu);
  if (system) view = joined(view, released.to_all);
}

// An addition at system scope or that of its GPU; what others have released to
// the counter stays, of other GPUs what they have released to all, which only
// an acquire at system scope takes.
void release(View view, int gpu, bool system, Released& released) {
  if (released.gpu != gpu) released.on_gpu = 0;
  released.gpu = gpu;
  released.on_gpu = joined(released.on_gpu, view);
  if (system) released.to_all = joined(released.to_all, view);
}

// The stores that follow in the thread carry `fenced`.
void fence(View view, int gpu, bool system, Released& fenced) {
  fenced.gpu = gpu;
  fenced.on_gpu = view;
  if (system) fenced.to_all = view;
}

bool same_block(const Thread& one, const Thread& other) {
  return one.launch == other.launch && one.gpu == other.gpu &&
         one.block == other.block;
}

bool first_to_its_word(const std::vector<Store>& pending, std::size_t i) {
  for (std::size_t j = 0; j < i; ++j) {
    if (pending[j].index == pending[i].index) return false;
  }
  return true;
}

}  // namespace

Steps::Steps(Programs& programs)
    : programs_(programs), threads_(programs.threads()) {
  for (const unsigned* word : programs.words()) {
    index_.insert({word, static_cast<unsigned>(index_.size())});
  }
  std::map<std::tuple<int, int, unsigned>, std::size_t> clusters;
  for (const Thread& thread : threads_) {
    const auto [found, added] = clusters.insert(
        {{thread.launch, thread.gpu, thread.block / thread.cluster},
         clusters.size()});
    cluster_of_.push_back(found->second);
  }
}

Situation Steps::start() {
  Situation start;
  for (const unsigned* word : programs_.words()) start.words.push_back({*word});
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    start.threads.push_back({programs_.start(i)});
  }
  start.clusters.resize(cluster_of_.back() + 1);
  settle(start);
  return start;
}

std::vector<Move> Steps::from(const Situation& now) const {
  std::vector<Move> moves;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (can_take(now, i)) moves.push_back({i, next_of(now, i).kind});
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const std::vector<Store>& pending = now.threads[i].pending;
    for (std::size_t j = 0; j < pending.size(); ++j) {
      if (first_to_its_word(pending, j)) {
        moves.push_back({i, Operation::kStore, j});
      }
    }
  }
  if (!moves.empty()) return moves;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (next_of(now, i).kind != Operation::kEnd) {
      throw BadEnd{"waits for ever", i};
    }
  }
  return moves;
}

Situation Steps::after(Situation now, const Move& move) {
  if (move.store) {
    std::vector<Store>& pending = now.threads[move.thread].pending;
    const auto store = pending.begin() + *move.store;
    now.words[store->index] = store->word;
    pending.erase(store);
  } else {
    take(now, move.thread);
  }
  settle(now);
  return now;
}

// Takes the steps that change nothing but the thread or its block, so that
// their order does not matter.
void Steps::settle(Situation& now) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      moved = settle(now, i) || moved;
    }
  }
}

bool Steps::settle(Situation& now, std::size_t i) {
  const Operation& next = next_of(now, i);
  const Thread& thread = threads_[i];
  ThreadState& state = now.threads[i];
  switch (next.kind) {
    case Operation::kBegin:
      if (!may_begin(now, thread)) return false;
      break;
    case Operation::kSyncBlock:
    case Operation::kSyncWarp:
      return meet(now, i);
    case Operation::kArriveCluster:
      if (!arrive(now, i)) return false;
      break;
    case Operation::kWaitCluster:
      if (!has_waited(now, i)) return false;
      break;
    case Operation::kEnter:
      state.view = joined(state.view, view_of(thread.cell, next.value));
      break;
    case Operation::kLeave: {
      const View seen = seen_after(thread, next.value);
      const bool early =
          programs_.scenario().orders && joined(state.view, seen) != state.view;
      if (early) throw BadEnd{"passes early", i};
      // What else it knows it may forget: the next barrier has to tell it.
      state.view = seen;
      state.fenced = Released();
      break;
    }
    case Operation::kStore:
      if (!programs_.scenario().late) return false;
      state.pending.push_back({index_.at(next.at), {next.value, state.fenced}});
      break;
    case Operation::kFenceGpu:
    case Operation::kFenceSystem:
      if (next.orders ? !landed(now, thread) : !state.pending.empty()) {
        return false;
      }
      fence(state.view, thread.gpu, next.kind == Operation::kFenceSystem,
            state.fenced);
      break;
    default:
      return false;
  }
  advance(now, i, 0);
  return true;
}

// A kernel begins when the one before it on its GPU has ended.
bool Steps::may_begin(const Situation& now, const Thread& thread) const {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (other.gpu == thread.gpu && other.launch < thread.launch &&
        (next_of(now, i).kind != Operation::kEnd ||
         !now.threads[i].pending.empty())) {
      return false;
    }
  }
  return true;
}

// All threads of a block or of its first warp, once all are at the same kind of
// operation.
bool Steps::meet(Situation& now, std::size_t first) {
  const Operation::Kind kind = next_of(now, first).kind;
  std::vector<std::size_t> block;
  View all = 0;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (!same_block(threads_[i], threads_[first])) continue;
    if (kind == Operation::kSyncWarp && threads_[i].lane >= 32) continue;
    if (next_of(now, i).kind != kind) return false;
    block.push_back(i);
    all = joined(all, now.threads[i].view);
  }
  for (const std::size_t i : block) {
    now.threads[i].view = all;
    advance(now, i, 0);
  }
  return true;
}

// At the barrier of its cluster, once its announcements have landed.
bool Steps::arrive(Situation& now, std::size_t i) {
  const bool releases = next_of(now, i).orders;
  ThreadState& state = now.threads[i];
  Cluster& cluster = now.clusters[cluster_of_[i]];
  if (releases && !state.pending.empty()) return false;
  if (releases) cluster.arriving = joined(cluster.arriving, state.view);
  ++state.arrivals;
  if (++cluster.arrivals % (threads_[i].cluster * threads_[i].lanes) == 0) {
    cluster.arrived = cluster.arriving;
    cluster.arriving = 0;
  }
  return true;
}

// The cluster's barrier at which the thread has arrived last is complete.
bool Steps::has_waited(Situation& now, std::size_t i) {
  ThreadState& state = now.threads[i];
  const Cluster& cluster = now.clusters[cluster_of_[i]];
  const unsigned threads = threads_[i].cluster * threads_[i].lanes;
  if (cluster.arrivals < state.arrivals * threads) return false;
  if (next_of(now, i).orders) state.view = joined(state.view, cluster.arrived);
  return true;
}

// What a barrier has to have made known to a thread: the round of all threads
// of its launch.
View Steps::seen_after(const Thread& reader, unsigned round) const {
  View view = 0;
  for (const Thread& thread : threads_) {
    if (thread.launch == reader.launch) view |= view_of(thread.cell, round);
  }
  return view;
}

bool Steps::can_take(const Situation& now, std::size_t i) const {
  const Operation& next = next_of(now, i);
  switch (next.kind) {
    case Operation::kLoad:
    case Operation::kLoadLap:
      return !is_storing(now, i, next.at);
    case Operation::kStore:
    case Operation::kGiveUp:
      return true;
    case Operation::kAdd:
    case Operation::kFetchAdd:
      return !next.orders || landed(now, threads_[i]);
    case Operation::kWait:
    case Operation::kReceive:
      return !is_storing(now, i, next.at) &&
             next.done(now.words[index_.at(next.at)].value);
    default:
      return false;
  }
}

// A thread that stores a word does not see an older value of it: here it waits
// until its store has landed.
bool Steps::is_storing(const Situation& now, std::size_t i,
                       const unsigned* at) const {
  const std::vector<Store>& pending = now.threads[i].pending;
  return std::any_of(pending.begin(), pending.end(), [&](const Store& store) {
    return store.index == index_.at(at);
  });
}

// No announcement of the thread's block is on its way.
bool Steps::landed(const Situation& now, const Thread& thread) const {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (same_block(threads_[i], thread) && !now.threads[i].pending.empty()) {
      return false;
    }
  }
  return true;
}

void Steps::take(Situation& now, std::size_t i) {
  const Operation& next = next_of(now, i);
  if (next.kind == Operation::kGiveUp) throw BadEnd{"gives up", i};
  ThreadState& state = now.threads[i];
  Word& word = now.words[index_.at(next.at)];
  if (next.orders && next.kind != Operation::kAdd) {
    acquire(state.view, threads_[i].gpu, next.system, word.released);
  }
  if (next.orders && next.kind != Operation::kWait &&
      next.kind != Operation::kReceive) {
    release(state.view, threads_[i].gpu, next.system, word.released);
  }
  unsigned result = 0;
  switch (next.kind) {
    case Operation::kLoad:
    case Operation::kReceive:
      result = word.value;
      break;
    case Operation::kLoadLap:
      result = word.value / peer_grid::kLap;
      break;
    case Operation::kStore:
      word = {next.value, state.fenced};
      break;
    case Operation::kAdd:
      word.value += next.value;
      break;
    case Operation::kFetchAdd:
      word.value += next.value;
      result = word.value;
      break;
    default:
      break;
  }
  advance(now, i, result);
}

}  // namespace barrier_model
