// What a synchronization method is: one struct, and its name in a list.
//
// A method that runs inside a kernel supplies
//
// * `static constexpr const char* kName`: row name, and name for --method;
// * `static constexpr int kRepeats`: straight-line repeats, a power of two,
//   enough to hide clock reads and the loop (one grid_sync a trip reads 1 to
//   3% more than eight), few enough that four times as many cost four times as
//   much, code fetched included (coales_shufl: 2 of a whole warp, more read up
//   to 50% too much);
// * `static constexpr int kThroughputRepeats`, inside one SM: operations of
//   each warp in a throughput row where up to 8 warps share an SM, so that they
//   take 100,000 cycles; more warps make fewer each;
// * `struct Part` with the same two, if other repeats are right where only a
//   part of each warp takes part;
// * `static constexpr int kTile`: threads of a group inside a warp; 32 where
//   the group is larger; 0 where the kernel's active_lanes decide (coalesced);
// * a default constructor on the device, which builds the group and is called
//   by all its threads; or, if the host has to hand something in, a copyable
//   type `Parameter` and a constructor that takes one;
// * `static constexpr int kMostInLine`, if its code is so long that more
//   repeats in a row would take a minute to compile;
// * `static constexpr const char* kCaution`, if a reader of its rows has to
//   know something; it stands above them and in --list;
// * `__device__ unsigned operator()(unsigned value)`: the operation, once. It
//   returns a value that depends on `value` where the operation moves data, so
//   that calls form a chain.
#pragma once

#include <string>
#include <type_traits>

#include "common/options.hpp"

namespace syncbench {

template <class... Methods>
struct MethodList {};

template <class Method>
struct MethodTag {
  using type = Method;
};

/// Calls visit(MethodTag<M>{}) for every method of the list, in order.
template <class... Methods, class Visitor>
void for_each_method(MethodList<Methods...>, Visitor visit) {
  (visit(MethodTag<Methods>{}), ...);
}

/// True for methods whose group is a part of a warp chosen when the kernel
/// runs, not when it is compiled.
template <class Method>
inline constexpr bool kUsesActiveLanes = Method::kTile == 0;

template <class Method, class = void>
inline constexpr int kMostInLine = 1 << 30;
/// Repeats up to which a method is written in a row (TestRepeat has 128).
template <class Method>
inline constexpr int
    kMostInLine<Method, std::void_t<decltype(Method::kMostInLine)>> =
        Method::kMostInLine;

template <class Method, class = void>
struct PartOf {
  using type = Method;
};
template <class Method>
struct PartOf<Method, std::void_t<typename Method::Part>> {
  using type = typename Method::Part;
};
/// The repeats of a method where a part of each warp takes part.
template <class Method>
using Part = typename PartOf<Method>::type;

/// Straight-line repeats in a loop of many trips: those of both are right.
template <class Method>
inline constexpr int kLoopRepeats = Part<Method>::kRepeats;

template <class Method, class = void>
inline constexpr const char* kCaution = "";
/// What a reader of a method's rows has to know; empty: nothing.
template <class Method>
inline constexpr const char*
    kCaution<Method, std::void_t<decltype(Method::kCaution)>> =
        Method::kCaution;

/// "NAME: what there is to know" for the rows of a method; empty: nothing.
template <class Method>
std::string caution_of() {
  const std::string caution = kCaution<Method>;
  return caution.empty() ? "" : Method::kName + (": " + caution);
}

/// A method for --list.
template <class Method>
MethodInfo method_info(const std::string& description) {
  const std::string caution = kCaution<Method>;
  return {Method::kName, description + (caution.empty() ? "" : "; " + caution)};
}

/// No instruction that waits for a result takes less than a dependent float add
/// on any GPU so far (4 cycles, study section IX-D). An operation that does is
/// none: of warp barriers one after the other CUDA 13 leaves a NOP each and one
/// test for the whole sequence that the warp has converged.
inline constexpr double kFewestCycles = 3.5;

/// What stands below the row of an operation of less than kFewestCycles.
inline std::string nothing_waits(const std::string& method, int tile) {
  return method + " of " + std::to_string(tile) +
         ": nothing waits in each operation, the compiler has left a NOP or "
         "less; no latency of a barrier";
}

/// Fewest lanes of a warp that a method is measured with; it is with as many up
/// to 32.
template <class Method>
inline constexpr int kFewestLanes = kUsesActiveLanes<Method> ? 1 : 32;

/// Threads of a method's group where `active_lanes` of a warp take part.
template <class Method>
constexpr int tile_of(int active_lanes) {
  return kUsesActiveLanes<Method> ? active_lanes : Method::kTile;
}

struct NoParameter {};

template <class Method, class = void>
struct ParameterOf {
  using type = NoParameter;
};
template <class Method>
struct ParameterOf<Method, std::void_t<typename Method::Parameter>> {
  using type = typename Method::Parameter;
};

/// What the host hands to a method's kernel: Method::Parameter, or nothing.
template <class Method>
using MethodParameter = typename ParameterOf<Method>::type;

template <class Method>
__device__ __forceinline__ Method
make_method(const MethodParameter<Method>& parameter) {
  if constexpr (std::is_same_v<MethodParameter<Method>, NoParameter>) {
    return Method();
  } else {
    return Method(parameter);
  }
}

}  // namespace syncbench
