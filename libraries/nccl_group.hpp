// NCCL's communicators of all GPUs that meet.
#pragma once

#include <nccl.h>

#include <functional>
#include <string>
#include <vector>

#include "common/cpus.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/nccl_calls.hpp"
#include "libraries/method.hpp"

namespace syncbench::libraries {

/// For a method that is not in the NCCL of this build: says CannotMeasure.
inline LibraryPart::Open nccl_lacks(const std::string& what) {
  return [what](Team&, Lengths) -> Session {
    throw CannotMeasure("library", what + "; this build has NCCL " +
                                       std::to_string(NCCL_MAJOR) + '.' +
                                       std::to_string(NCCL_MINOR) +
                                       " and CUDA " +
                                       std::to_string(CUDART_VERSION / 1000));
  };
}

// Methods of nccl_lsa.cu.
LibraryPart::Open nccl_lsa_block();
LibraryPart::Open nccl_lsa_grid();

/// One communicator for each GPU of this process, with those of all others.
class NcclGroup {
 public:
  explicit NcclGroup(Team& team)
      : team_(team), streams_(make_streams(device_numbers(team.gpus()))) {
    ncclUniqueId id = {};
    if (team.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    mpi::broadcast(&id, sizeof id);
    communicators_.resize(team.gpus().size());
    const Unpinned unpinned;  // NCCL starts threads
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < team.local() && result == ncclSuccess; ++i) {
      const DeviceGuard guard(team.gpus()[i].index);
      result = ncclCommInitRank(&communicators_[i], team.total(), id,
                                team.first() + i);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    if (result != ncclSuccess) {
      throw CannotMeasure("nccl", std::string("NCCL cannot start: ") +
                                      ncclGetErrorString(result));
    }
  }
  NcclGroup(const NcclGroup&) = delete;
  ~NcclGroup() {
    for (const ncclComm_t communicator : communicators_) {
      keep_nccl_failure(ncclCommDestroy(communicator), "ncclCommDestroy");
    }
  }

  Team& team() { return team_; }
  ncclComm_t communicator(int i) const { return communicators_[i]; }
  cudaStream_t stream(int i) const { return streams_[i].get(); }

  /// Runs body(i, result of the CUDA calls) -> ncclResult_t in the thread of
  /// each GPU, as Team::run(), and waits for its stream; `meets`: and for those
  /// of all others.
  double run(const char* call,
             const std::function<ncclResult_t(int, CallResult&)>& body,
             bool meets = false) {
    return team_.run([&](int i) {
      CallResult result;
      const ncclResult_t called = body(i, result);
      if (called != ncclSuccess) team_.fail(nccl_failure(called, call));
      wait_for(stream(i), result);
      if (meets && result.code == cudaSuccess) team_.meet();
      return result;
    });
  }

 private:
  Team& team_;
  std::vector<Stream> streams_;
  std::vector<ncclComm_t> communicators_;
};

}  // namespace syncbench::libraries
