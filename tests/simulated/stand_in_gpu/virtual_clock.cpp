#include "stand_in_gpu/virtual_clock.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

std::atomic<bool> started{false};
long long real_start = 0;
thread_local double now = 0;

template <class Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int real_time(clockid_t clock, timespec* time) {
  static const auto ask = real(&clock_gettime, "clock_gettime");
  return ask(clock, time);
}

void raise_to(std::atomic<double>& most, double value) {
  double seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

// A parallel region begins at the time of the thread that opens it and ends at
// that of its last thread. Threads leave a barrier at the latest time that any
// has brought to it.
struct Region {
  void (*body)(void*);
  void* data;
  int cpu;  // of the thread that opens it
  double begin;
  std::atomic<double> end;
  std::atomic<double> latest[2] = {{0}, {0}};  // of barriers in turn
};

std::atomic<Region*> open_region{nullptr};
thread_local unsigned barriers = 0;  // of this thread, in its region

// The threads of a region wait for each other all the time. One CPU that goes
// on is faster than many that have to wake up.
void run_on(int cpu) {
  static const auto set = real(&sched_setaffinity, "sched_setaffinity");
  thread_local int here = -1;
  if (cpu == here) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  set(0, sizeof one, &one);
  here = cpu;
}

thread_local bool opens_region = false;

void run_in_region(void* given) {
  auto& region = *static_cast<Region*>(given);
  if (!opens_region) run_on(region.cpu);
  now = region.begin;
  barriers = 0;
  region.body(region.data);
  raise_to(region.end, now);
}

// There are more threads than CPUs, so those that wait must sleep. OpenMP reads
// the environment when it is loaded, which may be before this: the program
// starts once more.
__attribute__((constructor)) void wait_passively(int, char** arguments,
                                                 char**) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", arguments);  // it goes on as it is where this fails
}

}  // namespace

void start_clock() {
  if (started) return;
  timespec time = {};
  real_time(CLOCK_MONOTONIC, &time);
  real_start = time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  now = 0;
  started = true;
}

// The steady clock.
static void read_clock(timespec* time) {
  if (!started) {
    real_time(CLOCK_MONOTONIC, time);
    return;
  }
  host_spends(scenario().clock_read);
  const long long ns = real_start + static_cast<long long>(host_now());
  *time = {ns / 1'000'000'000, ns % 1'000'000'000};
}

double host_now() { return now; }
void host_spends(double nanoseconds) { now += nanoseconds; }
void host_waits_until(double nanoseconds) { now = std::max(now, nanoseconds); }

}  // namespace stand_in

// These stand in for those of the C++ library, or of the C library where the
// C++ library is linked statically, and of OpenMP's. Sanitizers read the C
// library's clock now and then, so that with it runs differ by a little.

#ifdef OWN_STEADY_CLOCK

std::chrono::steady_clock::time_point
std::chrono::_V2::steady_clock::now() noexcept {
  timespec time = {};
  stand_in::read_clock(&time);
  return time_point(std::chrono::seconds(time.tv_sec) +
                    std::chrono::nanoseconds(time.tv_nsec));
}

#else

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock != CLOCK_MONOTONIC) return stand_in::real_time(clock, time);
  stand_in::read_clock(time);
  return 0;
}

#endif

extern "C" {

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads,
                   unsigned flags) {
  using namespace stand_in;
  static const auto run = real(&GOMP_parallel, "GOMP_parallel");
  Region region = {body, data, sched_getcpu(), host_now(), {host_now()}};
  open_region = &region;
  opens_region = true;
  run(run_in_region, &region, threads, flags);
  now = region.end;
}

void GOMP_barrier() {
  using namespace stand_in;
  static const auto meet = real(&GOMP_barrier, "GOMP_barrier");
  auto& latest = open_region.load()->latest[barriers++ % 2];
  raise_to(latest, now);
  meet();
  now = latest;
}

// Where a thread runs is for run_on() to say.
int sched_setaffinity(pid_t, std::size_t, const cpu_set_t*) noexcept {
  return 0;
}

}  // extern "C"
