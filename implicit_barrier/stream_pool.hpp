// The streams that kernels are launched into.
#pragma once

#include <vector>

#include "common/cuda_resources.hpp"
#include "common/devices.hpp"

namespace syncbench {

/// Streams of several GPUs, the same for all launch methods. The time between
/// two kernels is a stream's own: it differs between streams of one process by
/// up to 17% and repeats within 0.5% in each. Streams made one after the other
/// are alike, so every 32nd is used; rows are means over these.
class StreamPool {
 public:
  static constexpr int kStreams = 10;

  /// `first`: the turn that a process begins with, so that processes of few
  /// samples use other streams.
  explicit StreamPool(const std::vector<int>& devices, int first = 0)
      : devices_(devices), first_(first) {
    for (int i = 0; i < kStreams * kApart; ++i) {
      made_.push_back(make_streams(devices));
    }
  }

  /// GPU at position `gpu` of the constructor's list.
  int device(int gpu) const { return devices_[gpu]; }
  cudaStream_t stream(int gpu, int turn) const {
    return made_[(first_ + turn) % kStreams * kApart][gpu].get();
  }

 private:
  static constexpr int kApart = 32;

  std::vector<int> devices_;
  int first_;
  std::vector<std::vector<Stream>> made_;
};

}  // namespace syncbench
