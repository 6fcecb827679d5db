#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "reduction/node_sums.hpp"
#include "reduction/rows.hpp"
#include "reduction/sections.hpp"
#include "reduction/test_data.hpp"

namespace syncbench::reduction {
namespace {

constexpr int kSizeFactor = 16;
constexpr int kWarmUps = 5;

class ManyGpus {
 public:
  ManyGpus(MeasuringRun& run, const SumOptions& sums, const ArraySizes& sizes)
      : run_(run), sums_(sums), sizes_(sizes) {
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
  struct Way {
    NodeSumMethod method;
    std::unique_ptr<NodeSum> sum;
  };

  void section(const char* title, bool weak) {
    Table table = run_.begin_section(title, node_row({}));
    for (const ElementType& type : kElementTypes) {
      if (!sums_.measures_type(type.name, kShownArrays, run_.options())) {
        continue;
      }
      const long long held = sizes_.largest / type.size;
      run_.show(std::string("arrays of ") + type.name);
      for (std::size_t i = 0; i < memory_.size(); ++i) {
        fill_array(type.element, run_.gpus()[i].index, memory_[i].get(),
                   i * held, held);
      }
      for (std::size_t gpus = 1; gpus <= memory_.size(); ++gpus) {
        rows_on(table, type, gpus, weak);
      }
    }
  }

  void rows_on(Table& table, const ElementType& type, std::size_t gpus,
               bool weak) {
    std::vector<Way> ways;
    for (const NodeSumMethod& method : node_sum_methods()) {
      if (!run_.options().wants(method.name, method.set)) continue;
      const Row any =
          node_row({method.name, type.name, static_cast<int>(gpus)});
      run_.measure_or_skip(table, any.key(), [&] {
        const std::vector<Gpu> used(run_.gpus().begin(),
                                    run_.gpus().begin() + gpus);
        ways.push_back({method, method.make(type.element, used)});
      });
    }
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
               const std::vector<Part>& parts, const std::vector<Way>& ways) {
    const int gpus = static_cast<int>(parts.size());
    SumRow any = {"reference sums", type.name, gpus,
                  static_cast<double>(whole)};
    run_.show(node_row(any).key());
    DoubleDouble reference;
    long long count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      count += parts[i].count;
      reference =
          reference + reference_sums(type.element, run_.gpus()[i].index,
                                     parts[i].data, parts[i].count, 1)[0];
    }
    if (count * static_cast<long long>(type.size) != whole) {
      throw std::logic_error("the parts are no array");
    }
    any.in_l2 = parts[0].count * static_cast<long long>(type.size) <= l2_;
    any.right = 1;
    std::deque<SumRow> rows;
    std::vector<TimedPoint> points;
    int samples = 1;
    for (const Way& way : ways) {
      SumRow& row = rows.emplace_back(any);
      row.method = way.method.name;
      row.set = type.name == std::string(kShownArrays) ? way.method.set
                                                       : Set::kEvidence;
      const RowKey key = node_row(row).key();
      run_.show(key);
      // NCCL sets up what it needs in its first sums.
      for (int i = 0; i < kWarmUps; ++i) way.sum->time_ns(parts);
      samples = std::max(samples, sum_samples(way.sum->time_ns(parts),
                                              run_.options().samples));
      const auto sample = [&, count, reference]() -> Sample {
        way.sum->spoil();
        const double time = way.sum->time_ns(parts);
        if (!is_right(type, way.sum->sum(), count, run_.gpu().sm_count,
                      reference)) {
          row.right = 0;
        }
        return {{"host", time}};
      };
      points.push_back(
          {[this, key, sample] { return run_.measure_at(key, sample); }});
    }
    const AtClock clock = run_.sample_at_full_clock(gpus, points, samples);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SumRow& row = rows[i];
      run_.show(node_row(row).key());
      const std::vector<double>& times = points[i].samples.at("host");
      row.rate = rate_summary(whole, times);
      row.host = per(summarize(times), 1e3);
      row.mhz = clock.mhz;
      wrong_ += print_sum(run_, table, node_row(row), row, clock);
    }
  }

  MeasuringRun& run_;
  const SumOptions& sums_;
  const ArraySizes sizes_;
  const long long l2_ = l2_bytes();
  std::vector<DeviceBuffer<char>> memory_;  // of each GPU
  int wrong_ = 0;
};

}  // namespace

int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes) {
  run.show("memory of the arrays on several GPUs");
  return ManyGpus(run, sums, sizes).measure();
}

}  // namespace syncbench::reduction
