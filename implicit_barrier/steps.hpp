// One chain of dependent steps on one GPU, by every way there is. A step spins;
// where it reads, each of its blocks reads the word that another block has
// written in the step before, and writes its own.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "implicit_barrier/launch_methods.hpp"

namespace syncbench::implicit_barrier {

/// What the kernels of a chain get.
struct StepData {
  unsigned* words;   ///< of step s, block b: words[s * blocks + b]; 0 is none
  unsigned* flags;   ///< a counter a step, or a flag a block
  unsigned* failed;  ///< not 0: a wait was longer than it can be
  long long cycles;  ///< of the SM clock that every warp spins in a step
  long long late;    ///< cycles that one block spins more, another each step
  int steps;         ///< of the chain
  bool reads;
};

/// What a chain is of.
struct StepShape {
  int blocks, threads;
  int steps;
  long long cycles;
  bool reads;
  long long late = 0;
};

/// What chains of at most so many blocks and steps write, one chain at a time.
struct StepMemory {
  StepMemory(int device, int blocks, int steps)
      : words(device, static_cast<std::size_t>(steps + 1) * blocks),
        flags(device, std::max(steps, blocks)) {}

  DeviceBuffer<unsigned> words, flags;
  PinnedValue<unsigned> failed;
};

/// Where chains run.
struct StepPlace {
  const StreamPool& pool;
  const Gpu& gpu;
  StepMemory& memory;
};

/// What the kernel of a chain makes.
enum class StepKernel {
  kOneStep,          ///< takes StepData and the number of its step
  kAllSteps,         ///< takes StepData and an empty argument
  kAllAtPeerBarrier  ///< takes StepData and the end of a barrier of this suite
};

/// One entry of the list of ways.
struct StepWay {
  const char* name;
  const char* description;  ///< empty: that of the launch method of this name
  ways::Maker make;
  const void* kernel;
  StepKernel makes = StepKernel::kAllSteps;
  bool only_reads = false;  ///< orders by what is read
};

/// A chain, ready to be run.
class StepChain {
 public:
  /// CannotMeasure where the way cannot be had here.
  StepChain(const StepWay& way, const StepPlace& place, const StepShape& shape);
  StepChain(const StepChain&) = delete;

  /// Runs it once; nanoseconds from the first call to the end of the wait.
  /// Throws where a step has not read what the one before has written.
  double run();

 private:
  struct PeerBarrier;

  StepMemory& memory_;
  StepData data_;
  int blocks_;
  int launches_;
  std::shared_ptr<PeerBarrier> barrier_;
  std::unique_ptr<Way> way_;
};

/// Every way that the section `dependent steps` measures, in the order of its
/// rows.
const std::vector<StepWay>& step_ways();

/// Ways that order nothing, for a test of the check.
const std::vector<StepWay>& unordered_step_ways();

}  // namespace syncbench::implicit_barrier
