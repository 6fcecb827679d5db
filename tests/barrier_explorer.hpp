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
    start.entered.resize(scenario_.gpus * blocks_);
    start.on_gpu = start.on_all = start.entered;
    start.pending.resize(threads_.size());
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
    int data;         // where its block writes
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
    std::vector<int> nodes;  // of each thread
    // Of each thread: announcements that have not landed, as word and value.
    std::vector<std::vector<std::pair<unsigned, unsigned>>> pending;
    // The round that each block of each GPU has written, and that its own GPU
    // and all GPUs see.
    std::vector<unsigned> entered, on_gpu, on_all;
  };

  void add_threads(int launch, int first_round) {
    const Launch& shape = scenario_.launches[launch];
    blocks_ = std::max<int>(blocks_, shape.blocks);
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
      thread.data = thread.place.gpu * blocks_ + thread.place.block;
    }
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

  // Takes the steps whose order does not matter: nobody else sees them, or, as
  // of a fence, as soon as it can is when it makes the least visible.
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
    switch (next.kind) {
      case Operation::kBegin:
        if (!may_begin(now, thread)) return false;
        break;
      case Operation::kSyncBlock:
      case Operation::kSyncWarp:
        return meet(now, i);
      case Operation::kEnter:
        now.entered[thread.data] = next.value;
        break;
      case Operation::kLeave:
        check_data(now, thread, next.value);
        break;
      case Operation::kStore:
        if (!scenario_.late) return false;
        now.pending[i].emplace_back(index_.at(next.at), next.value);
        break;
      case Operation::kFenceGpu:
      case Operation::kFenceSystem:
        if (!now.pending[i].empty()) return false;
        release(now, thread, next.kind == Operation::kFenceSystem);
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
    for (const std::size_t i : block) advance(now, i, 0);
    return true;
  }

  void check_data(const Situation& now, const Thread& reader, unsigned round) {
    const Launch& launch = scenario_.launches[reader.place.launch];
    for (int gpu = 0; gpu < scenario_.gpus; ++gpu) {
      const auto& seen = gpu == reader.place.gpu ? now.on_gpu : now.on_all;
      for (unsigned block = 0; block < launch.blocks; ++block) {
        const int data = gpu * blocks_ + static_cast<int>(block);
        // A block sees its own writes, whatever has become of them.
        if (data == reader.data || seen[data] >= round) continue;
        fail("passes early", reader);
      }
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

  // What the block of `thread` has written is seen by its GPU; by all GPUs too,
  // with the rest that its GPU sees.
  void release(Situation& now, const Thread& thread, bool to_all) const {
    now.on_gpu[thread.data] = now.entered[thread.data];
    if (!to_all) return;
    for (int block = 0; block < blocks_; ++block) {
      const int data = thread.place.gpu * blocks_ + block;
      now.on_all[data] = now.on_gpu[data];
    }
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
        return !next.releases || landed(now, threads_[i].block);
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
    unsigned& word = now.words[index_.at(next.at)];
    unsigned result = 0;
    if (next.kind == Operation::kLoad) {
      result = word;
    } else if (next.kind == Operation::kLoadLap) {
      result = word / peer_grid::kLap;
    } else if (next.kind == Operation::kAdd) {
      if (next.releases) release(now, threads_[i], false);
      word += next.value;
      result = word % peer_grid::kLap == 0;
    } else if (next.kind == Operation::kStore) {
      word = next.value;
    }
    advance(now, i, result);
    return now;
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
        const auto [word, value] = after.pending[thread][i];
        after.words[word] = value;
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
      if (pending[j].first == pending[i].first) return false;
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
    for (const unsigned word : now.words) add(word);
    for (const int node : now.nodes) add(static_cast<std::uint64_t>(node));
    for (const auto& pending : now.pending) {
      add(pending.size());
      for (const auto& [word, value] : pending) {
        add(static_cast<std::uint64_t>(word) << 32 | value);
      }
    }
    for (const auto* data : {&now.entered, &now.on_gpu, &now.on_all}) {
      for (const unsigned round : *data) add(round);
    }
    return hash;
  }

  Scenario scenario_;
  int blocks_ = 0;             // of a GPU, in the largest launch
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
