// GPU test: all ways to sum an array, for lengths and starts that no packet of
// 16 bytes divides, against sums that the host makes in double-doubles. And do
// the checks find a sum that is wrong? Does the timer add anything of its own?
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/device_clock.cuh"
#include "common/errors.hpp"
#include "common/statistics.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/device_timer.hpp"
#include "reduction/test_data.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::reduction::reduction_sums {
namespace {

constexpr long long kMost = 3'300'003;  // elements
constexpr long long kCounts[] = {1,    2,    3,     5,       31,
                                 1000, 4097, 65537, 1000003, kMost - 3};

int failures = 0;

void expect(bool right, const char* what, const ElementType& type,
            long long count, long long start) {
  if (right) return;
  ++failures;
  std::printf("%s: %lld of %s from element %lld\n", what, count, type.name,
              start);
}

template <class T>
DoubleDouble host_sum(const std::vector<T>& values, long long start,
                      long long count) {
  DoubleDouble sum;
  for (long long i = start; i < start + count; ++i) {
    sum = sum + DoubleDouble{static_cast<double>(values[i]), 0};
  }
  return sum;
}

bool equal(const DoubleDouble& a, const DoubleDouble& b) {
  return a.high == b.high && a.low == b.low;
}

template <class T>
void test_type(const ElementType& type, const Gpu& gpu) {
  DeviceBuffer<T> data(gpu.index, kMost), sum(gpu.index, 1);
  fill_array(type.element, gpu.index, data.get(), 0, kMost);
  const std::vector<T> values = data.read();
  const Stream stream(gpu.index);
  for (const ArraySumMethod& method : array_sum_methods()) {
    std::unique_ptr<ArraySum> way;
    try {
      way = method.make(type.element, gpu, kMost);
    } catch (const CannotMeasure& error) {
      std::printf("%s left out: %s\n", method.name, error.what());
      continue;
    }
    for (const long long count : kCounts) {
      for (long long start = 0; start < 4 && start + count <= kMost; ++start) {
        way->spoil();
        sum.spoil();
        if (way->refuses(count)) continue;
        way->enqueue(data.get() + start, count, sum.get(), stream.get());
        CUDA_CHECK(cudaStreamSynchronize(stream.get()));
        if (!method.sums) continue;
        expect(is_right(type, sum.get(), count, gpu.sm_count,
                        host_sum(values, start, count)),
               method.name, type, count, start);
      }
    }
  }
}

// The reference itself, and what has to be told from it.
template <class T>
void test_checks(const ElementType& type, const Gpu& gpu) {
  constexpr long long kCount = 100'003;
  constexpr int kArrays = 3;
  DeviceBuffer<T> data(gpu.index, kArrays * kCount), sum(gpu.index, 1);
  fill_array(type.element, gpu.index, data.get(), 7, kArrays * kCount);
  const std::vector<T> values = data.read();
  const std::vector<DoubleDouble> references =
      reference_sums(type.element, gpu.index, data.get(), kCount, kArrays);
  for (int i = 0; i < kArrays; ++i) {
    expect(equal(references[i], host_sum(values, i * kCount, kCount)),
           "reference", type, kCount, i * kCount);
  }
  const auto judge = [&](double value) {
    const T host = static_cast<T>(value);
    CUDA_CHECK(
        cudaMemcpy(sum.get(), &host, sizeof host, cudaMemcpyHostToDevice));
    return is_right(type, sum.get(), kCount, gpu.sm_count, references[0]);
  };
  const double right = references[0].high;
  expect(judge(right), "a right sum is called wrong", type, kCount, 0);
  sum.spoil();
  expect(!is_right(type, sum.get(), kCount, gpu.sm_count, references[0]),
         "a sum that nobody wrote is called right", type, kCount, 0);
  expect(!judge(right + (type.roundoff == 0 ? 1 : 0.5)),
         "a sum without an element is called right", type, kCount, 0);
  expect(!judge(0), "0 is called right", type, kCount, 0);
  if (type.roundoff == 0) return;
  expect(!judge(std::numeric_limits<double>::quiet_NaN()),
         "NaN is called right", type, kCount, 0);
}

// More elements than an int counts, and more blocks than are resident.
void test_long(const Gpu& gpu) {
  constexpr long long kLong = (1LL << 31) + 5;
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (free < kLong * sizeof(int) + (1LL << 30)) {
    std::printf("no memory for %lld elements\n", kLong);
    return;
  }
  const ElementType& type = kElementTypes.back();  // int, whose sums are exact
  DeviceBuffer<int> data(gpu.index, kLong), sum(gpu.index, 1);
  fill_array(type.element, gpu.index, data.get(), 0, kLong);
  const Stream stream(gpu.index);
  for (const ArraySumMethod& method : array_sum_methods()) {
    for (const long long count : {kLong, 75'000'003LL}) {
      const auto way = method.make(type.element, gpu, count);
      if (!method.sums || way->refuses(count)) continue;
      sum.spoil();
      way->enqueue(data.get(), count, sum.get(), stream.get());
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
      expect(is_right(type, sum.get(), count, gpu.sm_count,
                      reference_sums(type.element, gpu.index, data.get(), count,
                                     1)[0]),
             method.name, type, count, 0);
    }
  }
}

__global__ void spin(long long cycles) {
  const long long start = read_sm_clock();
  while (read_sm_clock() - start < cycles) {
  }
}

// Four kernels take four times what one takes, without what the events take.
void test_timer(const Gpu& gpu) {
  DeviceTimer timer(gpu.index);
  const auto median_ns = [&](int kernels) {
    std::vector<double> times, events;
    for (int i = 0; i < 50; ++i) {
      events.push_back(timer.events_ns());
      times.push_back(timer.time_ns([&] {
        for (int kernel = 0; kernel < kernels; ++kernel) {
          spin<<<1, 1, 0, timer.stream()>>>(10'000);
          CUDA_CHECK(cudaGetLastError());
        }
      }));
    }
    return median_of(times) - median_of(events);
  };
  const double one_ns = median_ns(1), four_ns = median_ns(4);
  std::printf("a kernel of 10,000 cycles takes %.0f ns, four take %.0f\n",
              one_ns, four_ns);
  if (std::abs(four_ns / 4 - one_ns) > 0.05 * one_ns) ++failures;
}

int test() {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  for (const ElementType& type : kElementTypes) {
    with_type(type.element, [&](auto zero) {
      test_type<decltype(zero)>(type, gpus[0]);
      test_checks<decltype(zero)>(type, gpus[0]);
    });
  }
  test_long(gpus[0]);
  test_timer(gpus[0]);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("reduction_sums", [](const Words&) { return test(); });

}  // namespace
}  // namespace syncbench::reduction::reduction_sums
