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
#include <sstream>
#include <stdexcept>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/program.hpp"
#include "libraries/team.hpp"

namespace syncbench::libraries {
namespace {

// A message is a letter: I am here, I am done. With a length and a text behind
// it: I have failed, end.
constexpr char kHere = 'h', kDone = 'd', kFailed = 'f', kEnd = 'e';
constexpr double kMeetSeconds = 20;
constexpr int kSecondsToEnd = 5;  // after a message to process 0

// The first message of both sides.
struct Hello {
  std::uint64_t token;
  std::int32_t rank, pid;
};

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

bool receive_whole(int socket, void* data, std::size_t bytes) {
  auto* to = static_cast<char*>(data);
  std::vector<pollfd> one = {{socket, POLLIN, 0}};
  const double end = now() + 3;
  while (bytes > 0) {
    if (!wait_for(one, end)) return false;
    const ssize_t count = recv(socket, to, bytes, 0);
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
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

// Where process 0 can be reached, which listens there.
int listen_at(Watch::Meeting& meeting, const mpi::World& world) {
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
  meeting.port = ntohs(address.sin_port);
  if (getrandom(&meeting.token, sizeof meeting.token, 0) < 0) cannot("draw");
  const std::string text = addresses_of_this_node(world.nodes == 1);
  text.copy(meeting.addresses, sizeof meeting.addresses - 1);
  return listener;
}

std::string with_length(char letter, int code, const std::string& text) {
  const auto length =
      static_cast<std::uint16_t>(std::min<std::size_t>(text.size(), 4000));
  std::string message = {letter, static_cast<char>(code)};
  message.append(reinterpret_cast<const char*>(&length), sizeof length);
  return message + text.substr(0, length);
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
  for (const Peer& peer : peers_) close(peer.socket);
}

void Watch::connect_all() {
  Meeting meeting = {};
  int listener = -1;
  if (world_.rank == 0) listener = listen_at(meeting, world_);
  mpi::broadcast(&meeting, sizeof meeting);
  if (world_.rank == 0) {
    accept_others(listener, meeting);
    close(listener);
    return;
  }
  const double end = now() + kMeetSeconds;
  do {
    std::istringstream words(meeting.addresses);
    for (std::string word; peers_.empty() && words >> word;) {
      connect_to(word, meeting);
    }
    if (!peers_.empty()) return;
    usleep(100'000);
  } while (now() < end);
  errno = ETIMEDOUT;
  cannot(std::string("reach process 0 at ") + meeting.addresses);
}

// Whoever connects may be silent or a stranger: nobody waits for him.
void Watch::accept_others(int listener, const Meeting& meeting) {
  std::vector<Caller> callers;
  const double end = now() + kMeetSeconds;
  while (static_cast<int>(peers_.size()) < world_.size - 1) {
    std::vector<pollfd> sockets = {{listener, POLLIN, 0}};
    for (const Caller& caller : callers) {
      sockets.push_back({caller.socket, POLLIN, 0});
    }
    if (!wait_for(sockets, end)) {
      errno = ETIMEDOUT;
      cannot("meet all others");
    }
    for (std::size_t i = callers.size(); i-- > 0;) {
      if (sockets[i + 1].revents == 0 || hear(callers[i], meeting)) continue;
      callers.erase(callers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const int from = sockets[0].revents == 0
                         ? -1
                         : accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (from >= 0) callers.push_back({from});
  }
  for (const Caller& caller : callers) close(caller.socket);
}

// Takes what a caller says: a Hello, and kHere where it has got the answer, so
// that no connection counts that it has given up. False: it is a peer, or gone.
bool Watch::hear(Caller& caller, const Meeting& meeting) {
  char bytes[sizeof(Hello) + 1];
  const ssize_t count =
      recv(caller.socket, bytes, sizeof bytes - caller.said.size(), 0);
  if (count > 0) caller.said.append(bytes, static_cast<std::size_t>(count));
  Hello hello = {};
  caller.said.copy(reinterpret_cast<char*>(&hello), sizeof hello);
  const std::size_t said = caller.said.size();
  if (count <= 0 || (said >= sizeof hello && hello.token != meeting.token)) {
    close(caller.socket);
    return false;
  }
  const Peer peer = {caller.socket, hello.rank, hello.pid};
  if (said >= sizeof hello && !caller.answered) {
    const Hello mine = {meeting.token, 0, getpid()};
    send(peer, {reinterpret_cast<const char*>(&mine), sizeof mine});
    caller.answered = true;
  }
  if (said > sizeof hello) peers_.push_back(peer);
  return said <= sizeof hello;
}

void Watch::connect_to(const std::string& word, const Meeting& meeting) {
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (to < 0) cannot("make a socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(meeting.port);
  inet_pton(AF_INET, word.c_str(), &address.sin_addr);
  const timeval limit = {3, 0};  // connect() obeys it
  setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const Hello mine = {meeting.token, world_.rank, getpid()};
  Hello first = {};
  if (connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(to, &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine &&
      receive_whole(to, &first, sizeof first) && first.token == meeting.token &&
      ::send(to, &kHere, 1, MSG_NOSIGNAL) == 1) {
    peers_.push_back({to, 0, first.pid});
  } else {
    close(to);
  }
}

void Watch::show(const std::string& point) {
  const std::lock_guard<std::mutex> guard(showing_);
  point_ = point;
  progress();
}

void Watch::fail(const std::string& why, int code) {
  if (world_.rank == 0) end_all(why, code);
  send(peers_[0], with_length(kFailed, code, why));
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
  for (const Peer& peer : peers_) send(peer, {kDone});
}

void Watch::run() {
  double beat = now();
  for (;;) {
    std::vector<pollfd> sockets;
    for (const Peer& peer : peers_) {
      sockets.push_back({peer.done ? -1 : peer.socket, POLLIN, 0});
    }
    sockets.push_back({stop_[0], POLLIN, 0});
    poll(sockets.data(), sockets.size(), 1000);
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (sockets[i].revents != 0) read(peers_[i]);
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
    send(peer, {kHere});
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
  if (stuck_ == limit_) send(peers_[0], with_length(kFailed, 1, why));
  if (stuck_ < limit_ + kSecondsToEnd) return;
  std::fprintf(stderr, "%s\n", why.c_str());
  _exit(1);
}

void Watch::read(Peer& peer) {
  char bytes[4096];
  const ssize_t count = recv(peer.socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return lost(peer, "has ended without a word");
  peer.silent = 0;
  peer.text.append(bytes, static_cast<std::size_t>(count));
  take(peer);
}

void Watch::take(Peer& peer) {
  while (!peer.text.empty()) {
    const char letter = peer.text[0];
    if (letter == kHere || letter == kDone) {
      peer.done |= letter == kDone;
      peer.text.erase(0, 1);
      continue;
    }
    std::uint16_t length = 0;
    constexpr std::size_t kHead = 2 + sizeof length;
    if (peer.text.size() < kHead) return;
    std::memcpy(&length, peer.text.data() + 2, sizeof length);
    if (peer.text.size() < kHead + length) return;
    const int code = static_cast<unsigned char>(peer.text[1]);
    if (letter == kEnd) _exit(code);
    end_all(peer.text.substr(kHead, length), code);
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
  send(peer, with_length(kEnd, 1, ""));
  if (world_.rank == 1) std::fprintf(stderr, "%s\n", why.c_str());
  _exit(1);
}

// A peer that cannot be told has ended, which is seen when reading.
void Watch::send(const Peer& peer, const std::string& message) {
  const std::lock_guard<std::mutex> guard(sending_);
  [[maybe_unused]] const ssize_t count =
      ::send(peer.socket, message.data(), message.size(), MSG_NOSIGNAL);
}

void Watch::end_all(const std::string& why, int code) {
  std::call_once(ending_, [&] {
    Progress().clear();
    std::fprintf(stderr, "%s\n", why.c_str());
    for (const Peer& peer : peers_) send(peer, with_length(kEnd, code, ""));
    _exit(code);
  });
  for (;;) pause();  // another thread ends this process
}

}  // namespace syncbench::libraries
