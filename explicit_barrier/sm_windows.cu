#include "common/check.hpp"
#include "explicit_barrier/sm_windows.hpp"

namespace syncbench::explicit_barrier {
namespace {

__global__ void reset_windows_kernel(SmWindow* windows) {
  const unsigned sm = blockIdx.x * blockDim.x + threadIdx.x;
  if (sm < kSmSlots) windows[sm] = {~0ull, 0};
}

__global__ void merge_windows_kernel(const WarpRecord* records, unsigned count,
                                     SmWindow* windows) {
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const WarpRecord record = records[index];
  if (record.end == 0) return;
  if (record.sm >= kSmSlots) __trap();
  SmWindow& window = windows[record.sm];
  atomicMin(&window.start, static_cast<unsigned long long>(record.start));
  atomicMax(&window.end, static_cast<unsigned long long>(record.end));
}

}  // namespace

void merge_windows(const WarpRecord* records, unsigned count,
                   SmWindow* windows) {
  reset_windows_kernel<<<kSmSlots / 256, 256>>>(windows);
  merge_windows_kernel<<<(count + 255) / 256, 256>>>(records, count, windows);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace syncbench::explicit_barrier
