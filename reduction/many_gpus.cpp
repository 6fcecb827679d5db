#include "reduction/many_gpus.hpp"

#include <memory>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/interrupt.hpp"
#include "reduction/node_sums.hpp"
#include "reduction/rows.hpp"
#include "reduction/samples.hpp"
#include "reduction/test_data.hpp"

namespace syncbench {
namespace {

constexpr int kSizeFactor = 16;
constexpr int kWarmUps = 5;

class ManyGpus {
 public:
  ManyGpus(MeasuringRun& run, const ArraySizes& sizes)
      : run_(run), sizes_(sizes) {
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
    run_.begin_section();
    Table<SumRow> table(run_.out(), title, node_columns(run_.options().stats));
    for (const ElementType& type : kElementTypes) {
      if (!run_.options().wants_type(type.name)) continue;
      const long long held = sizes_.largest / type.size;
      for (std::size_t i = 0; i < memory_.size(); ++i) {
        fill_array(type.element, run_.gpus()[i].index, memory_[i].get(),
                   i * held, held);
      }
      for (const NodeSumMethod& method : node_sum_methods()) {
        if (run_.options().wants(method.name)) {
          rows_of(table, type, method, weak);
        }
      }
    }
  }

  void rows_of(Table<SumRow>& table, const ElementType& type,
               const NodeSumMethod& method, bool weak) {
    for (std::size_t gpus = 1; gpus <= memory_.size(); ++gpus) {
      const std::string point = std::string(method.name) + " of " + type.name +
                                " on " + std::to_string(gpus) + " GPUs";
      run_.show(point);
      run_.measure_or_skip(table, point, [&] {
        const std::vector<Gpu> used(run_.gpus().begin(),
                                    run_.gpus().begin() + gpus);
        const std::unique_ptr<NodeSum> sum = method.make(type.element, used);
        for (const long long bytes : sizes_.swept(kSizeFactor)) {
          run_.show(point + ", " + std::to_string(bytes) +
                    (weak ? " bytes each" : " bytes"));
          SumRow row = {method.name, type.name, static_cast<int>(gpus)};
          row.bytes = static_cast<double>(weak ? bytes * gpus : bytes);
          measure(row, type, *sum, parts(type, bytes, gpus, weak));
          print(table, row);
        }
      });
    }
  }

  // What each GPU sums of an array of so many bytes, or (weak) of one each.
  std::vector<Part> parts(const ElementType& type, long long bytes,
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

  void measure(SumRow& row, const ElementType& type, NodeSum& sum,
               const std::vector<Part>& parts) {
    DoubleDouble reference;
    long long count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      count += parts[i].count;
      reference =
          reference + reference_sums(type.element, run_.gpus()[i].index,
                                     parts[i].data, parts[i].count, 1)[0];
    }
    // NCCL sets up what it needs in its first sums.
    for (int i = 0; i < kWarmUps; ++i) sum.time_ns(parts);
    std::vector<double> times;
    bool right = true;
    for (int samples = 1; static_cast<int>(times.size()) < samples;) {
      check_interrupt();
      sum.spoil();
      times.push_back(sum.time_ns(parts));
      right &= is_right(type, sum.sum(), count, run_.gpu().sm_count, reference);
      samples = sum_samples(times.front(), run_.options().samples);
    }
    row.rate = rate_summary(static_cast<long long>(row.bytes), times);
    row.host = per(summarize(times), 1e3);
    row.right = right;
  }

  void print(Table<SumRow>& table, SumRow& row) {
    row.mhz = run_.clock_mhz_unwatched();
    table.row(row);
    run_.check_row(watched_spread(row));
    wrong_ += row.right == 0;
  }

  MeasuringRun& run_;
  const ArraySizes sizes_;
  std::vector<DeviceBuffer<char>> memory_;  // of each GPU
  int wrong_ = 0;
};

}  // namespace

int measure_many_gpus(MeasuringRun& run, const ArraySizes& sizes) {
  return ManyGpus(run, sizes).measure();
}

}  // namespace syncbench
