// NCCL's sums, sends and receives, windows and barriers in kernels, where NCCL
// is compiled in: its functions, which need a driver, and the kernels.
#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0) && CUDART_VERSION >= 12000
#define STAND_IN_HAS_LSA
#include <nccl_device.h>
#endif

#include "stand_in_gpu/faults.hpp"
#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/process_meeting.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace {

// Floats that a rank sends to another, or receives from it.
struct Message {
  int other;
  const float* sent;
  float* received;
  std::size_t count;
};

// An all-reduce of a rank.
struct Terms {
  static constexpr std::size_t kMost = 8192;
  bool registered;
  float values[kMost];
};

// What all ranks of a communicator share, those of other processes too.
struct Shared {
  static constexpr int kMost = 8;
  std::uint64_t counters;  // of a ProcessMeeting
  Terms of_rank[kMost];
};

// What those of this process share.
struct Ranks {
  std::vector<const void*> sent;
  std::map<int, std::vector<Message>> messages;  // of the ranks that are there
  std::map<int, float*> sums;                    // the same
  Shared* shared = nullptr;
};

// Where it is: a file of a process.
struct Id {
  int process, file;
};

// Their addresses stand for the kernels.
const char kReduction = 0, kExchange = 0, kAllReduce = 0;

bool among_processes() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
}

}  // namespace

struct ncclComm {
  std::shared_ptr<Ranks> ranks;
  int rank;
  std::map<const void*, bool> windows = {};  // whether symmetric

  stand_in::ProcessMeeting meeting() const {
    return {&ranks->shared->counters, static_cast<int>(ranks->sent.size())};
  }
};

namespace {

// Guards the windows and the memory that NCCL has given.
std::mutex mutex;
std::set<const void*> memory, in_windows;

// Whether a call is to fail: for all that has no CUDA call of its own.
bool fails(const char* call, const void* from) {
  return stand_in::failure_of(call, from) != cudaSuccess;
}
#define FAILS(call) fails(call, __builtin_return_address(0))

// Queues what stands for a kernel of NCCL.
ncclResult_t queue(const char& kernel, const char* name, void** arguments,
                   cudaStream_t stream) {
  using namespace stand_in;
  try {
    const Launch launch = {&kernel,
                           name,
                           dim3(1),
                           dim3(32),
                           arguments,
                           current_gpu(),
                           LaunchKind::kTraditional};
    if (queue_kernel(launch, stream) == cudaSuccess) return ncclSuccess;
  } catch (const Failed&) {  // no such stream
  }
  return ncclUnhandledCudaError;
}

// What this thread has called in its group.
thread_local std::vector<Message> group;
thread_local ncclComm* group_communicator = nullptr;
thread_local cudaStream_t group_stream = nullptr;

ncclResult_t add_to_group(const Message& message, ncclComm* communicator,
                          cudaStream_t stream) {
  group.push_back(message);
  group_communicator = communicator;
  group_stream = stream;
  return ncclSuccess;
}

}  // namespace

namespace stand_in {
namespace {

constexpr Ended kGivesUp = {1e10, cudaErrorLaunchFailure};

// A kernel of a rank that starts together with those of the others; without
// them it waits for ever, as NCCL's do. Processes meet in another way.
Model of_rank(const ncclComm& communicator,
              std::function<Ended(const Running&)> run) {
  Model model = {std::move(run)};
  if (!among_processes()) {
    model.meeting = communicator.ranks.get();
    model.members = static_cast<int>(communicator.ranks->sent.size());
    model.rank = communicator.rank;
  }
  model.abandoned = [](const Running&) -> Ended {
    for (;;) pause();
  };
  return model;
}

// The ranks are run one after the other: the last one carries all messages.
Model exchange(const Launch& launch) {
  const auto* communicator = launch.argument<const ncclComm*>(0);
  const auto ranks = communicator->ranks;
  const int rank = communicator->rank;
  const std::vector<Message> messages =
      *launch.argument<const std::vector<Message>*>(1);
  return of_rank(*communicator, [=](const Running& running) -> Ended {
    ranks->messages[rank] = messages;
    if (ranks->messages.size() < ranks->sent.size()) return {scenario().null};
    for (const auto& [to, theirs] : ranks->messages) {
      for (const Message& into : theirs) {
        if (into.received == nullptr) continue;
        for (const Message& from : ranks->messages[into.other]) {
          if (from.sent == nullptr || from.other != to) continue;
          if (from.count != into.count) throw Failed{cudaErrorIllegalAddress};
          need(from.sent, from.count, "a send");
          need(into.received, from.count, "a receive");
          std::copy_n(from.sent, from.count, into.received);
        }
      }
    }
    ranks->messages.clear();
    return {running.factor * scenario().nccl};
  });
}

template <class T>
void add_up(const std::vector<const void*>& sent, void* to) {
  T sum = 0;
  for (const void* from : sent) sum += *static_cast<const T*>(from);
  std::memcpy(to, &sum, sizeof sum);
}

void put_sum(const Ranks& ranks, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = 0;
    for (std::size_t rank = 0; rank < ranks.sent.size(); ++rank) {
      to[i] += ranks.shared->of_rank[rank].values[i];
    }
  }
}

// In one process as exchange(); among processes each adds up for itself.
Model all_reduce(const Launch& launch) {
  const auto* communicator = launch.argument<const ncclComm*>(0);
  const auto* from = launch.argument<const float*>(1);
  auto* to = launch.argument<float*>(2);
  const auto count = launch.argument<std::size_t>(3);
  const auto registered = launch.argument<bool>(4);
  const auto ranks = communicator->ranks;
  const int rank = communicator->rank;
  return of_rank(*communicator, [=](const Running& running) -> Ended {
    need(from, count, "ncclAllReduce");
    need(to, count, "ncclAllReduce");
    Terms& own = ranks->shared->of_rank[rank];
    own.registered = registered;
    std::copy_n(from, count, own.values);
    if (among_processes()) {
      const ProcessMeeting others = communicator->meeting();
      if (!others.sync()) return kGivesUp;
      put_sum(*ranks, to, count);
      if (!others.sync()) return kGivesUp;
    } else {
      ranks->sums[rank] = to;
      if (ranks->sums.size() < ranks->sent.size()) return {scenario().null};
      for (const auto& [other, sums] : ranks->sums)
        put_sum(*ranks, sums, count);
      ranks->sums.clear();
    }
    for (std::size_t other = 0; other < ranks->sent.size(); ++other) {
      if (ranks->shared->of_rank[other].registered != registered) {
        complain("ncclAllReduce: only some GPUs have their memory in windows");
      }
    }
    return {running.factor *
            (registered ? scenario().nccl_registered : scenario().nccl)};
  });
}

#ifdef STAND_IN_HAS_LSA
// Of a kernel of `step` nanoseconds for each barrier.
Model lsa_barriers(const Launch& launch, double step) {
  const auto device = launch.argument<ncclDevComm>(0);
  const auto operations = launch.argument<int>(1);
  if (launch.kind != LaunchKind::kCooperative) {
    complain("its blocks are not sure to run together: " + launch.name);
  }
  const auto* communicator =
      reinterpret_cast<const ncclComm*>(device.resourceWindow);
  return of_rank(*communicator, [=](const Running& running) -> Ended {
    if (among_processes() && !communicator->meeting().sync()) return kGivesUp;
    return {running.factor * (scenario().null + operations * step)};
  });
}
#endif

std::optional<Model> model_of(const Launch& launch) {
  if (launch.function == &kExchange) return exchange(launch);
  if (launch.function == &kAllReduce) return all_reduce(launch);
#ifdef STAND_IN_HAS_LSA
  if (launch.is("::block_kernel(ncclDevComm")) {
    return lsa_barriers(launch, scenario().step);
  }
  if (launch.is("::grid_kernel(ncclDevComm")) {  // two of the grid, too
    return lsa_barriers(launch, 3 * scenario().step);
  }
#endif
  if (launch.function != &kReduction) return std::nullopt;
  const auto* communicator = launch.argument<const ncclComm*>(0);
  const auto ranks = communicator->ranks;
  const int rank = communicator->rank;
  const auto* from = launch.argument<const void*>(1);
  auto* to = launch.argument<void*>(2);
  const auto type = launch.argument<ncclDataType_t>(3);
  ranks->sent[rank] = from;
  Model model = of_rank(*communicator, [=](const Running& running) -> Ended {
    need(static_cast<const char*>(from), 4, "ncclReduce");
    if (rank > 0) return {scenario().null};
    need(static_cast<char*>(to), 4, "ncclReduce");
    if (type == ncclInt) add_up<int>(ranks->sent, to);
    if (type == ncclFloat) add_up<float>(ranks->sent, to);
    if (type == ncclDouble) add_up<double>(ranks->sent, to);
    return {running.factor * scenario().nccl};
  });
  model.abandoned = [](const Running&) -> Ended {
    return {0, cudaErrorLaunchFailure};
  };
  return model;
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int*) {
  // Kept, so that no other communicator has the same address.
  static std::vector<std::shared_ptr<Ranks>> all;
  const auto ranks = all.emplace_back(std::make_shared<Ranks>());
  ranks->sent.resize(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    communicators[rank] = new ncclComm{ranks, rank};
  }
  return ncclSuccess;
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  // Open until the process ends: others may come late.
  const Id made = {getpid(), memfd_create("stand-in", MFD_CLOEXEC)};
  if (made.file < 0 || ftruncate(made.file, sizeof(Shared)) != 0) {
    return ncclSystemError;
  }
  std::memcpy(id, &made, sizeof made);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int count,
                              ncclUniqueId id, int rank) {
  static std::vector<std::shared_ptr<Ranks>> all;  // kept, as above
  const bool joins = stand_in::scenario().nccl_processes > 0;
  if ((among_processes() && !joins) || count > Shared::kMost) {
    return ncclSystemError;
  }
  if (among_processes() || rank == 0) {
    Id made;
    std::memcpy(&made, &id, sizeof made);
    const std::string path = "/proc/" + std::to_string(made.process) + "/fd/" +
                             std::to_string(made.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* shared = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return ncclSystemError;
    all.push_back(std::make_shared<Ranks>());
    all.back()->sent.resize(static_cast<std::size_t>(count));
    all.back()->shared = static_cast<Shared*>(shared);
  }
  *communicator = new ncclComm{all.back(), rank};
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (!communicator->windows.empty()) {
    stand_in::complain("a communicator destroyed that has windows");
  }
  delete communicator;
  return FAILS("ncclCommDestroy") ? ncclUnhandledCudaError : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count,
                           ncclDataType_t, ncclRedOp_t, ncclComm_t communicator,
                           cudaStream_t stream) {
  using namespace stand_in;
  if (FAILS("ncclAllReduce")) return ncclUnhandledCudaError;
  if (count > Terms::kMost) return ncclInvalidArgument;
  const auto is_registered = [&](const void* buffer) {
    const auto found = communicator->windows.find(buffer);
    return found != communicator->windows.end() && found->second;
  };
  bool registered = is_registered(from);
  if (registered != is_registered(to)) {
    complain("ncclAllReduce: only one of its two buffers is in a window");
    registered = false;
  }
  void* arguments[] = {&communicator, &from, &to, &count, &registered};
  return queue(kAllReduce, "ncclAllReduce", arguments, stream);
}

ncclResult_t ncclMemAlloc(void** address, size_t bytes) {
  if (FAILS("ncclMemAlloc") ||
      stand_in::allocate(address, bytes, false) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  memory.insert(*address);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* address) {
  const bool failed = FAILS("ncclMemFree");
  const std::lock_guard<std::mutex> lock(mutex);
  if (memory.erase(address) == 0) return ncclInvalidArgument;
  if (in_windows.count(address) > 0) {
    stand_in::complain("memory given back that is still in a window");
  }
  stand_in::release(address, false);
  return failed ? ncclUnhandledCudaError : ncclSuccess;
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)

// As in NCCL, all ranks come together.
ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* address,
                                    size_t, ncclWindow_t* window, int flags) {
  *window = nullptr;
  if (FAILS("ncclCommWindowRegister")) return ncclUnhandledCudaError;
  if (!communicator->meeting().sync()) return ncclRemoteError;
  if (stand_in::scenario().nccl_windows == 0) return ncclSuccess;
  const std::lock_guard<std::mutex> lock(mutex);
  if (memory.count(address) == 0) return ncclUnhandledCudaError;
  communicator->windows[address] = flags == NCCL_WIN_COLL_SYMMETRIC;
  in_windows.insert(address);
  *window = reinterpret_cast<ncclWindow_t>(address);
  return ncclSuccess;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t communicator,
                                      ncclWindow_t window) {
  const bool failed = FAILS("ncclCommWindowDeregister");
  const std::lock_guard<std::mutex> lock(mutex);
  if (communicator->windows.erase(window) == 0) return ncclInvalidArgument;
  in_windows.erase(window);
  return failed ? ncclUnhandledCudaError : ncclSuccess;
}

#endif
#ifdef STAND_IN_HAS_LSA

ncclTeam_t ncclTeamLsa(ncclComm_t communicator) {
  const auto ranks = static_cast<int>(communicator->ranks->sent.size());
  return {ranks, communicator->rank, 1};
}

ncclResult_t ncclDevCommCreate(ncclComm_t communicator,
                               const ncclDevCommRequirements_t*,
                               ncclDevComm_t* made) {
  if (FAILS("ncclDevCommCreate")) return ncclUnhandledCudaError;
  *made = {};
  made->rank = communicator->rank;
  made->nRanks = static_cast<int>(communicator->ranks->sent.size());
  made->resourceWindow = reinterpret_cast<ncclWindow_t>(communicator);
  return ncclSuccess;
}

ncclResult_t ncclDevCommDestroy(ncclComm_t, const ncclDevComm_t*) {
  return FAILS("ncclDevCommDestroy") ? ncclUnhandledCudaError : ncclSuccess;
}

#endif

ncclResult_t ncclReduce(const void* from, void* to, size_t, ncclDataType_t type,
                        ncclRedOp_t, int, ncclComm_t communicator,
                        cudaStream_t stream) {
  void* arguments[] = {&communicator, &from, &to, &type};
  return queue(kReduction, "ncclReduce", arguments, stream);
}

ncclResult_t ncclGroupStart() {
  group.clear();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t, int other,
                      ncclComm_t communicator, cudaStream_t stream) {
  return add_to_group({other, static_cast<const float*>(from), nullptr, count},
                      communicator, stream);
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t, int other,
                      ncclComm_t communicator, cudaStream_t stream) {
  return add_to_group({other, nullptr, static_cast<float*>(to), count},
                      communicator, stream);
}

ncclResult_t ncclGroupEnd() {
  if (group.empty()) return ncclSuccess;
  if (FAILS("ncclGroupEnd")) return ncclUnhandledCudaError;
  const std::vector<Message>* messages = &group;
  void* arguments[] = {&group_communicator, &messages};
  return queue(kExchange, "ncclSendRecv", arguments, group_stream);
}

const char* ncclGetErrorString(ncclResult_t) { return "pretended error"; }

}  // extern "C"
