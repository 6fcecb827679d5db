// Takes the place of Reduction's ways to sum an array on one GPU by one that
// writes nothing, and one whose calls take the CPU long.
#include <chrono>
#include <thread>

#include "reduction/array_sums.hpp"

namespace syncbench::reduction {
namespace {

struct Unwritten : ArraySum {
  void enqueue(const void*, long long, void*, cudaStream_t) override {}
};

struct SlowToQueue : ArraySum {
  explicit SlowToQueue(std::unique_ptr<ArraySum> real) : sum(std::move(real)) {}
  void enqueue(const void* data, long long count, void* result,
               cudaStream_t stream) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    sum->enqueue(data, count, result, stream);
  }
  std::unique_ptr<ArraySum> sum;
};

}  // namespace

const std::vector<ArraySumMethod>& array_sum_methods() {
  static const std::vector<ArraySumMethod> methods = {
      {"unwritten", "",
       [](Element, Gpu, long long) -> std::unique_ptr<ArraySum> {
         return std::make_unique<Unwritten>();
       }},
      {"slow", "",
       [](Element element, Gpu gpu,
          long long most) -> std::unique_ptr<ArraySum> {
         return std::make_unique<SlowToQueue>(make_cub_sum(element, gpu, most));
       }},
      {"cub", "", make_cub_sum},
  };
  return methods;
}

}  // namespace syncbench::reduction
