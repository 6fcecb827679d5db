// Who else computes on a GPU, asked of the driver's management library (NVML).
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>
#include <vector>

namespace syncbench {

/// NVML, loaded when running: a program must start, and measure, without it.
class ComputeProcesses {
 public:
  ComputeProcesses() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (!library_) return;
    load("nvmlInit_v2", init_);
    load("nvmlDeviceGetHandleByPciBusId_v2", by_pci_bus_id_);
    load("nvmlDeviceGetComputeRunningProcesses_v3", running_);
    usable_ = init_ && by_pci_bus_id_ && running_ && init_() == 0;
  }

  /// Number of other processes that have a compute context on the GPU; -1 where
  /// that cannot be known (no NVML, or it may not say).
  int others_on(const std::string& pci_bus_id) const {
    void* device = nullptr;
    if (!usable_ || by_pci_bus_id_(pci_bus_id.c_str(), &device) != 0) return -1;
    std::vector<Process> processes(64);
    unsigned count = static_cast<unsigned>(processes.size());
    if (running_(device, &count, processes.data()) != 0) return -1;
    // This process is one of them, under its own number or, in a container,
    // under another one.
    const int all = static_cast<int>(count);
    return all > 0 ? all - 1 : 0;
  }

 private:
  struct Process {  // nvmlProcessInfo_t as of _v3
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
  };
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };

  template <class Function>
  void load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_.get(), name));
  }

  std::unique_ptr<void, Close> library_;
  int (*init_)() = nullptr;
  int (*by_pci_bus_id_)(const char*, void**) = nullptr;
  int (*running_)(void*, unsigned*, Process*) = nullptr;
  bool usable_ = false;
};

}  // namespace syncbench
