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
    about.late = false;
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
  return {entry_of<Idle<Methods>, 1>()...};
}

}  // namespace syncbench::explicit_barrier
