// SPDX-License-Identifier: MIT
// Memory on the GPU of each of several processes of one node, which kernels of
// all of them can access: handed over by CUDA IPC.
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer_grid_barrier/barrier_set.cuh"

namespace peer_grid {

/// Several processes, as one of them sees them.
struct Processes {
  int rank;   ///< of this one
  int count;  ///< 1 to kMaxGpus
  /// Called by all processes, equally often and in the same order: hands
  /// `bytes` bytes of each to all. `all` gets those of rank 0, of rank 1, and
  /// so on. By MPI_Allgather, by sockets, by anything. It should throw where a
  /// process has gone; else the others wait there for ever.
  std::function<void(const void* mine, void* all, std::size_t bytes)>
      all_gather;
};

namespace detail {

/// What a process hands to the others of something it has tried, so that all
/// of them throw where one has failed.
struct Outcome {
  enum : int { kDone, kFailed, kCannotJoin } what = kDone;
  char why[500] = {};

  /// Of try_it(), whose exceptions end here.
  template <class Try>
  static Outcome of(Try try_it) {
    Outcome outcome;
    try {
      try_it();
    } catch (const CannotJoin& error) {
      outcome.fail(kCannotJoin, error.what());
    } catch (const std::exception& error) {
      outcome.fail(kFailed, error.what());
    }
    return outcome;
  }
  /// "process 1: why"
  void throw_if_failed(std::size_t rank) const {
    const std::string text = "process " + std::to_string(rank) + ": " + why;
    if (what == kCannotJoin) throw CannotJoin(text);
    if (what == kFailed) throw Error(text);
  }

 private:
  void fail(decltype(what) how, const char* text) {
    what = how;
    std::strncpy(why, text, sizeof why - 1);
  }
};

/// What all processes hand over, by rank.
template <class Record>
std::vector<Record> gather(const Processes& processes, const Record& mine) {
  std::vector<Record> all(processes.count);
  processes.all_gather(&mine, all.data(), sizeof mine);
  return all;
}

/// Throws in all processes where one has failed.
inline void agree(const Processes& processes, const Outcome& mine) {
  const std::vector<Outcome> all = gather(processes, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].throw_if_failed(rank);
  }
}

/// What a process says of itself and its GPU.
struct Offer {
  int version = 1;  ///< raised with each change of what processes share
  Outcome outcome;
  int pid = 0, major = 0, minor = 0, sms = 0;
  std::size_t bytes = 0;
  char bus[24] = {};   ///< address of the GPU
  char node[40] = {};  ///< differs between nodes; "" where unknown
  cudaIpcMemHandle_t handle = {};
};

}  // namespace detail

/// Owns memory on this process's GPU and has that of the other processes. It
/// stays where it was made. Where two processes have the same GPU, it is shared
/// by time.
class ProcessMemory {
 public:
  /// Called by all processes at the same time, each with a GPU of the same kind
  /// and the same number of bytes, which are zero at first. `prepare` is called
  /// before anything is handed over, with `device` current. Where one process
  /// fails, all throw the same: CannotJoin where these GPUs or processes cannot
  /// access each other's memory, have different versions of this file, or are
  /// on different nodes; otherwise Error. What all_gather throws passes
  /// through; the memory is freed where that is its first call. The current
  /// device is the same afterwards.
  ProcessMemory(
      int device, std::size_t bytes, Processes processes,
      const std::function<void()>& prepare = [] {});
  ProcessMemory(const ProcessMemory&) = delete;

  /// Waits for this GPU's work. Without close(), the memory of several
  /// processes is not freed before they end, because kernels of others may
  /// write to it.
  ~ProcessMemory();

  /// Called by all processes at the same time: waits for this GPU's work, hands
  /// back what is of others, and frees the memory when all have done so. Where
  /// one fails, none frees its memory and all throw Error. The second call, and
  /// any after a failed one, does nothing.
  void close();

  /// The memory on the GPU of a process, for kernels on this GPU; all null once
  /// it is closed.
  const std::vector<void*>& of_rank() const { return of_rank_; }

  /// "process 1 (pid 4242, GPU 0000:1B:00.0)"
  const std::string& name_of(int rank) const { return names_.at(rank); }
  int device() const { return device_; }
  int sms() const { return sms_; }
  int rank() const { return processes_.rank; }

 private:
  struct Close {
    void operator()(void* memory) const { cudaIpcCloseMemHandle(memory); }
  };
  // Handles share whole blocks of this size: so nothing else is in them.
  static constexpr std::size_t kBlock = std::size_t{2} << 20;

  detail::Offer offer(std::size_t bytes, const std::function<void()>& prepare);
  void check(const std::vector<detail::Offer>& offers) const;
  void open(const std::vector<detail::Offer>& offers);
  void release();
  void free_own();

  int device_;
  Processes processes_;
  int sms_ = 0;
  void* own_ = nullptr;
  std::vector<void*> of_rank_;
  std::vector<std::unique_ptr<void, Close>> opened_;  // of other processes
  std::vector<std::string> names_;
};

namespace detail {

/// Changes where the machine starts anew; containers of one node have the same.
inline std::string name_of_node() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  return name;
}

}  // namespace detail

inline ProcessMemory::ProcessMemory(int device, std::size_t bytes,
                                    Processes processes,
                                    const std::function<void()>& prepare)
    : device_(device), processes_(std::move(processes)) {
  detail::check_count(static_cast<std::size_t>(std::max(processes_.count, 0)));
  std::optional<detail::CurrentDevice> current;
  std::vector<detail::Offer> offers;
  try {
    offers = detail::gather(
        processes_, offer(bytes, [&] {
          if (processes_.rank < 0 || processes_.rank >= processes_.count) {
            throw Error("peer grid barrier: no process " +
                        std::to_string(processes_.rank) + " of " +
                        std::to_string(processes_.count));
          }
          current.emplace();
          detail::check(cudaSetDevice(device_), "cudaSetDevice");
          prepare();
        }));
    for (std::size_t rank = 0; rank < offers.size(); ++rank) {
      names_.push_back("process " + std::to_string(rank) + " (pid " +
                       std::to_string(offers[rank].pid) + ", GPU " +
                       offers[rank].bus + ")");
    }
    check(offers);
  } catch (...) {  // no process has opened anything
    if (own_ != nullptr) cudaFree(std::exchange(own_, nullptr));
    throw;
  }
  try {
    detail::agree(processes_, detail::Outcome::of([&] { open(offers); }));
  } catch (const Error&) {
    try {
      close();
    } catch (const Error&) {  // the first one says why
    }
    throw;
  } catch (...) {  // of all_gather: others may have opened its memory
    opened_.clear();
    throw;
  }
}

// What this process has, its memory included. Never throws: others wait.
inline detail::Offer ProcessMemory::offer(
    std::size_t bytes, const std::function<void()>& prepare) {
  detail::Offer mine;
  mine.pid = static_cast<int>(getpid());
  mine.bytes = bytes;
  mine.outcome = detail::Outcome::of([&] {
    using detail::check;
    std::strncpy(mine.node, detail::name_of_node().c_str(),
                 sizeof mine.node - 1);
    const cudaDeviceProp properties = detail::properties_of(device_);
    detail::check_capability(device_);
    mine.major = properties.major;
    mine.minor = properties.minor;
    mine.sms = sms_ = properties.multiProcessorCount;
    check(cudaDeviceGetPCIBusId(mine.bus, sizeof mine.bus, device_),
          "cudaDeviceGetPCIBusId");
    prepare();
    const std::size_t whole = (bytes + kBlock - 1) / kBlock * kBlock;
    check(cudaMalloc(&own_, whole), "cudaMalloc");
    check(cudaMemset(own_, 0, whole), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const cudaError_t handed = cudaIpcGetMemHandle(&mine.handle, own_);
    if (handed == cudaErrorNotSupported) {
      cudaGetLastError();
      throw CannotJoin("it has no CUDA IPC (cudaIpcGetMemHandle: " +
                       std::string(cudaGetErrorString(handed)) + ")");
    }
    check(handed, "cudaIpcGetMemHandle");
  });
  return mine;
}

// Finds the same in all processes.
inline void ProcessMemory::check(
    const std::vector<detail::Offer>& offers) const {
  const detail::Offer& first = offers[0];
  for (std::size_t rank = 1; rank < offers.size(); ++rank) {
    if (first.version != offers[rank].version) {
      throw CannotJoin("processes 0 and " + std::to_string(rank) +
                       " have different versions of the barrier");
    }
  }
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    offers[rank].outcome.throw_if_failed(rank);
  }
  for (std::size_t rank = 1; rank < offers.size(); ++rank) {
    const detail::Offer& other = offers[rank];
    const auto refuse = [&](const char* why) {
      throw CannotJoin(names_[0] + " and " + names_[rank] + " " + why);
    };
    if (std::strcmp(first.node, other.node) != 0) {
      refuse("are on different nodes");
    }
    if (first.major != other.major || first.minor != other.minor ||
        first.sms != other.sms) {
      refuse("have GPUs of different kinds");
    }
    if (first.bytes != other.bytes) refuse("ask for different sizes");
  }
}

inline void ProcessMemory::open(const std::vector<detail::Offer>& offers) {
  of_rank_.assign(offers.size(), nullptr);
  for (int rank = 0; rank < processes_.count; ++rank) {
    if (rank == processes_.rank) {  // which cannot open its own handle
      of_rank_[rank] = own_;
      continue;
    }
    const cudaError_t result = cudaIpcOpenMemHandle(
        &of_rank_[rank], offers[rank].handle, cudaIpcMemLazyEnablePeerAccess);
    if (result != cudaSuccess) {
      cudaGetLastError();
      throw CannotJoin("it cannot access the memory of " + names_[rank] +
                       " (cudaIpcOpenMemHandle: " + cudaGetErrorString(result) +
                       ")");
    }
    opened_.emplace_back(of_rank_[rank]);
  }
}

inline void ProcessMemory::close() {
  if (own_ == nullptr) return;
  const detail::Outcome outcome = detail::Outcome::of([this] { release(); });
  void* const own = own_;
  own_ = nullptr;
  detail::agree(processes_, outcome);
  own_ = own;
  free_own();
}

// When the work of this GPU has ended, nothing of it is in the memory of
// others.
inline void ProcessMemory::release() {
  const detail::CurrentDevice current;
  detail::check(cudaSetDevice(device_), "cudaSetDevice");
  const cudaError_t ended = cudaDeviceSynchronize();
  of_rank_.assign(of_rank_.size(), nullptr);
  for (auto& memory : opened_) {
    const cudaError_t closed = cudaIpcCloseMemHandle(memory.release());
    if (ended != cudaSuccess) continue;  // nothing works any more
    detail::check(closed, "cudaIpcCloseMemHandle");
  }
  opened_.clear();
  detail::check(ended, "cudaDeviceSynchronize");
}

inline void ProcessMemory::free_own() {
  if (own_ == nullptr) return;
  void* const own = own_;
  own_ = nullptr;
  detail::check(cudaFree(own), "cudaFree");
}

inline ProcessMemory::~ProcessMemory() {
  const bool alone = processes_.count == 1;
  int current = 0;
  if ((opened_.empty() && !alone) || cudaGetDevice(&current) != cudaSuccess) {
    return;
  }
  if (cudaSetDevice(device_) == cudaSuccess) cudaDeviceSynchronize();
  opened_.clear();
  if (alone) cudaFree(own_);
  cudaSetDevice(current);
}

}  // namespace peer_grid
