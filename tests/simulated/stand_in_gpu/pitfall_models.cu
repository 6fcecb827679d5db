// Kernels of Pitfalls. What becomes of a barrier follows from the name of its
// group, the shape of its launch and the board, and is what H200s have shown
// (results/h200x2).
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "peer_grid_barrier/barrier.cuh"
#include "pitfalls/child.cuh"
#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

using peer_grid::BarrierEnd;
using peer_grid::Reason;
using syncbench::pitfalls::Form;

// As in partial_groups.cu.
struct Board {
  unsigned *arrived, *passed, *early, members;
  Form form;
};
struct Here {
  int gpu, gpus;
};
constexpr int kLate = 100000;

constexpr Ended kWaits = {0, cudaSuccess, true};

bool planted(const std::string& part, const Launch& launch) {
  return !part.empty() && launch.is(part.c_str());
}

template <class T>
void need(const T* first, std::size_t count) {
  stand_in::need(first, count, "a kernel of Pitfalls");
}

double nanoseconds(const Running& running, double cycles) {
  return scenario().null + running.factor * cycles / running.ghz();
}

// A GPU that is sick stays so for all processes.
void fall_sick(const Launch& launch) {
  if (planted(scenario().sick, launch)) std::ofstream(scenario().sick_file);
}
bool is_sick() {
  const std::string& file = scenario().sick_file;
  return !file.empty() && access(file.c_str(), F_OK) == 0;
}

Model look(const Launch& launch) {
  auto* answer = launch.argument<unsigned*>(0);
  return {[=](const Running& running) -> Ended {
    if (is_sick()) return {0, cudaErrorUnknown};
    need(answer, 1);
    *answer += 42;
    return {nanoseconds(running, 0)};
  }};
}

// As in child.cu.
constexpr double kWatchdogLimit = 2. * syncbench::pitfalls::kLongestSpin;

// The watchdogs that run, by the word that ends them.
std::set<const int*> watchdogs;

Model watch(const Launch& launch) {
  const auto* over = launch.argument<const int*>(0);
  return {[=](const Running& running) -> Ended {
    need(over, 1);
    if (*over == 0) {
      watchdogs.insert(over);
      return running.waited_for ? Ended{kWatchdogLimit, cudaErrorLaunchFailure}
                                : kWaits;
    }
    watchdogs.erase(over);
    return {std::max(0., running.host_now - running.start)};
  }};
}

// A kernel that hangs does so in real time, for a parent to see. A watchdog
// beside it ends it.
Ended hang() {
  while (watchdogs.empty()) pause();
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::nano>(kWatchdogLimit));
  return {kWatchdogLimit, cudaErrorLaunchFailure};
}

enum class Fate { kHolds, kLetsPass, kHangs, kGivesUp };

// Whether threads that have ended are not waited for: the hardware knows of
// them in a warp, a block and a cluster, but neither a number of threads that a
// barrier was told nor a counter in memory does.
bool forgets_the_dead(const Launch& launch) {
  return launch.threads() == 32 || launch.is("::BlockSync") ||
         launch.is("::ClusterSync");
}

Fate fate_of(const Launch& launch, Form form) {
  if (planted(scenario().holds, launch)) return Fate::kHolds;
  if (planted(scenario().lets_pass, launch) || launch.is("::NoSync>")) {
    return Fate::kLetsPass;
  }
  const double places = resident_blocks(launch.threads()) * scenario().sms;
  if (launch.blocks() > places) return Fate::kHangs;
  if (form != Form::kExits && form != Form::kStays) return Fate::kHolds;
  if (launch.is("peer_grid::BasicBarrier<")) return Fate::kGivesUp;
  return form == Form::kExits && forgets_the_dead(launch) ? Fate::kHolds
                                                          : Fate::kHangs;
}

// All that come do, on this GPU, and pass.
Ended come_and_pass(const Board& board, const Here& here, bool too_early,
                    const Running& running) {
  need(board.arrived, 1);
  need(board.passed, 1);
  need(board.early, 2);
  const unsigned come = board.members / here.gpus;
  *board.arrived += come;
  *board.passed += come;
  if (too_early) *board.early += come - 1;  // all but the late one
  return {nanoseconds(running, kLate)};
}

// The suite's barrier ends its kernel and says whom it has waited for.
Ended give_up(const BarrierEnd& end, Reason reason, int whom) {
  need(end.machine.failure, 1);
  *end.machine.failure = static_cast<peer_grid::Failure>(reason) << 60 |
                         static_cast<peer_grid::Failure>(whom) << 32 | 1;
  return {1. * end.machine.wait_limit * end.machine.kTick,
          cudaErrorLaunchFailure};
}

// Why it gives up where a part is missing; nothing on a GPU that is missing.
Ended give_up_on_part(const BarrierEnd& end, bool gpus_are_missing,
                      const Running& running) {
  const int first_missing = end.end.gpus / 2;
  if (!gpus_are_missing) return give_up(end, Reason::kOwnBlocks, 0);
  if (end.end.rank < first_missing) {
    return give_up(end, Reason::kOtherGpu, first_missing);
  }
  return {nanoseconds(running, 0)};
}

Model part_synchronizes(const Launch& launch) {
  const auto board = launch.argument<Board>(0);
  const auto here = launch.argument<Here>(1);
  const Fate fate = fate_of(launch, board.form);
  const bool over_peers = launch.is("peer_grid::BasicBarrier<");
  const bool gpus_are_missing = launch.is("::HalfOfGpus");
  const BarrierEnd end =
      over_peers ? launch.argument<BarrierEnd>(2) : BarrierEnd{};
  unsigned* count =
      launch.is("::SpinBarrier>") ? launch.argument<unsigned*>(2) : nullptr;
  const unsigned blocks = launch.blocks();
  Model model;
  model.run = [=](const Running& running) -> Ended {
    if (fate == Fate::kHangs || fate == Fate::kGivesUp) {
      if (!running.waited_for) return kWaits;
      return fate == Fate::kHangs
                 ? hang()
                 : give_up_on_part(end, gpus_are_missing, running);
    }
    if (count != nullptr) {
      need(count, 1);
      *count += blocks;
    }
    return come_and_pass(board, here, fate == Fate::kLetsPass, running);
  };
  if (over_peers && fate == Fate::kHolds) {
    model.meeting = end.end.of_rank[0];
    model.members = end.end.gpus;
    model.rank = end.end.rank;
    model.abandoned = [=](const Running&) {
      return give_up(end, Reason::kOtherGpu, end.end.rank == 0 ? 1 : 0);
    };
  }
  return model;
}

// As in warp_barrier.cu.
struct Seen {
  long long start, end;
  unsigned value;
};

// What a lane gets.
unsigned value_of(const Launch& launch, unsigned lane) {
  if (launch.is("Shuffle>")) return (lane + 1) % 32;
  if (launch.is("::Vote>")) return 0xaaaaaaaa;
  if (launch.is("::Match>")) return 0xfu << lane / 4 * 4;
  if (launch.is("::Redux>")) return 31 * 32 / 2;
  return lane;
}

// Lanes come one after the other, and go so where they are held.
Model each_in_its_branch(const Launch& launch) {
  constexpr unsigned kLanes = 32, kApart = 100;
  auto* seen = launch.argument<Seen*>(0);
  const bool holds = fate_of(launch, Form::kEachInBranch) == Fate::kHolds;
  std::array<unsigned, kLanes> values;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    values[lane] = value_of(launch, lane);
  }
  if (planted(scenario().right_is_wrong, launch)) values[0] ^= 1;
  return {[=](const Running& running) -> Ended {
    need(seen, kLanes);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const long long start = running.cycles() + lane * kApart;
      seen[lane] = {start, start + (holds ? kLanes * kApart : 2), values[lane]};
    }
    return {nanoseconds(running, 2 * kLanes * kApart)};
  }};
}

// Whether a try is wrong: without its barrier or fence as many as planted,
// evenly spread, and none with it, or the first where that is planted.
using IsWrong = std::function<bool(unsigned number)>;
IsWrong errors_of(const Launch& launch, bool right) {
  if (right) {
    const bool wrong = planted(scenario().right_is_wrong, launch);
    return [=](unsigned number) { return wrong && number == 0; };
  }
  return [rate = scenario().race_rate](unsigned number) {
    return std::floor((number + 1) * rate) > std::floor(number * rate);
  };
}

Model try_race(const Launch& launch) {
  auto* wrong = launch.argument<unsigned*>(0);
  const unsigned blocks = launch.blocks();
  const IsWrong is_wrong = errors_of(launch, launch.is(", true>"));
  return {[=](const Running& running) -> Ended {
    need(wrong, blocks);
    for (unsigned block = 0; block < blocks; ++block) {
      if (is_wrong(block)) wrong[block] = 1;
    }
    return {nanoseconds(running, 20000)};
  }};
}

// As in messages.cu.
struct Mail {
  unsigned *data, *flag;
};
enum class Role { kBoth, kWriters, kReaders };
constexpr unsigned kWords = 32, kApart = 1024;

// Readers wait for the flags, in memory that both role see.
Model exchange(const Launch& launch) {
  const auto mail = launch.argument<Mail>(0);
  const auto role = launch.argument<Role>(1);
  const auto first_try = launch.argument<unsigned>(2);
  auto* wrong = launch.argument<unsigned*>(3) + first_try;
  const unsigned tries = launch.blocks() / (role == Role::kBoth ? 2 : 1);
  const IsWrong is_wrong = errors_of(launch, launch.is("exchange<true,"));
  return {[=](const Running& running) -> Ended {
    const unsigned words = tries * kWords;
    need(mail.data, (words - 1) * kApart + 1);
    need(mail.flag, (tries - 1) * kApart + 1);
    if (role != Role::kReaders) {
      for (unsigned i = 0; i < words; ++i) {
        mail.data[i * kApart] = i % kWords + 1;
      }
      for (unsigned i = 0; i < tries; ++i) mail.flag[i * kApart] = 1;
    }
    if (role == Role::kWriters) return {nanoseconds(running, 40000)};
    need(wrong, tries);
    for (unsigned i = 0; i < tries; ++i) {
      const bool came = mail.flag[i * kApart] != 0;
      if (!came && !running.waited_for) return kWaits;
      const unsigned last = (i + 1) * kWords - 1;
      const bool known = mail.data[last * kApart] == kWords;
      if (!came || !known || is_wrong(first_try + i)) wrong[i] = 1;
    }
    return {nanoseconds(running, 40000)};
  }};
}

struct Words {
  unsigned *data, *flag, *answer;
};
struct Messages {
  unsigned long long seen, stale;
};
constexpr unsigned kPairsOfBlock = 32, kPairsApart = 32;

// Whether the order of a kernel's name is enough between all who take part.
bool is_ordered(const Launch& launch) {
  const auto fence_for = [&](const std::string& scope) {
    const std::string of = "<peer_grid::global::" + scope + ">";
    return launch.is(("::Relaxed" + of).c_str()) &&
           launch.is(("::AcquireReleaseFence" + of).c_str());
  };
  return launch.is("::ReleaseAcquire<") || launch.is("::ConsistentFence<") ||
         fence_for("Gpu") || fence_for("System");
}

// Readers see of each pair as many stale messages as planted.
Model pass_messages(const Launch& launch) {
  const auto words = launch.argument<Words>(0);
  const auto role = launch.argument<Role>(1);
  const auto first = launch.argument<unsigned>(2);
  const auto count = launch.argument<unsigned>(3);
  auto* messages = launch.argument<Messages*>(4);
  const unsigned blocks = launch.blocks() / (role == Role::kBoth ? 2 : 1);
  const IsWrong is_wrong = errors_of(launch, is_ordered(launch));
  return {[=](const Running& running) -> Ended {
    const unsigned pairs = blocks * kPairsOfBlock;
    const unsigned size = (pairs - 1) * kPairsApart + 1;
    need(words.data, size);
    need(words.flag, size);
    need(words.answer, size);
    need(messages, pairs);
    const unsigned last = first + count - 1;
    unsigned& flag = words.flag[size - 1];
    if (role != Role::kReaders) flag = last;
    const Ended ended = {nanoseconds(running, 4000. * count)};
    if (role == Role::kWriters) return ended;
    if (flag != last) return kWaits;
    unsigned stale = 0;
    for (unsigned i = first - 1; i < last; ++i) stale += is_wrong(i);
    for (unsigned pair = 0; pair < pairs; ++pair) {
      messages[pair].seen += count - (scenario().bad == "results");
      messages[pair].stale += stale;
    }
    return ended;
  }};
}

std::optional<Model> model_of(const Launch& launch) {
  if (launch.is("::look(")) return look(launch);
  if (launch.is("::watch(")) return watch(launch);
  fall_sick(launch);
  if (launch.is("::part_synchronizes<")) return part_synchronizes(launch);
  if (launch.is("::each_in_its_branch<")) return each_in_its_branch(launch);
  if (launch.is("::try_race<")) return try_race(launch);
  if (launch.is("::exchange<")) return exchange(launch);
  if (launch.is("::pass_messages<")) return pass_messages(launch);
  return std::nullopt;
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in
