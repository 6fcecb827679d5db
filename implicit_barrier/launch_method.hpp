// What a launch method is to the measurements.
#pragma once

namespace syncbench {

/// Nanoseconds of a series of launches.
struct LaunchTimes {
  double launched;  ///< until the last launch call returned
  double total;     ///< until all kernels had ended and the host knew
};

/// A launch method bound to one kernel and to the GPUs it runs on.
class LaunchMethod {
 public:
  virtual ~LaunchMethod() = default;

  /// Launches the kernel `repeats` times and waits for the end.
  virtual LaunchTimes run(int repeats) = 0;

  /// Nanoseconds that the wait takes when nothing is running.
  virtual double idle_wait_ns() = 0;
};

}  // namespace syncbench
