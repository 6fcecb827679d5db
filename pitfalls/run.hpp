// All cases, one process after the other, and their rows. Host code only: this
// process has no context on any GPU.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/asked_for.hpp"
#include "common/options.hpp"
#include "common/program.hpp"
#include "common/table.hpp"
#include "pitfalls/case.hpp"
#include "pitfalls/isolation.hpp"
#include "pitfalls/outcome.hpp"
#include "pitfalls/rows.hpp"
#include "pitfalls/task.hpp"

namespace syncbench::pitfalls {

class PitfallsRun {
 public:
  /// `argv`: the command line of the processes. `gpus`: those used.
  PitfallsRun(const Options& options, char** argv, LineWriter& out, int gpus,
              const Limits& limits = {});

  /// Rows of all of `cases` that are wanted. Throws NoDeviceError where the
  /// GPUs do not work, and std::runtime_error at once where they do not recover
  /// from a case or its process cannot be killed; at the end where what is
  /// allowed did not work, or what was asked for by name is not there.
  void run(const std::vector<Case>& cases);

 private:
  void run_section(const std::vector<Case>& cases, Section section);
  void run_form(const Case& one, Form form);
  ProcessReport start(const Task& task, const Limits& limits);
  void skip(const Case& one, Form form, const Remark& reason);
  void print(const Case& one, Form form, const std::string& point,
             const Outcome& outcome);
  void print_partial(const Case& one, Form form, const Outcome& outcome);
  void print_verdicts();
  void print_messages(const Case& one, const Outcome& outcome);
  void fail(const std::string& text);

  const Options& options_;
  char** argv_;
  const int gpus_;
  const Limits limits_;
  LineWriter& out_;
  Table lanes_, verdicts_, partial_, races_, litmus_;
  std::vector<Row> verdict_rows_;
  std::vector<std::pair<std::string, Remark>> verdict_skips_;  // key, reason
  Progress progress_;
  AskedFor asked_;
  std::string failures_;
  std::string last_;  // what ran before
  int last_gpus_;     // that it ran on; all before the first
};

}  // namespace syncbench::pitfalls
