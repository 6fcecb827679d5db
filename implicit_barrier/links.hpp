// Whether kernels launched one behind the other run so, in one stream or graph
// or on several GPUs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/launch_methods.hpp"

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
  /// `blocks` of one warp on each of so many GPUs.
  LinkCalls(const void* kernel, int gpus, int blocks);

  ways::Steps steps() const { return {{calls_}}; }
  LinksSeen seen() const;

 private:
  std::size_t blocks_;  // of all GPUs
  PinnedArray<unsigned> memory_;
  std::vector<Links> links_;
  std::vector<void*> arguments_;
  std::vector<KernelCall> calls_;
};

/// Throws if the links show that `method` orders nothing.
void check_order(const std::string& method, const LinksSeen& seen);

/// Throws unless the kernels of a method run one after the other on one GPU,
/// each with what the one before has written. CannotMeasure as make() does.
void prove_order(const LaunchMethodInfo& method, const StreamPool& pool,
                 const Gpu& gpu);

}  // namespace syncbench::implicit_barrier
