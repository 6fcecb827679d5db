#include "pitfalls/run.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/child_processes.hpp"
#include "common/errors.hpp"

namespace syncbench::pitfalls {

namespace {

// Of all rows of a form.
RowKey key_of(const Case& one, Form form) {
  return partial_row(one.name, {name_of(form), "", "", ""}).key();
}

}  // namespace

PitfallsRun::PitfallsRun(const Options& options, char** argv, LineWriter& out,
                         int gpus, const Limits& limits)
    : options_(options),
      argv_(argv),
      gpus_(gpus),
      limits_(limits),
      out_(out),
      lanes_(out, "warp barrier: the last of the launches behind a verdict",
             lane_row()),
      verdicts_(out, "warp barrier verdict", verdict_row()),
      partial_(out, "partial groups", partial_row()),
      races_(out, "races", race_row()),
      litmus_(out, "message passing", litmus_row()),
      last_gpus_(gpus) {}

void PitfallsRun::run(const std::vector<Case>& cases) {
  run_section(cases, Section::kWarpBarrier);
  run_section(cases, Section::kPartialGroup);
  run_section(cases, Section::kRace);
  run_section(cases, Section::kLitmus);
  // After the last case as before each.
  start({"", Form::kAllowed, gpus_, gpus_}, limits_);
  out_.end();
  if (!failures_.empty()) throw std::runtime_error(failures_);
  asked_.check(options_.methods);
}

void PitfallsRun::run_section(const std::vector<Case>& cases, Section section) {
  try {
    for (const Case& one : cases) {
      if (one.section != section || !options_.wants(one.name, one.set)) {
        continue;
      }
      for (const Form form : one.forms) run_form(one, form);
    }
  } catch (...) {
    print_verdicts();
    throw;
  }
  print_verdicts();
}

void PitfallsRun::run_form(const Case& one, Form form) {
  const std::string point = std::string(one.name) + " " + name_of(form);
  if (gpus_ < one.fewest_gpus) {
    const std::string needed = std::to_string(one.fewest_gpus);
    return skip(
        one, form,
        {"too-few-gpus needs=" + needed,
         "needs " + needed + " GPUs, " + std::to_string(gpus_) + " used"});
  }
  progress_.show(point);
  const int gpus = one.fewest_gpus > 1 ? gpus_ : 1;
  Limits limits = limits_;
  limits.progress *= one.patience;
  const Outcome outcome = outcome_of(
      start({one.name, form, gpus, std::max(gpus, last_gpus_)}, limits),
      limits);
  last_ = point;
  last_gpus_ = gpus;
  progress_.clear();
  if (outcome.skipped) return skip(one, form, outcome.skipped);
  asked_.measured(one.name);
  print(one, form, point, outcome);
}

// Runs a process, which first looks whether its GPUs work: where they do not,
// what ran before is to blame.
ProcessReport PitfallsRun::start(const Task& task, const Limits& limits) {
  const bool blocking = task.form == Form::kOneByOne;
  const std::vector<std::string> marks = {
      process_mark(0), task.mark(),
      std::string("CUDA_LAUNCH_BLOCKING=") + (blocking ? "1" : "0")};
  ProcessReport report = run_isolated(argv_, marks, limits);
  if (report.ready) return report;
  const std::string why = report.text(limits) + report.reason();
  if (last_.empty()) throw NoDeviceError("no usable CUDA device: " + why);
  fail("after " + last_ + " the GPU does not recover: " + why);
  throw std::runtime_error(failures_);
}

void PitfallsRun::skip(const Case& one, Form form, const Remark& reason) {
  const RowKey key = key_of(one, form);
  asked_.skipped(one.name, key, reason.text);
  switch (one.section) {
    case Section::kWarpBarrier:
      verdict_skips_.emplace_back(one.name, reason);
      return;
    case Section::kPartialGroup:
      return partial_.skip(key, reason);
    case Section::kRace:
      return races_.skip(key, reason);
    case Section::kLitmus:
      return litmus_.skip(one.name, reason);
  }
}

void PitfallsRun::print(const Case& one, Form form, const std::string& point,
                        const Outcome& outcome) {
  const bool partial = one.section == Section::kPartialGroup;
  // Parts of groups may hang or fail: that is a result.
  if (!outcome.ended_well && (!partial || outcome.launches == 0)) {
    fail(point + ": " + outcome.text + outcome.reason);
    return skip(one, form, {"failed", outcome.text});
  }
  if (partial) return print_partial(one, form, outcome);
  if (one.section == Section::kWarpBarrier) {
    if (one.control && outcome.cells[0] != "0") {
      fail(point + ": held without a barrier");
    }
    for (const auto& cells : outcome.rows)
      lanes_.row(lane_row(one.name, cells));
    return verdict_rows_.push_back(verdict_row(one.name, outcome.cells));
  }
  if (one.section == Section::kLitmus) return print_messages(one, outcome);
  std::vector<std::string> cells = outcome.cells;
  cells.insert(cells.begin(), name_of(form));
  races_.row(race_row(one.name, cells));
  if (form == Form::kRight && cells.back() != "0") {
    fail(point + ": wrong with its barriers and fences");
  }
}

// The first order is none: where nothing is stale, the test sees nothing.
void PitfallsRun::print_messages(const Case& one, const Outcome& outcome) {
  for (const auto& cells : outcome.rows) {
    litmus_.row(litmus_row(one.name, cells));
    const bool stale = cells.back() != "0";
    const std::string name = std::string(one.name) + " " + cells.front();
    if (cells[1] == name_of(Form::kRight) && stale) {
      fail(name + ": stale data behind a new flag");
    }
    if (&cells == &outcome.rows.front() && !stale) {
      fail(name + ": no stale data without an order");
    }
  }
}

void PitfallsRun::print_partial(const Case& one, Form form,
                                const Outcome& outcome) {
  const RowKey key = key_of(one, form);
  for (const std::string& note : outcome.notes) {
    partial_.note(key, {"failure", note});
  }
  partial_.row(partial_row(
      one.name,
      {name_of(form), outcome.text,
       format_number(one.patience * limits_.progress.count() / 1000.0),
       std::to_string(outcome.launches)}));
  if (form == Form::kAllowed && outcome.text != "completed") {
    fail(std::string(one.name) + " as allowed: " + outcome.text +
         outcome.reason);
  }
  if (one.control && outcome.text != "wrong result") {
    fail(std::string(one.name) + ": " + outcome.text + " without a barrier");
  }
}

// They come after all lanes: rows of one table stand together.
void PitfallsRun::print_verdicts() {
  for (const Row& row : verdict_rows_) verdicts_.row(row);
  for (const auto& [key, reason] : verdict_skips_) {
    verdicts_.skip(key, reason);
  }
  verdict_rows_.clear();
  verdict_skips_.clear();
}

void PitfallsRun::fail(const std::string& text) {
  failures_ += (failures_.empty() ? "" : "; ") + text;
}

}  // namespace syncbench::pitfalls
