// Takes the place of methods/gpus.cu in a BenchmarkInterSM that measures all
// methods of several GPUs in several processes, for by_process_test.py.
#define gpu_methods methods_as_they_are
#include "explicit_barrier/methods/gpus.cu"
#undef gpu_methods

namespace syncbench::explicit_barrier {

std::vector<MethodEntry> gpu_methods() {
  std::vector<MethodEntry> methods = methods_as_they_are();
  for (MethodEntry& method : methods) {
    method.differs_by_process = true;
    method.fewest_gpus = 2;
    method.late_kernel = nullptr;
  }
  return methods;
}

}  // namespace syncbench::explicit_barrier
