// Stencil: what a time step costs where each needs the results of the one
// before, by all ways to put a barrier between them (study, section VII).
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/interrupt.hpp"
#include "common/measuring_run.hpp"
#include "common/noise.hpp"
#include "libraries/processes.hpp"
#include "stencil/field_ways.hpp"
#include "stencil/host_steps.hpp"

namespace syncbench::stencil {

using libraries::make_together;
using libraries::process_options;
using libraries::ProcessOptions;
using libraries::ProcessRun;

namespace {

constexpr const char* kTitles[] = {"time steps 2D", "time steps 3D"};
constexpr int kFieldThreads = 1024;  // of a block; there is one on each SM
constexpr int kPartOfMemory = 4;     // of a GPU's, that the largest field takes
constexpr double kSampledNs = 50e6;  // of the longer runs of a row, about
constexpr int kFewestSamples = 5;
// Steps by which a way shows that its results are right: an even and an odd
// number, which end in different copies.
constexpr int kProofSteps[] = {64, 33};

bool all_processes(const MeasuringRun& run, bool value) {
  return run.least_of_processes(value) == 1;
}

// Bytes of the largest field on each of these GPUs. `asked_for`: by the command
// line; 0: nothing. `smallest`: what every section has a field of.
long long largest_field(const MeasuringRun& run, long long asked_for,
                        long long smallest) {
  std::size_t least_free = SIZE_MAX, least_total = SIZE_MAX;
  for (const Gpu& gpu : run.gpus()) {
    const DeviceGuard guard(gpu.index);
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    least_free = std::min(least_free, free);
    least_total = std::min(least_total, total);
  }
  // Halos and the memory of barriers come on top of it.
  const auto room = static_cast<long long>(
      0.9 * run.least_of_processes(static_cast<double>(least_free)));
  if (asked_for > room) {
    throw UsageError("fields of " + std::to_string(asked_for) +
                     " bytes do not fit into the " + std::to_string(room) +
                     " bytes of memory that they can have");
  }
  if (asked_for > 0 && asked_for < smallest) {
    throw UsageError("--max-bytes must be at least " +
                     std::to_string(smallest) + " on these GPUs");
  }
  if (asked_for > 0) return asked_for;
  const auto part = static_cast<long long>(
      run.least_of_processes(static_cast<double>(least_total)) / kPartOfMemory);
  return std::min(room, part);
}

using Teams = std::vector<std::unique_ptr<Team>>;

// Of one process: of its first GPU, of two, four and so on, and of all. Of
// several, of the GPU of each.
Teams make_teams(const std::vector<Gpu>& all, const ProcessRun& process) {
  Teams teams;
  const auto add = [&](std::size_t count) {
    const std::vector<Gpu> gpus(all.begin(), all.begin() + count);
    teams.push_back(std::make_unique<Team>(process.world, process.watch, gpus));
  };
  for (std::size_t count = 1; count < all.size(); count *= 2) add(count);
  add(all.size());
  return teams;
}

// What a row says.
struct FieldRow {
  std::string method;
  int gpus = 1;
  double cells = kNan;  // of each GPU
  FieldShape shape = {};
  double steps = kNan;  // of the longer run
  FieldGrid grid = {};
  Summary step = {};    // ns
  double sync = kNan;   // percent of a step
  double right = kNan;  // 1: all results were right; 0: one was not
  int nodes = 1, processes = 1;
  double mhz = kNan;  // SM clock of the slowest GPU, after the samples
};

Row row_of(const FieldRow& field) {
  return Row("way to make time steps", field.method)
      .label("GPUcount", "", "GPUs involved", field.gpus)
      .label("cells", "", "of each GPU", format_number(field.cells, 0))
      .cell("width", "cells", "of a row", field.shape.width)
      .cell("rows", "rows", "of a layer; a layer is a row in 2D",
            field.shape.rows)
      .cell("layers", "layers", "of each GPU", field.shape.layers)
      .real("steps", "", "of the longer run; the shorter has a quarter",
            field.steps, 0)
      .cell("blk", "blocks", "grid dimension on each GPU", field.grid.blocks)
      .cell("thrd", "threads", "block dimension", field.grid.threads)
      .mean_stddev("step", "ns", "one more time step", field.step)
      .real("GB/s", "10^9 B/s",
            "each cell of all GPUs read and written once, 8 bytes / m(step)",
            8 * field.cells * field.gpus / field.step.mean)
      .real("sync", "%",
            "of m(step) beyond that of none, or of none_tile for tiles; below "
            "0 where that is slower",
            field.sync, 1)
      .real("right", "",
            "1: all results were right; 0: not; nan: it orders nothing",
            field.right, 0)
      .cell("nodes", "", "machines", field.nodes)
      .cell("processes", "", "of all nodes", field.processes)
      .stats("step", "ns", field.step)
      .clock(field.mhz, "SM clock of the slowest GPU used, after the samples")
      .set(field.shape.set);
}

// What was wrong.
struct WrongSteps {
  int rows = 0;
  std::set<std::string> ways;  // in the small fields before any row

  // For an error; empty: nothing was.
  std::string text() const {
    if (rows > 0) {
      return "wrong results in " + std::to_string(rows) +
             " rows, whose `right` is 0";
    }
    std::string names;
    for (const std::string& way : ways)
      names += (names.empty() ? "" : ", ") + way;
    return names.empty() ? "" : "wrong results in small fields of " + names;
  }
};

// The section of so many dimensions: every way on one GPU, on two, four and so
// on, and on all; in several processes, on all alone. Each way has first shown
// its results to be those of the host.
class TimeSteps {
 public:
  TimeSteps(MeasuringRun& run, const Teams& teams, int dimensions, int blocks,
            long long most_bytes, WrongSteps& wrong)
      : run_(run),
        teams_(teams),
        dimensions_(dimensions),
        blocks_(blocks),
        shapes_(field_shapes(dimensions, blocks_, most_bytes)),
        table_(run.begin_section(kTitles[dimensions - 2], row_of({}))),
        wrong_(wrong) {}

  void measure() {
    if (shapes_.empty()) {
      const long long least = smallest_shape(dimensions_, blocks_).bytes();
      table_.note("", {"no-size", "the smallest field needs --max-bytes " +
                                      std::to_string(least)});
    }
    skip_others();
    for (const auto& team : teams_) {
      team_ = team.get();
      const std::vector<Way> ways = prove();
      for (const FieldShape& shape : shapes_) {
        if (run_.options().measures(shape.set)) of_shape(shape, ways);
      }
    }
  }

 private:
  // A way that these GPUs have, and its steps of the field that is timed.
  struct Way {
    FieldWay way;
    bool right;
    std::unique_ptr<FieldSteps> steps = {};
  };

  int gpu_count() const { return team_->total(); }
  int processes() const { return teams_[0]->processes(); }

  void show(const std::string& point) {
    run_.show(point);
    team_->show(point);
  }

  // What this build lacks, which nobody can ask for by name, and what this
  // start cannot have; aloud where it was asked for.
  void skip_others() {
    for (const FieldWay& way : missing_field_ways()) {
      if (run_.options().methods.empty()) table_.skip(way.name, way.missing);
    }
    const Remark reason =
        processes() == 1
            ? Remark{"one-process",
                     "it needs a process for each GPU: start the program with "
                     "mpirun or srun"}
            : Remark{"processes",
                     "it is of one process: start the program without mpirun "
                     "and srun"};
    for (const FieldWay& way : field_ways()) {
      if (!run_.options().wants(way.name, Set::kToday) ||
          way.is_for_processes(processes())) {
        continue;
      }
      if (run_.options().methods.empty()) {
        table_.skip(way.name, reason);
      } else {
        run_.skip(table_, {way.name}, reason);
      }
    }
  }

  RowKey key(const FieldWay& way, double cells = kNan) const {
    return row_of({way.name, gpu_count(), cells}).key();
  }
  RowKey key(const FieldWay& way, const FieldShape& shape) const {
    return key(way, static_cast<double>(shape.cells()));
  }

  // Ways that were asked for, and those without order that they are compared
  // with.
  std::vector<FieldWay> planned() const {
    const std::vector<FieldWay> all = field_ways();
    const auto wanted = [&](const FieldWay& way) {
      return way.is_for(gpu_count()) && way.is_for_processes(processes()) &&
             run_.options().wants(way.name, Set::kToday);
    };
    std::vector<FieldWay> planned;
    for (const FieldWay& way : all) {
      const bool compared =
          !way.orders &&
          std::any_of(all.begin(), all.end(), [&](const FieldWay& other) {
            return wanted(other) && other.form == way.form;
          });
      if (wanted(way) || compared) planned.push_back(way);
    }
    return planned;
  }

  // All that these GPUs have. Each has made the steps of small fields, which
  // were compared with the host's bit for bit: of few threads, each with
  // several parts of the field, and of many, each with several layers.
  std::vector<Way> prove() {
    const FieldShape shape = proof_shape(dimensions_, blocks_);
    Field few(*team_, shape, {blocks_, 32, 1});
    Field many(*team_, shape, {blocks_, kFieldThreads, 5});
    std::map<int, std::vector<float>> expected;
    std::vector<Way> proved;
    for (const FieldWay& way : planned()) {
      team_->show(key(way));
      run_.measure_or_skip(table_, key(way), [&] {
        bool right = true;
        for (Field* field : {&few, &many}) {
          const auto steps = make_together([&] { return way.make(*field); });
          for (const int count : kProofSteps) {
            if (expected[count].empty() && way.orders) {
              expected[count] = host_steps(shape, gpu_count(), count);
            }
            field->fill();
            steps->run(count);
            right &= !way.orders || is_part(*field, count, expected[count]);
          }
        }
        right = all_processes(run_, right);
        if (!right) {
          wrong_.ways.insert(way.name);
          run_.warn(key(way),
                    {"wrong", "its results are not those of the host"});
        }
        proved.push_back({way, right});
      });
    }
    return proved;
  }

  // Whether the layers of this process are those of the whole field.
  bool is_part(const Field& field, int steps,
               const std::vector<float>& whole) const {
    auto expected = whole.begin() + team_->first() * field.shape().cells();
    for (int rank = 0; rank < team_->local(); ++rank) {
      const auto cells = field.read(steps, rank, 1, field.shape().layers);
      if (!std::equal(cells.begin(), cells.end(), expected)) return false;
      expected += field.shape().cells();
    }
    return true;
  }

  void of_shape(const FieldShape& shape, const std::vector<Way>& proved) {
    show(std::string("field ") + shape.text());
    std::unique_ptr<Field> field;
    std::vector<Way> ways;
    for (const Way& way : proved) {
      run_.measure_or_skip(table_, key(way.way, shape), [&] {
        if (field == nullptr) {
          field = std::make_unique<Field>(*team_, shape,
                                          FieldGrid{blocks_, kFieldThreads});
        }
        ways.push_back({way.way, way.right,
                        make_together([&] { return way.way.make(*field); })});
      });
    }
    if (ways.empty()) return;
    std::vector<TimedPoint> points;
    const AtClock clock = sample(*field, ways, points);
    print(*field, ways, points, clock);
  }

  // Whether compared_layers() of each GPU are those of the host. By a thread
  // each: those of the largest field take a quarter of a second.
  bool has_layers_of_host(const Field& field) const {
    const FieldShape& shape = field.shape();
    std::vector<char> same(team_->local(), 1);
    team_->run([&](int rank) {
      const int before = (team_->first() + rank) * shape.layers;
      team_->end_all_if_it_fails([&] {
        for (const int number : compared_layers(shape.layers)) {
          same[rank] &=
              field.read(kHostSteps, rank, number, 1) ==
              host_layers(shape, gpu_count(), kHostSteps, before + number, 1);
        }
      });
      return CallResult();
    });
    return std::count(same.begin(), same.end(), 0) == 0;
  }

  // The digests that are right after so many steps: of launches of which the
  // host waits for each. Their kernel steps as most ways do, so the host
  // makes some layers itself; where these differ, no result is known as right.
  std::map<int, std::uint64_t> digests(Field& field, std::vector<Way>& ways,
                                       const std::vector<int>& counts) {
    show("reference steps");
    std::map<int, std::uint64_t> digests;
    const auto steps = reference_steps(field);
    field.fill();
    steps->run(kHostSteps);
    if (!all_processes(run_, has_layers_of_host(field))) {
      for (Way& way : ways) {
        if (!way.way.orders) continue;
        way.right = false;
        run_.warn(
            key(way.way, field.shape()),
            {"wrong", "what its results are compared with is not the host's"});
      }
    }
    for (const int count : counts) {
      field.fill();
      steps->run(count);
      digests[count] = field.digest(count);
    }
    return digests;
  }

  // Samples of `ways` as `points`; every result is checked.
  AtClock sample(Field& field, std::vector<Way>& ways,
                 std::vector<TimedPoint>& points) {
    const int longer = steps_of(field.shape()), shorter = longer / 4;
    const auto right = digests(field, ways, {longer, shorter});
    const auto run_once = [&](Way& way, int count) {
      field.fill();
      const double time = way.steps->run(count);
      way.right &= !way.way.orders || field.digest(count) == right.at(count);
      return time;
    };
    int samples = kFewestSamples;
    for (Way& way : ways) {
      const RowKey name = key(way.way, field.shape());
      check_interrupt();
      show(name);
      run_once(way, shorter);  // a warm-up
      const double once = run_.least_of_processes(run_once(way, longer));
      const double fit = std::min(kSampledNs / once, 1e6);
      samples = std::max(
          samples, std::min(run_.options().samples, static_cast<int>(fit)));
      points.push_back({[&, name] {
        team_->show(name);
        return run_.measure_at(name, [&] {
          const double longer_ns = run_once(way, longer);
          return Sample{{"longer", longer_ns},
                        {"shorter", run_once(way, shorter)}};
        });
      }});
    }
    samples = std::min(samples, run_.options().samples);
    return run_.sample_at_full_clock(team_->local(), points, samples);
  }

  void print(const Field& field, const std::vector<Way>& ways,
             const std::vector<TimedPoint>& points, const AtClock& clock) {
    const FieldShape& shape = field.shape();
    const int steps = steps_of(shape);
    std::map<FieldForm, double> unordered;  // ns a step
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const FieldWay& way = ways[i].way;
      const Summary total = summarize(points[i].samples.at("longer"));
      FieldRow row = {way.name,
                      gpu_count(),
                      static_cast<double>(shape.cells()),
                      shape,
                      static_cast<double>(steps),
                      field.grid()};
      row.nodes = team_->nodes();
      row.processes = processes();
      const auto more = steps - steps / 4;
      row.step =
          difference(total, summarize(points[i].samples.at("shorter")), more);
      if (way.orders) {
        const auto base = unordered.find(way.form);
        if (base != unordered.end()) {
          row.sync = 100 * (1 - base->second / row.step.mean);
        }
        row.right = all_processes(run_, ways[i].right);
      } else {
        unordered[way.form] = row.step.mean;
      }
      row.mhz = clock.mhz;
      const RowKey name = row_of(row).key();
      run_.show(name);
      if (!run_.options().wants(row.method, Set::kToday)) continue;
      table_.row(row_of(row));
      run_.warn(name, clock.warning);
      table_.note(name, clock.repeated);
      run_.warn(name, wide_interval(row.step));
      // Runs of less than 100 us vary with each launch.
      run_.check_row(name, total.mean > 100e3 ? total : Summary());
      wrong_.rows += row.right == 0;
    }
  }

  MeasuringRun& run_;
  const Teams& teams_;
  Team* team_ = teams_[0].get();  // of the rows now
  const int dimensions_;
  const int blocks_;
  const std::vector<FieldShape> shapes_;
  Table table_;
  WrongSteps& wrong_;
};

std::string measure(MeasuringRun& run, const ProcessRun& process,
                    long long max_bytes) {
  const Teams teams = make_teams(run.gpus(), process);
  run.show("sizes of the fields");
  const int blocks =
      static_cast<int>(run.least_of_processes(run.gpu().sm_count));
  const long long smallest = std::max(smallest_shape(2, blocks).bytes(),
                                      smallest_shape(3, blocks).bytes());
  const long long most = largest_field(run, max_bytes, smallest);
  WrongSteps wrong;
  for (const int dimensions : {2, 3}) {
    TimeSteps(run, teams, dimensions, blocks, most, wrong).measure();
  }
  return wrong.text();
}

ProgramInfo program_info(long long& max_bytes, ProcessOptions& asked) {
  ProgramInfo info;
  info.name = "Stencil";
  info.summary =
      "Time steps of a field of floats, by Jacobi's method, in two and three\n"
      "dimensions on one GPU and several: kernels that are launched again, "
      "and\nkernels that stay and meet at barriers. mpirun or srun start a "
      "process for\neach GPU.";
  info.takes_gpu_count = true;
  info.default_samples = 20;
  info.counted +=
      "; as many as fit into 50 ms by the fastest, at least 5 of them";
  info.options = {
      {"max-bytes", "N",
       "bytes of the largest field on each GPU, two copies; N may end in K, M "
       "or G (default 1/" +
           std::to_string(kPartOfMemory) + " of a GPU's memory)",
       [&max_bytes](const std::string& value, Options&) {
         max_bytes = parse_bytes(value, "--max-bytes");
       }}};
  for (const Option& option : process_options(asked)) {
    info.options.push_back(option);
  }
  constexpr const char* kGroups[] = {"grid", "gpus", "gpus"};
  for (const FieldWay& way : field_ways()) {
    info.methods.push_back(
        {way.name, way.text, kGroups[static_cast<int>(way.gpus)]});
  }
  for (const FieldWay& way : missing_field_ways()) {
    info.missing.push_back({way.name, way.missing.text});
  }
  for (const char* title : kTitles) info.columns += describe(title, row_of({}));
  return info;
}

}  // namespace
}  // namespace syncbench::stencil

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace stencil;
  long long max_bytes = 0;
  ProcessOptions asked;
  return libraries::run_in_processes(
      program_info(max_bytes, asked), argc, argv, asked,
      [&](MeasuringRun& run, const ProcessRun& process) {
        return measure(run, process, max_bytes);
      });
}
