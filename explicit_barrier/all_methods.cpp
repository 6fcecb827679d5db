#include "explicit_barrier/methods.hpp"

namespace syncbench::explicit_barrier {

std::vector<MethodList> method_lists() {
  return {block_methods,        mbarrier_methods,     block_collective_methods,
          warp_methods,         exchange_methods,     warp_collective_methods,
          in_use_methods,       atomic_methods,       memory_order_methods,
          order_methods,        copy_methods,         cluster_methods,
          grid_methods,         grid_barrier_methods, semaphore_methods,
          message_methods,      gpu_methods,          node_barrier_methods,
          peer_message_methods, gpu_exchange_methods, validation_methods};
}

}  // namespace syncbench::explicit_barrier
