// ImplicitBarrier: what a launch costs when it serves as a barrier of one GPU
// or of several. Measured in several processes, one after the other, because
// the pace of the host and the multi-device launch differ between processes;
// this one prints and never touches CUDA.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/devices.hpp"
#include "common/process_samples.hpp"
#include "common/program.hpp"
#include "implicit_barrier/measuring.hpp"
#include "implicit_barrier/section.hpp"
#include "implicit_barrier/steps.hpp"

namespace syncbench::implicit_barrier {

// In the files of sections/.
Section null_kernel_section(), workload_test_section(), sleep_kernel_section(),
    sleep_instruction_section(), one_stream_section(), streams_section(),
    graphs_section(), held_queue_section(), dependent_steps_section(),
    between_gpus_section();

namespace {

// In the order of printing.
std::vector<Section> all_sections() {
  return {null_kernel_section(),     sleep_kernel_section(),
          workload_test_section(),   sleep_instruction_section(),
          one_stream_section(),      graphs_section(),
          dependent_steps_section(), streams_section(),
          held_queue_section(),      between_gpus_section()};
}

// What --processes says is `given`; by default fewer on many GPUs, of which
// each makes a process slower to begin and end. `gpu_count`: as in Options.
constexpr int kFewGpus = 4, kProcessesOnFew = 10, kProcessesOnMany = 5;
int process_count(int given, int gpu_count) {
  if (given > 0) return given;
  return gpu_count > kFewGpus ? kProcessesOnMany : kProcessesOnFew;
}

// Samples all points of a section and writes their records.
void measure(const Section& section, std::size_t number, Measuring& measuring) {
  const MeasuringRun& run = measuring.run;
  if (!run.options().measures(section.set)) return;
  if (section.exists != nullptr && !section.exists(run.gpus())) return;
  PointsInTurn points(measuring, section.name, number, section.set);
  section.plan(measuring, points);
  points.measure();
}

// A process that measures all sections.
void measure(const ProgramInfo& info, const Options& options, LineWriter& out,
             int processes) {
  const std::vector<Section> sections = all_sections();
  Measuring measuring(info, options, out);
  out.comment("processes[count=" + std::to_string(processes) +
              " streams=" + std::to_string(StreamPool::kStreams) +
              "]: one process after the other, each with so many samples; the "
              "streams in turn");
  out.annotate(Kind::kNote, "multi_cooperative_launch",
               {"api", MultiDeviceLaunch::kApi});
  measuring.run.measure([&] {
    for (const bool first : {true, false}) {
      for (std::size_t i = 0; i < sections.size(); ++i) {
        if (sections[i].comes_first == first)
          measure(sections[i], i, measuring);
      }
    }
    out.comment("order[links=" + std::to_string(kLinks) +
                " methods=" + std::to_string(measuring.proved()) +
                "]: before these launch methods were timed on one GPU, each of "
                "so many kernels read what the one before had written");
  });
}

// The process that prints what the others write, in the order of printing: the
// study's sections come first. Records of sections that were measured before
// these are held; they are printed where a process fails or a signal comes,
// too.
void print(Printing& printing, char** argv) {
  const std::vector<Section> sections = all_sections();
  std::deque<Rows> of_sections;
  for (const Section& section : sections) {
    of_sections.emplace_back(section, printing);
  }
  const int processes = printing.processes;
  Progress progress;
  std::vector<Record> held;
  const auto release = [&] {
    for (const Record& record : std::exchange(held, {})) {
      of_sections[record.section].take(record, true);
    }
  };
  const auto take = [&](int number, const Record& record) {
    Rows& rows = of_sections.at(record.section);
    const Section& section = sections[record.section];
    progress.show("process " + std::to_string(number + 1) + " of " +
                  std::to_string(processes) + ": " + section.name);
    if (number + 1 < processes) return rows.take(record, false);
    progress.clear();
    if (section.comes_first) return held.push_back(record);
    if (section.set != Set::kStudy) release();
    rows.take(record, true);
  };
  try {
    run_samplers(argv, processes, printing.out, Relay::kAllOfTheFirst, take);
  } catch (...) {
    try {
      release();
    } catch (const std::exception&) {  // what has failed first is told
    }
    throw;
  }
  release();
}

// `processes` becomes what --processes says.
ProgramInfo program_info(int& processes) {
  ProgramInfo info;
  info.name = "ImplicitBarrier";
  info.summary =
      "What a kernel launch costs as a barrier: of null kernels, of kernels "
      "that\n"
      "last by kernel fusion (Eq. 6), of kernels of 0 to 256 us, and of "
      "kernels\n"
      "queued behind a held stream, by the GPU's timer too.";
  info.takes_gpu_count = true;
  info.default_samples = 3;
  info.counted += ", in each process";
  info.options.push_back(
      {"processes", "N",
       "measure in N processes, one after the other (default " +
           std::to_string(kProcessesOnFew) + ", on more than " +
           std::to_string(kFewGpus) + " GPUs " +
           std::to_string(kProcessesOnMany) +
           "); m, s and the interval are those of all of them",
       [&processes](const std::string& value, Options&) {
         processes = parse_count(value, "--processes", kMaxProcesses);
       }});
  constexpr const char* kBreadths[] = {"", "-most", "-all"};
  for (const LaunchMethodInfo& method : launch_methods()) {
    info.methods.push_back({method.name, method.description,
                            std::string(method.multi_gpu ? "gpus" : "grid") +
                                (method.queues() ? "" : "-waiting") +
                                (method.slows_process ? "-slowing" : "") +
                                kBreadths[static_cast<int>(method.breadth)],
                            "", "", method.set});
  }
  const auto add_ways = [&](const auto& ways, const char* group) {
    for (const auto& way : ways) {
      if (*way.description == '\0') continue;
      info.methods.push_back({way.name, way.description, group});
    }
  };
  add_ways(gpu_ways(), "gpus");
  add_ways(step_ways(), "grid");
  for (const Section& section : all_sections()) {
    info.columns += describe(section.name, section.layout.row({}));
  }
  return info;
}

}  // namespace
}  // namespace syncbench::implicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace implicit_barrier;
  int asked_processes = 0;
  const ProgramInfo info = program_info(asked_processes);
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        const int processes = process_count(asked_processes, options.gpu_count);
        if (process_number() >= 0) {
          return measure(info, options, out, processes);
        }
        Printing printing = {options, out, processes};
        print(printing, argv);
        out.end();
        printing.asked.check(options.methods);
      });
}
