// Places in global memory, for methods that touch it.
#pragma once

namespace syncbench {

/// How far a word of global memory is from an SM depends on where it lies: on
/// H200 an atomic took 380 cycles in one place and 560 in another. So that rows
/// do not depend on it, each operation goes to a place of its own, of up to
/// kBytes; 64 of them are spread over a MiB, the next 64 lie 128 bytes beside.
struct PlacesInTurn {
  static constexpr unsigned kBytes = 16384, kApart = kBytes + 128,
                            kAll = 64 * kBytes;
  static constexpr long long kWords = (kAll + kBytes) / 8;  // global_words

  __device__ char* next(unsigned long long* global) {
    at = (at + kApart) % kAll;
    return reinterpret_cast<char*>(global) + at;
  }
  unsigned at = 0;
};

}  // namespace syncbench
