// The driver's management library (NVML): who else computes on a GPU, and why
// its clock is low.
#pragma once

#include <memory>
#include <string>

namespace syncbench {

/// Loaded when running: a program must start, and measure, without it.
class Nvml {
 public:
  Nvml();

  /// Number of other processes that have a compute context on the GPU; -1 where
  /// that cannot be known (no NVML, or it may not say).
  int others_on(const std::string& pci_bus_id) const;

  /// Why the GPU's clock is lowered now, "sw-power-cap+hw-slowdown"; "none", or
  /// "unknown" where that cannot be known. An idle GPU is no reason.
  std::string clock_reasons(const std::string& pci_bus_id) const;

 private:
  struct Process {  // nvmlProcessInfo_t as of _v3
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
  };
  struct Close {
    void operator()(void* library) const;
  };

  // Of a GPU; null where there is none to be had.
  void* handle_of(const std::string& pci_bus_id) const;

  template <class Function>
  void load(const char* name, Function& function);

  std::unique_ptr<void, Close> library_;
  int (*init_)() = nullptr;
  int (*by_pci_bus_id_)(const char*, void**) = nullptr;
  int (*running_)(void*, unsigned*, Process*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  bool usable_ = false;
};

}  // namespace syncbench
