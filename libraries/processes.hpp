// What programs have in common that mpirun and srun start, with a process for
// each GPU: start, agreement, and one end for all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/errors.hpp"
#include "common/measuring_run.hpp"
#include "common/options.hpp"
#include "libraries/team.hpp"

namespace syncbench::libraries {

/// What the options of such a program say.
struct ProcessOptions {
  bool hosts = false;
  int limit = 60;  ///< seconds
};

/// Their rows in ProgramInfo::options. `asked` outlives them.
std::vector<Option> process_options(ProcessOptions& asked);

/// One of the processes of a run, when it measures.
struct ProcessRun {
  const mpi::World& world;
  Watch& watch;
};

/// What a process measures; returns what has failed, or nothing.
using ProcessSections =
    std::function<std::string(MeasuringRun&, const ProcessRun&)>;

/// run_sections() in one process, or in one of several: joins the others, sees
/// to it that all are the same program with the same arguments and that each
/// has a GPU of its own, by its number on its node, and says who takes part.
/// Only process 0 writes rows. Every failure of a process ends all of them,
/// with one line on standard error.
int run_in_processes(ProgramInfo info, int argc, char** argv,
                     const ProcessOptions& asked,
                     const ProcessSections& sections);

/// What the processes have said, of which the first one counts: a failure or a
/// reason is that of the process of the lowest number.
std::string first_said(const std::vector<std::string>& texts);

/// Runs `make` in all processes. Where one cannot measure, none does.
template <class Make>
auto make_together(Make make) {
  decltype(make()) made = {};
  std::string reason;
  try {
    made = make();
  } catch (const CannotMeasure& error) {
    reason = error.tag + '\t' + error.what();
  }
  const std::string first = first_said(mpi::gather(reason));
  if (first.empty()) return made;
  const std::size_t tab = first.find('\t');
  throw CannotMeasure(first.substr(0, tab), first.substr(tab + 1));
}

}  // namespace syncbench::libraries
