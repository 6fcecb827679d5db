// A barrier, or an all-reduce, of a library: what it is of and how a point of
// it is timed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/launch.hpp"
#include "libraries/team.hpp"

namespace syncbench::libraries {

/// What a row is of besides its method and its GPUs; -1: nothing.
struct CallShape {
  int bytes = -1;
  int blocks = -1;  ///< on each GPU
  int threads = -1;

  KernelCall call(const void* kernel, void** arguments = nullptr) const {
    return {kernel, dim3(static_cast<unsigned>(blocks)),
            dim3(static_cast<unsigned>(threads)), arguments};
  }
};

/// Nanoseconds of so many operations of a method in a row, in one shape, from
/// before the first is enqueued, or called, until the last has ended. All
/// processes call it.
using Point = std::function<double(int operations)>;

/// What the points of a method on the same GPUs have in common. All processes
/// make it, and its points, at the same time.
struct Session {
  /// CannotMeasure where this machine cannot have it.
  std::function<Point(const CallShape&)> point;
  /// To be called by all processes, when all points have gone.
  std::function<void()> close = [] {};
};

/// Operations of the two lengths whose difference is a row.
struct Lengths {
  int basic, more;
};

/// What the source of a library supplies; nothing in builds without it.
struct LibraryPart {
  /// Empty: the library is not in this build.
  std::function<std::string()> version = [] { return std::string(); };
  /// CannotMeasure where these GPUs cannot have the method.
  using Open = std::function<Session(Team&, Lengths)>;
  std::map<std::string, Open> open;  ///< by method
  /// To be called at the end, by all processes.
  std::function<void()> end = [] {};
};
LibraryPart peer_grid_part();  ///< this suite's barrier, which is in all builds
LibraryPart nccl_part();
LibraryPart nvshmem_part();
LibraryPart mpi_part();

struct LibraryMethod {
  std::string name, text;
  std::vector<CallShape> (*shapes)(const Gpu&);
  Lengths lengths;
};

struct Library {
  std::string name;  ///< as the reader knows it
  bool by_process;   ///< needs a process for each GPU
  LibraryPart part;
  std::vector<LibraryMethod> methods;
};

/// Enqueues kernel(`argument`, operations), whose blocks wait for each other.
inline void enqueue(const void* kernel, const CallShape& shape, void* argument,
                    int operations, cudaStream_t stream, CallResult& result) {
  void* arguments[] = {argument, &operations};
  result.note(launch_cooperative(shape.call(kernel, arguments), stream),
              kCooperativeApi.name);
}

/// Called by all processes at the same time: CannotMeasure in all of them where
/// an SM of one does not hold the blocks of such a launch of the kernel.
void require_room(const void* kernel, const CallShape& shape, const Gpu& gpu);

}  // namespace syncbench::libraries
