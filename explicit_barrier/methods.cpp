#include "explicit_barrier/methods.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/build_info.hpp"
#include "common/options.hpp"
#include "explicit_barrier/arguments.hpp"

namespace syncbench::explicit_barrier {

Arguments no_arguments(const std::vector<int>& devices, int) {
  static None none;
  return {std::vector<void*>(devices.size(), &none)};
}

const void* MethodEntry::kernel(int in_line) const {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (1 << k == in_line && kernels[k] != nullptr) return kernels[k];
  }
  throw std::out_of_range(std::string(name) + " has no kernel of " +
                          std::to_string(in_line) + " operations in a row");
}

int MethodEntry::most_repeats() const {
  int most = 0;
  groups(1024).for_each(
      [&](int group) { most = std::max(most, repeats(group)); });
  return most;
}

const std::vector<MethodEntry>& all_methods() {
  static const std::vector<MethodEntry> methods = [] {
    std::vector<MethodEntry> all;
    for (const MethodList list : method_lists()) {
      for (MethodEntry& method : list()) all.push_back(std::move(method));
    }
    return all;
  }();
  return methods;
}

std::vector<MethodEntry> methods_of(Scope first, Scope last) {
  std::vector<MethodEntry> found;
  for (const MethodEntry& method : all_methods()) {
    if (first <= method.scope && method.scope <= last) found.push_back(method);
  }
  return found;
}

const MethodEntry& find_method(const char* name, int group) {
  for (const MethodEntry& method : all_methods()) {
    const Sizes groups = method.groups(1024);
    if (std::strcmp(method.name, name) == 0 && groups.first <= group &&
        group <= groups.last) {
      return method;
    }
  }
  throw std::out_of_range(name);
}

std::string name_of_type(const MethodEntry& method) {
  char* text = abi::__cxa_demangle(method.type, nullptr, nullptr, nullptr);
  std::string name = text;
  std::free(text);
  return name;
}

const char* name_of(Scope scope) {
  constexpr const char* kScopes[] = {"thread",  "warp", "block",
                                     "cluster", "grid", "gpus"};
  return kScopes[static_cast<int>(scope)];
}

std::string machine_code_of(const std::vector<MethodEntry>& methods,
                            int architecture) {
  constexpr const char* kProofs[] = {"each",     "lanes",     "rate",   "chain",
                                     "barrier",  "unordered", "node",   "parts",
                                     "messages", "turn",      "nothing"};
  std::string text =
      "type\tlines\tin_line\tproof\tcount\tothers\tpaths\tinstruction\t"
      "also\tsize\ttoolkit\tmethod\tscope\tchecked";
  for (const MethodEntry& method : methods) {
    const ExpectedCode expected = method.expected_code(architecture);
    const bool missing = architecture < method.first_architecture ||
                         CUDART_VERSION < method.first_toolkit;
    text += "\n" + name_of_type(method) + "\t";
    int longest = 0;
    for (std::size_t k = 0; k < method.kernels.size(); ++k) {
      if (method.kernels[k] == nullptr) continue;
      longest = 1 << k;
      text += (k == 0 ? "" : " ") + std::to_string(longest);
    }
    text += "\t" + std::to_string(std::min(longest, method.most_in_line));
    text += missing ? "\tmissing"
                    : std::string("\t") +
                          kProofs[static_cast<int>(expected.proven_by)];
    for (const int number :
         {expected.count, expected.most_others, expected.ways}) {
      text += "\t" + std::to_string(number);
    }
    text += std::string("\t") + expected.instruction + "\t";
    for (const ExpectedCode::Beside& beside : expected.beside) {
      if (beside.count == 0) continue;
      if (text.back() != '\t') text += " & ";
      text += std::to_string(beside.count) + " " + beside.instruction;
    }
    text += "\t" + std::to_string(method.groups(1024).first);
    for (const char* word : {kNvcc, method.name, name_of(method.scope)}) {
      text += std::string("\t") + word;
    }
    text += method.checked ? "\t1" : "\t0";
  }
  return text;
}

void take_methods(ProgramInfo& info, const std::vector<MethodEntry>& methods,
                  const std::vector<MethodEntry>& in_program) {
  for (const MethodEntry& method : methods) {
    if (!info.methods.empty() && info.methods.back().name == method.name) {
      continue;  // one name, several sizes
    }
    std::string notes = method.tile[0] != '\0' ? tile_text(method) : "";
    if (!notes.empty() && method.caution[0] != '\0') notes += "; ";
    info.methods.push_back({method.name, method.text, name_of(method.scope),
                            notes + method.caution, method.instruction,
                            method.set});
  }
  info.options.push_back(
      {"machine-code", "N", "what the methods' kernels consist of on sm_N",
       [in_program](const std::string& value, Options& options) {
         const int architecture = parse_count(value, "--machine-code", 999);
         options.print = [in_program, architecture] {
           return machine_code_of(in_program, architecture);
         };
       }});
}

}  // namespace syncbench::explicit_barrier
