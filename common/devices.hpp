// What the node has: GPUs, their limits, the CPUs next to them, the driver.
#pragma once

#include <string>
#include <vector>

namespace syncbench {

struct Gpu {
  int index = 0;  ///< CUDA device ordinal among the visible ones
  std::string name;
  int sm_count = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
  bool cooperative_launch = false;
  std::string pci_bus_id;  ///< lower case, as in /sys/bus/pci/devices
  int cpu = -1;  ///< CPU for the thread that drives it; -1: not pinned
};

/// Loads all kernels when a context is made, not at their first launch. To be
/// called before the first other CUDA call.
void load_kernels_eagerly();

/// "13.0" for CUDA's version number 13000.
std::string cuda_version_text(int version);

/// All visible GPUs, at least one; NoDeviceError otherwise.
std::vector<Gpu> find_gpus();

/// Makes the context of each GPU (NoDeviceError where that fails), picks the
/// CPU for its thread and leaves the first GPU current. Other processes with
/// GPUs `of_others` have picked theirs in the same way before.
void prepare_gpus(std::vector<Gpu>& gpus,
                  const std::vector<Gpu>& of_others = {});

/// True when the host really spins while it waits for the current GPU.
bool waits_spinning();

/// The driver's function of this name, or nullptr. `version`: of CUDA, whose
/// parameters the caller passes. Not linked: then programs would not start, and
/// say why, on a machine without a driver.
void* find_driver_entry(const char* name, unsigned version);

/// How the driver loads kernels, asked of the driver: "eagerly", "lazily" (at
/// the first launch), or "?" where it cannot say.
const char* kernel_loading();

std::vector<int> device_numbers(const std::vector<Gpu>& gpus);

}  // namespace syncbench
