// What a synchronization method is: one struct, and its name in a list.
//
// A method M that runs inside a kernel supplies
//   static constexpr const char* kName;   // row name and --method name
//   static constexpr int kRepeats;        // straight-line repeats: long enough
//                                         // to hide clock reads and the loop,
//                                         // short enough for the instruction
//                                         // cache
//   static constexpr int kTile;           // threads of a group; 0: the
//   kernel's
//                                         // active_lanes decide (coalesced)
//   __device__ M();                       // builds the group, by all its
//   threads
//   __device__ unsigned operator()(unsigned value);
// The call does the operation once. It returns a value that depends on `value`
// where the operation moves data, so that calls form a chain.
#pragma once

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

}  // namespace syncbench
