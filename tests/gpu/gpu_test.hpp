// GPU tests are found by name in the executables that CMakeLists.txt makes of
// them.
#pragma once

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "peer_grid_barrier/barrier_set.cuh"

namespace syncbench {

inline constexpr int kSkipped = 77;  // CTest counts it as skipped

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Words behind a test's name on the command line, "" where there are no more.
struct Words {
  std::vector<std::string> words;

  std::string operator[](std::size_t i) const {
    return i < words.size() ? words[i] : "";
  }
  int number(std::size_t i, int otherwise) const {
    return i < words.size() ? std::stoi(words[i]) : otherwise;
  }
};

/// Returns an exit code.
using GpuTest = std::function<int(const Words&)>;

inline std::map<std::string, GpuTest>& gpu_tests() {
  static std::map<std::string, GpuTest> all;
  return all;
}

/// Runs `test() -> exit code` where there is a GPU.
template <class Test>
int run_on_gpu(Test test) {
  load_kernels_eagerly();
  try {
    find_gpus();
  } catch (const NoDeviceError& error) {
    std::printf("skipped: %s\n", error.what());
    return kSkipped;
  }
  try {
    return test();
  } catch (const peer_grid::CannotJoin& error) {
    std::printf("skipped: %s\n", error.what());
    return kSkipped;
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}

/// A test that begins without CUDA, as it starts processes that use it.
inline bool add_test_of_processes(const char* name, GpuTest test) {
  return gpu_tests().emplace(name, std::move(test)).second;
}

inline bool add_gpu_test(const char* name, const GpuTest& test) {
  return add_test_of_processes(name, [test](const Words& words) {
    return run_on_gpu([&] { return test(words); });
  });
}

}  // namespace syncbench
