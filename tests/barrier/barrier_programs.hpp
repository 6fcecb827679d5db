// What each thread of a scenario does next, after which results.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <new>
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

/// Programs whose threads meet at a barrier that each makes for itself.
template <class Barrier, class Machine>
class BarrierPrograms : public Programs {
 public:
  using Programs::Programs;

 private:
  struct Own {
    Barrier barrier;
    bool knows;
  };
  static_assert(std::is_trivially_copyable_v<Own>);

  virtual Barrier barrier_of(const Thread& thread) = 0;
  virtual void complete(Machine&) {}

  Variables variables_of(const Thread& thread) override {
    return bytes_of(barrier_of(thread), false);
  }
  void sync(const Thread& thread, Script& script,
            Variables& variables) override {
    Own own = {barrier_of(thread), false};
    std::memcpy(static_cast<void*>(&own), variables.data(), sizeof own);
    Machine machine;
    machine.script = &script;
    machine.self = &thread;
    complete(machine);
    if (!own.knows && thread.lane < 32) own.barrier.learn(machine);
    own.barrier.sync(machine);
    variables = bytes_of(own.barrier, true);
  }
  static Variables bytes_of(const Barrier& barrier, bool knows) {
    alignas(Own) char bytes[sizeof(Own)] = {};  // padding too
    new (bytes) Own{barrier, knows};
    return {bytes, sizeof bytes};
  }
};

/// At the multi-GPU barrier on this machine.
template <class Machine>
class ProgramsOn
    : public BarrierPrograms<peer_grid::Protocol<Machine>, Machine> {
 public:
  explicit ProgramsOn(const Scenario& scenario)
      : BarrierPrograms<peer_grid::Protocol<Machine>, Machine>(scenario),
        states_(scenario.gpus) {
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
      for (int gpu = 0; gpu < this->scenario().gpus; ++gpu) {
        words.push_back(&state.by_last.barrier[gpu]);
        for (auto& line : state.by_leader) words.push_back(&line.barrier[gpu]);
      }
    }
    return words;
  }

 private:
  using State = typename Machine::State;

  peer_grid::Protocol<Machine> barrier_of(const Thread& thread) override {
    const Scenario& scenario = this->scenario();
    const Launch& launch = scenario.launches[thread.launch];
    End<Machine::kLines> end;
    for (int gpu = 0; gpu < scenario.gpus; ++gpu) {
      end.of_rank[gpu] = &states_[gpu];
    }
    end.rank = thread.gpu;
    end.own = end.of_rank[end.rank];
    end.gpus = scenario.gpus;
    end.blocks = launch.blocks;
    end.meeting = launch.meeting;
    return peer_grid::Protocol<Machine>(end);
  }
  void complete(Machine& machine) override { machine.states = states_.data(); }

  std::vector<State> states_;  // what memory is at first, and its addresses
};

}  // namespace barrier_model
