// How a kernel is launched beyond its shape; common/launch.hpp launches it so.
#pragma once

namespace syncbench {

struct LaunchAttributes {
  bool cooperative = false;   ///< all blocks are resident at the same time
  int cluster = 0;            ///< blocks of a cluster; 0: no clusters
  bool programmatic = false;  ///< may start while the kernel before it runs
  bool in_code = false;       ///< the kernel has the size of its clusters
  /// Its fences do not wait for stores of kernels of the default memory
  /// synchronization domain (from CUDA 12 on).
  bool remote_domain = false;
};

}  // namespace syncbench
