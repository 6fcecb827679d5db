// The study's model of when more threads pay (section VII-A, Equations 1 to 5).
// Pure host code. Cycles are those of an SM's clock, sizes bytes.
#pragma once

namespace syncbench::reduction {

/// `basic` threads, say one warp, against `more`, say a block: the first need
/// not synchronize, the others bring more throughput.
struct Choice {
  double latency;     ///< T: cycles of one step of the loop, of both
  double basic_rate;  ///< Thr_basic: bytes a cycle
  double more_rate;   ///< Thr_more: bytes a cycle
  double sync;        ///< T_sync: cycles that `more` takes to synchronize
};

/// Bytes in flight: C = T * Thr (Eq. 1, Little's law).
double concurrency(double latency, double rate);

/// Cycles that `basic` and `more` take to sum `bytes`: the two sides of Eq. 2,
/// with T_more = T + T_sync (Eq. 3).
double basic_cycles(const Choice& choice, double bytes);
double more_cycles(const Choice& choice, double bytes);

/// N_m (Eq. 4): up to so many bytes `basic` is faster, if that is more than the
/// concurrency of `basic` and no more than that of `more`.
double medium_switch(const Choice& choice);

/// N_l (Eq. 5): the same, if that is more than the concurrency of `more`. NaN
/// where `more` has no more throughput.
double large_switch(const Choice& choice);

/// Which of the two applies. Never: `more` is not faster at any size.
enum class SwitchCase { kNever, kMedium, kLarge };

struct Switch {
  SwitchCase which;
  double bytes;  ///< NaN: never
};

/// Where both sides of Eq. 2 are equal: of its three cases the one that
/// applies. std::invalid_argument unless latency and rates are above 0 and sync
/// is not below.
Switch predicted_switch(const Choice& choice);

}  // namespace syncbench::reduction
