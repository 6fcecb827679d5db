// Ends all processes of a run when one of them fails, is killed, falls silent
// or waits without end. Host code only; nothing here touches CUDA.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/time_limit.hpp"
#include "libraries/mpi_calls.hpp"

namespace syncbench::libraries {

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

  /// Where the others find process 0.
  struct Meeting {
    std::uint64_t token;
    std::uint16_t port;
    char addresses[1000];  ///< with blanks between them
  };

 private:
  struct Peer {
    int socket = -1;
    int rank = 0;
    int pid = 0;
    int silent = 0;      // seconds
    bool done = false;   // has ended well
    std::string text{};  // that has come and is not a whole message
  };

  // Somebody who has connected and is not known yet.
  struct Caller {
    int socket = -1;
    bool answered = false;
    std::string said{};
  };

  std::string at_point(const std::string& why);
  void connect_all();
  void accept_others(int listener, const Meeting& meeting);
  bool hear(Caller& caller, const Meeting& meeting);
  void connect_to(const std::string& address, const Meeting& meeting);
  void run();
  void each_second();
  void read(Peer& peer);
  void take(Peer& peer);
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

}  // namespace syncbench::libraries
