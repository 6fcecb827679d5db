#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/interrupt.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/device_timer.hpp"
#include "reduction/rows.hpp"
#include "reduction/sections.hpp"
#include "reduction/test_data.hpp"

namespace syncbench::reduction {
namespace {

// Arrays are read in turn: one is read again only after so many times the size
// of the L2 cache, so that a sixteenth at most is still there.
constexpr int kRotatedL2 = 16;
constexpr long long kMostInputs = 1024;

// What DDR memory moves in a second, in GB: two words a clock.
double theoretical_rate(int device) {
  int kilohertz = 0, bits = 0;
  CUDA_CHECK(
      cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  return 2e3 * kilohertz * bits / 8 * 1e-9;
}

class OneGpu {
 public:
  OneGpu(MeasuringRun& run, const SumOptions& sums, const ArraySizes& sizes)
      : run_(run),
        sums_(sums),
        sizes_(sizes),
        table_(run.out(), "one GPU", array_row({})),
        timer_(run.gpu().index),
        l2_(l2_bytes()),
        memory_(run.gpu().index, room(sizes)),
        sum_(run.gpu().index, 1) {}

  int measure() {
    run_.begin_section("one GPU");
    if (run_.options().wants("theory", Set::kStudy)) {
      run_.show("theory");
      SumRow row = {"theory", "any"};
      row.rate.mean = theoretical_rate(run_.gpu().index);
      if (row.rate.mean > 0) {
        print(row, run_.sample_at_full_clock(1, [] {}));
      } else {
        run_.skip(table_, {"theory"},
                  {"no-clock", "the driver does not tell the clock"});
      }
    }
    for (const ElementType& type : kElementTypes) {
      if (sums_.measures_type(type.name, kShownArrays, run_.options())) {
        of_type(type);
      }
    }
    return wrong_;
  }

 private:
  // A way to sum arrays of one type, and its samples of one size.
  struct Candidate {
    const ArraySumMethod* method;
    std::unique_ptr<ArraySum> sum;
    std::vector<double> device_ns = {}, host_ns = {};
    bool right = true;
  };

  // For as many of the largest arrays as are to be read in turn.
  std::size_t room(const ArraySizes& sizes) const {
    const long long rotated = kRotatedL2 * l2_;
    return sizes.largest < rotated ? rotated + sizes.largest : sizes.largest;
  }

  void of_type(const ElementType& type) {
    std::vector<Candidate> candidates;
    for (const ArraySumMethod& method : array_sum_methods()) {
      if (!run_.options().wants(method.name, method.set)) continue;
      run_.measure_or_skip(table_, key(method.name, type, kNan), [&] {
        const long long most = sizes_.largest / type.size;
        candidates.push_back(
            {&method, method.make(type.element, run_.gpu(), most)});
      });
    }
    if (candidates.empty()) return;
    run_.show(std::string("arrays of ") + type.name);
    fill_array(type.element, run_.gpu().index, memory_.get(), 0,
               static_cast<long long>(memory_.size() / type.size));
    for (const long long bytes : sizes_.swept(2)) {
      of_size(type, bytes, candidates);
    }
  }

  RowKey key(const std::string& method, const ElementType& type,
             double bytes) const {
    return array_row({method, type.name, 1, bytes}).key();
  }

  // The samples of all candidates in turn, so that what changes slowly
  // touches all alike.
  void of_size(const ElementType& type, long long bytes,
               std::vector<Candidate>& candidates) {
    const auto fit = static_cast<long long>(memory_.size()) / bytes;
    const int inputs = static_cast<int>(
        std::min({fit, (kRotatedL2 * l2_ - 1) / bytes + 1, kMostInputs}));
    run_.show(key("reference sums", type, static_cast<double>(bytes)));
    references_ = reference_sums(type.element, run_.gpu().index, memory_.get(),
                                 bytes / type.size, inputs);
    std::vector<Candidate*> able;
    int samples = 1;
    for (Candidate& candidate : candidates) {
      run_.show(key(candidate.method->name, type, static_cast<double>(bytes)));
      const Remark why = candidate.sum->refuses(bytes / type.size);
      if (why) {
        table_.skip(
            key(candidate.method->name, type, static_cast<double>(bytes)), why);
        continue;
      }
      able.push_back(&candidate);
      candidate.right = true;
      sample(type, bytes, candidate);  // a warm-up
      samples = std::max(samples, sum_samples(candidate.device_ns.back(),
                                              run_.options().samples));
    }
    // The median, for a single one that takes long would make sums too fast.
    run_.show(key("no sum", type, static_cast<double>(bytes)));
    std::vector<double> events_ns;
    const AtClock clock = run_.sample_at_full_clock(1, [&] {
      events_ns.clear();
      for (Candidate* candidate : able) {
        candidate->device_ns.clear();
        candidate->host_ns.clear();
      }
      for (int i = 0; i < samples; ++i) {
        events_ns.push_back(timer_.events_ns());
        for (Candidate* candidate : able) {
          const auto name = [&] {
            return key(candidate->method->name, type,
                       static_cast<double>(bytes));
          };
          run_.measure_at(name, [&] { sample(type, bytes, *candidate); });
        }
      }
    });
    const double extra_ns = median_of(events_ns);
    for (const Candidate* candidate : able) {
      const ArraySumMethod& method = *candidate->method;
      run_.show(key(method.name, type, static_cast<double>(bytes)));
      SumRow row = {method.name, type.name};
      row.bytes = static_cast<double>(bytes);
      row.inputs = inputs;
      row.in_l2 = inputs * bytes <= l2_;
      row.rate = rate_summary(bytes, candidate->device_ns, extra_ns);
      row.host = per(summarize(candidate->host_ns), 1e3);
      row.set =
          type.name == std::string(kShownArrays) ? method.set : Set::kEvidence;
      if (method.sums) row.right = candidate->right;
      print(row, clock);
    }
  }

  // One by the GPU's events and one by the host's clock, of the next arrays.
  void sample(const ElementType& type, long long bytes, Candidate& candidate) {
    check_interrupt();
    const long long count = bytes / type.size;
    const auto sum_next = [&] {
      candidate.sum->enqueue(memory_.get() + input_ * bytes, count, sum_.get(),
                             timer_.stream());
    };
    const auto spoil = [&] {
      candidate.sum->spoil();
      sum_.spoil();
    };
    const auto check_next = [&] {
      candidate.right &= !candidate.method->sums ||
                         is_right(type, sum_.get(), count, run_.gpu().sm_count,
                                  references_[input_]);
      input_ = (input_ + 1) % references_.size();
    };
    input_ %= references_.size();
    spoil();
    candidate.device_ns.push_back(timer_.time_ns(sum_next));
    check_next();
    spoil();
    const auto start = HostClock::now();
    sum_next();
    CUDA_CHECK(cudaStreamSynchronize(timer_.stream()));
    candidate.host_ns.push_back(elapsed_ns(start, HostClock::now()));
    check_next();
  }

  void print(SumRow& row, const AtClock& clock) {
    row.mhz = clock.mhz;
    wrong_ += print_sum(run_, table_, array_row(row), row, clock);
  }

  MeasuringRun& run_;
  const SumOptions& sums_;
  const ArraySizes sizes_;
  Table table_;
  DeviceTimer timer_;
  const long long l2_;
  DeviceBuffer<char> memory_;
  DeviceBuffer<double> sum_;  // of any type
  std::vector<DoubleDouble> references_;
  std::size_t input_ = 0;  // the array to read next
  int wrong_ = 0;
};

}  // namespace

int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes) {
  run.show("memory of the arrays on one GPU");
  return OneGpu(run, sums, sizes).measure();
}

}  // namespace syncbench::reduction
