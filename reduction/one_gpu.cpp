#include <algorithm>
#include <cmath>
#include <deque>
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
        std::vector<TimedPoint> none;
        print(row, run_.sample_at_full_clock(1, none, 0));
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
  // A way to sum arrays of one type.
  struct Way {
    const ArraySumMethod* method;
    std::unique_ptr<ArraySum> sum;
  };

  // For as many of the largest arrays as are to be read in turn.
  std::size_t room(const ArraySizes& sizes) const {
    const long long rotated = kRotatedL2 * l2_;
    return sizes.largest < rotated ? rotated + sizes.largest : sizes.largest;
  }

  void of_type(const ElementType& type) {
    std::vector<Way> ways;
    for (const ArraySumMethod& method : array_sum_methods()) {
      if (!run_.options().wants(method.name, method.set)) continue;
      const RowKey any = array_row({method.name, type.name}).key();
      run_.measure_or_skip(table_, any, [&] {
        const long long most = sizes_.largest / type.size;
        ways.push_back({&method, method.make(type.element, run_.gpu(), most)});
      });
    }
    if (ways.empty()) return;
    run_.show(std::string("arrays of ") + type.name);
    fill_array(type.element, run_.gpu().index, memory_.get(), 0,
               static_cast<long long>(memory_.size() / type.size));
    for (const long long bytes : sizes_.swept(2)) {
      of_size(type, bytes, ways);
    }
  }

  void of_size(const ElementType& type, long long bytes,
               const std::vector<Way>& ways) {
    const auto fit = static_cast<long long>(memory_.size()) / bytes;
    const int inputs = static_cast<int>(
        std::min({fit, (kRotatedL2 * l2_ - 1) / bytes + 1, kMostInputs}));
    SumRow any = {"reference sums", type.name, 1, static_cast<double>(bytes)};
    run_.show(array_row(any).key());
    references_ = reference_sums(type.element, run_.gpu().index, memory_.get(),
                                 bytes / type.size, inputs);
    any.inputs = inputs;
    any.in_l2 = inputs * bytes <= l2_;
    std::deque<SumRow> rows;
    std::vector<TimedPoint> points = {{[&] {
      return Sample{{"events", timer_.events_ns()}};
    }}};
    int samples = 1;
    for (const Way& way : ways) {
      SumRow row = any;
      row.method = way.method->name;
      const RowKey key = array_row(row).key();
      run_.show(key);
      const Remark why = way.sum->refuses(bytes / type.size);
      if (why) {
        table_.skip(key, why);
        continue;
      }
      row.set = type.name == std::string(kShownArrays) ? way.method->set
                                                       : Set::kEvidence;
      if (way.method->sums) row.right = 1;
      rows.push_back(row);
      points.push_back({[&, &row = rows.back(), key] {
        return run_.measure_at(
            key, [&] { return sample(type, bytes, *way.sum, row); });
      }});
      check_interrupt();
      const Sample warm_up = points.back().take();
      samples = std::max(
          samples, sum_samples(warm_up.at("device"), run_.options().samples));
    }
    any.method = "no sum";
    run_.show(array_row(any).key());
    const AtClock clock = run_.sample_at_full_clock(1, points, samples);
    // The median, for a single one that takes long would make sums too fast.
    const double extra_ns = median_of(points[0].samples["events"]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      run_.show(array_row(rows[i]).key());
      const Samples& taken = points[i + 1].samples;
      rows[i].rate = rate_summary(bytes, taken.at("device"), extra_ns);
      rows[i].host = per(summarize(taken.at("host")), 1e3);
      print(rows[i], clock);
    }
  }

  // One by the GPU's events and one by the host's clock, of the next arrays.
  // Notes in `row` where a sum is not right.
  Sample sample(const ElementType& type, long long bytes, ArraySum& sum,
                SumRow& row) {
    const long long count = bytes / type.size;
    const auto sum_next = [&] {
      sum.enqueue(memory_.get() + input_ * bytes, count, sum_.get(),
                  timer_.stream());
    };
    const auto spoil = [&] {
      sum.spoil();
      sum_.spoil();
    };
    const auto check_next = [&] {
      if (!std::isnan(row.right) &&
          !is_right(type, sum_.get(), count, run_.gpu().sm_count,
                    references_[input_])) {
        row.right = 0;
      }
      input_ = (input_ + 1) % references_.size();
    };
    input_ %= references_.size();
    spoil();
    const double device_ns = timer_.time_ns(sum_next);
    check_next();
    spoil();
    const auto start = HostClock::now();
    sum_next();
    CUDA_CHECK(cudaStreamSynchronize(timer_.stream()));
    const double host_ns = elapsed_ns(start, HostClock::now());
    check_next();
    return {{"device", device_ns}, {"host", host_ns}};
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
