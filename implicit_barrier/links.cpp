#include "implicit_barrier/links.hpp"

#include <algorithm>
#include <stdexcept>

namespace syncbench::implicit_barrier {

LinkCalls::LinkCalls(const void* kernel, int gpus, int blocks)
    : blocks_(static_cast<std::size_t>(gpus) * blocks), memory_(4 * blocks_) {
  std::fill_n(memory_.get(), 4 * blocks_, 0u);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    links_.push_back({memory_.get(), memory_.get() + 2 * blocks_,
                      memory_.get() + 3 * blocks_,
                      static_cast<unsigned>(gpu * blocks),
                      static_cast<unsigned>(blocks_)});
  }
  for (Links& links : links_) arguments_.push_back(&links);
  for (void*& argument : arguments_) {
    calls_.push_back({kernel, dim3(blocks), dim3(32), &argument});
  }
}

LinksSeen LinkCalls::seen() const {
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

void check_order(const std::string& method, const LinksSeen& seen) {
  if (seen.in_order()) return;
  throw std::runtime_error(
      method + " orders nothing: blocks ran in " + std::to_string(seen.fewest) +
      " to " + std::to_string(seen.most) + " of " + std::to_string(kLinks) +
      " kernels, and " + std::to_string(seen.wrong) +
      " words were not of the kernel before");
}

void prove_order(const LaunchMethodInfo& method, const StreamPool& pool,
                 const Gpu& gpu) {
  const LinkCalls links(method.kernels->link, 1, gpu.sm_count);
  method.make(pool, {gpu}, links.steps())->run(kLinks);
  check_order(method.name, links.seen());
}

}  // namespace syncbench::implicit_barrier
