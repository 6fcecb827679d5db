#include "common/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>

namespace syncbench {
namespace {

constexpr int kMaxCpu = 65535;  // the kernel's own limit is lower

bool run_on(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

const std::vector<int> kCpusAtStart = allowed_cpus();

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* end = at + text.size();
  while (end > at && (end[-1] == '\n' || end[-1] == ' ')) --end;
  const auto number = [&]() {
    int value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > kMaxCpu) {
      throw std::invalid_argument("bad CPU list '" + text + "'");
    }
    at = stop;
    return value;
  };
  while (at < end) {
    const int first = number();
    int last = first;
    if (at < end && *at == '-') {
      ++at;
      last = number();
    }
    const bool more = at < end && *at == ',';
    if (last < first || (at < end && !more) || (more && at + 1 == end)) {
      throw std::invalid_argument("bad CPU list '" + text + "'");
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (more) ++at;
  }
  return cpus;
}

std::vector<int> read_cpu_list(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) return {};
  try {
    return parse_cpu_list(text);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> choose_cpus(
    const std::vector<std::vector<int>>& near, const std::vector<int>& allowed,
    const std::function<std::vector<int>(int)>& siblings) {
  std::map<int, int> users;
  std::set<int> busy_cores;
  std::vector<int> picks;
  for (const auto& preferred : near) {
    const auto rank = [&](int cpu) {  // the greatest is picked
      const bool is_near =
          std::find(preferred.begin(), preferred.end(), cpu) != preferred.end();
      return std::make_tuple(-users[cpu], is_near, busy_cores.count(cpu) == 0,
                             cpu);
    };
    const auto best = std::max_element(
        allowed.begin(), allowed.end(),
        [&](int left, int right) { return rank(left) < rank(right); });
    picks.push_back(best == allowed.end() ? -1 : *best);
    if (best == allowed.end()) continue;
    ++users[*best];
    busy_cores.insert(*best);
    for (const int sibling : siblings(*best)) busy_cores.insert(sibling);
  }
  return picks;
}

std::vector<int> core_siblings(int cpu) {
  return read_cpu_list("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
}

void pin_this_thread(int cpu) {
  thread_local int pinned = -1;
  if (cpu < 0 || cpu == pinned) return;
  if (!run_on({cpu})) {
    throw std::system_error(
        errno, std::generic_category(),
        "cannot pin a thread to CPU " + std::to_string(cpu));
  }
  pinned = cpu;
}

// Where it fails, threads stay where they are: slower, but right.
Unpinned::Unpinned() : before_(allowed_cpus()) { run_on(kCpusAtStart); }
Unpinned::~Unpinned() { run_on(before_); }

}  // namespace syncbench
