#include "pitfalls/outcome.hpp"

#include <sstream>
#include <stdexcept>

namespace syncbench::pitfalls {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
  return cells;
}

}  // namespace

Outcome outcome_of(const ProcessReport& report, const Limits& limits) {
  Outcome outcome;
  std::string error;
  bool has_result = false;
  for (const std::string& line : report.lines) {
    std::vector<std::string> cells = split(line);
    if (cells.size() < 2) throw std::runtime_error("not a line: " + line);
    const std::string first = cells[0];
    cells.erase(cells.begin());
    if (first == kResultLine) {
      outcome.cells = cells;
      has_result = true;
    } else if (first == kRowLine) {
      outcome.rows.push_back(cells);
    } else if (first == kNoteLine) {
      outcome.notes.push_back(cells[0]);
    } else if (first == kErrorLine) {
      error = cells[0];
    } else if (first == kSkippedLine) {
      outcome.skipped = {cells.at(0), cells.at(1)};
    } else {
      throw std::runtime_error("not a line: " + line);
    }
  }
  if (report.ended_well() && error.empty() && !outcome.skipped && !has_result) {
    error = "no result";
  }
  outcome.launches = report.launches;
  outcome.reason = report.reason();
  outcome.ended_well = report.ended_well() && error.empty();
  outcome.text = report.end == End::kNoProgress ? report.text(limits)
                 : !error.empty()               ? "error " + error
                 : !report.ended_well()         ? "error " + report.text(limits)
                 : outcome.cells.empty()        ? "completed"
                                                : outcome.cells[0];
  return outcome;
}

}  // namespace syncbench::pitfalls
