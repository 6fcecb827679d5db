#include "libraries/processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "common/child_processes.hpp"
#include "common/program.hpp"
#include "common/provenance.hpp"

namespace syncbench::libraries {
namespace {

// Why these processes cannot run together; empty: they can.
std::string disagreement(const ProgramInfo& info, const mpi::World& world,
                         int argc, char** argv) {
  std::string asked = version_text(info);
  for (int i = 1; i < argc; ++i) asked += std::string("\n") + argv[i];
  const std::vector<std::string> all = mpi::gather(asked);
  for (int rank = 1; rank < world.size; ++rank) {
    if (all[rank] == all[0]) continue;
    return "process " + std::to_string(rank) +
           " has other arguments, or is another build, than process 0";
  }
  return "";
}

// In every process but the first, whose rows are those of all.
void write_no_rows() {
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

// Meets the other processes, within --limit.
mpi::World start(const ProgramInfo& info, int* argc, char*** argv,
                 const int& limit) {
  try {
    parse_options(info, *argc, *argv);
  } catch (const UsageError&) {  // said when all have met
  }
  const TimeLimit only = limit_start(info.name, limit);
  return mpi::start(argc, argv);
}

// A process among several has one GPU. UsageError where another number of GPUs
// was asked for.
Options of_process(Options options, const mpi::World& world) {
  if (options.gpu_count > 0 && options.gpu_count != world.size) {
    throw UsageError("requested " + std::to_string(options.gpu_count) +
                     " GPUs but there are " + std::to_string(world.size) +
                     " processes, with one each");
  }
  options.only_gpu = world.local_rank;
  return options;
}

// Writes who takes part. UsageError where two processes have the same GPU.
void tell_processes(LineWriter& out, const Gpu& gpu, const mpi::World& world,
                    bool hosts) {
  const std::string place = std::to_string(world.node) + ' ' + gpu.pci_bus_id;
  std::vector<std::string> places = mpi::gather(place);
  std::string text = "process[rank=" + std::to_string(world.rank) +
                     " node=" + std::to_string(world.node) + ' ' +
                     gpu_text(gpu);
  char host[256] = {};
  if (hosts && gethostname(host, sizeof host - 1) == 0) {
    text += ' ' + pair_text("host", host);
  }
  for (const std::string& line : mpi::gather(text + ']')) out.comment(line);
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
    throw UsageError(
        "two processes of a node have the same GPU: start at most one for "
        "each GPU");
  }
}

int run_processes_of(const ProgramInfo& info, const mpi::World& world, int argc,
                     char** argv, const ProcessOptions& asked,
                     const ProcessSections& sections) {
  Watch watch(world, info.name, asked.limit);
  const SayFailure say = [&](const std::string& line, int code) -> int {
    watch.fail(line, code);
  };
  try {
    const std::string why = disagreement(info, world, argc, argv);
    if (!why.empty()) return say(info.name + ": error: " + why, kExitUsage);
    if (world.rank > 0) write_no_rows();
    const int code = run_program(
        info, argc, argv,
        [&](const Options& asked_for, LineWriter& out) {
          const Options options = of_process(asked_for, world);
          MeasuringRun run(info, options, out);
          run.share_clocks(mpi::gather);
          tell_processes(out, run.gpu(), world, asked.hosts);
          run.measure_all([&] { return sections(run, {world, watch}); });
        },
        say);
    mpi::barrier();
    watch.show("MPI_Finalize");
    mpi::end();
    watch.finish();
    return code;
  } catch (const std::exception& error) {
    return say(error_line(info.name, error.what()), kExitFailed);
  }
}

}  // namespace

std::vector<Option> process_options(ProcessOptions& asked) {
  return {{"hosts", "", "name the host of each process in the comments",
           [&asked](const std::string&, Options&) { asked.hosts = true; }},
          {"limit", "SECONDS",
           "end the run when a sample, or the start of a library or of all "
           "processes, takes longer, as their waits have no end (default " +
               std::to_string(asked.limit) + ")",
           [&asked](const std::string& value, Options&) {
             asked.limit = parse_count(value, "--limit", 86400);
           }}};
}

int run_in_processes(ProgramInfo info, int argc, char** argv,
                     const ProcessOptions& asked,
                     const ProcessSections& sections) {
  const int launched = launched_processes();
  if (launched <= 1) {
    return run_sections(info, argc, argv, [&](MeasuringRun& run) {
      const mpi::World alone;
      Watch watch(alone, info.name, asked.limit);
      return sections(run, {alone, watch});
    });
  }
  try {
    const mpi::World world = start(info, &argc, &argv, asked.limit);
    info.quiet = world.rank > 0;
    if (world.size > 1) {
      return run_processes_of(info, world, argc, argv, asked, sections);
    }
    if (launched_number() > 0) return kExitUsage;
    return say_failure(
        info.name + ": error: " + std::to_string(launched) +
            " processes were started, " +
            (mpi::version().empty()
                 ? "but MPI was not found when this was built"
                 : "of which MPI knows nothing (srun --mpi=pmix?)"),
        kExitUsage);
  } catch (const std::exception& error) {
    return say_failure(info.name + ": error: " + error.what(), kExitFailed);
  }
}

std::string first_said(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace syncbench::libraries
