#include "common/device_clock.cuh"

namespace syncbench {

__global__ void clock_rate_kernel(long long duration_ns, long long* result) {
  const long long before = read_global_timer();
  long long first = before;
  while (first == before) first = read_global_timer();
  const long long start = read_sm_clock();
  long long last = first;
  while (last < first + duration_ns) last = read_global_timer();
  result[0] = read_sm_clock() - start;
  result[1] = last - first;
}

}  // namespace syncbench
