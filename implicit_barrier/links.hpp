// Whether kernels launched one behind the other run so, in one stream or graph
// or on several GPUs.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "ways/way.hpp"

namespace syncbench::implicit_barrier {

/// Kernels of a chain by which a launch method shows its order.
inline constexpr int kLinks = 1000;

/// What the links of a chain have seen.
struct LinksSeen {
  unsigned wrong = 0;             ///< words that are not of the kernel before
  unsigned fewest = 0, most = 0;  ///< kernels that a block has been in

  bool in_order() const {
    return wrong == 0 && fewest == kLinks && most == kLinks;
  }
};

/// The kernels of a chain, in memory that all GPUs can access.
class LinkCalls {
 public:
  /// `kernel`: UnitKernels::link. `blocks` of one warp on each of so many GPUs.
  LinkCalls(const void* kernel, int gpus, int blocks)
      : blocks_(static_cast<std::size_t>(gpus) * blocks), memory_(4 * blocks_) {
    std::fill_n(memory_.get(), 4 * blocks_, 0u);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const Links links = {memory_.get(), memory_.get() + 2 * blocks_,
                           memory_.get() + 3 * blocks_,
                           static_cast<unsigned>(gpu * blocks),
                           static_cast<unsigned>(blocks_)};
      calls_.push_back(call_with(kernel, dim3(blocks), dim3(32), links));
    }
  }

  ways::Steps steps() const { return {{calls_}}; }

  LinksSeen seen() const {
    LinksSeen seen;
    seen.fewest = kLinks;
    for (std::size_t i = 0; i < blocks_; ++i) {
      const unsigned count = memory_.get()[2 * blocks_ + i];
      seen.fewest = std::min(seen.fewest, count);
      seen.most = std::max(seen.most, count);
      seen.wrong += memory_.get()[3 * blocks_ + i];
    }
    return seen;
  }

 private:
  std::size_t blocks_;  // of all GPUs
  PinnedArray<unsigned> memory_;
  std::vector<KernelCall> calls_;
};

/// Throws unless kernels that a way launches on these GPUs, `blocks` blocks on
/// each, run one after the other, each with what the one before has written.
/// `kernel`: UnitKernels::link. CannotMeasure as `make` does.
inline void prove_order(const std::string& method, ways::Maker make,
                        const void* kernel, const ways::StreamPool& pool,
                        const std::vector<Gpu>& gpus, int blocks) {
  const LinkCalls links(kernel, static_cast<int>(gpus.size()), blocks);
  make(pool, gpus, links.steps())->run(kLinks);
  const LinksSeen seen = links.seen();
  if (seen.in_order()) return;
  throw std::runtime_error(
      method + " orders nothing: blocks ran in " + std::to_string(seen.fewest) +
      " to " + std::to_string(seen.most) + " of " + std::to_string(kLinks) +
      " kernels, and " + std::to_string(seen.wrong) +
      " words were not of the kernel before");
}

}  // namespace syncbench::implicit_barrier
