// A method as the host sees it. Every file of methods/ includes this, so it is
// kept cheap to compile.
#pragma once

#include <vector>

#include "explicit_barrier/method.cuh"

namespace syncbench::explicit_barrier {

/// Most operations in a row of TestRepeat.
inline constexpr int kMostTestRepeats = 128;

/// What a warp saw: SM clock before its first timed operation and after its
/// last, and the SM it ran on. `end` is 0 where the warp took no part.
struct WarpRecord {
  long long start;
  long long end;
  unsigned sm;
};

/// Rounds that a kernel makes of its straight line, and the first that counts.
struct Trips {
  int count;
  int first_timed;
};

/// Which of the warps that come late are on a GPU.
struct LateWarps {
  static constexpr int kRounds = 16;

  bool first, last;  ///< for rows of one that comes late
  /// For the check, the late one of each round: its number among the warps
  /// that meet, block by block; -1: on another GPU.
  int in_round[kRounds];
  /// Of each group and round, in memory that all GPUs can access: it has come.
  unsigned* has_come;
};

/// A method, without its type: what its struct says (method.cuh explains each)
/// and its kernels, kernels[k] with 2^k operations in a row, null where nobody
/// launches that.
struct MethodEntry : About {
  const char* type;  ///< as std::type_info::name()
  ExpectedCode (*expected_code)(int architecture);
  bool (*takes_part)(const Position&);
  long long (*global_words)(long long threads);
  std::vector<const void*> kernels = {};
  /// Of rows with one late, where it has them.
  const void* late_kernel = nullptr;
  /// Of a barrier: does it wait for all?
  const void* meeting_kernel = nullptr;

  /// The kernel with so many operations in a row; std::out_of_range where there
  /// is none.
  const void* kernel(int in_line) const;

  /// The most repeats of any of its groups.
  int most_repeats() const;

  /// Whether its rows differ by the size of the group.
  bool has_groups() const {
    const Sizes sizes = groups(1024);
    return sizes.first != 32 || sizes.last != 32;
  }
};

/// Blocks and threads of a kernel on each GPU, and the group of the method.
struct Shape {
  int blocks;
  int threads;
  int group;
};

}  // namespace syncbench::explicit_barrier
