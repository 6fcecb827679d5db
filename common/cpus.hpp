// The CPUs next to each GPU, and pinning threads to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace syncbench {

/// CPU numbers of a kernel CPU list such as "0-3,8,10-11", in order. Throws
/// std::invalid_argument on anything else; an empty list is empty.
std::vector<int> parse_cpu_list(const std::string& text);

/// The CPU list in a file of /sys; empty where there is none that can be read:
/// pinning is a help, not a condition.
std::vector<int> read_cpu_list(const std::string& path);

/// CPUs that this process may run on.
std::vector<int> allowed_cpus();

/// Picks one CPU for each GPU out of `allowed`: one that the fewest GPUs have,
/// then one near it (near[i], any order; empty: unknown), then one on a core of
/// its own, then the highest number (the lowest ones serve the system).
/// siblings(cpu) lists the hardware threads of a CPU's core. With no CPU
/// allowed the pick is -1: not pinned.
std::vector<int> choose_cpus(
    const std::vector<std::vector<int>>& near, const std::vector<int>& allowed,
    const std::function<std::vector<int>(int)>& siblings);

/// Hardware threads that share the core of `cpu`, itself included.
std::vector<int> core_siblings(int cpu);

/// Pins the calling thread to `cpu`; -1 leaves it where it is.
void pin_this_thread(int cpu);

/// While it lives, the calling thread may run on all CPUs that the process had
/// at its start. Threads that a library starts meanwhile do not share the one
/// CPU on which this thread spins.
class Unpinned {
 public:
  Unpinned();
  Unpinned(const Unpinned&) = delete;
  ~Unpinned();

 private:
  std::vector<int> before_;
};

}  // namespace syncbench
