// Programs of methods with planted faults.
//
// usage: PROGRAM --machine-code ARCHITECTURE   what the methods say of their
// code
//        PROGRAM --on-gpu                      what the check before a row says
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench::explicit_barrier {

/// A launch in which a fault can show: more than one warp, and more than one
/// block where blocks meet.
inline Shape shape_of(const MethodEntry& method, const Gpu& gpu) {
  int threads = 64;
  while (threads < 1024 && !method.fits(threads)) threads *= 2;
  if (method.scope <= Scope::kWarp) threads = 32;
  const Sizes groups = method.groups(threads);
  if (method.scope == Scope::kCluster) {
    return {groups.first, threads, groups.first};
  }
  const int blocks = method.scope >= Scope::kGrid ? gpu.sm_count : 1;
  int group = groups.first;  // the largest
  groups.for_each([&](int size) { group = size; });
  return {blocks, threads, group};
}

/// What the check before a row says of the method; "nothing" where it is right.
inline std::string verdict_on(const MethodEntry& method,
                              const std::vector<Gpu>& gpus) {
  const std::vector<Gpu> one = {gpus[0]};
  try {
    TimedLaunch launch(method, method.scope == Scope::kGpus ? gpus : one,
                       shape_of(method, gpus[0]));
  } catch (const CannotMeasure& error) {
    return std::string("skipped: ") + error.what();
  } catch (const CudaError& error) {
    return std::string("ended: ") + error.what();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

/// A line for each method: its type, its name, whether it is a barrier of more
/// than a warp, and the verdict. None behind a kernel that ended with an error.
inline void print_verdicts(const std::vector<MethodEntry>& methods) {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  std::printf("type\tmethod\tmeets\tverdict\n");
  for (const MethodEntry& method : methods) {
    const std::string verdict = verdict_on(method, gpus);
    std::printf("%s\t%s\t%d\t%s\n", name_of_type(method).c_str(), method.name,
                method.meeting_kernel != nullptr, verdict.c_str());
    if (verdict.rfind("ended", 0) == 0) return;
  }
}

inline int planted_main(int argc, char** argv,
                        const std::vector<MethodEntry>& methods) {
  if (argc == 3 && std::string(argv[1]) == "--machine-code") {
    std::puts(machine_code_of(methods, std::atoi(argv[2])).c_str());
  } else if (argc == 2 && std::string(argv[1]) == "--on-gpu") {
    try {
      print_verdicts(methods);
    } catch (const NoDeviceError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 77;
    }
  } else {
    return 2;
  }
  return 0;
}

}  // namespace syncbench::explicit_barrier
