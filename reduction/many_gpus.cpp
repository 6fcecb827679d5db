#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/interrupt.hpp"
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
  // A way to sum, and its samples of one size.
  struct Candidate {
    const char* name;
    Set set;
    std::unique_ptr<NodeSum> sum;
    std::vector<double> times = {};
    bool right = true;
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
    std::vector<Candidate> candidates;
    for (const NodeSumMethod& method : node_sum_methods()) {
      if (!run_.options().wants(method.name, method.set)) continue;
      const Row any =
          node_row({method.name, type.name, static_cast<int>(gpus)});
      run_.measure_or_skip(table, any.key(), [&] {
        const std::vector<Gpu> used(run_.gpus().begin(),
                                    run_.gpus().begin() + gpus);
        candidates.push_back(
            {method.name, method.set, method.make(type.element, used)});
      });
    }
    for (const long long bytes : sizes_.swept(kSizeFactor)) {
      const std::vector<Part> parts = parts_of(type, bytes, gpus, weak);
      const long long whole =
          weak ? bytes * static_cast<long long>(gpus) : bytes;
      long long summed = 0;
      for (const Part& part : parts) summed += part.count * type.size;
      if (summed != whole) throw std::logic_error("the parts are no array");
      const auto key = [&](const char* name) {
        return node_row({name, type.name, static_cast<int>(gpus),
                         static_cast<double>(whole)})
            .key();
      };
      const AtClock clock = measure(type, parts, key, candidates);
      for (Candidate& candidate : candidates) {
        run_.show(key(candidate.name));
        SumRow row = {candidate.name, type.name, static_cast<int>(gpus),
                      static_cast<double>(whole)};
        row.in_l2 = parts[0].count * static_cast<long long>(type.size) <= l2_;
        row.rate = rate_summary(whole, candidate.times);
        row.host = per(summarize(candidate.times), 1e3);
        row.right = candidate.right;
        row.set = type.name == std::string(kShownArrays) ? candidate.set
                                                         : Set::kEvidence;
        row.mhz = clock.mhz;
        wrong_ += print_sum(run_, table, node_row(row), row, clock);
      }
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

  // The samples of all candidates in turn, so that what changes slowly
  // touches all alike. key(name): that of a row, for messages.
  template <class Key>
  AtClock measure(const ElementType& type, const std::vector<Part>& parts,
                  Key key, std::vector<Candidate>& candidates) {
    run_.show(key("reference sums"));
    DoubleDouble reference;
    long long count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      count += parts[i].count;
      reference =
          reference + reference_sums(type.element, run_.gpus()[i].index,
                                     parts[i].data, parts[i].count, 1)[0];
    }
    int samples = 1;
    for (Candidate& candidate : candidates) {
      run_.show(key(candidate.name));
      // NCCL sets up what it needs in its first sums.
      for (int i = 0; i < kWarmUps; ++i) candidate.sum->time_ns(parts);
      samples = std::max(samples, sum_samples(candidate.sum->time_ns(parts),
                                              run_.options().samples));
      candidate.right = true;
    }
    const auto sample = [&](Candidate& candidate) {
      check_interrupt();
      candidate.sum->spoil();
      candidate.times.push_back(candidate.sum->time_ns(parts));
      candidate.right &= is_right(type, candidate.sum->sum(), count,
                                  run_.gpu().sm_count, reference);
    };
    return run_.sample_at_full_clock(static_cast<int>(parts.size()), [&] {
      for (Candidate& candidate : candidates) candidate.times.clear();
      for (int i = 0; i < samples; ++i) {
        for (Candidate& candidate : candidates) {
          run_.measure_at([&] { return key(candidate.name); },
                          [&] { sample(candidate); });
        }
      }
    });
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
