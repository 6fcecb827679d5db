// Libraries: what the barriers of NCCL, NVSHMEM, MPI and of this suite's own
// library cost, in one process with a thread for each GPU, or in a process for
// each GPU.
#include <algorithm>
#include <string>
#include <vector>

#include "common/measuring_run.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "libraries/method.hpp"
#include "libraries/processes.hpp"

namespace syncbench::libraries {

using explicit_barrier::inter_sm_result;
using explicit_barrier::sample_inter_sm;
using explicit_barrier::SamplingPlan;

namespace {

const char kTitle[] = "barriers of libraries";

// `value`: of one operation, in nanoseconds.
Row row_of(const std::string& method, const mpi::World& world, int gpus,
           const CallShape& shape = {}, const Summary& value = {},
           double mhz = kNan) {
  // What some methods have.
  const auto text = [](int number) {
    return number < 0 ? "nan" : std::to_string(number);
  };
  return Row("call of a library, or this suite's own barrier", method)
      .label("nodes", "", "machines", world.nodes)
      .label("processes", "", "of all nodes", world.size)
      .label("GPUcount", "", "GPUs involved, of all nodes", gpus)
      .label("bytes", "bytes", "that each GPU adds up", text(shape.bytes))
      .label("blk", "blocks", "grid dimension", text(shape.blocks))
      .label("thrd", "threads", "block dimension", text(shape.threads))
      .mean_stddev("op", "ns", "one operation (Eq. 7, 8)", value)
      .stats("op", "ns", value)
      .clock(mhz)
      .set(Set::kToday);
}

class Libraries {
 public:
  Libraries(MeasuringRun& run, const ProcessRun& process)
      : options_(run.options()),
        world_(process.world),
        watch_(process.watch),
        run_(run),
        table_(run.out(), kTitle, row_of("", {}, 0)) {}

  std::string sections() {
    tell_libraries();
    run_.begin_section(kTitle);
    for (const Library& library : all_libraries()) {
      for (const LibraryMethod& method : library.methods) {
        if (options_.wants(method.name, Set::kToday)) measure(library, method);
      }
    }
    for (const Library& library : all_libraries()) library.part.end();
    return "";
  }

 private:
  void tell_libraries() {
    for (const Library& library : all_libraries()) {
      const std::string version = library.part.version();
      if (version.empty()) continue;
      run_.out().comment("library[name=" + library.name + ' ' +
                         pair_text("version", version) + ']');
    }
  }

  // What stands for all rows of a method that this start cannot have; aloud
  // where it was asked for by name.
  Remark unavailable(const Library& library) const {
    if (library.part.version().empty()) {
      return {"library", library.name + " was not found when this was built"};
    }
    if (library.by_process && world_.size == 1) {
      return {"one-process",
              "it needs a process for each GPU: start the program with mpirun "
              "or srun"};
    }
    if (world_.size == 1 && run_.gpus().size() == 1) {
      return {"too-few-gpus", "it needs at least two GPUs"};
    }
    return {};
  }

  void measure(const Library& library, const LibraryMethod& method) {
    if (const Remark reason = unavailable(library)) {
      if (options_.methods.empty()) return table_.skip(method.name, reason);
      return run_.skip(table_, {method.name}, reason);
    }
    const auto& open = library.part.open.at(method.name);
    if (world_.size > 1) return measure_on(method, open, run_.gpus());
    for (std::size_t count = 2; count <= run_.gpus().size(); ++count) {
      measure_on(method, open,
                 {run_.gpus().begin(), run_.gpus().begin() + count});
    }
  }

  // `gpus`: those of this process.
  void measure_on(const LibraryMethod& method, const LibraryPart::Open& open,
                  const std::vector<Gpu>& gpus) {
    Team team(world_, watch_, gpus);
    const RowKey all = row_of(method.name, world_, team.total()).key();
    watch_.show(all);
    run_.measure_or_skip(table_, all, [&] {
      const auto session =
          make_together([&] { return open(team, method.lengths); });
      for (const CallShape& shape : method.shapes(gpus[0])) {
        const RowKey key =
            row_of(method.name, world_, team.total(), shape).key();
        watch_.show(key);
        run_.measure_or_skip(table_, key, [&] {
          const auto point =
              make_together([&] { return session.point(shape); });
          const Summary value = measure(point, method.lengths);
          const double mhz = run_.clock_mhz();
          require_quiet(value);
          table_.row(
              row_of(method.name, world_, team.total(), shape, value, mhz));
          run_.check_row(key, value);
        });
      }
      session.close();
    });
    throw_kept_failure();  // of what the session gave back
  }

  Summary measure(const Point& point, Lengths lengths) {
    const SamplingPlan plan = {lengths.basic, lengths.more, 1};
    const auto run = [&](int operations, int /*launches*/) {
      return point(operations);
    };
    Measured measured;
    measured.add(sample_inter_sm(run, options_.samples, plan), kNan);
    return inter_sm_result(measured, plan).instruction;
  }

  void require_quiet(const Summary& value) const {
    constexpr std::size_t kEnough =
        5;  // samples, for an interval that says much
    // Process 0 judges, for it alone prints.
    if (world_.rank == 0 && value.count >= kEnough &&
        !(10 * value.median > value.ci95)) {
      throw CannotMeasure("noise",
                          "its 95% interval is more than ten times its median "
                          "to either side: do processes share a CPU?");
    }
  }

  const Options& options_;
  const mpi::World world_;
  Watch& watch_;
  MeasuringRun& run_;
  Table table_;
};

ProgramInfo program_info(ProcessOptions& asked) {
  ProgramInfo info;
  info.name = "Libraries";
  info.summary =
      "This suite's own barrier of several GPUs, and barriers and small "
      "all-reduces of\nNCCL, NVSHMEM and MPI. A plain start has a thread for "
      "each of up to gpu_count\nGPUs; mpirun or srun a process for each GPU.";
  info.takes_gpu_count = true;
  info.default_samples = 60;
  info.options = process_options(asked);
  for (const Library& library : all_libraries()) {
    for (const LibraryMethod& method : library.methods) {
      info.methods.push_back(
          {method.name, method.text, library.name,
           library.by_process ? "needs a process for each GPU" : ""});
    }
  }
  info.columns = describe(kTitle, row_of("", {}, 0));
  return info;
}

}  // namespace
}  // namespace syncbench::libraries

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace libraries;
  ProcessOptions asked;
  return run_in_processes(program_info(asked), argc, argv, asked,
                          [](MeasuringRun& run, const ProcessRun& process) {
                            return Libraries(run, process).sections();
                          });
}
