// Visits every state that the threads of barrier_model.hpp can reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "barrier_model.hpp"

namespace barrier_model {

/// A schedule that ends badly; what() is why, and the steps that led there.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Machine>
class Explorer {
 public:
  explicit Explorer(const Scenario& scenario) : scenario_(scenario) {
    memory_.resize(scenario.gpus);
    int rounds = 0;
    for (std::size_t i = 0; i < scenario.launches.size(); ++i) {
      add_threads(static_cast<int>(i), rounds);
      rounds += scenario.launches[i].rounds;
    }
  }

  /// Visits every state; returns how many there are. Throws Broken.
  std::size_t explore() {
    Situation start;
    start.words = starting_words();
    start.released.resize(start.words.size());
    start.pending.resize(threads_.size());
    start.views.resize(threads_.size());
    start.fenced.resize(threads_.size());
    start.nodes.resize(threads_.size());
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      start.nodes[i] = node_between(i, new_protocol(threads_[i]), 0);
    }
    visit(std::move(start));
    return seen_.size();
  }

 private:
  using State = typename Machine::State;

  struct Thread {
    Place place;
    int first_round;  // of its launch
    int block;        // among those of all launches and GPUs
    int cell;         // that it writes, one for each thread of a launch
  };

  // The round that each cell is known to hold, four bits a cell.
  using View = std::uint64_t;

  // What a release or a fence makes known: on its own GPU, and to all.
  struct Released {
    View on_gpu = 0, to_all = 0;
    int gpu = 0;
  };

  // A store that has not landed.
  struct Store {
    unsigned word, value;
    Released released;
  };

  using Protocol = peer_grid::Protocol<Machine>;

  // A thread in one of its rounds, after the results that it has had there. The
  // rounds before have left nothing but the protocol's variables.
  struct Node {
    Protocol before;  // as the round began
    int round;        // 0 before the kernel begins
    std::vector<unsigned> results;
    Operation next;
    std::map<unsigned, int> after;  // a result -> node
  };

  struct Situation {
    std::vector<unsigned> words;
    std::vector<int> nodes;                   // of each thread
    std::vector<Released> released;           // with each word
    std::vector<std::vector<Store>> pending;  // of each thread
    std::vector<View> views;                  // of each thread
    std::vector<Released> fenced;             // of each thread, its last fence
  };

  void add_threads(int launch, int first_round) {
    const Launch& shape = scenario_.launches[launch];
    blocks_ = std::max(blocks_, static_cast<int>(shape.blocks));
    lanes_ = std::max(lanes_, static_cast<int>(shape.threads));
    for (int gpu = 0; gpu < scenario_.gpus; ++gpu) {
      for (unsigned block = 0; block < shape.blocks; ++block) {
        for (unsigned lane = 0; lane < shape.threads; ++lane) {
          threads_.push_back(
              {{launch, gpu, block, shape.blocks, lane, shape.threads},
               first_round,
               blocks_of_threads_,
               0});
        }
        ++blocks_of_threads_;
      }
    }
    for (Thread& thread : threads_) {
      thread.cell =
          cell_of(thread.place.gpu, thread.place.block, thread.place.lane);
    }
    if (scenario_.gpus * blocks_ * lanes_ > 16 ||
        first_round + shape.rounds > 15) {
      throw std::invalid_argument("more than a view holds");
    }
  }

  int cell_of(int gpu, unsigned block, unsigned lane) const {
    return (gpu * blocks_ + static_cast<int>(block)) * lanes_ +
           static_cast<int>(lane);
  }

  static unsigned round_of(View view, int cell) {
    return view >> 4 * cell & 15;
  }

  static View joined(View one, View other) {
    View both = 0;
    for (int cell = 0; cell < 16; ++cell) {
      both |= static_cast<View>(
                  std::max(round_of(one, cell), round_of(other, cell)))
              << 4 * cell;
    }
    return both;
  }

  // Memory as the state that a set of GPUs starts with.
  std::vector<unsigned> starting_words() {
    for (State& state : memory_) {
      state = State{};
      state.counter.value = scenario_.last_start * peer_grid::kLap;
      for (auto& counter : state.counters) {
        counter.value = scenario_.leader_start * peer_grid::kLap;
      }
      for (auto& word : state.by_last.barrier) word = scenario_.last_start;
      for (auto& line : state.by_leader) {
        for (auto& word : line.barrier) word = scenario_.leader_start;
      }
    }
    std::vector<unsigned> words;
    for (State& state : memory_) {
      const auto use = [&](unsigned& word) {
        index_[&word] = static_cast<unsigned>(words.size());
        words.push_back(word);
      };
      use(state.counter.value);
      for (auto& counter : state.counters) use(counter.value);
      for (int gpu = 0; gpu < scenario_.gpus; ++gpu) {
        use(state.by_last.barrier[gpu]);
        for (auto& line : state.by_leader) use(line.barrier[gpu]);
      }
    }
    return words;
  }

  // The node of a thread whose rounds up to `round` are behind it.
  int node_between(std::size_t thread, const Protocol& protocol, int round) {
    std::string key =
        std::to_string(thread) + " " + std::to_string(round) + " ";
    key.append(reinterpret_cast<const char*>(&protocol), sizeof protocol);
    const auto found = between_.find(key);
    if (found != between_.end()) return found->second;
    return between_[key] = new_node(thread, protocol, round, {});
  }

  // Runs a thread through a round as far as `results` take it.
  int new_node(std::size_t thread, const Protocol& before, int round,
               const std::vector<unsigned>& results) {
    const Thread& self = threads_[thread];
    const int rounds = scenario_.launches[self.place.launch].rounds;
    Script script(results);
    Machine machine;
    machine.script = &script;
    machine.place = &self.place;
    machine.states = memory_.data();
    Protocol protocol = before;
    try {
      if (round == 0) {
        script.perform({Operation::kBegin});
      } else if (round > rounds) {
        script.perform({Operation::kEnd});
      } else {
        const unsigned number = self.first_round + round;
        script.perform({Operation::kEnter, nullptr, number});
        protocol.sync(machine);
        script.perform({Operation::kLeave, nullptr, number});
      }
    } catch (const Operation& next) {
      nodes_.push_back({before, round, results, next, {}});
      return static_cast<int>(nodes_.size()) - 1;
    }
    return node_between(thread, protocol, round + 1);
  }

  Protocol new_protocol(const Thread& thread) {
    const Launch& launch = scenario_.launches[thread.place.launch];
    End<Machine::kLines> end;
    for (int gpu = 0; gpu < scenario_.gpus; ++gpu) {
      end.of_rank[gpu] = &memory_[gpu];
    }
    end.rank = thread.place.gpu;
    end.own = end.of_rank[end.rank];
    end.gpus = scenario_.gpus;
    end.blocks = launch.blocks;
    end.meeting = launch.meeting;
    return Protocol(end);
  }

  const Operation& next_of(const Situation& now, std::size_t thread) const {
    return nodes_[now.nodes[thread]].next;
  }

  void advance(Situation& now, std::size_t thread, unsigned result) {
    const int from = now.nodes[thread];
    const auto found = nodes_[from].after.find(result);
    if (found != nodes_[from].after.end()) {
      now.nodes[thread] = found->second;
      return;
    }
    std::vector<unsigned> results = nodes_[from].results;
    results.push_back(result);
    const int to =
        new_node(thread, nodes_[from].before, nodes_[from].round, results);
    now.nodes[thread] = nodes_[from].after[result] = to;
  }

  // Takes the steps that change nothing but the thread or its block, so that
  // their order does not matter.
  void settle(Situation& now) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < threads_.size(); ++i) {
        moved = settle(now, i) || moved;
      }
    }
  }

  bool settle(Situation& now, std::size_t i) {
    const Operation& next = next_of(now, i);
    const Thread& thread = threads_[i];
    Released& fenced = now.fenced[i];
    switch (next.kind) {
      case Operation::kBegin:
        if (!may_begin(now, thread)) return false;
        break;
      case Operation::kSyncBlock:
      case Operation::kSyncWarp:
        return meet(now, i);
      case Operation::kEnter:
        now.views[i] = joined(now.views[i], static_cast<View>(next.value)
                                                << 4 * thread.cell);
        break;
      case Operation::kLeave:
        check_view(now.views[i], thread, next.value);
        // What else it knows it may forget: the next barrier has to tell it.
        now.views[i] = seen_after(thread, next.value);
        fenced = Released();
        break;
      case Operation::kStore:
        if (!scenario_.late) return false;
        now.pending[i].push_back({index_.at(next.at), next.value, fenced});
        break;
      case Operation::kFenceGpu:
      case Operation::kFenceSystem:
        if (!now.pending[i].empty()) return false;
        fenced.gpu = thread.place.gpu;
        fenced.on_gpu = now.views[i];
        if (next.kind == Operation::kFenceSystem) fenced.to_all = now.views[i];
        break;
      default:
        return false;
    }
    advance(now, i, 0);
    return true;
  }

  // A kernel begins when the one before it on its GPU has ended.
  bool may_begin(const Situation& now, const Thread& thread) const {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const Place& other = threads_[i].place;
      if (other.gpu != thread.place.gpu ||
          other.launch >= thread.place.launch) {
        continue;
      }
      if (next_of(now, i).kind != Operation::kEnd || !now.pending[i].empty()) {
        return false;
      }
    }
    return true;
  }

  // All threads of a block, once all are at the same kind of operation.
  bool meet(Situation& now, std::size_t first) {
    const Operation::Kind kind = next_of(now, first).kind;
    std::vector<std::size_t> block;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].block != threads_[first].block) continue;
      if (next_of(now, i).kind != kind) return false;
      block.push_back(i);
    }
    View all = 0;
    for (const std::size_t i : block) all = joined(all, now.views[i]);
    for (const std::size_t i : block) {
      now.views[i] = all;
      advance(now, i, 0);
    }
    return true;
  }

  // What a barrier has to have made known to a thread: the round of all threads
  // of its launch.
  View seen_after(const Thread& reader, View round) const {
    const Launch& launch = scenario_.launches[reader.place.launch];
    View view = 0;
    for (int gpu = 0; gpu < scenario_.gpus; ++gpu) {
      for (unsigned block = 0; block < launch.blocks; ++block) {
        for (unsigned lane = 0; lane < launch.threads; ++lane) {
          view |= round << 4 * cell_of(gpu, block, lane);
        }
      }
    }
    return view;
  }

  void check_view(View view, const Thread& reader, unsigned round) const {
    if (joined(view, seen_after(reader, round)) != view) {
      fail("passes early", reader);
    }
  }

  [[noreturn]] void fail(const std::string& why, const Thread& thread) const {
    std::ostringstream text;
    text << why << ": " << name_of(thread) << " after";
    for (const auto& [taken, kind] : path_) {
      text << "\n  " << name_of(threads_[taken]) << ' ' << kNames[kind];
    }
    throw Broken(text.str());
  }

  static std::string name_of(const Thread& thread) {
    std::ostringstream text;
    text << "launch " << thread.place.launch << " GPU " << thread.place.gpu
         << " block " << thread.place.block << " lane " << thread.place.lane;
    return text.str();
  }

  bool can_take(const Situation& now, std::size_t i) const {
    const Operation& next = next_of(now, i);
    switch (next.kind) {
      case Operation::kLoad:
      case Operation::kLoadLap:
      case Operation::kStore:
      case Operation::kGiveUp:
        return true;
      case Operation::kAdd:
      case Operation::kCompletes:
        return !next.orders || landed(now, threads_[i].block);
      case Operation::kWait:
        return next.done(now.words[index_.at(next.at)]);
      default:
        return false;
    }
  }

  // No announcement of the block is on its way.
  bool landed(const Situation& now, int block) const {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].block == block && !now.pending[i].empty()) return false;
    }
    return true;
  }

  Situation take(Situation now, std::size_t i) {
    const Operation& next = next_of(now, i);
    if (next.kind == Operation::kGiveUp) fail("gives up", threads_[i]);
    const unsigned index = index_.at(next.at);
    unsigned& word = now.words[index];
    unsigned result = 0;
    if (next.kind == Operation::kLoad) {
      result = word;
    } else if (next.kind == Operation::kLoadLap) {
      result = word / peer_grid::kLap;
    } else if (next.kind == Operation::kStore) {
      word = next.value;
      now.released[index] = now.fenced[i];
    } else if (next.kind == Operation::kWait) {
      if (next.orders) acquire(now, i, index);
    } else {
      if (next.orders) {
        if (next.kind == Operation::kCompletes) acquire(now, i, index);
        release(now, i, index);
      }
      word += next.value;
      if (next.kind == Operation::kCompletes) {
        result = word % peer_grid::kLap == 0;
      }
    }
    advance(now, i, result);
    return now;
  }

  void acquire(Situation& now, std::size_t i, unsigned index) const {
    const Released& released = now.released[index];
    View& view = now.views[i];
    if (released.gpu == threads_[i].place.gpu) {
      view = joined(view, released.on_gpu);
    } else if (next_of(now, i).system) {
      view = joined(view, released.to_all);
    }
  }

  // An addition at GPU scope; what others have released to the counter stays.
  void release(Situation& now, std::size_t i, unsigned index) const {
    Released& released = now.released[index];
    released.gpu = threads_[i].place.gpu;
    released.on_gpu = joined(released.on_gpu, now.views[i]);
  }

  void visit(Situation now) {
    settle(now);
    if (!seen_.insert(hash_of(now)).second) return;
    bool moved = false;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (!can_take(now, i)) continue;
      moved = true;
      path_.push_back({i, next_of(now, i).kind});
      visit(take(now, i));
      path_.pop_back();
    }
    for (std::size_t thread = 0; thread < now.pending.size(); ++thread) {
      for (std::size_t i = 0; i < now.pending[thread].size(); ++i) {
        if (!first_to_its_word(now.pending[thread], i)) continue;
        moved = true;
        Situation after = now;
        const Store store = after.pending[thread][i];
        after.words[store.word] = store.value;
        after.released[store.word] = store.released;
        after.pending[thread].erase(after.pending[thread].begin() + i);
        path_.push_back({thread, Operation::kStore});
        visit(std::move(after));
        path_.pop_back();
      }
    }
    if (moved) return;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (next_of(now, i).kind != Operation::kEnd) {
        fail("waits for ever", threads_[i]);
      }
    }
  }

  template <class Pending>
  static bool first_to_its_word(const Pending& pending, std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (pending[j].word == pending[i].word) return false;
    }
    return true;
  }

  struct Hash {
    std::uint64_t first, second;
    bool operator==(const Hash& other) const {
      return first == other.first && second == other.second;
    }
  };
  struct HashOfHash {
    std::size_t operator()(const Hash& hash) const { return hash.first; }
  };

  static Hash hash_of(const Situation& now) {
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
    for (const unsigned word : now.words) add(word);
    for (const int node : now.nodes) add(static_cast<std::uint64_t>(node));
    for (const auto& pending : now.pending) {
      add(pending.size());
      for (const Store& store : pending) {
        add(static_cast<std::uint64_t>(store.word) << 32 | store.value);
        add_released(store.released);
      }
    }
    for (const View view : now.views) add(view);
    for (const Released& released : now.released) add_released(released);
    for (const Released& fenced : now.fenced) add_released(fenced);
    return hash;
  }

  Scenario scenario_;
  int blocks_ = 0;             // of a GPU, in the largest launch
  int lanes_ = 0;              // of a block, in the largest launch
  int blocks_of_threads_ = 0;  // of all launches and GPUs
  std::vector<Thread> threads_;
  std::vector<State> memory_;  // for its addresses only
  std::map<const unsigned*, unsigned> index_;
  std::deque<Node> nodes_;  // never moves its elements
  std::map<std::string, int> between_;
  std::unordered_set<Hash, HashOfHash> seen_;
  std::vector<std::pair<std::size_t, Operation::Kind>> path_;
};

}  // namespace barrier_model
