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

#include "common/launcher.hpp"

namespace syncbench {

// Open MPI gives the first process a terminal also where the output of mpirun
// goes to a file.
LineWriter::LineWriter(int descriptor)
    : descriptor_(descriptor),
      terminal_(isatty(descriptor) != 0 && launched_processes() < 0) {}

void LineWriter::comment(const std::string& text) {
  told_.add(text);
  const bool annotation = text.rfind("warning[", 0) == 0 ||
                          text.rfind("skipped[", 0) == 0 ||
                          text.rfind("note[", 0) == 0;
  if (!terminal_ || !annotation) line("# " + text);
}

void LineWriter::section(const std::string& title, const std::string& header) {
  comment(title);
  line(header);
  sections_ +=
      (sections_.empty() ? "" : "|") + title.substr(0, title.find(':'));
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

}  // namespace syncbench
