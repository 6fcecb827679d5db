// The GPUs that meet, of one process or of several that mpirun or srun has
// started: how processes exchange what they know, what ends all of them when
// one fails, is killed, falls silent or waits without end, and what the threads
// of all GPUs do together.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <typeindex>
#include <vector>

#include "common/check.hpp"
#include "common/child_processes.hpp"
#include "common/gpu_threads.hpp"
#include "common/time_limit.hpp"

namespace syncbench::libraries {

// MPI, as one thread alone may call it. no_mpi.cpp has the same for builds
// without it, in which there is one process.
namespace mpi {

/// Where this process is among those that mpirun or srun started.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the processes of its node
  int node = 0;        ///< number of its node
  int nodes = 1;
};

/// MPI's name and version; empty where it is not in this build.
std::string version();

/// Joins the other processes that mpirun or srun has started. Without it MPI is
/// not called at all, and this process is alone.
World start(int* argc, char*** argv);

/// Returns when all processes have called it: MPI_Barrier.
void barrier();

/// Gives all processes the bytes of process 0.
void broadcast(void* data, std::size_t bytes);

/// The text of each process.
std::vector<std::string> gather(const std::string& text);

/// What a process sends to another, and what it receives from it: as many
/// bytes.
struct Message {
  int other;
  const void* sent;
  void* received;
  std::size_t bytes;
};

/// Sends and receives all of these, at the same time.
void exchange(const std::vector<Message>& messages);

/// To be called last, by all processes.
void end();

}  // namespace mpi

/// Ends this process where it lives longer than so many seconds; process 0 says
/// why. Until all processes have met there is no Watch, and MPI waits for one
/// that never comes.
TimeLimit limit_start(const std::string& program, int seconds);

/// A thread in each process. Process 0 has a connection to each other one, over
/// which both say once a second that they are there. The kernel closes it when
/// a process ends. A wait inside a library's kernel has no limit, so this is
/// what ends it: the process goes, and the driver ends its kernels.
class Watch {
 public:
  static constexpr int kSilentSeconds = 7;  ///< of a process that is given up

  /// To be called by all processes at the same time. `program`: as messages
  /// begin. `limit`: seconds after which a process that does not go on ends
  /// all.
  Watch(const mpi::World& world, std::string program, int limit);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// This process goes on. Cheap.
  void progress() { ++steps_; }

  /// What is being measured from here on, for messages.
  void show(const std::string& point);

  /// Ends all processes with this exit code; process 0 says why, once, whoever
  /// fails first.
  [[noreturn]] void fail(const std::string& why, int code);

  /// The same of what is being measured, for a failure that others may wait
  /// for. Any thread may call it.
  [[noreturn]] void fail_here(const std::string& why);

  /// The run has ended well: from here on processes may leave.
  void finish();

 private:
  // Another process, or somebody who has connected and is not known yet.
  struct Peer {
    explicit Peer(int socket) : lines(std::make_unique<LinePipe>(socket)) {}
    std::size_t take();
    bool greets(const std::string& token);

    std::unique_ptr<LinePipe> lines;
    std::vector<std::string> said{};  // lines that have come
    std::size_t unread = 0;           // bytes of no line
    int rank = 0;
    int pid = 0;
    int silent = 0;  // seconds
    bool greeted = false;
    bool done = false;  // has ended well
  };

  std::string at_point(const std::string& why);
  void connect_all();
  void accept_others(int listener, const std::string& token);
  bool hear(Peer& caller, const std::string& token);
  bool connect_to(const std::string& to, int port, const std::string& token);
  void run();
  void each_second();
  void obey(Peer& peer);
  void lost(const Peer& peer, const std::string& how);
  void send(const Peer& peer, const std::string& message);
  [[noreturn]] void end_all(const std::string& why, int code);

  const mpi::World world_;
  const std::string program_;
  const int limit_;
  std::vector<Peer> peers_;
  std::mutex sending_, showing_;
  std::once_flag ending_;
  std::string point_;
  std::atomic<unsigned> steps_ = 0;
  std::atomic<bool> finished_ = false;
  int stop_[2] = {-1, -1};  // a pipe: the thread ends when it is closed
  unsigned seen_ = 0;
  int stuck_ = 0;
  std::thread thread_;
};

/// The GPUs that meet: those of this process and of all others.
class Team {
 public:
  /// `gpus`: of this process; equally many in each.
  Team(const mpi::World& world, Watch& watch, const std::vector<Gpu>& gpus)
      : gpus_(gpus), world_(world), watch_(watch), threads_(gpus) {}

  const std::vector<Gpu>& gpus() const { return gpus_; }
  int processes() const { return world_.size; }
  int nodes() const { return world_.nodes; }
  int rank() const { return world_.rank; }
  int total() const { return world_.size * local(); }
  /// Number of the first of this process among all.
  int first() const { return world_.rank * local(); }
  int local() const { return static_cast<int>(gpus_.size()); }

  /// Runs body(i) -> CallResult in the thread of each GPU of this process, all
  /// starting together, those of the other processes too. Returns the
  /// nanoseconds of the first one's. Where a call fails, all processes end at
  /// once, with what `explain` adds: kernels of other GPUs may wait for this
  /// one's for ever.
  template <class Body>
  double run(Body body,
             const std::function<std::optional<std::string>()>& explain = {}) {
    watch_.progress();
    barrier();
    return threads_.run([&](int i) {
      const CallResult result = body(i);
      if (result.code == cudaSuccess) return result;
      const std::string gpu = " on GPU " + std::to_string(gpus_[i].index);
      const CudaError error(result.code, (result.call + gpu).c_str(), __FILE__,
                            __LINE__);
      const auto why = explain ? explain() : std::nullopt;
      fail((why ? *why + "\n" : "") + error.what());
    });
  }

  /// In the body of run(), where nothing has failed: returns when the threads
  /// of all GPUs have called it, those of the other processes too.
  void meet() {
#pragma omp barrier
    barrier();
  }

  /// Returns when all processes have called it.
  void barrier() {
    end_all_if_it_fails([] { mpi::barrier(); });
  }

  /// Calls MPI where no exception can leave: in the body of run(), or in a
  /// destructor.
  template <class Call>
  void end_all_if_it_fails(Call call) {
    try {
      call();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  /// This process goes on, and is now at `point`, for messages.
  void show(const std::string& point) { watch_.show(point); }

  /// Ends all processes at once, for the same reason.
  [[noreturn]] void fail(const std::string& why) { watch_.fail_here(why); }

  /// A T(team), which is made at the first call, by all processes at the same
  /// time, and lives as long as the team: for what takes long to make.
  template <class T>
  T& kept() {
    std::shared_ptr<void>& one = kept_[typeid(T)];
    if (one == nullptr) one = std::make_shared<T>(*this);
    return *static_cast<T*>(one.get());
  }

 private:
  std::vector<Gpu> gpus_;
  mpi::World world_;
  Watch& watch_;
  GpuThreads threads_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
};

/// Waits for a stream, unless its work could not be enqueued.
inline void wait_for(cudaStream_t stream, CallResult& result) {
  if (result.code != cudaSuccess) return;
  result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace syncbench::libraries
