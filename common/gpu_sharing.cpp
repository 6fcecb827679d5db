#include "common/gpu_sharing.hpp"

#include <dlfcn.h>

#include <vector>

namespace syncbench {

template <class Function>
void ComputeProcesses::load(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library_.get(), name));
}

void ComputeProcesses::Close::operator()(void* library) const {
  dlclose(library);
}

ComputeProcesses::ComputeProcesses()
    : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (!library_) return;
  load("nvmlInit_v2", init_);
  load("nvmlDeviceGetHandleByPciBusId_v2", by_pci_bus_id_);
  load("nvmlDeviceGetComputeRunningProcesses_v3", running_);
  usable_ = init_ && by_pci_bus_id_ && running_ && init_() == 0;
}

int ComputeProcesses::others_on(const std::string& pci_bus_id) const {
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

}  // namespace syncbench
