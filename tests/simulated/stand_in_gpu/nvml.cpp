// Stands in for the driver's management library: on each GPU compute this
// process and those planted as `others`; and why its clock is low.
#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  static int any = 0;
  *device = &any;
  return 0;
}

// It leaves the list of processes alone: what they are is not asked.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  const stand_in::Scenario& planted = stand_in::scenario();
  const bool there = stand_in::host_now() >= 1e9 * planted.others_from;
  *count = 1 + (there ? static_cast<unsigned>(planted.others) : 0);
  return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*,
                                              unsigned long long* reasons) {
  if (stand_in::scenario().reasons < 0) return 3;  // not supported
  *reasons = static_cast<unsigned long long>(stand_in::scenario().reasons);
  return 0;
}

}  // extern "C"
