#include "stand_in_gpu/faults.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

std::atomic<long> calls{0};
std::atomic<bool> failed{false};

std::string offset_of(const void* address) {
  Dl_info info = {};
  char text[32];
  const auto* at = static_cast<const char*>(address);
  if (dladdr(address, &info) == 0) return "?";
  std::snprintf(text, sizeof text, "%lx",
                static_cast<unsigned long>(
                    at - static_cast<const char*>(info.dli_fbase)));
  return text;
}

// A line: number, process, call, where it is called, and by whom that is.
void note(long number, const char* call, const void* from, bool fails) {
  static const int file =
      open(scenario().calls.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  constexpr int kFrames = 10, kOurs = 4;
  void* stack[kFrames];
  const int depth = backtrace(stack, kFrames);
  std::string line = std::to_string(number) + "\t" + std::to_string(process()) +
                     "\t" + call + "\t" + offset_of(from) + "\t";
  for (int i = kOurs; i < depth; ++i) line += offset_of(stack[i]) + ";";
  line += fails ? "\tfails\n" : "\t\n";
  if (write(file, line.data(), line.size()) < 0) std::_Exit(98);
}

// Whether this is the call that is to fail.
bool is_planned(const char* call, long* number_of_call) {
  static const long planned = static_cast<long>(scenario().fail_at);
  static const std::string part = scenario().fail_call;
  static const int where = static_cast<int>(scenario().fail_process);
  if (std::string(call).find(part) == std::string::npos) {
    *number_of_call = 0;
    return false;
  }
  *number_of_call = ++calls;
  return *number_of_call == planned && (where == -2 || where == process());
}

cudaError_t fail() {
  const std::string& how = scenario().fail_mode;
  if (how == "hang") {
    for (;;) pause();
  }
  if (how == "abort") std::abort();
  if (how == "kill") raise(SIGKILL);
  const auto code = static_cast<cudaError_t>(scenario().fail_code);
  failed = true;
  if (how == "sticky") poison(code);
  note_failed_call();
  return code;
}

}  // namespace

bool has_failed() { return failed; }

cudaError_t failure_of(const char* call, const void* from) {
  long number_of_call = 0;
  const bool fails = is_planned(call, &number_of_call);
  if (!scenario().calls.empty()) note(number_of_call, call, from, fails);
  if (fails) return fail();
  return poisoned();
}

}  // namespace stand_in
