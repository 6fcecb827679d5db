// What stands in for a kernel: a function on the host that writes what the
// kernel would write and says how long it takes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>

namespace stand_in {

enum class LaunchKind {
  kTraditional,
  kCooperative,
  kProgrammatic,
  kMultiDevice
};

/// A launch of a kernel.
struct Launch {
  const void* function;  ///< as the program knows it
  std::string name;      ///< demangled
  dim3 grid, block;
  void** arguments;  ///< valid during the call alone
  int device;
  LaunchKind kind;
  int gpus = 1;  ///< that one call launches it on

  unsigned blocks() const { return grid.x * grid.y * grid.z; }
  unsigned threads() const { return block.x * block.y * block.z; }
  bool is(const char* part) const {
    return name.find(part) != std::string::npos;
  }
  template <class T>
  T argument(int index) const {
    T value;
    std::memcpy(&value, arguments[index], sizeof value);
    return value;
  }
};

/// A kernel that begins.
struct Running {
  int device;
  double start;     ///< nanoseconds, of all clocks of the node
  double factor;    ///< what it takes is so many times what was planted
  double host_now;  ///< of the host that looks
  bool waited_for;  ///< the host waits, and nothing else will happen before

  /// The GPU's clocks so many nanoseconds after the start.
  long long timer(double after = 0) const;
  double ghz() const;
  long long cycles(double after = 0) const;
};

/// Thrown: ends a call, or a kernel, with this error.
struct Failed {
  cudaError_t error;
};

/// What has become of it.
struct Ended {
  double nanoseconds = 0;
  cudaError_t error = cudaSuccess;
  bool blocked = false;  ///< it waits for the host and is to be asked again
};

struct Model {
  /// Called when the kernel runs, in the order of its stream.
  std::function<Ended(const Running&)> run;
  /// Kernels of several GPUs that wait for each other: as many as `members`
  /// launches with one `meeting`, the n-th of each `rank`, start together.
  const void* meeting = nullptr;
  int members = 1, rank = 0;
  /// Called instead of run() where the others never come.
  std::function<Ended(const Running&)> abandoned = {};
};

/// The model of a launch, where this source of models has one.
using Provider = std::optional<Model> (*)(const Launch&);

/// Adds a source; the result is of no use but to initialize a constant.
bool add_models(Provider provider);

/// Of all sources. A kernel without a model is an error.
std::optional<Model> find_model(const Launch& launch);

/// Storage of a __device__ variable of the type T, the only one of that size
/// that the program has, on a GPU.
void* variable(int device, std::size_t size);

/// Complains on stderr of what a program must not do: "stand-in: misuse: ...".
void complain(const std::string& what);

/// Whether [address, address + bytes) lies in one allocation; complains if not.
/// What is not const is about to be written: it has another version then.
bool inside(const void* address, std::size_t bytes, const char* whose);
bool inside(void* address, std::size_t bytes, const char* whose);

/// Ends the kernel where so many values from an address are not inside.
template <class T>
void need(T* first, std::size_t count, const char* whose) {
  if (!inside(first, count * sizeof *first, whose)) {
    throw Failed{cudaErrorIllegalAddress};
  }
}

/// Whether it is memory of another process.
bool is_foreign(const void* address);

/// A number that no other contents of the allocation around `address` have had,
/// nor any other allocation.
long long version_of(const void* address);

}  // namespace stand_in
