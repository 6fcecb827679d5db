#include "pitfalls/run.hpp"

#include <sys/wait.h>

#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/asked_for.hpp"
#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/options.hpp"
#include "common/program.hpp"

namespace syncbench::pitfalls {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kTaskVariable = "SYNCBENCH_PITFALL";
constexpr milliseconds kLook{20};  // between two looks at clock and signals
const std::set<std::string> kWords = {kResultLine, kRowLine,  kWrongLine,
                                      kErrorLine,  kNoteLine, kSkippedLine};

Cells split(const std::string& text, char between) {
  Cells cells;
  std::istringstream stream(text);
  for (std::string cell; std::getline(stream, cell, between);) {
    cells.push_back(cell);
  }
  return cells;
}

// NAME=VALUE, of the environment of the process.
std::vector<std::string> marks_of(const Task& task) {
  const bool blocking = task.form == Form::kOneByOne;
  return {process_mark(0),
          mark_of(kTaskVariable, task.name + ":" + name_of(task.form) + ":" +
                                     std::to_string(task.gpus) + ":" +
                                     std::to_string(task.gpus_to_look_at)),
          std::string("CUDA_LAUNCH_BLOCKING=") + (blocking ? "1" : "0")};
}

std::string seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 ? "." + std::to_string(tenths % 10) : "") + " s";
}

class Watched {
 public:
  Watched(char** argv, const Task& task, const Limits& limits)
      : limits_(limits), child_(argv, marks_of(task)) {}

  Outcome follow() {
    outcome_.end = end();
    const std::string error = errors_.substr(0, errors_.find('\n'));
    if (!error.empty()) outcome_.reason = ", " + error;
    if (outcome_.ready) read_lines();
    return outcome_;
  }

 private:
  // Waits for it or kills it; says how it ended.
  std::string end() {
    for (;;) {
      read(kLook);
      if (pending_signal != 0) {
        kill();
        throw Interrupted{pending_signal};
      }
      if (bytes_ > limits_.bytes) {
        kill();
        return "more than " + std::to_string(limits_.bytes) + " bytes written";
      }
      // One that has closed its outputs leaves nothing else to wait for.
      const auto status =
          child_.ended_within(child_.writes() ? milliseconds(0) : kLook);
      if (status) return exited(*status);
      if (steady_clock::now() >= latest_) {
        kill();
        hangs_ = launched_;
        if (hangs_) return "no progress within " + seconds(limits_.progress);
        return (outcome_.launches > 0 ? "no end within "
                                      : "nothing launched within ") +
               seconds(limits_.start);
      }
    }
  }

  std::size_t read(milliseconds limit) {
    const std::size_t count = child_.read(
        limit, [this](const std::string& line) { take(line); },
        [this](const std::string& line) { errors_ += line + "\n"; });
    bytes_ += count;
    return count;
  }

  void take(const std::string& line) {
    launched_ = line == kLaunchLine;
    outcome_.launches += launched_;
    if (line == kReadyLine) {
      outcome_.ready = true;
    } else if (!launched_) {
      lines_.push_back(line);
    }
    latest_ =
        steady_clock::now() + (launched_ ? limits_.progress : limits_.start);
  }

  std::string exited(int status) {
    while (bytes_ <= limits_.bytes && read(milliseconds(0)) > 0) {
    }
    outcome_.ended_well = status == 0;
    return WIFSIGNALED(status)
               ? "signal " + std::to_string(WTERMSIG(status))
               : "exit code " + std::to_string(WEXITSTATUS(status));
  }

  void kill() {
    const int process = child_.pid();
    if (!child_.end(limits_.kill_signal, limits_.death)) {
      throw std::runtime_error(
          "process " + std::to_string(process) + " has not ended " +
          seconds(limits_.death) +
          " after it was killed: its kernel may still be on the GPU");
    }
  }

  // What they and the end say of the case.
  void read_lines() {
    auto& told = outcome_.told;
    for (const std::string& line : lines_) {
      const Cells cells = split(line, '\t');
      if (cells.size() < 2 || kWords.count(cells[0]) == 0) {
        throw std::runtime_error("not a line: " + line);
      }
      told[cells[0]].emplace_back(cells.begin() + 1, cells.end());
    }
    std::string error = outcome_.ended_well ? "no result" : outcome_.end;
    if (told.count(kErrorLine) > 0) error = told[kErrorLine].back()[0];
    const bool whole = told.count(kResultLine) + told.count(kSkippedLine) > 0;
    outcome_.ended_well &= whole && told.count(kErrorLine) == 0;
    if (hangs_) {
      outcome_.text = outcome_.end;
    } else if (outcome_.ended_well && told.count(kResultLine) > 0) {
      outcome_.text = told[kResultLine].back()[0];
    } else {
      outcome_.text = "error " + error;
    }
  }

  const Limits limits_;
  ChildProcess child_;
  Outcome outcome_;
  std::vector<std::string> lines_;  // but "ready" and "launch"
  std::string errors_;
  steady_clock::time_point latest_ = steady_clock::now() + limits_.start;
  std::size_t bytes_ = 0;
  bool launched_ = false, hangs_ = false;
};

}  // namespace

std::optional<Task> Task::of_this_process() {
  const auto text = marked(kTaskVariable);
  if (!text) return std::nullopt;
  const Cells words = split(*text, ':');
  if (words.size() == 4) {
    const int gpus = parse_count(words[2], kTaskVariable, kMaxGpuCount);
    const int looked_at = parse_count(words[3], kTaskVariable, kMaxGpuCount);
    for (std::size_t form = 0; form < std::size(kFormNames); ++form) {
      if (words[1] == kFormNames[form]) {
        return Task{words[0], static_cast<Form>(form), gpus, looked_at};
      }
    }
  }
  throw UsageError(std::string(kTaskVariable) +
                   " is no task: " + quoted(*text));
}

Outcome run_process(char** argv, const Task& task, const Limits& limits) {
  check_interrupt();
  return Watched(argv, task, limits).follow();
}

namespace {

struct Column {
  const char *header, *unit, *meaning;
  bool label = false;
};

// A table, whose rows are of a case each and have a cell for each column behind
// its name.
struct TableText {
  const char* title;
  std::vector<Column> columns;

  Row row(const std::string& name, const Cells& cells) const {
    Row row("the case; --list says what it is", name);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& [header, unit, meaning, label] = columns[i];
      label ? row.label(header, unit, meaning, cells.at(i))
            : row.cell(header, unit, meaning, cells.at(i));
    }
    return row;
  }
  Row header() const { return row("", Cells(columns.size())); }
};

// In the order of Section.
const TableText kTables[] = {
    {"warp barrier: the last of the launches behind a verdict",
     {{"lane", "", "of the warp, each in a branch of its own", true},
      {"start", "cycles", "before it synchronizes, since the first start"},
      {"end", "cycles", "after it, since the first start"}}},
    {"warp barrier verdict",
     {{"blocks", "", "1: in all launches every end came after every start"},
      {"launches", "", "launches of one warp"},
      {"held", "launches", "in which every end came after every start"},
      {"wrong", "lanes", "that got a wrong value, in all launches together"}}},
    {"partial groups",
     {{"form", "", "what the missing part does", true},
      {"outcome", "",
       "completed, wrong result (not all had come), no progress within T s, "
       "error NAME"},
      {"T", "s", "that a launch was given"},
      {"launches", "", "until then"}}},
    {"races",
     {{"form", "", "wrong, or right: as it should be", true},
      {"tries", "", "each alone with its data"},
      {"wrong", "tries", "with a wrong result"}}},
    {"message passing",
     {{"order", "", "plain, or PTX's name of it", true},
      {"form", "", "right: PTX forbids stale data; wrong: it does not", true},
      {"messages", "", "data and a flag each, 10,000 for each try of a race"},
      {"stale", "messages", "whose flag was new and whose data was old"}}}};

// Parts of groups may hang or fail: that is a result.
bool may_fail(const Case& one) { return one.section == Section::kPartialGroup; }

class Run {
 public:
  Run(const Options& options, char** argv, LineWriter& out, int gpus,
      const Limits& limits)
      : options_(options),
        argv_(argv),
        out_(out),
        gpus_(gpus),
        limits_(limits),
        last_gpus_(gpus) {
    for (const TableText& table : kTables) {
      tables_.emplace_back(out, table.title, table.header());
    }
  }

  void run(const std::vector<Case>& cases) {
    try {
      for (const Case& one : cases) {
        if (one.section != Section::kWarpBarrier) print_verdicts();
        run(one);
      }
    } catch (...) {
      print_verdicts();
      throw;
    }
    print_verdicts();
    // After the last case as before each.
    start({"", Form::kAllowed, gpus_, gpus_}, limits_);
    out_.end();
    if (!failures_.empty()) throw std::runtime_error(failures_);
    asked_.check(options_.methods);
  }

 private:
  Table& table(Section section) { return tables_[static_cast<int>(section)]; }
  void print_row(Section section, const std::string& name, const Cells& cells) {
    table(section).row(kTables[static_cast<int>(section)].row(name, cells));
  }

  void run(const Case& one) {
    if (one.run == nullptr || !options_.wants(one.name, one.set)) return;
    const std::string needed = std::to_string(one.fewest_gpus);
    for (const Form form : one.forms) {
      if (gpus_ >= one.fewest_gpus) {
        run(one, form);
      } else {
        skip(one, form,
             {"too-few-gpus needs=" + needed,
              "needs " + needed + " GPUs, " + std::to_string(gpus_) + " used"});
      }
    }
  }

  void run(const Case& one, Form form) {
    const std::string point = std::string(one.name) + " " + name_of(form);
    progress_.show(point);
    const int gpus = one.fewest_gpus > 1 ? gpus_ : 1;
    Limits limits = limits_;
    limits.progress *= one.patience;
    Outcome outcome =
        start({one.name, form, gpus, std::max(gpus, last_gpus_)}, limits);
    last_ = point;
    last_gpus_ = gpus;
    progress_.clear();
    if (outcome.told.count(kSkippedLine) > 0) {
      const Cells& reason = outcome.told[kSkippedLine].back();
      return skip(one, form, {reason.at(0), reason.at(1)});
    }
    asked_.measured(one.name);
    if (!outcome.ended_well && (!may_fail(one) || outcome.launches == 0)) {
      fail(point + ": " + outcome.text + outcome.reason);
      return skip(one, form, {"failed", outcome.text});
    }
    if (may_fail(one)) {
      judge_part(one, form, outcome);
      outcome.told[kRowLine] = {
          {name_of(form), outcome.text,
           format_number(limits.progress.count() / 1000.0),
           std::to_string(outcome.launches)}};
    }
    print(one, form, outcome.told);
  }

  // Runs a process, which first looks whether its GPUs work: where they do not,
  // what ran before is to blame.
  Outcome start(const Task& task, const Limits& limits) {
    Outcome outcome = run_process(argv_, task, limits);
    if (outcome.ready) return outcome;
    const std::string why = outcome.end + outcome.reason;
    if (last_.empty()) throw NoDeviceError("no usable CUDA device: " + why);
    fail("after " + last_ + " the GPU does not recover: " + why);
    throw std::runtime_error(failures_);
  }

  void judge_part(const Case& one, Form form, const Outcome& outcome) {
    const std::string name = one.name;
    if (form == Form::kAllowed && outcome.text != "completed") {
      fail(name + " as allowed: " + outcome.text + outcome.reason);
    }
    if (one.control && outcome.text != "wrong result") {
      fail(name + ": " + outcome.text + " without a barrier");
    }
  }

  // Of all rows of a form.
  static RowKey key_of(const Case& one, Form form) {
    return Row("", one.name).label("form", "", "", name_of(form)).key();
  }

  void skip(const Case& one, Form form, const Remark& reason) {
    const RowKey key = key_of(one, form);
    asked_.skipped(one.name, key, reason.text);
    if (one.section == Section::kWarpBarrier) {
      verdict_skips_.emplace_back(one.name, reason);
    } else {
      const bool whole_case = one.section == Section::kLitmus;
      table(one.section).skip(whole_case ? one.name : key.text, reason);
    }
  }

  void print(const Case& one, Form form,
             std::map<std::string, std::vector<Cells>>& told) {
    for (const Cells& note : told[kNoteLine]) {
      table(one.section).note(key_of(one, form), {"failure", note[0]});
    }
    for (const Cells& cells : told[kRowLine]) {
      print_row(one.section, one.name, cells);
    }
    if (one.section == Section::kWarpBarrier) {
      verdict_rows_.emplace_back(one.name, told[kResultLine].back());
    }
    for (const Cells& wrong : told[kWrongLine]) {
      fail(std::string(one.name) + ' ' + wrong[0]);
    }
  }

  // They come after all lanes: rows of one table stand together.
  void print_verdicts() {
    for (const auto& [name, cells] : verdict_rows_) {
      print_row(Section::kWarpVerdict, name, cells);
    }
    for (const auto& [key, reason] : verdict_skips_) {
      table(Section::kWarpVerdict).skip(key, reason);
    }
    verdict_rows_.clear();
    verdict_skips_.clear();
  }

  void fail(const std::string& text) {
    failures_ += (failures_.empty() ? "" : "; ") + text;
  }

  const Options& options_;
  char** argv_;
  LineWriter& out_;
  const int gpus_;
  const Limits limits_;
  std::vector<Table> tables_;                                  // by section
  std::vector<std::pair<std::string, Cells>> verdict_rows_;    // of cases
  std::vector<std::pair<std::string, Remark>> verdict_skips_;  // key, reason
  Progress progress_;
  AskedFor asked_;
  std::string failures_;
  std::string last_;  // what ran before
  int last_gpus_;     // that it ran on; all before the first
};

}  // namespace

std::string describe_tables() {
  std::string text;
  for (const TableText& table : kTables) {
    text += describe(name_of_section(table.title), table.header());
  }
  return text;
}

void run_cases(const std::vector<Case>& cases, const Options& options,
               char** argv, LineWriter& out, int gpus, const Limits& limits) {
  Run(options, argv, out, gpus, limits).run(cases);
}

}  // namespace syncbench::pitfalls
