// The methods as the host sees them, and the one list of all of them.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "common/options.hpp"
#include "explicit_barrier/method.cuh"

namespace syncbench {

/// Most operations in a row of TestRepeat.
inline constexpr int kMostTestRepeats = 128;

/// What a warp saw: SM clock before its first timed operation and after its
/// last, and the SM it ran on. `end` is 0 where the warp took no part.
struct WarpRecord {
  long long start;
  long long end;
  unsigned sm;
};

/// Rounds that a kernel makes of its straight line, and the first that counts.
struct Trips {
  int count;
  int first_timed;
};

/// A method, without its type: what its struct says (method.cuh explains each)
/// and its kernels, kernels[k] with 2^k operations in a row.
struct MethodEntry : About {
  std::string type;
  std::string caution;
  Work (*work)(int architecture);
  int first_architecture, first_toolkit, most_in_line, trips;
  int (*repeats)(int group);
  int (*throughput_repeats)(int group);
  int (*launches)(int blocks_per_sm, int gpus);
  Sizes (*groups)(int threads);
  bool (*fits)(int threads);
  bool (*takes_part)(const Place&);
  unsigned (*expected)(const Place&);
  long long (*global_words)(long long threads);
  Arguments (*make_arguments)(const std::vector<int>& devices, int blocks);
  LaunchAttributes (*attributes)(int group);
  int fewest_gpus;
  bool checked, multi_device, peer_access, drawn_by_process;
  std::vector<const void*> kernels;

  /// The kernel with so many operations in a row; std::out_of_range where there
  /// is none.
  const void* kernel(int in_line) const {
    std::size_t index = 0;
    while ((1 << index) < in_line) ++index;
    if (1 << index != in_line) throw std::out_of_range("no power of two");
    return kernels.at(index);
  }

  /// The most repeats of any of its groups.
  int most_repeats() const {
    int most = 0;
    groups(1024).for_each(
        [&](int group) { most = std::max(most, repeats(group)); });
    return most;
  }

  /// Whether its rows differ by the size of the group.
  bool has_groups() const {
    const Sizes sizes = groups(1024);
    return sizes.first != 32 || sizes.last != 32;
  }
};

inline std::string type_name(const std::type_info& type) {
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  const std::string name = text;
  std::free(text);
  return name;
}

// One list a file of methods/, at its end.
std::vector<MethodEntry> block_methods();
std::vector<MethodEntry> mbarrier_methods();
std::vector<MethodEntry> block_collective_methods();
std::vector<MethodEntry> warp_methods();
std::vector<MethodEntry> exchange_methods();
std::vector<MethodEntry> warp_collective_methods();
std::vector<MethodEntry> in_use_methods();
std::vector<MethodEntry> atomic_methods();
std::vector<MethodEntry> memory_order_methods();
std::vector<MethodEntry> copy_methods();
std::vector<MethodEntry> cluster_methods();
std::vector<MethodEntry> grid_methods();
std::vector<MethodEntry> semaphore_methods();
std::vector<MethodEntry> gpu_methods();
std::vector<MethodEntry> validation_methods();

/// What this build cannot measure, and why.
std::vector<MethodInfo> missing_gpu_methods();

/// All methods, in the order of rows and of --list.
inline const std::vector<MethodEntry>& all_methods() {
  static const std::vector<MethodEntry> methods = [] {
    std::vector<MethodEntry> all;
    for (const auto list :
         {block_methods, mbarrier_methods, block_collective_methods,
          warp_methods, exchange_methods, warp_collective_methods,
          in_use_methods, atomic_methods, memory_order_methods, copy_methods,
          cluster_methods, grid_methods, semaphore_methods, gpu_methods,
          validation_methods}) {
      for (MethodEntry& method : list()) all.push_back(std::move(method));
    }
    return all;
  }();
  return methods;
}

/// Those whose scope lies between two, both included.
inline std::vector<MethodEntry> methods_of(Scope first, Scope last) {
  std::vector<MethodEntry> found;
  for (const MethodEntry& method : all_methods()) {
    if (first <= method.scope && method.scope <= last) found.push_back(method);
  }
  return found;
}

/// The first method of a name; std::out_of_range where there is none.
inline const MethodEntry& find_method(const std::string& name, int group = 32) {
  for (const MethodEntry& method : all_methods()) {
    const Sizes groups = method.groups(1024);
    if (method.name == name && groups.first <= group && group <= groups.last) {
      return method;
    }
  }
  throw std::out_of_range(name);
}

/// "NAME: what there is to know" for the rows of a method; empty: nothing.
inline std::string caution_of(const MethodEntry& method) {
  return method.caution.empty() ? "" : method.name + (": " + method.caution);
}

/// What the kernels of each method consist of on an architecture, 90 for sm_90:
/// tab-separated lines under a header, for tests/machine_code_test.py.
std::string machine_code_of(const std::vector<MethodEntry>& methods,
                            int architecture);

/// Fills in what a program of these methods lists and proves.
void take_methods(ProgramInfo& info, const std::vector<MethodEntry>& methods);

}  // namespace syncbench
