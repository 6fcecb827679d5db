#include "implicit_barrier/order.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace syncbench {

LinksSeen run_links(
    const Gpu& gpu, const void* kernel,
    const std::function<std::unique_ptr<LaunchMethod>(const KernelCall&)>&
        make) {
  const auto blocks = static_cast<std::size_t>(gpu.sm_count);
  DeviceBuffer<unsigned> words(gpu.index, 2 * blocks),
      counts(gpu.index, blocks), wrong(gpu.index, 1);
  for (DeviceBuffer<unsigned>* all : {&words, &counts, &wrong}) {
    all->set_to_zero();
  }
  Links links = {words.get(), counts.get(), wrong.get()};
  void* arguments[] = {&links};
  make({kernel, dim3(gpu.sm_count), dim3(32), arguments})->run(kLinks);
  const std::vector<unsigned> seen = counts.read();
  const auto [fewest, most] = std::minmax_element(seen.begin(), seen.end());
  return {wrong.read()[0], static_cast<int>(*fewest), static_cast<int>(*most)};
}

int prove_order(Measuring& measuring) {
  int proved = 0;
  const Gpu& gpu = measuring.run.gpu();
  for (const LaunchMethodInfo& method : launch_methods()) {
    if (!measuring.run.options().wants(method.name)) continue;
    try {
      const LinksSeen seen =
          run_links(gpu, method.kernels->link, [&](const KernelCall& call) {
            return method.make(measuring.pool, {gpu}, call);
          });
      if (!seen.in_order()) {
        throw std::runtime_error(
            std::string(method.name) + " orders nothing: of " +
            std::to_string(kLinks) + " kernels, one block has seen " +
            std::to_string(seen.fewest) + ", one " +
            std::to_string(seen.largest) + ", and " +
            std::to_string(seen.wrong) + " words were not of the one before");
      }
      ++proved;
    } catch (const CannotMeasure&) {
      // Each section says so.
    }
  }
  return proved;
}

}  // namespace syncbench
