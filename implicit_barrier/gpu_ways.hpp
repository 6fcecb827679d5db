// The ways of the section `between GPUs`.
#pragma once

#include <vector>

#include "ways/way.hpp"

namespace syncbench::implicit_barrier {

/// One entry of the list of ways of several GPUs.
struct GpuWay {
  const char* name;
  const char* description;  ///< empty: that of the launch method of this name
  ways::Maker make;
  bool needs_peers = false;  ///< access of all GPUs to each other's memory
  bool is_one_call = false;  ///< of all steps, however short they are
};

/// Every way that the section `between GPUs` measures, in the order of its
/// rows.
const std::vector<GpuWay>& gpu_ways();

}  // namespace syncbench::implicit_barrier
