// Rows on standard output: tab-separated values, written whole or not at all.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "common/sets.hpp"
#include "common/statistics.hpp"
#include "common/told.hpp"

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

/// `KIND[TAG] KEY: TEXT`. `key`: what it is of, as Table::key() says, or a
/// method; empty: the section, or above all sections the run.
std::string annotation(Kind kind, const std::string& key, const Remark& remark);

/// `NAME=VALUE`, with quotes around a value that has blanks, colons or
/// brackets.
std::string pair_text(const std::string& name, const std::string& value);

/// Writes lines to a file descriptor. A line that cannot be written whole is
/// taken back where the descriptor is a regular file, then OutputError. On a
/// terminal, if no mpirun or srun has started the process, rows are aligned,
/// and annotations are left out: told() has them.
class LineWriter {
 public:
  explicit LineWriter(int descriptor);

  bool aligned() const { return terminal_; }
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

  /// The title of a section ("NAME: how it was measured") and its header.
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
  int rows_ = 0;
  std::string sections_;  // names, with | between them
  Told told_;
};

/// `text` with blanks before it up to so many letters; behind it where `width`
/// is negative.
std::string padded(const std::string& text, int width);

/// A number with `decimals` digits after the point; `nan` where there is none.
std::string format_number(double value, int decimals = 3);

template <class Row>
struct Column;

template <class Row>
using Columns = std::vector<Column<Row>>;

/// One column of a table whose rows are of type Row: header, unit and meaning
/// (both for --columns), and how its cell is read from a row.
template <class Row>
struct Column {
  std::string header;
  std::string unit;
  std::string meaning;
  std::function<std::string(const Row&)> cell;
  bool label = false;     ///< it tells the rows of a method apart
  std::string mean = {};  ///< header of the column with its quantity's mean
  int width = 8;          ///< letters of a cell, where rows are aligned
};

/// The same columns, which tell the rows of a method apart.
template <class Row>
Columns<Row> labels(Columns<Row> columns) {
  for (auto& column : columns) column.label = true;
  return columns;
}

/// What there is to say something of: a row, those of one method or some of
/// them.
struct RowKey {
  std::string method;
  std::string text = method;  ///< "METHOD COLUMN=CELL ..."

  operator const std::string&() const { return text; }
};

/// A label of a row that stands for many: any number.
inline constexpr int kAny = -1;

/// A column of text or whole numbers. Here and below `get` is a function of a
/// row, or one of its members: &Row::method.
template <class Row, class Getter>
Column<Row> column(std::string header, std::string unit, std::string meaning,
                   Getter get) {
  return {std::move(header), std::move(unit), std::move(meaning),
          [get](const Row& row) -> std::string {
            if constexpr (std::is_convertible_v<
                              std::invoke_result_t<Getter, const Row&>,
                              std::string>) {
              return std::invoke(get, row);
            } else {
              return std::to_string(std::invoke(get, row));
            }
          }};
}

/// A column of one real number.
template <class Row, class Getter>
Column<Row> real_column(std::string header, std::string unit,
                        std::string meaning, Getter get, int decimals = 3) {
  return {std::move(header),
          std::move(unit),
          std::move(meaning),
          [get, decimals](const Row& row) {
            return format_number(std::invoke(get, row), decimals);
          },
          false,
          {},
          decimals + 8};
}

/// A number of the Summary that `get` returns, whose mean is in m(name).
template <class Row, class Getter>
Column<Row> number_column(std::string header, const std::string& name,
                          std::string unit, std::string meaning, Getter get,
                          double Summary::*number, int decimals) {
  Column<Row> column = real_column<Row>(
      std::move(header), std::move(unit), std::move(meaning),
      [get, number](const Row& row) { return std::invoke(get, row).*number; },
      decimals);
  column.mean = "m(" + name + ")";
  return column;
}

/// Columns m(name) and s(name) of the Summary that `get` returns. The study's
/// README spells one pair differently, hence the second name.
template <class Row, class Getter>
Columns<Row> mean_stddev_columns(const std::string& name,
                                 const std::string& unit,
                                 const std::string& meaning, Getter get,
                                 int decimals = 3,
                                 const std::string& stddev_name = "") {
  return {number_column<Row>("m(" + name + ")", name, unit, meaning, get,
                             &Summary::mean, decimals),
          number_column<Row>(
              "s(" + (stddev_name.empty() ? name : stddev_name) + ")", name,
              unit, "standard deviation (n - 1) of the same", get,
              &Summary::stddev, decimals)};
}

/// Columns of --stats for the Summary that `get` returns.
template <class Row, class Getter>
Columns<Row> robust_columns(const std::string& name, const std::string& unit,
                            Getter get, int decimals = 3) {
  return {
      number_column<Row>("med(" + name + ")", name, unit, "median of " + name,
                         get, &Summary::median, decimals),
      number_column<Row>("ci95(" + name + ")", name, unit,
                         "half width of the 95% interval of m(" + name + ")",
                         get, &Summary::ci95, decimals)};
}

/// Column n of --stats: samples behind the Summary that `get` returns.
template <class Row, class Getter>
Columns<Row> sample_count_column(Getter get) {
  return {column<Row>(
      "n", "samples", "samples of every total",
      [get](const Row& row) { return std::invoke(get, row).count; })};
}

/// Column clock of --stats: the row's SM clock, Row::mhz.
template <class Row>
Columns<Row> clock_column() {
  return {real_column<Row>(
      "clock", "MHz", "SM clock of GPU 0 after this row",
      [](const Row& row) { return row.mhz; }, 1)};
}

/// The last column of --stats: the row's set, Row::set.
template <class Row>
Columns<Row> set_column() {
  return {column<Row>("set", "",
                      "study, today or evidence: who asks for the row",
                      [](const Row& row) { return name_of(row.set); })};
}

template <class Row>
Columns<Row> operator+(Columns<Row> left, Columns<Row> right) {
  for (auto& column : right) left.push_back(std::move(column));
  return left;
}

/// One section: a `# title` line and a header line, written before the first
/// row or comment of the section, then rows, each written when it is measured.
/// All rows of one table have the same columns.
template <class Row>
class Table {
 public:
  Table(LineWriter& out, std::string title, Columns<Row> columns)
      : out_(out), title_(std::move(title)), columns_(std::move(columns)) {}

  void row(const Row& row) {
    open();
    out_.row(joined([&row](const Column<Row>& c) { return c.cell(row); }));
  }

  /// What a row is of by the columns that are labels; of many rows where some
  /// of them are kAny, NaN or empty.
  RowKey key(const Row& row) const {
    RowKey key = {columns_[0].cell(row)};
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      const Column<Row>& column = columns_[i];
      if (!column.label) continue;
      const std::string cell = column.cell(row);
      if (cell.empty() || cell == "nan" || cell == "-1") continue;
      key.text += ' ' + pair_text(column.header, cell);
    }
    return key;
  }

  /// Nothing where `remark` says nothing.
  void annotate(Kind kind, const std::string& key, const Remark& remark) {
    if (!remark) return;
    open();
    out_.annotate(kind, key, remark);
  }
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
  void open() {
    if (open_) return;
    open_ = true;
    out_.section(title_, joined([](const Column<Row>& c) { return c.header; }));
  }

  template <class Text>
  std::string joined(Text text) const {
    constexpr int kNameWidth = 30;
    std::string line;
    for (const auto& column : columns_) {
      const std::string cell = text(column);
      if (!out_.aligned()) {
        line += (line.empty() ? "" : "\t") + cell;
      } else if (line.empty()) {
        line = padded(cell, -kNameWidth);
      } else {
        const int title = static_cast<int>(column.header.size());
        line += "  " + padded(cell, std::max(column.width, title));
      }
    }
    return line;
  }

  LineWriter& out_;
  std::string title_;
  Columns<Row> columns_;
  std::set<std::string> once_;
  bool open_ = false;
};

/// The lines of --columns on a table: its title, then of each column header,
/// unit, meaning and Column::mean.
template <class Row>
std::string describe(const std::string& title, const Columns<Row>& columns) {
  std::string text;
  for (const auto& column : columns) {
    text += title + '\t' + column.header + '\t' + column.unit + '\t' +
            column.meaning + '\t' + column.mean + '\n';
  }
  return text;
}

}  // namespace syncbench
