// Places in global memory, for methods that touch it.
#pragma once

namespace syncbench::explicit_barrier {

/// How far a word of global memory is from an SM depends on where it lies. So
/// that rows do not depend on it, operations go to kPlaces places in turn, of
/// kBytes each; a latency row is over as many, or a multiple (About::repeats,
/// About::trips).
struct PlacesInTurn {
  static constexpr unsigned kBytes = 16384, kPlaces = 64;
  static constexpr long long kWords = kPlaces * kBytes / 8;  // global_words

  __device__ char* next(unsigned long long* global) {
    at = (at + kBytes) % (kPlaces * kBytes);
    return reinterpret_cast<char*>(global) + at;
  }
  unsigned at = 0;
};

}  // namespace syncbench::explicit_barrier
