// Libraries: what the barriers of NCCL, NVSHMEM, MPI and of this suite's own
// library cost, in one process with a thread for each GPU, or in a process for
// each GPU.
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/measuring_run.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "libraries/method.hpp"
#include "libraries/processes.hpp"

namespace syncbench::libraries {

using explicit_barrier::inter_sm_result;
using explicit_barrier::sample_inter_sm;
using explicit_barrier::SamplingPlan;

namespace {

std::vector<CallShape> no_shape(const Gpu&) { return {CallShape()}; }

// One number of each GPU, and up to 32 KB of them.
std::vector<CallShape> sizes(const Gpu&) {
  std::vector<CallShape> shapes;
  for (const int bytes : {4, 8, 32, 128, 512, 2048, 8192, 32768}) {
    shapes.push_back({bytes, -1, -1});
  }
  return shapes;
}

std::vector<CallShape> one_block(const Gpu&) {
  return {{-1, 1, 32}, {-1, 1, 1024}};
}

std::vector<CallShape> grids(const Gpu& gpu) {
  const int sms = gpu.sm_count;
  return {{-1, sms, 32}, {-1, sms, 1024}, {-1, 32 * sms, 64}};
}

// In kernels as many as BenchmarkInterSM has; calls fewer, because a queue
// holds about 1,000 and each call is slower.
constexpr Lengths kInKernel = {100, 900}, kCalls = {10, 90};

// All, those that this build lacks too.
const std::vector<Library>& all_libraries() {
  static const std::vector<Library> all = {
      {"peer_grid_barrier",
       false,
       peer_grid_part(),
       {{"peer_grid_sync",
         "this suite's barrier of all blocks of all GPUs of a node, by CUDA "
         "IPC between processes",
         grids, kInKernel}}},
      {"NCCL",
       false,
       nccl_part(),
       {{"nccl_all_reduce_unregistered",
         "ncclAllReduce() of floats, many in a row in a stream; NCCL does not "
         "know the buffers before",
         sizes, kCalls},
        {"nccl_graph_unregistered", "the same, in a CUDA graph", sizes, kCalls},
        {"nccl_graph_registered",
         "the same, with buffers registered as symmetric windows, which NCCL "
         "uses where it can (ncclCommWindowRegister())",
         sizes, kCalls},
        {"nccl_lsa_block",
         "ncclLsaBarrierSession::sync() in a kernel: each block with those of "
         "the same number on the other GPUs",
         grids, kInKernel},
        {"nccl_lsa_grid",
         "all blocks of all GPUs: grid.sync(), the same of one block, "
         "grid.sync()",
         grids, kInKernel}}},
      {"NVSHMEM",
       true,
       nvshmem_part(),
       {{"nvshmem_sync_block",
         "nvshmemx_sync_all_block() in a kernel of one block", one_block,
         kInKernel},
        {"nvshmem_barrier_block",
         "nvshmemx_barrier_all_block() in a kernel of one block", one_block,
         kInKernel},
        {"nvshmem_sync_grid",
         "all blocks of all GPUs: grid.sync(), nvshmemx_sync_all_block() of "
         "one block, grid.sync()",
         grids, kInKernel},
        {"nvshmem_barrier_grid", "the same with nvshmemx_barrier_all_block()",
         grids, kInKernel},
        {"nvshmem_sync_stream",
         "nvshmemx_team_sync_on_stream() of all, many in a row in a stream",
         no_shape, kCalls},
        {"nvshmem_barrier_stream",
         "nvshmemx_barrier_on_stream() of all, many in a row in a stream",
         no_shape, kCalls},
        {"nvshmem_sync_host", "nvshmem_team_sync() of all, by the CPU threads",
         no_shape, kCalls},
        {"nvshmem_barrier_host", "nvshmem_barrier() of all, by the CPU threads",
         no_shape, kCalls}}},
      {"MPI",
       true,
       mpi_part(),
       {{"mpi_barrier", "MPI_Barrier() of processes with a GPU each", no_shape,
         kInKernel},
        {"mpi_launch",
         "a kernel launch, cudaDeviceSynchronize() and MPI_Barrier()",
         [](const Gpu& gpu) {
           return std::vector<CallShape>{{-1, gpu.sm_count, 1024}};
         },
         kCalls}}}};
  return all;
}

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
      .clock(mhz,
             "SM clock of GPU 0 after this row; of several processes, of the "
             "slowest one's")
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

void require_room(const void* kernel, const CallShape& shape, const Gpu& gpu) {
  make_together([&] {
    const DeviceGuard guard(gpu.index);
    int held = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel,
                                                             shape.threads, 0));
    if (shape.blocks > held * gpu.sm_count) {
      const std::string text = std::to_string(held);
      throw CannotMeasure("does-not-fit holds=" + text,
                          "an SM holds " + text + " blocks of this size");
    }
    return held;
  });
}

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
