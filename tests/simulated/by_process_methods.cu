// Takes the place of methods/across_sms/gpus.cu in a BenchmarkInterSM that
// measures all methods of several GPUs in several processes, for
// by_process_test.py, and one more that wants no peer access, as CUDA 12's
// multi_grid_sync_no_peer does.
#define list_gpus methods_as_they_are
#include "explicit_barrier/methods/across_sms/gpus.cu"
#undef list_gpus

namespace syncbench::explicit_barrier {

struct WithoutPeers : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGpus, "without_peers", "grid_group::sync()");
    about.multi_device = true;
    about.peer_access = false;
    about.repeats = 8;
    about.code = ExpectedCode().others(40);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    cooperative_groups::this_grid().sync();
    return value;
  }
};

std::vector<MethodEntry> list_gpus() {
  std::vector<MethodEntry> methods = methods_as_they_are();
  methods.push_back(entry_of<WithoutPeers>());
  for (MethodEntry& method : methods) {
    method.differs_by_process = true;
    method.fewest_gpus = 2;
    method.late_kernel = nullptr;
  }
  return methods;
}

}  // namespace syncbench::explicit_barrier
