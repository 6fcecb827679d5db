#include "common/table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "common/child_processes.hpp"

namespace syncbench {

std::string annotation(Kind kind, const std::string& key,
                       const Remark& remark) {
  constexpr const char* kKinds[] = {"warning", "skipped", "note"};
  return std::string(kKinds[static_cast<int>(kind)]) + '[' + remark.tag + ']' +
         (key.empty() ? "" : ' ' + key) + ": " + remark.text;
}

std::string pair_text(const std::string& name, const std::string& value) {
  std::string text = value;
  std::replace(text.begin(), text.end(), '"', '\'');
  const bool plain =
      !text.empty() && text.find_first_of(" :[]") == std::string::npos;
  return name + (plain ? '=' + text : "=\"" + text + '"');
}

std::string padded(const std::string& text, int width) {
  const std::size_t most = static_cast<std::size_t>(std::abs(width));
  if (text.size() >= most) return text;
  const std::string blanks(most - text.size(), ' ');
  return width < 0 ? text + blanks : blanks + text;
}

std::string format_number(double value, int decimals) {
  if (!std::isfinite(value)) return "nan";
  std::string text(std::snprintf(nullptr, 0, "%.*f", decimals, value), '\0');
  std::snprintf(text.data(), text.size() + 1, "%.*f", decimals, value);
  return text;
}

Row::Row(std::string meaning, std::string method) {
  cell("method", "", std::move(meaning), std::move(method));
}

Row& Row::cell(std::string header, std::string unit, std::string meaning,
               Word word) {
  cells_.push_back({std::move(header), std::move(unit), std::move(meaning),
                    std::move(word.text)});
  return *this;
}

Row& Row::label(std::string header, std::string unit, std::string meaning,
                Word word) {
  cell(std::move(header), std::move(unit), std::move(meaning), std::move(word));
  cells_.back().label = true;
  return *this;
}

Row& Row::real(std::string header, std::string unit, std::string meaning,
               double value, int decimals) {
  cell(std::move(header), std::move(unit), std::move(meaning),
       format_number(value, decimals));
  cells_.back().width = decimals + 8;
  return *this;
}

// A number of the quantity `name`.
Row& Row::number(std::string header, const std::string& name, std::string unit,
                 std::string meaning, double value, int decimals) {
  real(std::move(header), std::move(unit), std::move(meaning), value, decimals);
  cells_.back().mean = "m(" + name + ")";
  return *this;
}

Row& Row::mean_stddev(const std::string& name, const std::string& unit,
                      const std::string& meaning, const Summary& value,
                      int decimals, const std::string& stddev_name) {
  return number("m(" + name + ")", name, unit, meaning, value.mean, decimals)
      .number("s(" + (stddev_name.empty() ? name : stddev_name) + ")", name,
              unit, "standard deviation (n - 1) of the same", value.stddev,
              decimals);
}

Row& Row::stats(std::string main, std::string chosen) {
  shown_ = cells_.size();
  main_ = std::move(main);
  chosen_ = std::move(chosen);
  return *this;
}

Row& Row::count(const Summary& value) {
  return cell("n", "samples", "samples of every total", value.count);
}

Row& Row::robust(const std::string& name, const std::string& unit,
                 const Summary& value, int decimals) {
  return number("med(" + name + ")", name, unit, "median of " + name,
                value.median, decimals)
      .number("ci95(" + name + ")", name, unit,
              "half width of the 95% interval of m(" + name + ")", value.ci95,
              decimals);
}

Row& Row::clock(double mhz, std::string meaning) {
  return real("clock", "MHz", std::move(meaning), mhz, 1);
}

Row& Row::set(Set set) {
  return cell("set", "", "study, today or evidence: who asks for the row",
              name_of(set));
}

RowKey Row::key() const {
  RowKey key = {cells_[0].text};
  for (const Cell& cell : cells_) {
    if (!cell.label || cell.text.empty() || cell.text == "nan" ||
        cell.text == std::to_string(kAny)) {
      continue;
    }
    key.text += ' ' + pair_text(cell.header, cell.text);
  }
  return key;
}

void Table::row(const Row& row) {
  const auto& cells = row.cells();
  if (!std::equal(cells.begin(), cells.end(), columns_.cells().begin(),
                  columns_.cells().end(), [](const Cell& a, const Cell& b) {
                    return a.header == b.header;
                  })) {
    throw std::logic_error("a row has other columns than " + title_);
  }
  open();
  out_.row(line_of(row, &Cell::text));
}

void Table::annotate(Kind kind, const std::string& key, const Remark& remark) {
  if (!remark) return;
  open();
  out_.annotate(kind, key, remark);
}

void Table::open() {
  if (open_) return;
  open_ = true;
  const std::string header = line_of(columns_, &Cell::header);
  out_.section(title_, header);
  const bool shown = header.find("m(" + columns_.main() + ')') != header.npos;
  std::string said = shown ? " main=" + columns_.main() : "";
  if (!columns_.chosen().empty()) said += " chosen=" + columns_.chosen();
  if (!said.empty()) out_.comment("section[" + said.substr(1) + ']');
}

std::string Table::line_of(const Row& row, std::string Cell::*text) const {
  constexpr int kNameWidth = 30;
  std::string line;
  for (std::size_t i = 0; i < row.cells().size(); ++i) {
    if (i == row.shown() && !out_.stats()) break;
    const Cell& cell = row.cells()[i];
    if (!out_.aligned()) {
      line += (i == 0 ? "" : "\t") + cell.*text;
    } else if (i == 0) {
      line = padded(cell.*text, -kNameWidth);
    } else {
      const int title = static_cast<int>(cell.header.size());
      line += "  " + padded(cell.*text, std::max(cell.width, title));
    }
  }
  return line;
}

std::string describe(const std::string& title, const Row& columns) {
  std::string text;
  for (const Cell& cell : columns.cells()) {
    text += title + '\t' + cell.header + '\t' + cell.unit + '\t' +
            cell.meaning + '\t' + cell.mean + '\n';
  }
  return text;
}

namespace {

// |percent| of a tag that has it; -1 where it has none.
double percent_of(const std::string& tag) {
  const std::string name = " percent=";
  const std::size_t found = tag.find(name);
  if (found == tag.npos) return -1;
  return std::abs(std::strtod(tag.c_str() + found + name.size(), nullptr));
}

}  // namespace

void Told::add(const std::string& comment) {
  const std::size_t open = comment.find('['), close = comment.find(']');
  const std::string word = comment.substr(0, open);
  if ((word != "warning" && word != "skipped") || close == comment.npos) return;
  const std::string tag = comment.substr(open + 1, close - open - 1);
  const std::string name = tag.substr(0, tag.find(' '));
  if (name == "does-not-fit") return;
  const std::size_t colon = comment.find(": ", close);
  Kind& kind = kinds_[{word, name}];
  std::string key;
  if (colon > close + 2) key = comment.substr(close + 2, colon - close - 2);
  ++kind.count;
  kind.methods.insert(key.substr(0, key.find(' ')));
  const double percent = percent_of(tag);
  if (kind.count > 1 && !(percent > kind.percent)) return;
  kind.percent = percent;
  kind.key = key;
  kind.text = comment.substr(colon + 2);
}

std::vector<std::string> Told::lines() const {
  std::vector<std::string> lines;
  for (const auto& [name, kind] : kinds_) {
    const bool skipped = name.first == "skipped";
    std::string line = skipped ? "not measured" : name.first;
    if (skipped && kind.methods.size() > 1) {
      line += ": " + std::to_string(kind.methods.size()) + " methods";
    } else if (kind.count > 1) {
      line += ": " + std::to_string(kind.count) +
              (kind.percent < 0 ? " times, first" : " rows, the worst");
    }
    line += (kind.key.empty() ? "" : ": " + kind.key) + ": " + kind.text;
    lines.push_back(line);
  }
  return lines;
}

// Open MPI gives the first process a terminal also where the output of mpirun
// goes to a file.
LineWriter::LineWriter(int descriptor)
    : descriptor_(descriptor),
      terminal_(isatty(descriptor) != 0 && launched_processes() < 0) {}

void LineWriter::comment(const std::string& text) {
  told_.add(text);
  const bool annotation =
      text.rfind("warning[", 0) == 0 || text.rfind("skipped[", 0) == 0 ||
      text.rfind("note[", 0) == 0 || text.rfind("section[", 0) == 0;
  if (!terminal_ || !annotation) line("# " + text);
}

void LineWriter::section(const std::string& title, const std::string& header) {
  comment(title);
  line(header);
  sections_ += (sections_.empty() ? "" : "|") + name_of_section(title);
}

void LineWriter::end() {
  comment("end[rows=" + std::to_string(rows_) +
          (sections_.empty() ? "" : ' ' + pair_text("sections", sections_)) +
          ']');
}

void LineWriter::line(std::string text) {
  text += '\n';
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count =
        write(descriptor_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(written, errno);
    written += static_cast<std::size_t>(count);
  }
}

void LineWriter::finish() {
  struct stat status = {};
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) &&
      fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    fail(0, errno);
  }
}

void LineWriter::fail(std::size_t written, int error) {
  struct stat status = {};
  std::string note;
  if (written > 0 && fstat(descriptor_, &status) == 0 &&
      S_ISREG(status.st_mode)) {
    const off_t end = lseek(descriptor_, 0, SEEK_CUR);
    const off_t whole = end - static_cast<off_t>(written);
    if (end < 0 || ftruncate(descriptor_, whole) != 0) {
      note = " (the last row is cut short)";
    }
  }
  throw OutputError(std::string("cannot write to standard output: ") +
                    std::strerror(error) + note);
}

}  // namespace syncbench
