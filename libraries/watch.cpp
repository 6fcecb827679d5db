#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/program.hpp"
#include "libraries/team.hpp"

namespace syncbench::libraries {
namespace {

// A message is a line that begins with one of these: I am here; I am done; I
// have failed (an exit code and a text follow); end (an exit code follows).
constexpr char kHere[] = "here", kDone[] = "done", kFailed[] = "failed ",
               kEnd[] = "end ";
constexpr double kMeetSeconds = 20;
constexpr int kSecondsToEnd = 5;  // after a message to process 0

// The first message of both sides.
std::string greeting(const std::string& token, int rank) {
  return token + ' ' + std::to_string(rank) + ' ' + std::to_string(getpid());
}

// Not std::chrono's clock: simulated programs have another in its place.
double now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void cannot(const std::string& what) {
  throw std::runtime_error("the processes of this run: cannot " + what + ": " +
                           std::strerror(errno));
}

// Whether one of them has something to read before `end`.
bool wait_for(std::vector<pollfd>& sockets, double end) {
  for (;;) {
    const int left = static_cast<int>((end - now()) * 1e3);
    const int count = poll(sockets.data(), sockets.size(), std::max(left, 0));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

// The addresses of this node, for other nodes; on one node its own.
std::string addresses_of_this_node(bool one_node) {
  if (one_node) return "127.0.0.1";
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) cannot("list the addresses of this node");
  std::string others, own;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    const bool loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    (loopback ? own : others).append(" ").append(text);
  }
  freeifaddrs(list);
  return others + own;
}

// Where process 0 listens. `meeting`: how it is reached, a token that strangers
// do not know, a port and addresses.
int listen_at(const mpi::World& world, std::string& meeting) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr =
      htonl(world.nodes == 1 ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || bind(listener, any, length) != 0 ||
      listen(listener, world.size) != 0 ||
      getsockname(listener, any, &length) != 0) {
    cannot("listen");
  }
  std::uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) < 0) cannot("draw");
  meeting = std::to_string(token) + ' ' +
            std::to_string(ntohs(address.sin_port)) + ' ' +
            addresses_of_this_node(world.nodes == 1);
  return listener;
}

}  // namespace

TimeLimit limit_start(const std::string& program, int seconds) {
  // The launcher may end the others when process 0 ends.
  if (launched_number() > 0) return {"", seconds + kSecondsToEnd};
  return {error_line(program, "not all processes have started within " +
                                  std::to_string(seconds) + " s"),
          seconds};
}

Watch::Watch(const mpi::World& world, std::string program, int limit)
    : world_(world), program_(std::move(program)), limit_(limit) {
  if (pipe2(stop_, O_CLOEXEC) != 0) cannot("make a pipe");
  if (world_.size > 1) connect_all();
  // Signals are for the thread that measures.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watch::~Watch() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
}

void Watch::connect_all() {
  std::string told, token, port;
  const int listener = world_.rank == 0 ? listen_at(world_, told) : -1;
  char bytes[1024] = {};
  told.copy(bytes, sizeof bytes - 1);
  mpi::broadcast(bytes, sizeof bytes);
  std::istringstream meeting(bytes);
  meeting >> token >> port;
  if (world_.rank == 0) {
    accept_others(listener, token);
    close(listener);
    return;
  }
  const std::vector<std::string> addresses(
      std::istream_iterator<std::string>(meeting), {});
  for (const double end = now() + kMeetSeconds; now() < end;) {
    for (const std::string& address : addresses) {
      if (connect_to(address, std::stoi(port), token)) return;
    }
    usleep(100'000);
  }
  std::string all = "reach process 0 at";
  for (const std::string& address : addresses) all += ' ' + address;
  errno = ETIMEDOUT;
  cannot(all);
}

// Whoever connects may be silent or a stranger: nobody waits for him.
void Watch::accept_others(int listener, const std::string& token) {
  std::vector<Peer> callers;
  const double end = now() + kMeetSeconds;
  while (static_cast<int>(peers_.size()) < world_.size - 1) {
    std::vector<pollfd> sockets = {{listener, POLLIN, 0}};
    for (const Peer& caller : callers) {
      sockets.push_back({caller.lines->read_end(), POLLIN, 0});
    }
    if (!wait_for(sockets, end)) {
      errno = ETIMEDOUT;
      cannot("meet all others");
    }
    for (std::size_t i = callers.size(); i-- > 0;) {
      if (sockets[i + 1].revents == 0 || hear(callers[i], token)) continue;
      callers.erase(callers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const int from = sockets[0].revents == 0
                         ? -1
                         : accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (from >= 0) callers.emplace_back(from);
  }
}

// Takes what a caller says: a greeting, and kHere where it has got the answer,
// so that no connection counts that it has given up. False: it is a peer, or
// gone.
bool Watch::hear(Peer& caller, const std::string& token) {
  constexpr std::size_t kMost = 100;  // bytes, of a greeting
  const std::size_t bytes = caller.take();
  if (caller.lines->read_end() < 0) return false;
  if (caller.said.empty()) return (caller.unread += bytes) <= kMost;
  if (!caller.greeted) {
    if (!caller.greets(token)) return false;
    send(caller, greeting(token, 0));
  }
  if (caller.said.empty()) return true;
  peers_.push_back(std::move(caller));
  return false;
}

bool Watch::connect_to(const std::string& to, int port,
                       const std::string& token) {
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one < 0) cannot("make a socket");
  Peer first(one);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, to.c_str(), &address.sin_addr);
  const timeval limit = {3, 0};  // connect() obeys it
  setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (connect(one, any, sizeof address) != 0) return false;
  send(first, greeting(token, world_.rank));
  std::vector<pollfd> sockets = {{one, POLLIN, 0}};
  const double end = now() + 3;
  while (first.said.empty() && first.lines->read_end() >= 0 &&
         wait_for(sockets, end)) {
    first.take();
  }
  if (first.said.empty() || !first.greets(token)) return false;
  send(first, kHere);
  peers_.push_back(std::move(first));
  return true;
}

std::size_t Watch::Peer::take() {
  return lines->take([this](const std::string& line) { said.push_back(line); });
}

// Its first line says who it is.
bool Watch::Peer::greets(const std::string& token) {
  std::istringstream words(said.front());
  said.erase(said.begin());
  std::string given;
  greeted = words >> given >> rank >> pid && given == token;
  return greeted;
}

void Watch::show(const std::string& point) {
  const std::lock_guard<std::mutex> guard(showing_);
  point_ = point;
  progress();
}

void Watch::fail(const std::string& why, int code) {
  if (world_.rank == 0) end_all(why, code);
  send(peers_[0], kFailed + std::to_string(code) + ' ' + why);
  // Process 0 ends this one before. mpirun, which sees that end, sends SIGTERM.
  for (unsigned left = kSecondsToEnd; left > 0;) left = sleep(left);
  std::fprintf(stderr, "%s\n", why.c_str());
  _exit(code);
}

void Watch::fail_here(const std::string& why) { fail(at_point(why), 1); }

std::string Watch::at_point(const std::string& why) {
  const std::lock_guard<std::mutex> guard(showing_);
  return error_line(program_, (point_.empty() ? "" : point_ + ": ") + why);
}

void Watch::finish() {
  finished_ = true;
  for (const Peer& peer : peers_) send(peer, kDone);
}

void Watch::run() {
  double beat = now();
  for (;;) {
    std::vector<pollfd> sockets;
    for (Peer& peer : peers_) {
      obey(peer);
      sockets.push_back({peer.done ? -1 : peer.lines->read_end(), POLLIN, 0});
    }
    sockets.push_back({stop_[0], POLLIN, 0});
    poll(sockets.data(), sockets.size(), 1000);
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      if (sockets[i].revents == 0) continue;
      if (peer.take() > 0) peer.silent = 0;
      if (peer.lines->read_end() < 0) lost(peer, "has ended without a word");
    }
    if (sockets.back().revents != 0) return;
    if (now() - beat < 0.9) continue;
    beat = now();
    each_second();
  }
}

void Watch::each_second() {
  for (Peer& peer : peers_) {
    if (peer.done) continue;
    send(peer, kHere);
    if (++peer.silent > kSilentSeconds) {
      lost(peer,
           "has been silent for " + std::to_string(kSilentSeconds) + " s");
    }
  }
  const unsigned steps = steps_;
  stuck_ = steps == seen_ ? stuck_ + 1 : 0;
  seen_ = steps;
  if (stuck_ < limit_ || finished_) return;
  const std::string why =
      at_point("nothing has ended for " + std::to_string(limit_) +
               " s, so a wait has no end");
  // Where process 0 does not end this one, this one says it.
  if (world_.rank == 0) end_all(why, 1);
  if (stuck_ == limit_) send(peers_[0], kFailed + ("1 " + why));
  if (stuck_ < limit_ + kSecondsToEnd) return;
  std::fprintf(stderr, "%s\n", why.c_str());
  _exit(1);
}

// What it has said.
void Watch::obey(Peer& peer) {
  for (const std::string& line : std::exchange(peer.said, {})) {
    std::istringstream words(line);
    std::string word, why;
    int code = 0;
    words >> word >> code;
    std::getline(words.ignore(), why);
    word += ' ';
    if (line == kDone) peer.done = true;
    if (word == kEnd) _exit(code);
    if (word == kFailed) end_all(why, code);
  }
}

// Process 0 says so; where that is the one, process 1.
void Watch::lost(const Peer& peer, const std::string& how) {
  if (finished_) return;
  const std::string why =
      error_line(program_, "process " + std::to_string(peer.rank) + " (PID " +
                               std::to_string(peer.pid) + ") " + how);
  if (world_.rank == 0) end_all(why, 1);
  // If it wakes, it is to say nothing of the others that have ended.
  send(peer, kEnd + std::to_string(kExitFailed));
  if (world_.rank == 1) std::fprintf(stderr, "%s\n", why.c_str());
  _exit(1);
}

// A peer that cannot be told has ended, which is seen when reading.
void Watch::send(const Peer& peer, const std::string& message) {
  const std::string line = message + '\n';
  const std::lock_guard<std::mutex> guard(sending_);
  [[maybe_unused]] const ssize_t count =
      ::send(peer.lines->read_end(), line.data(), line.size(), MSG_NOSIGNAL);
}

void Watch::end_all(const std::string& why, int code) {
  std::call_once(ending_, [&] {
    Progress().clear();
    std::fprintf(stderr, "%s\n", why.c_str());
    for (const Peer& peer : peers_) send(peer, kEnd + std::to_string(code));
    _exit(code);
  });
  for (;;) pause();  // another thread ends this process
}

}  // namespace syncbench::libraries
