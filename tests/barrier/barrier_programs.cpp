#include "barrier_programs.hpp"

#include <algorithm>
#include <stdexcept>

namespace barrier_model {

Programs::Programs(const Scenario& scenario) : scenario_(scenario) {
  unsigned blocks = 0, threads = 0;  // of the largest launch
  for (const Launch& launch : scenario.launches) {
    blocks = std::max(blocks, launch.blocks);
    threads = std::max(threads, launch.threads + launch.others);
  }
  int rounds = 0;
  for (std::size_t i = 0; i < scenario.launches.size(); ++i) {
    const Launch& launch = scenario.launches[i];
    for (int gpu = 0; gpu < scenario.gpus; ++gpu) {
      for (unsigned block = 0; block < launch.blocks; ++block) {
        for (unsigned j = 0; j < launch.threads + launch.others; ++j) {
          const unsigned lane =
              j < launch.threads ? j : 32 + j - launch.threads;
          threads_.push_back({static_cast<int>(i), gpu, block, launch.blocks,
                              launch.cluster, lane, launch.threads, rounds,
                              (gpu * blocks + block) * threads + j});
        }
      }
    }
    rounds += launch.rounds;
  }
  if (scenario.gpus * blocks * threads > 16 || rounds > 15) {
    throw std::invalid_argument("more than a view holds");
  }
}

int Programs::start(std::size_t thread) {
  return node_between(thread, variables_of(threads_[thread]), 0);
}

int Programs::after(int node, unsigned result) {
  Node& from = nodes_[node];
  const auto found = from.after.find(result);
  if (found != from.after.end()) return found->second;
  std::vector<unsigned> results = from.results;
  results.push_back(result);
  return from.after[result] =
             new_node(from.thread, from.before, from.round, results);
}

// The node of a thread whose rounds before this one are behind it.
int Programs::node_between(std::size_t thread, const Variables& before,
                           int round) {
  const auto [found, added] = between_.insert({{thread, round, before}, 0});
  if (added) found->second = new_node(thread, before, round, {});
  return found->second;
}

// Runs a thread through a round as far as `results` take it.
int Programs::new_node(std::size_t thread, const Variables& before, int round,
                       const std::vector<unsigned>& results) {
  const Thread& self = threads_[thread];
  const unsigned number = self.rounds_before + round;
  Variables variables = before;
  Script script(results);
  try {
    if (round == 0) {
      script.perform({Operation::kBegin});
    } else if (round > scenario_.launches[self.launch].rounds) {
      script.perform({Operation::kEnd});
    } else {
      script.perform({Operation::kEnter, nullptr, number});
      sync(self, script, variables);
      script.perform({Operation::kLeave, nullptr, number});
    }
  } catch (const Operation& next) {
    nodes_.push_back({thread, before, round, results, next, {}});
    return static_cast<int>(nodes_.size()) - 1;
  }
  return node_between(thread, variables, round + 1);
}

}  // namespace barrier_model
