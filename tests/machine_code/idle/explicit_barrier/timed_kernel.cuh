// Makes every method of a source that includes this do nothing.
#pragma once

#define entries entries_as_written
#include "../../../../explicit_barrier/timed_kernel.cuh"
#undef entries

namespace syncbench::explicit_barrier {

template <class Method>
struct Idle : Method {
  using Method::Method;
  static constexpr void describe(About& about) {
    Method::describe(about);
    about.in_test_repeat = about.late = false;  // so there are few kernels
    about.repeats = 1;
  }
  template <class Here>
  __device__ typename Method::Value operator()(typename Method::Value value,
                                               Here&) const {
    return value;
  }
};

template <class... Methods>
std::vector<MethodEntry> entries() {
  return entries_as_written<Idle<Methods>...>();
}

}  // namespace syncbench::explicit_barrier
