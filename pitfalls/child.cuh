// A process that runs one form of one case: what the case is given, and how its
// kernels wait.
#pragma once

#include <string>
#include <vector>

#include "common/bounded_wait.cuh"
#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/device_clock.cuh"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/options.hpp"
#include "common/table.hpp"
#include "pitfalls/run.hpp"

namespace syncbench::pitfalls {

/// Ends the kernels of its process, by a trap, when they run longer than any
/// parent allows. So even a process that nobody kills leaves the GPU.
class Watchdog {
 public:
  explicit Watchdog(const std::vector<int>& devices);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  explicit Watchdog(std::vector<Stream> streams)
      : streams_(std::move(streams)) {
    *over_.get() = 0;
  }

  std::vector<Stream> streams_;
  PinnedValue<int> over_;
};

/// What a case is given.
class Child {
 public:
  /// Lines on `out` tell of the case, which has these GPUs.
  Child(const Options& options, LineWriter& out, std::vector<Gpu> gpus)
      : out_(out), gpus_(std::move(gpus)), tries_(options.samples) {}

  const std::vector<Gpu>& gpus() const { return gpus_; }
  std::vector<int> devices() const { return device_numbers(gpus_); }
  int tries() const { return tries_; }  ///< of a race

  /// Throw CannotMeasure where a GPU is older (70 is compute capability 7.0),
  /// where the GPUs have no access to each other's memory.
  void require_architecture(int first) const;
  void require_peer_access() const;

  /// To be called before each launch: the parent's limit begins. What it
  /// returns has to go before memory of the GPUs does, which waits for kernels.
  [[nodiscard]] Watchdog launch();

  /// Once, at the end: cells of the case's row behind its name, or how it
  /// ended.
  void result(const Cells& cells) { tell(kResultLine, cells); }
  /// Cells of one of its rows behind its name.
  void row(const Cells& cells) { tell(kRowLine, cells); }
  /// "FORM or row: what is wrong with it": the exit code will say so.
  void wrong(const std::string& text) { tell(kWrongLine, {text}); }
  /// A comment beside the row.
  void note(const std::string& text) { tell(kNoteLine, {text}); }
  /// Any line.
  void tell(const char* word, const Cells& cells = {});

 private:
  LineWriter& out_;
  std::vector<Gpu> gpus_;
  int tries_;
};

/// Waits for all that runs in them.
inline void wait_for(const std::vector<Stream>& streams) {
  for (const Stream& stream : streams) {
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }
}

/// The longest that a kernel of Pitfalls spins: longer than a parent waits.
constexpr long long kLongestSpin = 3000000000;  // ns

/// Spins for so many cycles of the SM clock: what makes a race show.
__device__ inline void spin(long long cycles) {
  const long long start = read_sm_clock();
  while (read_sm_clock() - start < cycles) {
  }
}

/// Spins until done() or for kLongestSpin; false in the latter case.
template <class Done>
__device__ bool spin_until(Done done) {
  return poll_for(kLongestSpin, done);
}

/// Memory that others write: each access is one of the program's own. Neither
/// the compiler nor L1 keeps the value; nothing else is ordered by it.
__device__ inline unsigned read_now(const unsigned* address) {
  return *static_cast<const volatile unsigned*>(address);
}
__device__ inline void write_now(unsigned* address, unsigned value) {
  *static_cast<volatile unsigned*>(address) = value;
}

}  // namespace syncbench::pitfalls
