// The streams that kernels are launched into.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/devices.hpp"

namespace syncbench::ways {

/// Streams of several GPUs, the same for all ways. The time between
/// two kernels is a stream's own, as the section `streams` shows. Streams made
/// one after the other are alike, so every 32nd is used; the samples of a row
/// take turns with these.
class StreamPool {
 public:
  static constexpr int kStreams = 10;

  /// For so many turns. Default: as many streams as show what differs between
  /// them.
  explicit StreamPool(const std::vector<int>& devices, int turns = kStreams)
      : devices_(devices), turns_(turns) {
    for (int i = 0; i <= (turns - 1) * kApart; ++i) {
      made_.push_back(make_streams(devices));
    }
  }

  /// From here on all ways launch into the streams of this turn.
  void turn_to(int turn) { turn_ = turn % turns_; }
  int turn() const { return turn_; }  ///< from 0 on

  /// Until the guard ends, ways of one GPU launch into this stream, which
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
  /// That of the next turn. std::logic_error where the pool has one.
  cudaStream_t other_stream(int gpu) const {
    if (turns_ == 1) throw std::logic_error("a pool of one stream");
    return stream(gpu, (turn_ + 1) % turns_);
  }
  cudaStream_t stream(int gpu, int turn) const {
    return made_[static_cast<std::size_t>(turn) * kApart][gpu].get();
  }

 private:
  static constexpr int kApart = 32;

  std::vector<int> devices_;
  int turns_;
  std::vector<std::vector<Stream>> made_;
  int turn_ = 0;
  cudaStream_t given_ = nullptr;
};

}  // namespace syncbench::ways
