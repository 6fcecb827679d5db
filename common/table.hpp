// Rows on standard output: tab-separated values, written whole or not at all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "common/sets.hpp"
#include "common/statistics.hpp"

namespace syncbench {

/// What there is to know of a row, a method or the run: for scripts a tag, with
/// values where it has any ("does-not-fit holds=2"); for people a text, which
/// can be reworded. No text: there is nothing to say.
struct Remark {
  std::string tag;
  std::string text;

  explicit operator bool() const { return !text.empty(); }
};

enum class Kind {
  kWarning,  ///< it casts doubt on a number
  kSkipped,  ///< why there is no row
  kNote      ///< else
};

/// `KIND[TAG] KEY: TEXT`. `key`: what it is of, as Row::key() says, or a
/// method; empty: the section, or above all sections the run.
std::string annotation(Kind kind, const std::string& key, const Remark& remark);

/// `NAME=VALUE`, with quotes around a value that has blanks, colons or
/// brackets.
std::string pair_text(const std::string& name, const std::string& value);

/// NAME of a section's title "NAME: how it was measured".
inline std::string name_of_section(const std::string& title) {
  return title.substr(0, title.find(':'));
}

/// What the comments of an output have said, for a few lines on standard error.
class Told {
 public:
  /// Takes in a comment: warnings and reasons why there is no row, as
  /// annotation() writes them, and nothing else. That blocks of a size do not
  /// fit is none: it is so on every GPU.
  void add(const std::string& comment);

  /// A line for each kind of them: how many rows or methods, the worst and what
  /// is said of it.
  std::vector<std::string> lines() const;

 private:
  struct Kind {
    int count = 0;
    std::set<std::string> methods;
    double percent = -1;  // of the worst
    std::string key, text;
  };

  std::map<std::pair<std::string, std::string>, Kind> kinds_;  // by word, tag
};

/// Writes lines to a file descriptor. A line that cannot be written whole is
/// taken back where the descriptor is a regular file, then OutputError. On a
/// terminal, if no mpirun or srun has started the process, rows are aligned,
/// and annotations are left out: told() has those for people.
class LineWriter {
 public:
  explicit LineWriter(int descriptor);

  bool aligned() const { return terminal_; }
  /// Whether rows have the cells of --stats, too.
  bool stats() const { return stats_; }
  void show_stats(bool stats) { stats_ = stats; }
  const Told& told() const { return told_; }

  void line(std::string text);
  void row(std::string text) {
    line(std::move(text));
    ++rows_;
  }
  void comment(const std::string& text);
  void annotate(Kind kind, const std::string& key, const Remark& remark) {
    comment(annotation(kind, key, remark));
  }

  /// The title of a section and its header.
  void section(const std::string& title, const std::string& header);

  /// The last line of a whole output: how many rows it has, and which sections.
  void end();

  /// Some file systems notice a full disk only when data reaches it. To be
  /// called when all lines are written; OutputError when some were not.
  void finish();

 private:
  [[noreturn]] void fail(std::size_t written, int error);

  int descriptor_;
  bool terminal_;
  bool stats_ = false;
  int rows_ = 0;
  std::string sections_;  // names, with | between them
  Told told_;
};

/// `text` with blanks before it up to so many letters; behind it where `width`
/// is negative.
std::string padded(const std::string& text, int width);

/// A number with `decimals` digits after the point; `nan` where there is none.
std::string format_number(double value, int decimals = 3);

/// What there is to say something of: a row, those of one method or some of
/// them.
struct RowKey {
  std::string method;
  std::string text = method;  ///< "METHOD COLUMN=CELL ..."

  operator const std::string&() const { return text; }
};

/// A label of a row that stands for many: any number.
inline constexpr int kAny = -1;

/// What a cell says that is no real number.
struct Word {
  Word(const char* of) : text(of) {}
  Word(std::string of) : text(std::move(of)) {}
  Word(int number) : text(std::to_string(number)) {}
  Word(std::size_t number) : text(std::to_string(number)) {}

  std::string text;
};

struct Cell {
  std::string header, unit, meaning;  ///< for --columns
  std::string text;
  bool label = false;     ///< it tells the rows of a method apart
  std::string mean = {};  ///< header of the cell with its quantity's mean
  int width = 8;          ///< letters, where rows are aligned
};

/// A row, cell by cell in the order of printing. One function makes all rows of
/// a table; without numbers it makes the one that says what its columns are.
class Row {
 public:
  /// The first cell is the method; --list has its names.
  Row(std::string meaning, std::string method);

  Row& label(std::string header, std::string unit, std::string meaning,
             Word word);
  Row& cell(std::string header, std::string unit, std::string meaning,
            Word word);
  Row& real(std::string header, std::string unit, std::string meaning,
            double value, int decimals = 3);

  /// Cells m(name) and s(name). The study's README spells one pair differently,
  /// hence the second name.
  Row& mean_stddev(const std::string& name, const std::string& unit,
                   const std::string& meaning, const Summary& value,
                   int decimals = 3, const std::string& stddev_name = "");

  /// From here on, the cells are those of --stats. `main`: the quantity that
  /// rows are judged by; `chosen`: labels that the program may choose anew in
  /// each run, with commas between them.
  Row& stats(std::string main, std::string chosen = "");
  /// Cell n: samples behind each total.
  Row& count(const Summary& value);
  /// Cells med(name) and ci95(name).
  Row& robust(const std::string& name, const std::string& unit,
              const Summary& value, int decimals = 3);
  Row& clock(double mhz,
             std::string meaning = "SM clock of GPU 0 after this row");
  /// The last one of --stats: who asks for the row.
  Row& set(Set set);
  /// The same with count() and robust() of a row's one quantity.
  Row& stats(const std::string& name, const std::string& unit,
             const Summary& value, int decimals = 3) {
    return stats(name).count(value).robust(name, unit, value, decimals);
  }

  const std::vector<Cell>& cells() const { return cells_; }
  /// Cells without those of --stats.
  std::size_t shown() const { return shown_ == 0 ? cells_.size() : shown_; }
  const std::string& main() const { return main_; }
  const std::string& chosen() const { return chosen_; }

  /// What it is of by its labels; what many rows are of where some of these are
  /// kAny, "nan" or empty.
  RowKey key() const;

 private:
  Row& number(std::string header, const std::string& name, std::string unit,
              std::string meaning, double value, int decimals);

  std::vector<Cell> cells_;
  std::size_t shown_ = 0;  // 0: all
  std::string main_, chosen_;
};

/// One section: a `# title` line, a header line and for scripts
/// `# section[main=NAME chosen=LABELS]`, written before the first row or
/// comment of the section, then rows, each written when it is measured.
class Table {
 public:
  /// All rows have the cells of `columns`.
  Table(LineWriter& out, std::string title, Row columns)
      : out_(out), title_(std::move(title)), columns_(std::move(columns)) {}

  /// std::logic_error where it has other cells.
  void row(const Row& row);

  /// Nothing where `remark` says nothing.
  void annotate(Kind kind, const std::string& key, const Remark& remark);
  void note(const std::string& key, const Remark& remark) {
    annotate(Kind::kNote, key, remark);
  }

  /// A note that stands once in the section, however often it is made.
  void note_once(const std::string& key, const Remark& remark) {
    if (once_.insert(key + remark.text).second) note(key, remark);
  }

  /// Why there is no row of `key`.
  void skip(const std::string& key, const Remark& reason) {
    annotate(Kind::kSkipped, key, reason);
  }

 private:
  void open();
  std::string line_of(const Row& row, std::string Cell::*text) const;

  LineWriter& out_;
  std::string title_;
  Row columns_;
  std::set<std::string> once_;
  bool open_ = false;
};

/// The lines of --columns on a table: its title, then of each cell of `columns`
/// header, unit, meaning and Cell::mean.
std::string describe(const std::string& title, const Row& columns);

}  // namespace syncbench
