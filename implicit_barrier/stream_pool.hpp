// The streams that kernels are launched into.
#pragma once

#include <cstddef>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/devices.hpp"

namespace syncbench::implicit_barrier {

/// Streams of several GPUs, the same for all launch methods. The time between
/// two kernels is a stream's own, as the section `streams` shows. Streams made
/// one after the other are alike, so every 32nd is used; the samples of a row
/// take turns with these.
class StreamPool {
 public:
  static constexpr int kStreams = 10;

  explicit StreamPool(const std::vector<int>& devices) : devices_(devices) {
    for (int i = 0; i < kStreams * kApart; ++i) {
      made_.push_back(make_streams(devices));
    }
  }

  /// From here on all methods launch into the streams of this turn.
  void turn_to(int turn) { turn_ = turn % kStreams; }
  int turn() const { return turn_; }  ///< 0 to kStreams - 1

  /// Until the guard ends, single-GPU methods launch into this stream, which
  /// nobody makes; nullptr: into those of the pool.
  class Given {
   public:
    Given(StreamPool& pool, cudaStream_t stream)
        : pool_(pool), before_(pool.given_) {
      pool_.given_ = stream;
    }
    Given(const Given&) = delete;
    ~Given() { pool_.given_ = before_; }

   private:
    StreamPool& pool_;
    cudaStream_t before_;
  };

  /// GPU at position `gpu` of the constructor's list.
  int device(int gpu) const { return devices_[gpu]; }
  cudaStream_t stream(int gpu) const {
    return given_ != nullptr ? given_ : stream(gpu, turn_);
  }
  cudaStream_t stream(int gpu, int turn) const {
    return made_[static_cast<std::size_t>(turn) * kApart][gpu].get();
  }

 private:
  static constexpr int kApart = 32;

  std::vector<int> devices_;
  std::vector<std::vector<Stream>> made_;
  int turn_ = 0;
  cudaStream_t given_ = nullptr;
};

}  // namespace syncbench::implicit_barrier
