// What a synchronization method is: one struct, and its name in a list.
//
// A method that runs inside a kernel supplies
//
// * `static constexpr const char* kName`: row name, and name for --method;
// * `static constexpr int kRepeats`: straight-line repeats, enough to hide
// clock
//   reads and the loop, few enough for the instruction cache; 1 where one
//   operation takes a thousand cycles;
// * `static constexpr int kTile`: threads of a group inside a warp; 32 where
// the
//   group is larger; 0 where the kernel's active_lanes decide (coalesced);
// * a default constructor on the device, which builds the group and is called
// by
//   all its threads; or, if the host has to hand something in, a copyable type
//   `Parameter` and a constructor that takes one;
// * `__device__ unsigned operator()(unsigned value)`: the operation, once. It
//   returns a value that depends on `value` where the operation moves data, so
//   that calls form a chain.
#pragma once

#include <type_traits>

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
