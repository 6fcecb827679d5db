// The arrays that are summed, and what their sums have to be.
#pragma once

#include <vector>

#include "reduction/elements.hpp"

namespace syncbench {

/// A number as the unevaluated sum of two doubles, |low| <= half a unit in the
/// last place of `high`: about 32 decimal digits.
struct DoubleDouble {
  double high = 0, low = 0;
};

/// The sum, by Knuth's two-sum; its relative error is below 2^-100.
DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b);

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
/// of `count` elements of which `reference` is known, up to the largest error
/// that a right sum may have. Whatever the order of additions, that is at most
/// their depth (the most additions that an element goes through) times the
/// roundoff of one times the sum of absolute values (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 4.2); no element here is negative
/// where there is a roundoff. All ways here keep 512 sums an SM going where
/// there are enough elements, and add those up in a tree of depth below 64.
/// What is at `sum` is overwritten: one that is not written again is not right
/// by chance.
bool is_right(const ElementType& type, void* sum, long long count, int sm_count,
              const DoubleDouble& reference);

}  // namespace syncbench
