#include "common/nvml.hpp"

#include <dlfcn.h>

#include <vector>

namespace syncbench {

template <class Function>
void Nvml::load(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library_.get(), name));
}

void Nvml::Close::operator()(void* library) const { dlclose(library); }

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (!library_) return;
  load("nvmlInit_v2", init_);
  load("nvmlDeviceGetHandleByPciBusId_v2", by_pci_bus_id_);
  load("nvmlDeviceGetComputeRunningProcesses_v3", running_);
  load("nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
  usable_ = init_ && by_pci_bus_id_ && init_() == 0;
}

void* Nvml::handle_of(const std::string& pci_bus_id) const {
  void* device = nullptr;
  const bool found =
      usable_ && by_pci_bus_id_(pci_bus_id.c_str(), &device) == 0;
  return found ? device : nullptr;
}

int Nvml::others_on(const std::string& pci_bus_id) const {
  void* device = handle_of(pci_bus_id);
  if (device == nullptr || running_ == nullptr) return -1;
  std::vector<Process> processes(64);
  unsigned count = static_cast<unsigned>(processes.size());
  if (running_(device, &count, processes.data()) != 0) return -1;
  // This process is one of them, under its own number or, in a container,
  // under another one.
  const int all = static_cast<int>(count);
  return all > 0 ? all - 1 : 0;
}

std::string Nvml::clock_reasons(const std::string& pci_bus_id) const {
  // Bits of nvmlClocksThrottleReasons. Bit 0 is an idle GPU.
  static constexpr const char* kNames[] = {
      nullptr,       "application-clocks", "sw-power-cap",
      "hw-slowdown", "sync-boost",         "sw-thermal",
      "hw-thermal",  "hw-power-brake",     "display-clocks"};
  void* device = handle_of(pci_bus_id);
  unsigned long long bits = 0;
  if (device == nullptr || reasons_ == nullptr ||
      reasons_(device, &bits) != 0) {
    return "unknown";
  }
  std::string text;
  for (int bit = 1; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (!text.empty()) text += '+';
    text += bit < 9 ? kNames[bit] : "bit-" + std::to_string(bit);
  }
  return text.empty() ? "none" : text;
}

}  // namespace syncbench
