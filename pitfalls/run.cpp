#include "pitfalls/run.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "common/asked_for.hpp"
#include "common/errors.hpp"
#include "common/program.hpp"

namespace syncbench::pitfalls {
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

// The results of warp barriers.
const TableText kVerdicts = {
    "warp barrier verdict",
    {{"blocks", "", "1: in all launches every end came after every start"},
     {"launches", "", "launches of one warp"},
     {"held", "launches", "in which every end came after every start"},
     {"wrong", "lanes", "that got a wrong value, in all launches together"}}};

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
        verdicts_(out, kVerdicts.title, kVerdicts.header()),
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
  static int number_of(const Case& one) {
    return static_cast<int>(one.section);
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
      tables_[number_of(one)].skip(whole_case ? one.name : key.text, reason);
    }
  }

  void print(const Case& one, Form form,
             std::map<std::string, std::vector<Cells>>& told) {
    Table& table = tables_[number_of(one)];
    for (const Cells& note : told[kNoteLine]) {
      table.note(key_of(one, form), {"failure", note[0]});
    }
    for (const Cells& cells : told[kRowLine]) {
      table.row(kTables[number_of(one)].row(one.name, cells));
    }
    if (one.section == Section::kWarpBarrier) {
      verdict_rows_.push_back(
          kVerdicts.row(one.name, told[kResultLine].back()));
    }
    for (const Cells& wrong : told[kWrongLine]) {
      fail(std::string(one.name) + ' ' + wrong[0]);
    }
  }

  // They come after all lanes: rows of one table stand together.
  void print_verdicts() {
    for (const Row& row : verdict_rows_) verdicts_.row(row);
    for (const auto& [key, reason] : verdict_skips_) {
      verdicts_.skip(key, reason);
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
  std::vector<Table> tables_;  // by section
  Table verdicts_;
  std::vector<Row> verdict_rows_;
  std::vector<std::pair<std::string, Remark>> verdict_skips_;  // key, reason
  Progress progress_;
  AskedFor asked_;
  std::string failures_;
  std::string last_;  // what ran before
  int last_gpus_;     // that it ran on; all before the first
};

}  // namespace

std::string describe_tables() {
  std::string text = describe("warp barrier", kTables[0].header()) +
                     describe(kVerdicts.title, kVerdicts.header());
  for (int i = 1; i < 4; ++i) {
    text += describe(kTables[i].title, kTables[i].header());
  }
  return text;
}

void run_cases(const std::vector<Case>& cases, const Options& options,
               char** argv, LineWriter& out, int gpus, const Limits& limits) {
  Run(options, argv, out, gpus, limits).run(cases);
}

}  // namespace syncbench::pitfalls
