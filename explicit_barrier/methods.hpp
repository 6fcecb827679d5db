// The one list of all methods.
#pragma once

#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/table.hpp"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench::explicit_barrier {

using MethodList = std::vector<MethodEntry> (*)();

/// What this build cannot measure, and why.
std::vector<MethodInfo> missing_grid_methods();
std::vector<MethodInfo> missing_gpu_methods();

/// The lists of a program, in the order of their rows: of each file NAME.cu of
/// methods/ the one that list_NAME() gives. CMakeLists.txt writes it.
std::vector<MethodList> method_lists();

/// All methods of the program, in the order of rows and of --list.
const std::vector<MethodEntry>& all_methods();

/// Those whose scope lies between two, both included.
std::vector<MethodEntry> methods_of(Scope first, Scope last);

/// The first method of a name that has this group; std::out_of_range where
/// there is none.
const MethodEntry& find_method(const char* name, int group = 32);

/// Its type as the source writes it.
std::string name_of_type(const MethodEntry& method);

/// What scripts call it: "block", "gpus".
const char* name_of(Scope scope);

/// Of a method with an About::tile, for people.
inline std::string tile_text(const MethodEntry& method) {
  return std::string("`tile` is the number of ") + method.tile;
}

/// Says above the rows of a method what About::tile and About::caution say.
inline void note_about(Table& table, const MethodEntry& method) {
  if (method.tile[0] != '\0') {
    table.note_once(method.name, {"tile " + pair_text("counts", method.tile),
                                  tile_text(method)});
  }
  table.note_once(method.name, {"method", method.caution});
}

/// What the kernels of each method consist of on an architecture, 90 for sm_90:
/// tab-separated lines under a header, for
/// tests/machine_code/machine_code_test.py. Of any architecture, for
/// scripts/sanitize.py: its name, its scope and whether its results are
/// checked.
std::string machine_code_of(const std::vector<MethodEntry>& methods,
                            int architecture);

/// Fills in what a program of these methods lists, and adds --machine-code,
/// which tells of all methods in the program, `in_program`.
void take_methods(ProgramInfo& info, const std::vector<MethodEntry>& methods,
                  const std::vector<MethodEntry>& in_program = all_methods());

}  // namespace syncbench::explicit_barrier
