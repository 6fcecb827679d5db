// Kernels of common/ and of ImplicitBarrier.
#include <algorithm>

#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/steps.hpp"
#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/scenario.hpp"
#include "ways/flags.hpp"

namespace stand_in {
namespace {

using syncbench::implicit_barrier::BlockTimes;
using syncbench::implicit_barrier::GateFlags;

Model clock_rate(const Launch& launch) {
  const auto duration = launch.argument<long long>(0);
  auto* result = launch.argument<long long*>(1);
  return {[=](const Running& running) -> Ended {
    need(result, 2, "clock_rate_kernel");
    result[0] = static_cast<long long>(duration * running.ghz());
    result[1] = duration;
    return {static_cast<double>(duration)};
  }};
}

Model spin(const Launch& launch) {
  const double cycles = static_cast<double>(launch.argument<int>(0)) *
                        static_cast<double>(launch.argument<long long>(1));
  return {[=](const Running& running) -> Ended {
    return {running.factor * (scenario().null + cycles / running.ghz())};
  }};
}

Model sleep(const Launch& launch) {
  const double sleeps = static_cast<double>(launch.argument<int>(0)) *
                        static_cast<double>(launch.argument<long long>(1));
  const double each = scenario().sleep_grid == 0
                          ? syncbench::implicit_barrier::kSleepNs
                          : 1024;  // the power of two after it
  return {[=](const Running& running) -> Ended {
    return {running.factor * (scenario().null + sleeps * each)};
  }};
}

Model hold(const Launch& launch) {
  auto* gate = launch.argument<GateFlags*>(0);
  return {[=](const Running& running) -> Ended {
    const double held = std::max(0., running.host_now - running.start);
    constexpr auto kLimit =
        static_cast<double>(syncbench::implicit_barrier::kHoldLimitNs);
    if (gate->open != 0 && held <= kLimit) return {held};
    if (gate->open == 0 && !running.waited_for) return {0, cudaSuccess, true};
    gate->expired = 1;
    return {kLimit};
  }};
}

Model noting(const Launch& launch) {
  const auto units = launch.argument<int>(0);
  const auto cycles = launch.argument<long long>(1);
  const std::size_t blocks = launch.blocks();
  return {[=](const Running& running) -> Ended {
    syncbench::implicit_barrier::NotedKernels noted = {};
    std::memcpy(&noted, variable(running.device, sizeof noted), sizeof noted);
    need(noted.counts, blocks, "noting_kernel");
    BlockTimes* times = noted.times + noted.counts[0] * blocks;
    need(times, blocks, "noting_kernel");
    const double work =
        static_cast<double>(units) * static_cast<double>(cycles);
    const double length =
        running.factor * (scenario().null + work / running.ghz());
    const double lead =
        cycles > 0 ? static_cast<double>(
                         syncbench::implicit_barrier::kRecordLeadCycles) /
                         running.ghz()
                   : 0;
    const bool bad = scenario().bad == "notes";
    for (std::size_t i = 0; i < blocks; ++i) {
      ++noted.counts[i];
      times[i] = {i > 0 ? 0 : running.timer(),
                  bad ? 1 : running.timer(length - lead)};
    }
    return {length};
  }};
}

// All blocks of a link at once, the late one too.
Model link(const Launch& launch) {
  const auto links = launch.argument<syncbench::implicit_barrier::Links>(0);
  const unsigned here = launch.blocks();
  return {[=](const Running& running) -> Ended {
    const unsigned blocks = links.blocks;
    need(links.words, 2 * blocks, "link_kernel");
    need(links.counts, blocks, "link_kernel");
    need(links.wrong, blocks, "link_kernel");
    const bool forgets = scenario().bad == "links";
    for (unsigned i = links.first; i < links.first + here; ++i) {
      const unsigned number = links.counts[i];
      const unsigned other =
          (i + 1 + number % std::max(blocks - 1, 1u)) % blocks;
      links.wrong[i] += links.words[number % 2 * blocks + other] != number;
      if (forgets && number == 500) continue;
      links.words[(number + 1) % 2 * blocks + i] = ++links.counts[i];
    }
    return {scenario().null +
            static_cast<double>(syncbench::implicit_barrier::kLinkDelayCycles) /
                running.ghz()};
  }};
}

// A step's end: each block's word follows from another's in the step before.
void write_words(const syncbench::implicit_barrier::StepData& data, int step,
                 unsigned blocks) {
  if (!data.reads) return;
  unsigned* words = data.words + static_cast<std::size_t>(step) * blocks;
  need(words, 2 * blocks, "a step");
  const bool forgets = scenario().bad == "steps" && step == 10;
  for (unsigned i = 0; i < blocks; ++i) {
    const unsigned seen = words[(i + blocks / 2) % blocks];
    words[blocks + i] = forgets ? 1 : seen + 1;
  }
}

Model steps(const Launch& launch, bool one) {
  const auto data = launch.argument<syncbench::implicit_barrier::StepData>(0);
  const int first = one ? launch.argument<int>(1) : 0;
  const int count = one ? 1 : data.steps;
  const unsigned blocks = launch.blocks();
  return {[=](const Running& running) -> Ended {
    for (int step = first; step < first + count; ++step) {
      write_words(data, step, blocks);
    }
    const double work = static_cast<double>(data.cycles) / running.ghz();
    return {running.factor *
            (scenario().null + count * work + (count - 1) * scenario().step)};
  }};
}

// A kernel that launches its graph again: all its launches as one.
Model relaunched(const Model& once) {
  return {[=](const Running& running) -> Ended {
    syncbench::implicit_barrier::Relaunches now = {};
    void* memory = variable(running.device, sizeof now);
    std::memcpy(&now, memory, sizeof now);
    Ended ended = once.run(running);
    for (; now.left > 0; --now.left) {
      if (scenario().bad == "relaunch" && now.left == 1) break;
      ended.nanoseconds += scenario().relaunch + once.run(running).nanoseconds;
    }
    std::memcpy(memory, &now, sizeof now);
    return ended;
  }};
}

// The step after the one that its blocks have counted.
Model counted_step(const Launch& launch) {
  const auto data = launch.argument<syncbench::implicit_barrier::StepData>(0);
  const unsigned blocks = launch.blocks();
  return {[=](const Running& running) -> Ended {
    need(data.flags, blocks, "a step");
    write_words(data, static_cast<int>(data.flags[0]), blocks);
    for (unsigned i = 0; i < blocks; ++i) ++data.flags[i];
    return {
        running.factor *
        (scenario().null + static_cast<double>(data.cycles) / running.ghz())};
  }};
}

Model null_kernel() {
  return {[](const Running& running) -> Ended {
    return {running.factor * scenario().null};
  }};
}

// With those of the other GPUs.
Model meeting(const Launch& launch) {
  const auto flags = launch.argument<syncbench::ways::MeetingFlags>(0);
  const auto here = launch.argument<unsigned>(1);
  const auto round = launch.argument<unsigned>(2);
  Model model = {[=](const Running& running) -> Ended {
    unsigned* word = flags.steps + here * syncbench::ways::kFlagsApart;
    need(word, 1, "meeting_kernel");
    *word = round;
    return {running.factor * scenario().null};
  }};
  model.meeting = flags.steps;
  model.members = static_cast<int>(flags.gpus);
  model.rank = static_cast<int>(here);
  model.abandoned = [=](const Running& running) -> Ended {
    for (unsigned i = 0; i < flags.gpus; ++i) {
      if (flags.steps[i * syncbench::ways::kFlagsApart] >= round) continue;
      *flags.failed = 1;
      return {static_cast<double>(syncbench::ways::kMeetingLimitNs)};
    }
    return {running.factor * scenario().null};
  };
  return model;
}

// Of kernels that a kind of launch has of its own, and all others.
std::optional<Model> model_of_unit(const Launch& launch) {
  if (launch.is("::null_kernel")) return null_kernel();
  if (launch.is("::spin_kernel<")) return spin(launch);
  if (launch.is("::sleep_kernel<")) return sleep(launch);
  if (launch.is("::link_kernel<")) return link(launch);
  return std::nullopt;
}

std::optional<Model> model_of(const Launch& launch) {
  if (const std::optional<Model> unit = model_of_unit(launch)) {
    return launch.is("::Relaunching>") ? relaunched(*unit) : *unit;
  }
  if (launch.is("::relaunching_step_kernel(")) {
    return relaunched(counted_step(launch));
  }
  if (launch.is("::clock_rate_kernel(")) return clock_rate(launch);
  if (launch.is("::hold_kernel(")) return hold(launch);
  if (launch.is("::noting_kernel<")) return noting(launch);
  if (launch.is("::meeting_kernel(")) return meeting(launch);
  if (launch.is("::step_kernel<")) return steps(launch, true);
  if (launch.is("::steps_kernel<")) return steps(launch, false);
  return std::nullopt;
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in
