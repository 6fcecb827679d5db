// NCCL's reduction of one number of each GPU, and its sends and receives, where
// NCCL is compiled in: its functions, which need a driver, and the kernels.
#include <nccl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "stand_in_gpu/faults.hpp"
#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace {

// Floats that a rank sends to another, or receives from it.
struct Message {
  int other;
  const float* sent;
  float* received;
  std::size_t count;
};

// What the ranks of a communicator share.
struct Ranks {
  std::vector<const void*> sent;
  std::map<int, std::vector<Message>> messages;  // of the ranks that are there
};

// Their addresses stand for the kernels.
const char kReduction = 0, kExchange = 0;

}  // namespace

struct ncclComm {
  std::shared_ptr<Ranks> ranks;
  int rank;
};

namespace {

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

// The ranks start together, and are run one after the other: the last one
// carries all messages.
Model exchange(const Launch& launch) {
  const auto* communicator = launch.argument<const ncclComm*>(0);
  const auto ranks = communicator->ranks;
  const int rank = communicator->rank;
  const std::vector<Message> messages =
      *launch.argument<const std::vector<Message>*>(1);
  Model model;
  model.meeting = ranks.get();
  model.members = static_cast<int>(ranks->sent.size());
  model.rank = rank;
  model.run = [=](const Running& running) -> Ended {
    ranks->messages[rank] = messages;
    if (ranks->messages.size() < ranks->sent.size()) return {scenario().null};
    for (const auto& [to, theirs] : ranks->messages) {
      for (const Message& into : theirs) {
        if (into.received == nullptr) continue;
        for (const Message& from : ranks->messages[into.other]) {
          if (from.sent == nullptr || from.other != to) continue;
          const std::size_t bytes = from.count * sizeof *from.sent;
          if (from.count != into.count || !inside(from.sent, bytes, "a send") ||
              !inside(into.received, bytes, "a receive")) {
            return {0, cudaErrorIllegalAddress};
          }
          std::memcpy(into.received, from.sent, bytes);
        }
      }
    }
    ranks->messages.clear();
    return {running.factor * scenario().nccl};
  };
  model.abandoned = [](const Running&) -> Ended {
    for (;;) pause();  // as NCCL's kernels do
  };
  return model;
}

template <class T>
void add_up(const std::vector<const void*>& sent, void* to) {
  T sum = 0;
  for (const void* from : sent) sum += *static_cast<const T*>(from);
  std::memcpy(to, &sum, sizeof sum);
}

std::optional<Model> model_of(const Launch& launch) {
  if (launch.function == &kExchange) return exchange(launch);
  if (launch.function != &kReduction) return std::nullopt;
  const auto* communicator = launch.argument<const ncclComm*>(0);
  const auto ranks = communicator->ranks;
  const int rank = communicator->rank;
  const auto* from = launch.argument<const void*>(1);
  auto* to = launch.argument<void*>(2);
  const auto type = launch.argument<ncclDataType_t>(3);
  ranks->sent[rank] = from;
  Model model;
  model.meeting = ranks.get();
  model.members = static_cast<int>(ranks->sent.size());
  model.rank = rank;
  model.run = [=](const Running& running) -> Ended {
    if (!inside(from, 4, "ncclReduce")) return {0, cudaErrorIllegalAddress};
    if (rank > 0) return {scenario().null};
    if (!inside(to, 4, "ncclReduce")) return {0, cudaErrorIllegalAddress};
    if (type == ncclInt) add_up<int>(ranks->sent, to);
    if (type == ncclFloat) add_up<float>(ranks->sent, to);
    if (type == ncclDouble) add_up<double>(ranks->sent, to);
    return {running.factor * scenario().nccl};
  };
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

// Of the ranks of this process alone: nothing stands in for those of others.
ncclResult_t ncclGetUniqueId(ncclUniqueId*) { return ncclSuccess; }

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int count, ncclUniqueId,
                              int rank) {
  static std::vector<std::shared_ptr<Ranks>> all;  // kept, as above
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return ncclSystemError;
  if (rank == 0) {
    all.push_back(std::make_shared<Ranks>());
    all.back()->sent.resize(static_cast<std::size_t>(count));
  }
  *communicator = new ncclComm{all.back(), rank};
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclReduce(const void* from, void* to, size_t, ncclDataType_t type,
                        ncclRedOp_t, int, ncclComm_t communicator,
                        cudaStream_t stream) {
  using namespace stand_in;
  void* arguments[] = {&communicator, &from, &to, &type};
  const cudaError_t error =
      queue_kernel({&kReduction, "ncclReduce", dim3(1), dim3(32), arguments,
                    current_gpu(), LaunchKind::kTraditional},
                   stream);
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
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
  using namespace stand_in;
  if (group.empty()) return ncclSuccess;
  if (failure_of("ncclGroupEnd", __builtin_return_address(0)) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  const std::vector<Message>* messages = &group;
  void* arguments[] = {&group_communicator, &messages};
  const cudaError_t error =
      queue_kernel({&kExchange, "ncclSendRecv", dim3(1), dim3(32), arguments,
                    current_gpu(), LaunchKind::kTraditional},
                   group_stream);
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

const char* ncclGetErrorString(ncclResult_t) { return "pretended error"; }

}  // extern "C"
