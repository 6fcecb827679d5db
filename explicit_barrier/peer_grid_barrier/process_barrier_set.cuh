// SPDX-License-Identifier: MIT
// The host's part of the barrier in a program of several processes, each with
// a GPU: what BarrierSet is in a program of one. README.md has an example.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer_grid_barrier/barrier_set.cuh"
#include "peer_grid_barrier/process_memory.cuh"

namespace peer_grid {

/// A process's part of a barrier of the GPUs of several processes of one node.
class ProcessBarrierSet {
 public:
  /// Called by all processes at the same time, with GPUs of one kind. As
  /// ProcessMemory says, all throw where one fails. A block of this GPU that
  /// waits longer than `wait_limit` (2 ms to a day) ends its kernel with an
  /// error; processes may have different limits. Where two processes have the
  /// same GPU, their kernels run in turn, and a barrier takes milliseconds.
  ProcessBarrierSet(
      int device, const Processes& processes,
      std::chrono::milliseconds wait_limit = std::chrono::seconds(10))
      : wait_limit_(wait_limit),
        memory_(device, sizeof(GpuState), processes, [this] {
          detail::check_limit(wait_limit_);
          failure_ = detail::make_failures(1);
        }) {}

  /// The end of this process's GPU, for kernels of `blocks` blocks on each GPU:
  /// all processes ask for the same number (1 to 65,535; else Error).
  template <class Machine = GpuMachine>
  BasicBarrierEnd<Machine> for_blocks(unsigned blocks) const {
    const std::vector<void*>& memory = memory_.of_rank();
    if (memory[memory_.rank()] == nullptr) {
      throw Error("peer grid barrier: the set is closed");
    }
    std::vector<State<Machine::kLines>*> states;
    for (void* state : memory) {
      states.push_back(static_cast<State<Machine::kLines>*>(state));
    }
    const unsigned crowd =
        detail::crowd_of(memory_.sms(), static_cast<int>(memory.size()));
    return detail::end_of<Machine>(states, memory_.rank(), blocks, crowd,
                                   failure_.get(), wait_limit_);
  }

  /// Why a kernel of this process ended with an error: which process and GPU
  /// did not come. Nothing where its barrier did not give up. May be called
  /// whatever state the GPU is in.
  std::optional<std::string> failure() const {
    const std::string text = detail::failure_text(
        failure_.get(), memory_.rank(), wait_limit_,
        [this](int rank) { return memory_.name_of(rank); });
    if (text.empty()) return std::nullopt;
    return "peer grid barrier: " + text;
  }

  /// As ProcessMemory::close(): called by all processes at the same time, when
  /// no kernel of this set will be launched any more.
  void close() { memory_.close(); }

  /// "process 1 (pid 4242, GPU 0000:1B:00.0)"
  const std::string& name_of(int rank) const { return memory_.name_of(rank); }

 private:
  using GpuState = State<GpuMachine::kLines>;

  std::chrono::milliseconds wait_limit_;
  detail::Failures failure_;  // of this GPU
  ProcessMemory memory_;
};

}  // namespace peer_grid
