// Libraries: what the barriers of NCCL, NVSHMEM and MPI cost, in one process
// with a thread for each GPU, or in a process for each GPU.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/provenance.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "libraries/launcher.hpp"
#include "libraries/method.hpp"
#include "libraries/mpi_calls.hpp"
#include "libraries/rows.hpp"
#include "libraries/sessions.hpp"
#include "libraries/watch.hpp"

namespace syncbench {
namespace {

const char kTitle[] = "barriers of libraries";

// What the processes have said, of which the first one counts: a failure or a
// reason is that of the process of the lowest number.
std::string first_said(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

// Runs `make` in all processes. Where one cannot measure, none does.
template <class Make>
auto make_together(Make make) {
  decltype(make()) made;
  std::string reason;
  try {
    made = make();
  } catch (const CannotMeasure& error) {
    reason = error.tag + '\t' + error.what();
  }
  const std::string first = first_said(mpi::gather(reason));
  if (first.empty()) return made;
  const std::size_t tab = first.find('\t');
  throw CannotMeasure(first.substr(0, tab), first.substr(tab + 1));
}

class Libraries {
 public:
  Libraries(const ProgramInfo& info, const Options& options, LineWriter& out,
            const mpi::World& world, Watch& watch, bool hosts)
      : options_(for_process(options, world)),
        world_(world),
        watch_(watch),
        run_(info, options_, out),
        table_(out, kTitle, library_columns(options_.stats)) {
    if (world_.size > 1) tell_processes(hosts);
    tell_libraries();
  }

  void run() {
    run_.measure([this] {
      run_.begin_section(kTitle);
      for (const LibraryMethod& method : library_methods()) {
        if (options_.wants(method.name)) measure(method);
      }
    });
    end_nvshmem();
    run_.finish();
  }

 private:
  // A process among several has one GPU, by its number on its node.
  static Options for_process(Options options, const mpi::World& world) {
    if (world.size == 1) return options;
    if (options.gpu_count > 0 && options.gpu_count != world.size) {
      throw UsageError("requested " + std::to_string(options.gpu_count) +
                       " GPUs but there are " + std::to_string(world.size) +
                       " processes, with one each");
    }
    options.only_gpu = world.local_rank;
    return options;
  }

  // Who takes part; a GPU that two of them have is an error.
  void tell_processes(bool hosts) {
    const Gpu& gpu = run_.gpu();
    const std::string place =
        std::to_string(world_.node) + ' ' + gpu.pci_bus_id;
    std::vector<std::string> places = mpi::gather(place);
    std::string text = "process[rank=" + std::to_string(world_.rank) +
                       " node=" + std::to_string(world_.node) + ' ' +
                       gpu_text(gpu);
    char host[256] = {};
    if (hosts && gethostname(host, sizeof host - 1) == 0) {
      text += ' ' + pair_text("host", host);
    }
    for (const std::string& line : mpi::gather(text + ']')) {
      run_.out().comment(line);
    }
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
      throw UsageError(
          "two processes of a node have the same GPU: start at most one for "
          "each GPU");
    }
  }

  void tell_libraries() {
    std::vector<std::string> told;
    for (const LibraryMethod& method : library_methods()) {
      const std::string version = method.version();
      if (version.empty() ||
          std::count(told.begin(), told.end(), method.library) > 0) {
        continue;
      }
      told.push_back(method.library);
      run_.out().comment("library[name=" + method.library + ' ' +
                         pair_text("version", version) + ']');
    }
  }

  LibraryRow row_of(const LibraryMethod& method, int gpus) const {
    return {method.name, world_.nodes, world_.size, gpus};
  }

  // What stands for all rows of a method that this start cannot have; aloud
  // where it was asked for by name.
  Remark unavailable(const LibraryMethod& method) const {
    if (method.version().empty()) {
      return {"library", method.library + " was not found when this was built"};
    }
    if (method.by_process && world_.size == 1) {
      return {"one-process",
              "it needs a process for each GPU: start the program with mpirun "
              "or srun"};
    }
    if (world_.size == 1 && run_.gpus().size() == 1) {
      return {"too-few-gpus", "it needs at least two GPUs"};
    }
    return {};
  }

  void measure(const LibraryMethod& method) {
    if (const Remark reason = unavailable(method)) {
      if (options_.methods.empty()) return table_.skip(method.name, reason);
      return run_.skip(table_, {method.name}, reason);
    }
    if (world_.size > 1) return measure_on(method, run_.gpus());
    for (std::size_t count = 2; count <= run_.gpus().size(); ++count) {
      measure_on(method, {run_.gpus().begin(), run_.gpus().begin() + count});
    }
  }

  // `gpus`: those of this process.
  void measure_on(const LibraryMethod& method, const std::vector<Gpu>& gpus) {
    Team team(world_, watch_, gpus);
    LibraryRow row = row_of(method, team.total());
    const RowKey all = table_.key(row);
    watch_.show(all);
    run_.measure_or_skip(table_, all, [&] {
      const auto session =
          make_together([&] { return method.open(team, method.lengths); });
      for (const CallShape& shape : method.shapes(gpus[0])) {
        row.shape = shape;
        const RowKey key = table_.key(row);
        watch_.show(key);
        run_.measure_or_skip(table_, key, [&] {
          const auto point =
              make_together([&] { return session->point(shape); });
          print(row, key, *point, method.lengths);
        });
      }
      session->close();
    });
  }

  void print(LibraryRow& row, const RowKey& key, Point& point,
             Lengths lengths) {
    const SamplingPlan plan = {lengths.basic, lengths.more, 1};
    Measured<InterSmSample> measured;
    measured.add(sample_inter_sm(point, options_.samples, plan), kNan);
    row.value = inter_sm_result(measured, plan).instruction;
    row.mhz = run_.clock_mhz();
    constexpr std::size_t kEnough =
        5;  // samples, for an interval that says much
    // Process 0 judges, for it alone prints.
    if (world_.rank == 0 && row.value.count >= kEnough &&
        !(10 * row.value.median > row.value.ci95)) {
      throw CannotMeasure("noise",
                          "its 95% interval is more than ten times its median "
                          "to either side: do processes share a CPU?");
    }
    table_.row(row);
    run_.check_row(key, row.value);
  }

  const Options options_;
  const mpi::World world_;
  Watch& watch_;
  MeasuringRun run_;
  Table<LibraryRow> table_;
};

// What the program's own options say.
struct Asked {
  bool hosts = false;
  int limit = 60;  // seconds
};

ProgramInfo program_info(Asked& asked) {
  ProgramInfo info;
  info.name = "Libraries";
  info.summary =
      "Barriers and small all-reduces of NCCL, NVSHMEM and MPI. A plain start "
      "has a\nthread for each of up to gpu_count GPUs; mpirun or srun a "
      "process for each GPU.";
  info.takes_gpu_count = true;
  info.default_samples = 60;
  info.options.push_back(
      {"hosts", "", "name the host of each process in the comments",
       [&asked](const std::string&, Options&) { asked.hosts = true; }});
  info.options.push_back(
      {"limit", "SECONDS",
       "end the run when a sample, or the start of a library or of all "
       "processes, takes longer, as their waits have no end (default " +
           std::to_string(asked.limit) + ")",
       [&asked](const std::string& value, Options&) {
         asked.limit = parse_count(value, "--limit", 86400);
       }});
  for (const LibraryMethod& method : library_methods()) {
    info.methods.push_back(
        {method.name, method.text, method.library,
         method.by_process ? "needs a process for each GPU" : ""});
  }
  info.columns = describe(kTitle, library_columns(true));
  return info;
}

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
  if (launched_processes() <= 1) return {};
  try {
    parse_options(info, *argc, *argv);
  } catch (const UsageError&) {  // said when all have met
  }
  const StartLimit only(info.name, limit);
  return mpi::start(argc, argv);
}

int run_processes_of(const ProgramInfo& info, const mpi::World& world, int argc,
                     char** argv, const Asked& asked) {
  Watch watch(world, info.name, asked.limit);
  const SayFailure say = [&](const std::string& line, int code) {
    if (world.size > 1) watch.fail(line, code);
    return say_failure(line, code);
  };
  const std::string why = disagreement(info, world, argc, argv);
  if (!why.empty()) return say(info.name + ": error: " + why, kExitUsage);
  if (world.rank > 0) write_no_rows();
  const int code = run_program(
      info, argc, argv,
      [&](const Options& options, LineWriter& out) {
        Libraries(info, options, out, world, watch, asked.hosts).run();
      },
      say);
  mpi::barrier();
  watch.show("MPI_Finalize");
  mpi::end();
  watch.finish();
  return code;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  Asked asked;
  ProgramInfo info = program_info(asked);
  try {
    const mpi::World world = start(info, &argc, &argv, asked.limit);
    info.quiet = world.rank > 0;
    const int launched = launched_processes();
    if (launched > 1 && world.size == 1) {
      if (launched_number() > 0) return kExitUsage;
      return say_failure(
          info.name + ": error: " + std::to_string(launched) +
              " processes were started, " +
              (mpi::version().empty()
                   ? "but MPI was not found when this was built"
                   : "of which MPI knows nothing (srun --mpi=pmix?)"),
          kExitUsage);
    }
    return run_processes_of(info, world, argc, argv, asked);
  } catch (const std::exception& error) {
    return say_failure(info.name + ": error: " + error.what(), kExitFailed);
  }
}
