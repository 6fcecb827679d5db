// A kernel that lasts, with its arguments; what the measurements launch.
#pragma once

#include <cmath>

#include "common/launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/point.hpp"

namespace syncbench {

/// Cycles of an SM clock of `mhz` in `nanoseconds`.
inline long long cycles_in(double nanoseconds, double mhz) {
  return std::llround(nanoseconds * mhz / 1000);
}

/// A kernel of (units, amount, number), or of fewer of these, with its
/// arguments, ready to be launched.
class UnitCall {
 public:
  UnitCall(const void* kernel, const Point& point, int units, long long amount)
      : units_(units), amount_(amount) {
    call_.kernel = kernel;
    call_.grid = dim3(point.blocks);
    call_.block = dim3(point.threads);
    call_.arguments = arguments_;
  }
  UnitCall(const UnitCall&) = delete;
  UnitCall& operator=(const UnitCall&) = delete;

  const KernelCall& call() const { return call_; }
  int* number() { return &number_; }  ///< read at each launch

 private:
  int units_;
  long long amount_;
  int number_ = 0;
  void* arguments_[3] = {&units_, &amount_, &number_};
  KernelCall call_;
};

}  // namespace syncbench
