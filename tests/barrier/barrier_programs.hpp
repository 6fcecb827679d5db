// What each thread of a scenario does next, after which results.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "barrier_model.hpp"

namespace barrier_model {

/// The threads of a scenario. A node is a thread in one of its rounds, after
/// the results that it has had there.
class Programs {
 public:
  explicit Programs(const Scenario& scenario);
  virtual ~Programs() = default;

  const Scenario& scenario() const { return scenario_; }
  const std::vector<Thread>& threads() const { return threads_; }
  /// Memory that threads share, as it is at the start.
  virtual std::vector<const unsigned*> words() const = 0;

  /// The node of a thread whose kernel has not begun.
  int start(std::size_t thread);
  const Operation& next(int node) const { return nodes_[node].next; }
  /// The node that follows when the next operation has this result.
  int after(int node, unsigned result);

 protected:
  /// The variables of a thread's protocol, as bytes.
  using Variables = std::string;

 private:
  // As the kernel begins.
  virtual Variables variables_of(const Thread& thread) = 0;
  // Takes a thread through a barrier, as far as the script has results.
  virtual void sync(const Thread& thread, Script& script,
                    Variables& variables) = 0;

  // The rounds before have left nothing but the protocol's variables.
  struct Node {
    std::size_t thread;
    Variables before;  // as the round began
    int round;         // 0 before the kernel begins
    std::vector<unsigned> results;
    Operation next;
    std::map<unsigned, int> after;  // a result -> node
  };

  int new_node(std::size_t thread, const Variables& before, int round,
               const std::vector<unsigned>& results);
  int node_between(std::size_t thread, const Variables& before, int round);

  Scenario scenario_;
  std::vector<Thread> threads_;
  std::deque<Node> nodes_;  // never moves its elements
  std::map<std::tuple<std::size_t, int, Variables>, int> between_;
};

/// Programs whose protocol runs on this machine.
template <class Machine>
class ProgramsOn : public Programs {
 public:
  explicit ProgramsOn(const Scenario& scenario)
      : Programs(scenario), states_(scenario.gpus) {
    for (State& state : states_) {
      state.counter.value = scenario.last_start * peer_grid::kLap;
      for (auto& counter : state.counters) {
        counter.value = scenario.leader_start * peer_grid::kLap;
      }
      for (auto& word : state.by_last.barrier) word = scenario.last_start;
      for (auto& line : state.by_leader) {
        for (auto& word : line.barrier) word = scenario.leader_start;
      }
    }
  }

  std::vector<const unsigned*> words() const override {
    std::vector<const unsigned*> words;
    for (const State& state : states_) {
      words.push_back(&state.counter.value);
      for (auto& counter : state.counters) words.push_back(&counter.value);
      for (int gpu = 0; gpu < scenario().gpus; ++gpu) {
        words.push_back(&state.by_last.barrier[gpu]);
        for (auto& line : state.by_leader) words.push_back(&line.barrier[gpu]);
      }
    }
    return words;
  }

 private:
  using State = typename Machine::State;
  using Protocol = peer_grid::Protocol<Machine>;
  struct Own {
    Protocol protocol;
    unsigned long long knows = 0;  // no padding, for bytes are compared
  };
  static_assert(std::is_trivially_copyable_v<Own>);

  Variables variables_of(const Thread& thread) override {
    const Launch& launch = scenario().launches[thread.launch];
    End<Machine::kLines> end;
    for (int gpu = 0; gpu < scenario().gpus; ++gpu) {
      end.of_rank[gpu] = &states_[gpu];
    }
    end.rank = thread.gpu;
    end.own = end.of_rank[end.rank];
    end.gpus = scenario().gpus;
    end.blocks = launch.blocks;
    end.meeting = launch.meeting;
    return bytes_of({Protocol(end)});
  }

  void sync(const Thread& thread, Script& script,
            Variables& variables) override {
    Machine machine;
    machine.script = &script;
    machine.self = &thread;
    machine.states = states_.data();
    Own own = {Protocol({})};
    std::memcpy(static_cast<void*>(&own), variables.data(), sizeof own);
    if (!own.knows) own.protocol.learn(machine);
    own.knows = 1;
    own.protocol.sync(machine);
    variables = bytes_of(own);
  }

  static Variables bytes_of(const Own& own) {
    return {reinterpret_cast<const char*>(&own), sizeof own};
  }

  std::vector<State> states_;  // what memory is at first, and its addresses
};

}  // namespace barrier_model
