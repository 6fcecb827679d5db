// Whether kernels launched one behind the other run so, in one stream or graph.
#pragma once

#include "implicit_barrier/measuring.hpp"

namespace syncbench {

/// Links of a chain by which a launch method shows its order.
inline constexpr int kLinks = 1000;

/// What the links of a chain have seen.
struct LinksSeen {
  unsigned wrong;       ///< words that are not of the kernel before
  int fewest, largest;  ///< kernels, of the block that has seen fewest, most

  bool in_order() const {
    return wrong == 0 && fewest == kLinks && largest == kLinks;
  }
};

/// Launches kLinks links as `make(call)` does, a block of one warp on each SM
/// of the first GPU of the pool.
LinksSeen run_links(
    const Gpu& gpu, const void* kernel,
    const std::function<std::unique_ptr<LaunchMethod>(const KernelCall&)>&
        make);

/// Throws unless the kernels of each wanted method run one after the other,
/// each with the memory that the one before has left. How many methods showed
/// it; one that cannot be had here is none.
int prove_order(Measuring& measuring);

}  // namespace syncbench
