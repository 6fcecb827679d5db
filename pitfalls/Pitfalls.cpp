// Pitfalls: do barriers hold, what hangs, and which races show (study, section
// VIII). This process has no context on any GPU: each form of each case is a
// process of its own, which is killed when it hangs.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/asked_for.hpp"
#include "common/child_processes.hpp"
#include "common/devices.hpp"
#include "common/program.hpp"
#include "common/provenance.hpp"
#include "pitfalls/case.hpp"
#include "pitfalls/child.hpp"
#include "pitfalls/isolation.hpp"
#include "pitfalls/outcome.hpp"
#include "pitfalls/rows.hpp"

namespace syncbench {
namespace {

class Pitfalls {
 public:
  Pitfalls(const ProgramInfo& info, const Options& options, char** argv,
           LineWriter& out)
      : info_(info),
        options_(options),
        argv_(argv),
        out_(out),
        lanes_(out, "warp barrier: the last of the launches behind a verdict",
               lane_columns()),
        verdicts_(out, "warp barrier verdict", verdict_columns()),
        partial_(out, "partial groups", partial_columns()),
        races_(out, "races", race_columns()) {}

  void run() {
    begin();
    run_section(Section::kWarpBarrier);
    run_section(Section::kPartialGroup);
    run_section(Section::kRace);
    look_at_gpus();
    asked_.check(options_.methods);
    if (!failures_.empty()) throw std::runtime_error(failures_);
  }

 private:
  // Finds the GPUs, which makes no context, and says what runs.
  void begin() {
    const std::vector<Gpu> gpus = find_gpus();
    bool clamped = false;
    gpus_ = resolve_gpu_count(options_.gpu_count, static_cast<int>(gpus.size()),
                              &clamped);
    write_programs(out_, version_text(info_) + ", tries of a race " +
                             std::to_string(options_.samples));
    for (int i = 0; i < gpus_; ++i) {
      out_.comment("gpu " + std::to_string(i) + ": " + gpus[i].name + ", " +
                   std::to_string(gpus[i].sm_count) +
                   " SMs, compute capability " + std::to_string(gpus[i].major) +
                   "." + std::to_string(gpus[i].minor));
    }
  }

  void run_section(Section section) {
    try {
      for (const Case& one : all_cases()) {
        if (one.section != section || !options_.wants(one.name)) continue;
        for (const Form form : one.forms) run_form(one, form);
      }
    } catch (...) {
      print_verdicts();
      throw;
    }
    print_verdicts();
  }

  void run_form(const Case& one, Form form) {
    const std::string point = std::string(one.name) + " " + name_of(form);
    if (gpus_ < one.fewest_gpus) {
      return skip(one, point,
                  "it needs " + std::to_string(one.fewest_gpus) +
                      " GPUs, of which " + std::to_string(gpus_) + " is used");
    }
    progress_.show(point);
    const int gpus = one.fewest_gpus > 1 ? gpus_ : 1;
    const Outcome outcome = outcome_of(
        start({one.name, form, gpus, std::max(gpus, last_gpus_)}), limits_);
    last_ = point;
    last_gpus_ = gpus;
    if (!outcome.skipped.empty()) return skip(one, point, outcome.skipped);
    asked_.measured(point);
    print(one, form, outcome);
    progress_.clear();
  }

  // Runs a process. One that does not come to its first launch finds the GPU
  // in a bad state, which those before it are to blame for.
  ProcessReport start(const Task& task) {
    std::vector<std::string> marks = {process_mark(0), task.mark()};
    if (task.form == Form::kOneByOne) marks.push_back("CUDA_LAUNCH_BLOCKING=1");
    const ProcessReport report = run_isolated(argv_, marks, limits_);
    if (report.launches > 0 || report.ended_well()) return report;
    const std::string why = report.text(limits_) + "\n" + report.errors;
    if (last_.empty()) throw NoDeviceError("the first process failed: " + why);
    throw std::runtime_error("no GPU that works after " + last_ + ": " + why);
  }

  // The GPUs used run a kernel, after the last case as before each.
  void look_at_gpus() { start({"", Form::kAllowed, gpus_, gpus_}); }

  void skip(const Case& one, const std::string& point,
            const std::string& reason) {
    asked_.skipped(point, reason);
    switch (one.section) {
      case Section::kWarpBarrier:
        return verdict_skips_.push_back({point, {reason}});
      case Section::kPartialGroup:
        return partial_.skip(point, reason);
      case Section::kRace:
        return races_.skip(point, reason);
    }
  }

  void print(const Case& one, Form form, const Outcome& outcome) {
    const std::string name = one.name;
    for (const std::string& note : outcome.notes) partial_.comment(note);
    if (one.section == Section::kPartialGroup) {
      partial_.row({name,
                    {name_of(form), outcome.text,
                     format_number(limits_.progress.count() / 1000.0),
                     std::to_string(outcome.launches)}});
      if (form == Form::kAllowed && outcome.text != "completed") {
        fail(name + " as allowed: " + outcome.text);
      }
      return;
    }
    if (!outcome.ended_well) {
      fail(name + ": " + outcome.text);
      return skip(one, name, outcome.text);
    }
    for (const auto& cells : outcome.rows) {
      if (one.section == Section::kWarpBarrier) {
        lanes_.row({name, cells});
      } else {
        races_.row({name, cells});
        if (cells[0] == "right" && cells[2] != "0") {
          fail(name + ": wrong with its barriers and fences");
        }
      }
    }
    if (one.section == Section::kWarpBarrier) {
      verdict_rows_.push_back({name, outcome.cells});
    }
  }

  // They come after all lanes: rows of one table stand together.
  void print_verdicts() {
    for (const Cells& row : verdict_rows_) verdicts_.row(row);
    for (const Cells& row : verdict_skips_) {
      verdicts_.skip(row.method, row.cells[0]);
    }
    verdict_rows_.clear();
    verdict_skips_.clear();
  }

  void fail(const std::string& text) {
    failures_ += (failures_.empty() ? "" : "; ") + text;
  }

  const ProgramInfo& info_;
  const Options& options_;
  char** argv_;
  LineWriter& out_;
  const Limits limits_;
  Table<Cells> lanes_, verdicts_, partial_, races_;
  std::vector<Cells> verdict_rows_, verdict_skips_;
  Progress progress_;
  AskedFor asked_;
  std::string failures_;
  int gpus_ = 0;
  std::string last_;   // what ran before
  int last_gpus_ = 1;  // that it ran on
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "Pitfalls";
  info.summary =
      "Do barriers hold, what happens when a part of a group synchronizes, and "
      "how\noften do races show. Each case is a process of its own, which is "
      "killed when it\nmakes no progress. --samples: tries of each race.";
  info.takes_gpu_count = true;
  info.default_samples = 1000;
  for (const Case& one : all_cases()) {
    info.methods.push_back({one.name, one.text});
  }
  info.missing = missing_cases();
  info.columns = describe("warp barrier", lane_columns()) +
                 describe("warp barrier verdict", verdict_columns()) +
                 describe("partial groups", partial_columns()) +
                 describe("races", race_columns());
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  const ProgramInfo info = program_info();
  return run_program(info, argc, argv,
                     [&](const Options& options, LineWriter& out) {
                       if (const auto task = Task::of_this_process()) {
                         return run_task(*task, options, out);
                       }
                       Pitfalls(info, options, argv, out).run();
                     });
}
