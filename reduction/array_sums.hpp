// Ways to sum an array on one GPU (study, section VII-D).
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/table.hpp"
#include "reduction/elements.hpp"

namespace syncbench::reduction {

/// One way, for one type and one GPU, with the memory that it needs beside the
/// array.
class ArraySum {
 public:
  virtual ~ArraySum() = default;

  /// Why it cannot sum `count` elements; nothing: it can.
  virtual Remark refuses(long long /*count*/) const { return {}; }

  /// Overwrites what the last sum has left in its memory, and waits: a sum that
  /// reads something too early is then wrong.
  virtual void spoil() {}

  /// Queues what writes the sum of `count` >= 1 elements at `data` to `*sum`.
  /// Both are in the GPU's memory and aligned as their type asks for, no more.
  virtual void enqueue(const void* data, long long count, void* sum,
                       cudaStream_t stream) = 0;
};

struct ArraySumMethod {
  const char* name;
  const char* text;  ///< for --list
  /// For arrays of up to `most` elements; CannotMeasure where the GPU or the
  /// toolkit cannot.
  std::unique_ptr<ArraySum> (*make)(Element element, Gpu gpu, long long most);
  Set set = Set::kToday;
  bool sums = true;  ///< false: it reads the array, and writes no sum
};

/// In the order of rows and of --list.
const std::vector<ArraySumMethod>& array_sum_methods();

/// DeviceReduce::Sum of the CUB that comes with the toolkit, its temporary
/// memory allocated beforehand.
std::unique_ptr<ArraySum> make_cub_sum(Element element, Gpu gpu,
                                       long long most);

}  // namespace syncbench::reduction
