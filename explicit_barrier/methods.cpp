#include "explicit_barrier/methods.hpp"

namespace syncbench {

std::string machine_code_of(const std::vector<MethodEntry>& methods,
                            int architecture) {
  constexpr const char* kProofs[] = {"each", "chain", "barrier", "turn",
                                     "nothing"};
  std::string text =
      "type\tlongest\tin_line\tproof\tcount\tothers\tpaths\tinstruction";
  for (const MethodEntry& method : methods) {
    const Work work = method.work(architecture);
    const bool missing = architecture < method.first_architecture ||
                         CUDART_VERSION < method.first_toolkit;
    const int longest = 1 << (method.kernels.size() - 1);
    text += "\n" + method.type;
    for (const int number : {longest, std::min(longest, method.most_in_line)}) {
      text += "\t" + std::to_string(number);
    }
    text += missing ? "\tmissing"
                    : std::string("\t") + kProofs[static_cast<int>(work.proof)];
    for (const int number : {work.count, work.others, work.paths}) {
      text += "\t" + std::to_string(number);
    }
    text += "\t" + std::string(work.instruction);
  }
  return text;
}

void take_methods(ProgramInfo& info, const std::vector<MethodEntry>& methods) {
  for (const MethodEntry& method : methods) {
    if (!info.methods.empty() && info.methods.back().name == method.name) {
      continue;  // one name, several sizes
    }
    info.methods.push_back(
        {method.name,
         method.text + (method.caution.empty() ? "" : "; " + method.caution)});
  }
  info.machine_code = [](int architecture) {
    return machine_code_of(all_methods(), architecture);
  };
}

}  // namespace syncbench
