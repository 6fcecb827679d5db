#include "stand_in_gpu/virtual_clock.hpp"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

std::atomic<bool> started{false};
long long real_start = 0;
thread_local double now = 0;

long long real_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

void raise_to(std::atomic<double>& most, double value) {
  double seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

// The times that threads bring to their barriers: slot n % 3 is that of the
// n-th. Who leaves a barrier clears the slot of the one before, which all have
// read by then.
std::atomic<double> latest[3];
thread_local unsigned barriers = 0;

// A parallel region begins at the time of the thread that opens it and ends at
// that of its last thread.
struct Region {
  void (*body)(void*);
  void* data;
  double begin;
  std::atomic<double> end;
};

void run_in_region(void* given) {
  auto& region = *static_cast<Region*>(given);
  now = region.begin;
  barriers = 0;
  region.body(region.data);
  raise_to(region.end, now);
}

template <class Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void start_clock() {
  if (started) return;
  real_start = real_ns();
  now = 0;
  started = true;
}

double host_now() { return now; }
void host_spends(double nanoseconds) { now += nanoseconds; }
void host_waits_until(double nanoseconds) { now = std::max(now, nanoseconds); }

}  // namespace stand_in

// These stand in for those of the C++ library and of OpenMP's.

std::chrono::steady_clock::time_point
std::chrono::_V2::steady_clock::now() noexcept {
  using namespace stand_in;
  if (!started) return time_point(duration(real_ns()));
  host_spends(scenario().clock_read);
  return time_point(duration(real_start + static_cast<long long>(host_now())));
}

extern "C" {

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads,
                   unsigned flags) {
  using namespace stand_in;
  static const auto run = real(&GOMP_parallel, "GOMP_parallel");
  Region region = {body, data, host_now(), {host_now()}};
  for (auto& slot : latest) slot = 0;
  run(run_in_region, &region, threads, flags);
  now = region.end;
}

void GOMP_barrier() {
  using namespace stand_in;
  static const auto meet = real(&GOMP_barrier, "GOMP_barrier");
  const unsigned number = barriers++;
  raise_to(latest[number % 3], now);
  meet();
  now = latest[number % 3];
  latest[(number + 2) % 3] = 0;
}

}  // extern "C"
