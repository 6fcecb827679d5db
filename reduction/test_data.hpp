// The arrays that are summed, and what their sums have to be.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "reduction/elements.hpp"

namespace syncbench::reduction {

/// A number as the unevaluated sum of two doubles, |low| <= half a unit in the
/// last place of `high`: about 32 decimal digits.
struct DoubleDouble {
  double high = 0, low = 0;
};

/// The sum, by Knuth's two-sum; its relative error is below 2^-100.
__host__ __device__ inline DoubleDouble operator+(const DoubleDouble& a,
                                                  const DoubleDouble& b) {
  const double sum = a.high + b.high;
  const double of_b = sum - a.high;
  const double error = (a.high - (sum - of_b)) + (b.high - of_b);
  const double low = error + (a.low + b.low);
  const double high = sum + low;
  return {high, low - (high - sum)};  // renormalized
}

/// Fills `count` elements at `data` in the memory of `device` with numbers that
/// are a hash of their index, the first with number `first`: int odd ones from
/// -255 to 255, whose sums stay far from overflow; float and double ones in
/// [0, 1) that use all bits of their mantissa.
void fill_array(Element element, int device, void* data, long long first,
                long long count);

/// The sums of `arrays` arrays of `count` elements each, one behind the other
/// at `data` in the memory of `device`, with an error below 2^-90 of them:
/// added up in double-doubles, by code that no measured sum shares.
std::vector<DoubleDouble> reference_sums(Element element, int device,
                                         const void* data, long long count,
                                         int arrays);

/// Whether the element at `sum`, in the memory of the current GPU, is the sum
/// of `count` elements of which `reference` is known, up to an error of
/// 4 sqrt(depth) x the roundoff of one addition x the sum of absolute values
/// (no element here is negative where there is a roundoff). Rounding errors of
/// either sign add up like the steps of a random walk, as many as an element
/// goes through additions (Higham and Mary, A new approach to probabilistic
/// rounding error analysis, 2019). That depth is taken to be count / (512 x
/// SMs)
/// + 64: that many sums are kept going, and added up in a tree.
bool is_right(const ElementType& type, const void* sum, long long count,
              int sm_count, const DoubleDouble& reference);

}  // namespace syncbench::reduction
