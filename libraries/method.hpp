// A barrier, or an all-reduce, of a library: what it is of and how a point of
// it is timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/gpu_threads.hpp"
#include "libraries/mpi_calls.hpp"
#include "libraries/watch.hpp"

namespace syncbench {

/// The GPUs that meet: those of this process and of all others.
class Team {
 public:
  /// `gpus`: of this process; equally many in each.
  Team(const mpi::World& world, Watch& watch, const std::vector<Gpu>& gpus)
      : gpus_(gpus), world_(world), watch_(watch), threads_(gpus) {}

  const std::vector<Gpu>& gpus() const { return gpus_; }
  int processes() const { return world_.size; }
  int nodes() const { return world_.nodes; }
  int rank() const { return world_.rank; }
  int total() const { return world_.size * local(); }
  /// Number of the first of this process among all.
  int first() const { return world_.rank * local(); }
  int local() const { return static_cast<int>(gpus_.size()); }

  /// Runs body(i) -> CallResult in the thread of each GPU of this process, all
  /// starting together, those of the other processes too. Returns the
  /// nanoseconds of the first one's. Where a call fails, all processes end at
  /// once, with what `explain` adds: kernels of other GPUs may wait for this
  /// one's for ever.
  template <class Body>
  double run(Body body,
             const std::function<std::optional<std::string>()>& explain = {}) {
    watch_.progress();
    mpi::barrier();
    return threads_.run([&](int i) {
      const CallResult result = body(i);
      if (result.code == cudaSuccess) return result;
      const std::string gpu = " on GPU " + std::to_string(gpus_[i].index);
      const CudaError error(result.code, (result.call + gpu).c_str(), __FILE__,
                            __LINE__);
      const auto why = explain ? explain() : std::nullopt;
      fail((why ? *why + "\n" : "") + error.what());
    });
  }

  /// Ends all processes at once, for the same reason.
  [[noreturn]] void fail(const std::string& why) { watch_.fail_here(why); }

 private:
  std::vector<Gpu> gpus_;
  mpi::World world_;
  Watch& watch_;
  GpuThreads threads_;
};

/// Waits for a stream, unless its work could not be enqueued.
inline void wait_for(cudaStream_t stream, CallResult& result) {
  if (result.code != cudaSuccess) return;
  result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/// What a row is of besides its method and its GPUs; -1: nothing.
struct CallShape {
  int bytes = -1;
  int blocks = -1;  ///< on each GPU
  int threads = -1;
};

/// A method in one shape, ready to be timed.
class Point {
 public:
  virtual ~Point() = default;

  /// Nanoseconds of so many operations in a row, from before the first is
  /// enqueued, or called, until the last has ended. All processes call it.
  virtual double run(int operations) = 0;

  /// The same, as sample_inter_sm() calls it.
  double run(int operations, int /*launches*/) { return run(operations); }
};

/// What the points of a method on the same GPUs have in common. All processes
/// make it, and its points, at the same time.
class Session {
 public:
  virtual ~Session() = default;

  /// CannotMeasure where this machine cannot have it.
  virtual std::unique_ptr<Point> point(const CallShape& shape) = 0;

  /// To be called by all processes, when all points have gone.
  virtual void close() {}
};

/// Operations of the two lengths whose difference is a row.
struct Lengths {
  int basic, more;
};

struct LibraryMethod {
  std::string name, text;
  std::string library;  ///< as the reader knows it
  /// Empty: the library is not in this build.
  std::function<std::string()> version;
  std::function<std::vector<CallShape>(const Gpu&)> shapes;
  Lengths lengths;
  bool by_process;  ///< needs a process for each GPU
  std::function<std::unique_ptr<Session>(Team&, Lengths)> open;
};

/// All methods, those of libraries that this build lacks too.
const std::vector<LibraryMethod>& library_methods();

/// A SESSION(team, lengths) as a LibraryMethod opens it.
template <class Opened>
std::unique_ptr<Session> opened(Team& team, Lengths lengths) {
  return std::make_unique<Opened>(team, lengths);
}

/// CannotMeasure where an SM does not hold the blocks of such a launch of the
/// kernel.
void require_room(const void* kernel, const CallShape& shape, const Gpu& gpu);

}  // namespace syncbench
