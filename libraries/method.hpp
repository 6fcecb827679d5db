// A barrier, or an all-reduce, of a library: what it is of and how a point of
// it is timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libraries/team.hpp"

namespace syncbench::libraries {

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

/// Called by all processes at the same time: CannotMeasure in all of them where
/// an SM of one does not hold the blocks of such a launch of the kernel.
void require_room(const void* kernel, const CallShape& shape, const Gpu& gpu);

}  // namespace syncbench::libraries
