#include "stand_in_gpu/faults.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

std::atomic<long> calls{0};

// Where an address is in the program; "?" of one that is in a library.
std::string offset_of(const void* address) {
  static const std::string program =
      std::filesystem::read_symlink("/proc/self/exe");
  // Thousands of calls come from the same few places.
  thread_local std::map<const void*, std::string> known;
  std::string& text = known[address];
  if (!text.empty()) return text;
  Dl_info info = {};
  if (dladdr(address, &info) == 0 ||
      std::filesystem::weakly_canonical(info.dli_fname) != program) {
    return text = "?";
  }
  char hexadecimal[32];
  std::snprintf(
      hexadecimal, sizeof hexadecimal, "%lx",
      static_cast<unsigned long>(static_cast<const char*>(address) -
                                 static_cast<const char*>(info.dli_fbase)));
  return text = hexadecimal;
}

// A line: number, process, GPU, call, where it is called, and by whom that is.
void note(long number, const char* call, const void* from, bool fails) {
  static const int file =
      open(scenario().calls.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  constexpr int kFrames = 32, kOurs = 2;
  void* stack[kFrames];
  const int depth = backtrace(stack, kFrames);
  int caller = std::min(kOurs, depth);
  while (caller < depth && stack[caller] != from) ++caller;
  std::string line = std::to_string(number) + "\t" + std::to_string(process()) +
                     "\t" + std::to_string(current_gpu()) + "\t" + call + "\t" +
                     offset_of(from) + "\t";
  for (int i = caller + 1; i < depth; ++i) line += offset_of(stack[i]) + ";";
  line += fails ? "\tfails\n" : "\t\n";
  if (write(file, line.data(), line.size()) < 0) std::_Exit(98);
}

// Whether the plan counts this call: by name, place, GPU and process. Numbers
// of calls from one place for one GPU do not depend on the order of threads.
bool is_counted(const char* call, const void* from) {
  const Scenario& plan = scenario();
  const int gpu = static_cast<int>(plan.fail_gpu);
  const int where = static_cast<int>(plan.fail_process);
  return std::string(call).find(plan.fail_call) != std::string::npos &&
         (plan.fail_from.empty() || offset_of(from) == plan.fail_from) &&
         (gpu < 0 || gpu == current_gpu()) &&
         (where == -2 || where == process());
}

// Whether this is the call that is to fail.
bool is_planned(const char* call, const void* from, long* number_of_call) {
  static const bool some = scenario().fail_at > 0 || !scenario().calls.empty();
  static const long planned = static_cast<long>(scenario().fail_at);
  if (!some || !is_counted(call, from)) {
    *number_of_call = 0;
    return false;
  }
  *number_of_call = ++calls;
  static const bool stays = scenario().fail_mode == "stays";
  return stays && planned > 0 ? *number_of_call >= planned
                              : *number_of_call == planned;
}

cudaError_t fail() {
  const std::string& how = scenario().fail_mode;
  if (how == "hang") {
    for (;;) pause();
  }
  if (how == "abort") std::abort();
  const auto code = static_cast<cudaError_t>(scenario().fail_code);
  if (how == "sticky") poison(code);
  note_failed_call();
  return code;
}

}  // namespace

cudaError_t failure_of(const char* call, const void* from) {
  long number_of_call = 0;
  const bool fails = is_planned(call, from, &number_of_call);
  if (!scenario().calls.empty()) note(number_of_call, call, from, fails);
  if (fails) return fail();
  return poisoned();
}

}  // namespace stand_in
