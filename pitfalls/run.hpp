// All cases, one process after the other, and their rows.
#pragma once

#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/table.hpp"
#include "pitfalls/case.hpp"
#include "pitfalls/process.hpp"

namespace syncbench::pitfalls {

/// Runs the task of this process: lines on `out`.
void run_task(const Task& task, const Options& options, LineWriter& out);

/// Columns of all tables, for --columns.
std::string describe_tables();

/// Rows of all of `cases` that are wanted, section by section, on `gpus` GPUs.
/// `argv`: the command line of the processes. Throws NoDeviceError where the
/// GPUs do not work, and std::runtime_error at once where they do not recover
/// from a case or its process cannot be killed; at the end where what is
/// allowed did not work, or what was asked for by name is not there.
void run_cases(const std::vector<Case>& cases, const Options& options,
               char** argv, LineWriter& out, int gpus,
               const Limits& limits = {});

}  // namespace syncbench::pitfalls
