// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <string>

#include "common/session.cuh"
#include "explicit_barrier/grid_methods.cuh"
#include "explicit_barrier/inter_sm.cuh"

namespace syncbench {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;

struct InterSmRow {
  std::string method;
  int gpus = 1;
  int blocks = 0;
  int threads = 0;
  InterSmResult result;
  double mhz = kNan;
};

Columns<InterSmRow> inter_sm_columns(bool stats) {
  using Row = InterSmRow;
  const auto instruction = [](const Row& r) { return r.result.instruction; };
  const Columns<Row> columns =
      Columns<Row>{
          column<Row>("method", "", "synchronization method",
                      [](const Row& r) { return r.method; }),
          column<Row>("GPUcount", "", "GPUs involved",
                      [](const Row& r) { return r.gpus; }),
          column<Row>("basicrep", "", "operations in the basic kernel",
                      [](const Row& r) { return r.result.plan.basic; }),
          column<Row>("moredrep", "", "operations in the longer kernel",
                      [](const Row& r) { return r.result.plan.more; }),
          column<Row>("blk", "blocks", "grid dimension: blocks per SM x SMs",
                      [](const Row& r) { return r.blocks; }),
          column<Row>("thrd", "threads", "block dimension",
                      [](const Row& r) { return r.threads; })} +
      mean_stddev_columns<Row>("basic_ttl", "ns", "basic kernel, launch to end",
                               [](const Row& r) { return r.result.basic; }) +
      mean_stddev_columns<Row>("more_ttl", "ns", "longer kernel, launch to end",
                               [](const Row& r) { return r.result.more; }) +
      mean_stddev_columns<Row>("avginstru", "ns", "one operation (Eq. 7, 8)",
                               instruction, 3, "avginstr");
  if (!stats) return columns;
  return columns + sample_count_column<Row>(instruction) +
         robust_columns<Row>("avginstru", "ns", instruction) +
         clock_column<Row>() +
         Columns<Row>{column<Row>("basic_launches", "",
                                  "launches a basic_ttl sample "
                                  "is the mean of",
                                  [](const Row& r) {
                                    return r.result.plan.basic_launches;
                                  }),
                      column<Row>("more_launches", "",
                                  "launches a more_ttl sample is "
                                  "the mean of",
                                  [](const Row& r) {
                                    return r.result.plan.more_launches;
                                  })};
}

class InterSm {
 public:
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out)
      : session_(info, options, out),
        table_(session_.out(), "grid latency",
               inter_sm_columns(options.stats)) {}

  void run() {
    session_.begin_section();
    for_each_method(GridMethods{}, [this](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!session_.options().wants(Method::kName)) return;
      if (!session_.gpu().cooperative_launch) {
        return table_.skip(Method::kName, "no cooperative launch on this GPU");
      }
      for (int per_sm = 1; per_sm <= kMaxBlocksPerSm; per_sm *= 2) {
        for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
          measure_point<Method>(per_sm, threads);
        }
      }
    });
  }

 private:
  template <class Method>
  void measure_point(int per_sm, int threads) {
    const std::string shape =
        std::to_string(per_sm) + " per SM x " + std::to_string(threads);
    const int fit = GridPoint<Method>::blocks_that_fit(threads);
    if (per_sm > fit) {
      return table_.skip(
          std::string(Method::kName) + " " + shape,
          "an SM holds " + std::to_string(fit) + " blocks of this size");
    }
    session_.show(std::string(Method::kName) + " " + shape);
    InterSmRow row;
    row.method = Method::kName;
    row.blocks = per_sm * session_.gpu().sm_count;
    row.threads = threads;
    GridPoint<Method> point(session_.gpu(), row.blocks, threads);
    row.result = measure_inter_sm(session_, point);
    row.mhz = session_.clock_mhz();
    table_.row(row);
  }

  Session session_;
  Table<InterSmRow> table_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "BenchmarkInterSM";
  info.summary =
      "Latency of synchronizing all blocks of a GPU, as the difference of two\n"
      "kernels that synchronize basicrep and moredrep times.";
  info.takes_gpu_count = true;
  info.methods = {
      {GridSync::kName, "grid_group::sync() of 1 to 32 blocks per SM"}};
  info.columns = describe("grid latency", inter_sm_columns(true)) +
                 "  from n on: only with --stats\n";
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  const ProgramInfo info = program_info();
  return run_program(info, argc, argv,
                     [&info](const Options& options, LineWriter& out) {
                       InterSm(info, options, out).run();
                     });
}
