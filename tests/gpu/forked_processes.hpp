// Several processes of one test, which exchange bytes over shared memory.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer_grid_barrier/process_memory.cuh"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench {

inline constexpr std::chrono::minutes kPatience{10};

/// What they hand to each other, in two buffers that take turns: nobody comes
/// to the next turn but one while another still reads this one.
class SharedTable {
 public:
  static constexpr std::size_t kBytes = 4096;  // of each process in a turn

  /// Of process `rank`, whose turns are counted in `turn`.
  void all_gather(int rank, int count, int& turn, const void* mine, void* all,
                  std::size_t bytes) {
    if (bytes > kBytes) throw std::runtime_error("too much for the table");
    ++turn;
    std::memcpy(slots_[turn % 2][rank], mine, bytes);
    came_[rank] = turn;
    const auto start = std::chrono::steady_clock::now();
    for (int other = 0; other < count; ++other) {
      while (came_[other] < turn) {
        const auto waited = std::chrono::steady_clock::now() - start;
        if (gone_[other] || waited > kPatience) {
          throw std::runtime_error("process " + std::to_string(other) +
                                   " does not come to the exchange");
        }
        usleep(100);
      }
      std::memcpy(static_cast<char*>(all) + other * bytes,
                  slots_[turn % 2][other], bytes);
    }
  }
  void has_gone(int rank) { gone_[rank] = true; }

 private:
  std::atomic<int> came_[peer_grid::kMaxGpus] = {};
  std::atomic<bool> gone_[peer_grid::kMaxGpus] = {};
  char slots_[2][peer_grid::kMaxGpus][kBytes] = {};
};

/// Runs `test(processes) -> exit code` in so many processes, as run_on_gpu()
/// does; to be called before this one has called CUDA. Returns how each has
/// ended, as waitpid() says it; those that have not within kPatience are
/// killed.
template <class Test>
std::vector<int> run_forked(int count, Test test) {
  void* memory = mmap(nullptr, sizeof(SharedTable), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  auto* table = new (memory) SharedTable;
  std::fflush(stdout);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < count; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork");
    if (pid == 0) {
      int turn = 0;
      const auto gather = [=, &turn](const void* mine, void* all,
                                     std::size_t bytes) {
        table->all_gather(rank, count, turn, mine, all, bytes);
      };
      const int code = run_on_gpu([&] {
        return test(peer_grid::Processes{rank, count, gather});
      });
      std::fflush(stdout);
      _exit(code);
    }
    pids.push_back(pid);
  }
  std::vector<int> ends(count, -1);
  const auto start = std::chrono::steady_clock::now();
  for (int ended = 0; ended < count; usleep(1000)) {
    const bool late = std::chrono::steady_clock::now() - start > kPatience;
    for (int rank = 0; rank < count; ++rank) {
      if (ends[rank] >= 0) continue;
      if (late) kill(pids[rank], SIGKILL);
      if (waitpid(pids[rank], &ends[rank], late ? 0 : WNOHANG) == pids[rank]) {
        table->has_gone(rank);
        ++ended;
      } else {
        ends[rank] = -1;
      }
    }
  }
  munmap(memory, sizeof(SharedTable));
  return ends;
}

/// Of all processes: 0 where each has ended with 0, 77 where none has failed
/// but one has skipped the test.
inline int exit_code_of(const std::vector<int>& ends) {
  int code = 0;
  for (const int end : ends) {
    const int one = WIFEXITED(end) ? WEXITSTATUS(end) : 1;
    if (code == 0 || (one != 0 && one != kSkipped)) code = one;
  }
  return code;
}

/// GPUs of this machine, counted in a process of its own.
inline int count_gpus_apart() {
  const auto ends = run_forked(1, [](const peer_grid::Processes&) {
    return static_cast<int>(find_gpus().size());
  });
  const int code = exit_code_of(ends);
  return code == kSkipped ? 0 : code;
}

}  // namespace syncbench
