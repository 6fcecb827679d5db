// A chain of dependent float additions: no synchronization, but an operation
// whose latency is known (4 cycles since Volta), which validates the method
// (study, section IX-D and Fig. 19).
#include <cstring>

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

struct FloatAdd : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kThread, "float_add",
                    "dependent float additions by two clocks");
    about.set = Set::kStudy;
    about.repeats = 256;
    about.code = ExpectedCode(R"(FADD .*)").proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      const unsigned value = before(position);
      float sum;
      std::memcpy(&sum, &value, sizeof sum);
      sum += static_cast<float>(position.threads);
      unsigned bits;
      std::memcpy(&bits, &sum, sizeof bits);
      return bits;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    float sum = __uint_as_float(value);
    asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(addend));
    return __float_as_uint(sum);
  }
  float addend = static_cast<float>(blockDim.x);
};

std::vector<MethodEntry> list_validation() { return entries<FloatAdd>(); }

}  // namespace syncbench::explicit_barrier
