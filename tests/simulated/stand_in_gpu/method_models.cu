#include <algorithm>
#include <cmath>

#include "explicit_barrier/grid_barriers/node_protocols.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/sm_windows.hpp"
#include "explicit_barrier/timed_launch.hpp"
#include "stand_in_gpu/method_models.hpp"
#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

using syncbench::explicit_barrier::blocks_that_meet;
using syncbench::explicit_barrier::LateWarps;
using syncbench::explicit_barrier::MethodEntry;
using syncbench::explicit_barrier::Position;
using syncbench::explicit_barrier::Scope;
using syncbench::explicit_barrier::Shape;
using syncbench::explicit_barrier::SmWindow;
using syncbench::explicit_barrier::WarpRecord;

// Blocks that an SM gets, and those of them that run at once.
unsigned blocks_of_sm(unsigned blocks) {
  const auto sms = static_cast<unsigned>(scenario().sms);
  return (blocks + sms - 1) / sms;
}
unsigned blocks_at_once(unsigned blocks, unsigned threads) {
  return std::min(static_cast<unsigned>(std::max(resident_blocks(threads), 1)),
                  blocks_of_sm(blocks));
}

// A launch of timed_kernel, with what the suite knows of its method.
struct Timed {
  const MethodEntry& method;
  unsigned blocks, threads, group;
  int in_line, trips, first_timed;
  int gpus;
  WarpRecord* records;
  unsigned* results;

  unsigned warps() const { return (threads + 31) / 32; }
  Shape shape() const {
    return {static_cast<int>(blocks), static_cast<int>(threads),
            static_cast<int>(group)};
  }
  unsigned sms() const { return static_cast<unsigned>(scenario().sms); }
  unsigned resident() const { return blocks_at_once(blocks, threads); }
  unsigned per_sm() const { return blocks_of_sm(blocks); }
  Position position(unsigned block, unsigned thread) const {
    return {thread, threads, block, blocks, group};
  }
};

// Cycles that `count` operations of each warp take.
double busy(const Timed& timed, double count) {
  return count *
         cycles_of(timed.method, timed.blocks, timed.threads, timed.gpus);
}

// Cycles of `trips` rounds of the straight line.
double line_cycles(const Timed& timed, int trips) {
  const double beyond = std::max(0., timed.in_line - scenario().cached_line);
  return busy(timed, 1. * timed.in_line * trips) +
         trips * beyond * scenario().uncached_cycles;
}

void write_results(const Timed& timed, int gpu) {
  std::vector<unsigned> values = syncbench::explicit_barrier::expected_values(
      timed.method, timed.shape(), timed.in_line * timed.trips);
  if (has_wrong_results(gpu)) std::fill(values.begin(), values.end(), 4242);
  std::copy(values.begin(), values.end(), timed.results);
}

bool takes_part(const Timed& timed, unsigned block, unsigned warp) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned thread = 32 * warp + lane;
    if (thread < timed.threads &&
        timed.method.takes_part(timed.position(block, thread))) {
      return true;
    }
  }
  return false;
}

// What each warp records. At a block's barrier they may not start and end
// together: the last to start is the first to end.
void write_records(const Timed& timed, const Running& running, double before,
                   double cycles) {
  const unsigned warps = timed.warps();
  const bool meet =
      timed.method.window == syncbench::explicit_barrier::Window::kBarrier &&
      timed.method.scope == Scope::kBlock;
  const double skew = scenario().skew_cycles;
  const long long took = std::llround(cycles);
  for (unsigned block = 0; block < timed.blocks; ++block) {
    const unsigned wave = block / timed.sms() / timed.resident();
    const long long last = running.cycles() +
                           std::llround(wave * (before + cycles)) +
                           std::llround(before);
    int later = 0;  // warps that start later
    for (unsigned warp = 0; warp < warps; ++warp) {
      later += takes_part(timed, block, warp);
    }
    for (unsigned warp = 0; warp < warps; ++warp) {
      WarpRecord& record = timed.records[block * warps + warp];
      record = {};
      record.sm = block % timed.sms();
      if (!takes_part(timed, block, warp)) continue;
      --later;
      const long long apart = meet ? std::llround(later * skew) : 0;
      record.start = last - apart;
      record.end = last + took + apart;
      damage(record);
    }
  }
}

Ended run_timed(const Timed& timed, const Running& running) {
  need(timed.records, std::size_t{timed.blocks} * timed.warps(), "records");
  if (timed.results != nullptr) {
    need(timed.results, std::size_t{timed.blocks} * timed.threads, "results");
    write_results(timed, running.device);
  }
  const double fixed = scenario().fixed_cycles;
  const double before = running.factor * line_cycles(timed, timed.first_timed);
  const double cycles =
      running.factor * line_cycles(timed, timed.trips - timed.first_timed) +
      fixed;
  write_records(timed, running, before, cycles);
  const double waves =
      std::ceil(static_cast<double>(timed.per_sm()) / timed.resident());
  return {scenario().null + waves * (before + cycles) / running.ghz()};
}

// Whether the arguments begin with the end of the barrier.
bool is_over_peers(const MethodEntry& method) {
  return std::string(method.name).find("peer_grid_sync") != std::string::npos;
}

// Barriers of several GPUs that programs write for themselves.
bool is_of_node(const MethodEntry& method) {
  return method.scope == Scope::kGpus && !method.multi_device &&
         !is_over_peers(method);
}

int gpus_of(const Launch& launch, const MethodEntry& method) {
  return is_over_peers(method)
             ? launch.argument<peer_grid::BarrierEnd>(6).end.gpus
         : is_of_node(method) ? launch.argument<grid_barriers::NodeEnd>(6).gpus
                              : launch.gpus;
}

Timed timed_of(const Launch& launch, const MethodEntry& method, int in_line) {
  const int gpus = gpus_of(launch, method);
  return {method,
          launch.blocks(),
          launch.threads(),
          launch.argument<unsigned>(2),
          in_line,
          launch.argument<int>(0),
          launch.argument<int>(1),
          gpus,
          launch.argument<WarpRecord*>(3),
          launch.argument<unsigned*>(4)};
}

// The model that ends as `run` says.
Model model_that(const Launch& launch, const Timed& timed,
                 std::function<Ended(const Running&)> run) {
  Model model;
  model.run = std::move(run);
  if (is_over_peers(timed.method) && timed.trips > 0) {
    meet_peers(launch.argument<peer_grid::BarrierEnd>(6), model);
  }
  if (is_of_node(timed.method) && timed.trips > 0) {
    const auto end = launch.argument<grid_barriers::NodeEnd>(6);
    model.meeting = end.host;
    model.members = static_cast<int>(end.gpus);
    model.rank = static_cast<int>(end.rank);
    model.abandoned = [](const Running&) -> Ended {
      return {1e10, cudaErrorLaunchFailure};  // as its trap
    };
  }
  return model;
}

Model timed_model(const Launch& launch, const MethodEntry& method,
                  int in_line) {
  const Timed timed = timed_of(launch, method, in_line);
  if (timed.gpus > 1 && scenario().peer == "all" &&
      has_peer_access(timed.gpus) != method.peer_access) {
    complain("peer access is not as the method wants it: " + launch.name);
  }
  return model_that(launch, timed, [=](const Running& running) {
    return run_timed(timed, running);
  });
}

// Of late_kernel and of meeting_kernel.
template <class Run>
Model model_with_late(const Launch& launch, const MethodEntry& method,
                      Run run) {
  const Timed timed = timed_of(launch, method, 1);
  return model_that(launch, timed, [=](const Running& running) -> Ended {
    const std::size_t records = std::size_t{timed.blocks} * timed.warps();
    need(timed.records, records, "records");
    std::fill_n(timed.records, records, WarpRecord{});
    const double took = timed.trips * running.factor * busy(timed, 1);
    run(timed, took);
    const double late = 1. * timed.trips * timed.first_timed;
    return {scenario().null + (late + took) / running.ghz()};
  });
}

// The sum of all counts; here it is on the GPU of the first late warp.
void late_records(const Timed& timed, double took) {
  const void* late = timed.results;
  if (timed.trips == 0) return;
  if (static_cast<const LateWarps*>(late)->first) {
    timed.records[0].end = std::llround(took);
  }
  damage(timed.records[0]);
}

// No warp is out too early, or one is, unless the first or the last comes late.
void meeting_records(const Timed& timed, double) {
  const auto* late = reinterpret_cast<const LateWarps*>(timed.results);
  const int warps =
      static_cast<int>(timed.warps() * blocks_that_meet(timed.method.scope,
                                                        timed.position(0, 0)));
  const auto is_another = [=](int warp) {
    return warps < 3 ? warp >= 0 : warp > 0 && warp + 1 < warps;
  };
  timed.records[0].start =
      scenario().bad == "meeting" &&
      std::any_of(late->in_round, late->in_round + LateWarps::kRounds,
                  is_another);
}

Model reset_windows(const Launch& launch) {
  auto* windows = launch.argument<SmWindow*>(0);
  return {[=](const Running&) -> Ended {
    need(windows, syncbench::explicit_barrier::kSmSlots, "windows");
    std::fill_n(windows, syncbench::explicit_barrier::kSmSlots,
                SmWindow{~0ull, 0});
    return {scenario().null};
  }};
}

Model merge_windows(const Launch& launch) {
  const auto* records = launch.argument<const WarpRecord*>(0);
  const auto count = launch.argument<unsigned>(1);
  auto* windows = launch.argument<SmWindow*>(2);
  return {[=](const Running&) -> Ended {
    need(records, count, "records");
    for (unsigned i = 0; i < count; ++i) {
      if (records[i].end == 0) continue;
      if (records[i].sm >= syncbench::explicit_barrier::kSmSlots) {
        return {0, cudaErrorLaunchFailure};  // as its trap
      }
      SmWindow& window = windows[records[i].sm];
      window.start =
          std::min<unsigned long long>(window.start, records[i].start);
      window.end = std::max<unsigned long long>(window.end, records[i].end);
    }
    return {scenario().null};
  }};
}

std::optional<Model> model_of(const Launch& launch) {
  if (launch.is("::reset_windows_kernel(")) return reset_windows(launch);
  if (launch.is("::merge_windows_kernel(")) return merge_windows(launch);
  return model_of_method(launch, syncbench::explicit_barrier::all_methods());
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace

std::optional<Model> model_of_method(const Launch& launch,
                                     const std::vector<MethodEntry>& methods) {
  for (const MethodEntry& method : methods) {
    if (method.late_kernel == launch.function) {
      return model_with_late(launch, method, late_records);
    }
    if (method.meeting_kernel == launch.function) {
      return model_with_late(launch, method, meeting_records);
    }
    for (std::size_t i = 0; i < method.kernels.size(); ++i) {
      if (method.kernels[i] == launch.function) {
        return timed_model(launch, method, 1 << i);
      }
    }
  }
  return std::nullopt;
}

double cycles_of(const MethodEntry& method, unsigned blocks, unsigned threads,
                 int gpus) {
  const unsigned warps = (threads + 31) / 32;
  const bool across = method.scope >= Scope::kGrid;
  double cycles = of_method("cycles", method.name, across ? 2000 : 32);
  if (method.scope >= Scope::kBlock) {
    cycles += scenario().warp_cycles * (warps - 1);
  }
  cycles += scenario().gpu_cycles * (gpus - 1);
  if (across) {
    return cycles + scenario().block_cycles * (blocks_of_sm(blocks) - 1);
  }
  const double sharing = blocks_at_once(blocks, threads) * warps;
  return std::max(cycles, sharing / of_method("rate", method.name, 0.5));
}

void damage(WarpRecord& record) {
  if (scenario().bad == "recordsneg") std::swap(record.start, record.end);
}

}  // namespace stand_in
