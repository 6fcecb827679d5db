// The sections of sums of arrays, on one GPU and on several: all ways sum
// arrays of one size in turn, and every sum is checked.
#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/interrupt.hpp"
#include "common/noise.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/device_timer.hpp"
#include "reduction/sections.hpp"
#include "reduction/test_data.hpp"

namespace syncbench::reduction {
namespace {

constexpr const char* kOneGpu = "one GPU";

// Arrays are read in turn: one is read again only after so many times the size
// of the L2 cache, so that a sixteenth at most is still there.
constexpr int kRotatedL2 = 16;
constexpr long long kMostInputs = 1024;

// From each size of an array on several GPUs to the next.
constexpr int kSizeFactor = 16;
constexpr int kWarmUps = 5;

struct SumRow {
  std::string method;
  std::string type;
  int gpus = 1;
  double bytes = kNan;   // of the whole array
  double inputs = kNan;  // arrays that the samples read in turn
  double in_l2 = kNan;   // 1: what a GPU reads in turn fits into its L2
  Summary rate = {};     // GB/s
  Summary host = {};     // us, as the host sees it
  double right = kNan;   // 1: all sums were right; 0: one was not
  double mhz = kNan;     // SM clock of the slowest GPU, after the samples
  Set set = Set::kStudy;
};

Row labels_of(const SumRow& sum) {
  return Row("way to sum", sum.method)
      .label("type", "", "of the elements", sum.type)
      .label("GPUcount", "", "GPUs involved", sum.gpus)
      .label("bytes", "bytes", "of the whole array",
             format_number(sum.bytes, 0));
}

Row whole_row(Row row, const SumRow& sum, const char* what_rate) {
  return row
      .real("in_L2", "", "1: what a GPU reads in turn fits into its L2 cache",
            sum.in_l2, 0)
      .mean_stddev("GB/s", "10^9 B/s", what_rate, sum.rate)
      .mean_stddev("host", "us",
                   "time from the first call until the host knows the end",
                   sum.host)
      .real("right", "", "1: all sums were right; 0: not", sum.right, 0)
      .stats("GB/s", "10^9 B/s", sum.rate)
      .robust("host", "us", sum.host)
      .clock(sum.mhz, "SM clock of the slowest GPU used, after the samples")
      .set(sum.set);
}

// Of one GPU, whose rate is by its own events.
Row array_row(const SumRow& sum) {
  return whole_row(
      labels_of(sum).real("inputs", "", "arrays read in turn", sum.inputs, 0),
      sum, "bytes / time by the GPU's events, less what they take");
}

// Of several GPUs, whose rate is by the host's clock.
Row node_row(const SumRow& sum) {
  return whole_row(labels_of(sum), sum, "bytes / host");
}

// GB/s of `bytes` in each of so many nanoseconds, less `extra_ns` in each; of
// no samples where one takes no longer than that.
Summary rate_summary(double bytes, std::vector<double> times_ns,
                     double extra_ns) {
  for (double& time : times_ns) {
    if (time <= extra_ns) return {};
    time = bytes / (time - extra_ns);
  }
  return summarize(std::move(times_ns));
}

Remark doubt_of(const Summary& rate) {
  if (!std::isnan(rate.mean)) return wide_interval(rate);
  return {"no-rate", "this row has no rate: the events alone take as long"};
}

// A way to sum the arrays of one size.
struct SizedSum {
  const char* method;
  Set set;
  Remark refuses = {};  // why it does not
  double right = 1;     // SumRow::right where no sum is wrong
  // Notes in the row where a sum is wrong. Of `rate`, in nanoseconds, is the
  // rate, and `host` is by the host's clock.
  std::function<Sample(SumRow&)> take;
  std::function<Sample()> take_first = {};  // to warm up; nothing: take
};

// What both kinds of sections have in common.
class ArraySections {
 protected:
  ArraySections(MeasuringRun& run, const SumOptions& sums,
                const ArraySizes& sizes, Row (*row_of)(const SumRow&))
      : run_(run), sums_(sums), sizes_(sizes), row_of_(row_of) {
    int device = 0, bytes = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
    l2_ = bytes;
  }

  // Calls visit(type) of each type of elements that rows are asked for of.
  template <class Visit>
  void for_types(Visit visit) {
    for (const ElementType& type : kElementTypes) {
      if (sums_.measures_type(type.name, kShownArrays, run_.options())) {
        visit(type);
      }
    }
  }

  // A way to sum arrays of one type.
  template <class Method>
  struct Way {
    Method method;
    typename Method::Made sum;
  };

  // Those that were asked for, as far as make(method) can make them.
  template <class Method, class Make>
  std::vector<Way<Method>> make_ways(Table& table, SumRow any,
                                     const std::vector<Method>& methods,
                                     Make make) {
    std::vector<Way<Method>> ways;
    for (const Method& method : methods) {
      if (!run_.options().wants(method.name, method.set)) continue;
      any.method = method.name;
      run_.measure_or_skip(table, row_of_(any).key(), [&] {
        ways.push_back({method, make(method)});
      });
    }
    return ways;
  }

  RowKey show(const SumRow& row) {
    const RowKey key = row_of_(row).key();
    run_.show(key);
    return key;
  }

  // Measures the rows of `sums`, which are like `any` but for the method.
  // `extra`: what their times have too much, sampled in turn with them.
  void measure_size(Table& table, SumRow any, const std::vector<SizedSum>& sums,
                    const Take& extra) {
    std::deque<SumRow> rows;
    std::vector<TimedPoint> points = {{extra}};
    int samples = 1;
    for (const SizedSum& sum : sums) {
      any.method = sum.method;
      const RowKey key = show(any);
      if (sum.refuses) {
        table.skip(key, sum.refuses);
        continue;
      }
      SumRow& row = rows.emplace_back(any);
      row.set = row.type == kShownArrays ? sum.set : Set::kEvidence;
      row.right = sum.right;
      points.push_back({[&, key] {
        return run_.measure_at(key, [&] { return sum.take(row); });
      }});
      check_interrupt();
      const Sample first =
          sum.take_first ? sum.take_first() : points.back().take();
      // Of a long sum only as many as fit into 50 ms, and at least 10.
      const double fit = std::clamp(50e6 / first.at("rate"), 10.0, 1e6);
      samples = std::max(
          samples, std::min(run_.options().samples, static_cast<int>(fit)));
    }
    any.method = "no sum";
    show(any);
    const AtClock clock = run_.sample_at_full_clock(any.gpus, points, samples);
    // The median, for a single one that takes long would make sums too fast.
    const double extra_ns = median_of(points[0].samples["extra"]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      show(rows[i]);
      const Samples& taken = points[i + 1].samples;
      rows[i].rate = rate_summary(rows[i].bytes, taken.at("rate"), extra_ns);
      rows[i].host = per(summarize(taken.at("host")), 1e3);
      print(table, rows[i], clock);
    }
  }

  // The spread is watched from 100 us on: shorter sums vary with each launch.
  void print(Table& table, SumRow row, const AtClock& clock) {
    row.mhz = clock.mhz;
    const Row printed = row_of_(row);
    const RowKey key = printed.key();
    table.row(printed);
    run_.warn(key, clock.warning);
    table.note(key, clock.repeated);
    run_.warn(key, doubt_of(row.rate));
    run_.check_row(key, row.host.mean > 100 ? row.rate : Summary());
    wrong_ += row.right == 0;
  }

  MeasuringRun& run_;
  const SumOptions& sums_;
  const ArraySizes sizes_;
  Row (*const row_of_)(const SumRow&);
  long long l2_;  // bytes of the cache
  int wrong_ = 0;
};

class OneGpu : ArraySections {
 public:
  OneGpu(MeasuringRun& run, const SumOptions& sums, const ArraySizes& sizes)
      : ArraySections(run, sums, sizes, array_row),
        table_(run.out(), kOneGpu, array_row({})),
        timer_(run.gpu().index),
        memory_(run.gpu().index, room()),
        sum_(run.gpu().index, 1) {}

  int measure() {
    run_.begin_section(kOneGpu);
    if (run_.options().wants("theory", Set::kStudy)) theory();
    for_types([&](const ElementType& type) { of_type(type); });
    return wrong_;
  }

 private:
  // For as many of the largest arrays as are to be read in turn.
  std::size_t room() const {
    const long long rotated = kRotatedL2 * l2_;
    return sizes_.largest < rotated ? rotated + sizes_.largest : sizes_.largest;
  }

  // What DDR memory moves in a second, in GB: two words a clock.
  void theory() {
    run_.show("theory");
    const int device = run_.gpu().index;
    int kilohertz = 0, bits = 0;
    CUDA_CHECK(
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
    SumRow row = {"theory", "any"};
    row.rate.mean = 2e3 * kilohertz * bits / 8 * 1e-9;
    if (row.rate.mean > 0) {
      std::vector<TimedPoint> none;
      print(table_, row, run_.sample_at_full_clock(1, none, 0));
    } else {
      run_.skip(table_, {"theory"},
                {"no-clock", "the driver does not tell the clock"});
    }
  }

  void of_type(const ElementType& type) {
    const auto ways =
        make_ways(table_, {"", type.name}, array_sum_methods(),
                  [&](const ArraySumMethod& method) {
                    const long long most = sizes_.largest / type.size;
                    return method.make(type.element, run_.gpu(), most);
                  });
    if (ways.empty()) return;
    run_.show(std::string("arrays of ") + type.name);
    fill_array(type.element, run_.gpu().index, memory_.get(), 0,
               static_cast<long long>(memory_.size() / type.size));
    for (const long long bytes : sizes_.swept(2)) of_size(type, bytes, ways);
  }

  void of_size(const ElementType& type, long long bytes,
               const std::vector<Way<ArraySumMethod>>& ways) {
    const auto fit = static_cast<long long>(memory_.size()) / bytes;
    const int inputs = static_cast<int>(
        std::min({fit, (kRotatedL2 * l2_ - 1) / bytes + 1, kMostInputs}));
    SumRow any = {"reference sums", type.name, 1, static_cast<double>(bytes)};
    show(any);
    references_ = reference_sums(type.element, run_.gpu().index, memory_.get(),
                                 bytes / type.size, inputs);
    any.inputs = inputs;
    any.in_l2 = inputs * bytes <= l2_;
    std::vector<SizedSum> sums;
    for (const auto& [method, sum] : ways) {
      sums.push_back({method.name, method.set, sum->refuses(bytes / type.size),
                      method.sums ? 1 : kNan, [&, &sum = *sum](SumRow& row) {
                        return sample(type, bytes, sum, row);
                      }});
    }
    measure_size(table_, any, sums, [&] {
      return Sample{{"extra", timer_.events_ns()}};
    });
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
    return {{"rate", device_ns}, {"host", host_ns}};
  }

  Table table_;
  DeviceTimer timer_;
  DeviceBuffer<char> memory_;
  DeviceBuffer<double> sum_;  // of any type
  std::vector<DoubleDouble> references_;
  std::size_t input_ = 0;  // the array to read next
};

class ManyGpus : ArraySections {
 public:
  ManyGpus(MeasuringRun& run, const SumOptions& sums, const ArraySizes& sizes)
      : ArraySections(run, sums, sizes, node_row) {
    for (const Gpu& gpu : run.gpus()) {
      memory_.emplace_back(gpu.index, sizes.largest);
    }
  }

  int measure() {
    section("strong scaling", false);
    if (memory_.size() > 1) section("weak scaling", true);
    return wrong_;
  }

 private:
  void section(const char* title, bool weak) {
    Table table = run_.begin_section(title, node_row({}));
    for_types([&](const ElementType& type) {
      const long long held = sizes_.largest / type.size;
      run_.show(std::string("arrays of ") + type.name);
      for (std::size_t i = 0; i < memory_.size(); ++i) {
        fill_array(type.element, run_.gpus()[i].index, memory_[i].get(),
                   i * held, held);
      }
      for (std::size_t gpus = 1; gpus <= memory_.size(); ++gpus) {
        rows_on(table, type, gpus, weak);
      }
    });
  }

  void rows_on(Table& table, const ElementType& type, std::size_t gpus,
               bool weak) {
    const auto ways = make_ways(
        table, {"", type.name, static_cast<int>(gpus)}, node_sum_methods(),
        [&](const NodeSumMethod& method) {
          return method.make(type.element,
                             {run_.gpus().begin(), run_.gpus().begin() + gpus});
        });
    for (const long long bytes : sizes_.swept(kSizeFactor)) {
      const std::vector<Part> parts = parts_of(type, bytes, gpus, weak);
      const long long whole =
          weak ? bytes * static_cast<long long>(gpus) : bytes;
      of_size(table, type, whole, parts, ways);
    }
  }

  // What each GPU sums of an array of so many bytes, or (weak) of one each.
  std::vector<Part> parts_of(const ElementType& type, long long bytes,
                             std::size_t gpus, bool weak) const {
    const auto count = static_cast<std::size_t>(bytes) / type.size;
    std::vector<Part> parts;
    for (std::size_t i = 0; i < gpus; ++i) {
      const std::size_t share =
          weak ? count : count / gpus + (i < count % gpus ? 1 : 0);
      parts.push_back({memory_[i].get(), static_cast<long long>(share)});
    }
    return parts;
  }

  // `whole`: bytes of all parts.
  void of_size(Table& table, const ElementType& type, long long whole,
               const std::vector<Part>& parts,
               const std::vector<Way<NodeSumMethod>>& ways) {
    SumRow any = {"reference sums", type.name, static_cast<int>(parts.size()),
                  static_cast<double>(whole)};
    show(any);
    DoubleDouble reference;
    long long count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      count += parts[i].count;
      reference =
          reference + reference_sums(type.element, run_.gpus()[i].index,
                                     parts[i].data, parts[i].count, 1)[0];
    }
    const auto size = static_cast<long long>(type.size);
    if (count * size != whole) throw std::logic_error("the parts are no array");
    any.in_l2 = parts[0].count * size <= l2_;
    std::vector<SizedSum> sums;
    for (const auto& [method, made] : ways) {
      NodeSum& sum = *made;
      const auto time = [&]() -> Sample {
        const double host_ns = sum.time_ns(parts);
        return {{"rate", host_ns}, {"host", host_ns}};
      };
      const auto take = [&, time](SumRow& row) {
        sum.spoil();
        const Sample sample = time();
        if (!is_right(type, sum.sum(), count, run_.gpu().sm_count, reference)) {
          row.right = 0;
        }
        return sample;
      };
      // NCCL sets up what it needs in its first sums.
      const auto take_first = [&, time] {
        for (int i = 0; i < kWarmUps; ++i) sum.time_ns(parts);
        return time();
      };
      sums.push_back({method.name, method.set, {}, 1, take, take_first});
    }
    measure_size(table, any, sums, [] { return Sample{{"extra", 0}}; });
  }

  std::vector<DeviceBuffer<char>> memory_;  // of each GPU
};

}  // namespace

int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes) {
  run.show("memory of the arrays on one GPU");
  return OneGpu(run, sums, sizes).measure();
}

int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes) {
  run.show("memory of the arrays on several GPUs");
  return ManyGpus(run, sums, sizes).measure();
}

std::string describe_arrays() {
  return describe(kOneGpu, array_row({})) +
         describe("strong scaling, weak scaling", node_row({}));
}

}  // namespace syncbench::reduction
