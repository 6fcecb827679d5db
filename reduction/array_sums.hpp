// Ways to sum an array on one GPU (study, section VII-D), and one that lies in
// the memory of several (VII-E).
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "common/devices.hpp"
#include "common/options.hpp"
#include "common/table.hpp"
#include "reduction/elements.hpp"

namespace syncbench::reduction {

/// A way to sum arrays, by a Sum made for one type of elements.
template <class Sum, class... On>
struct SumMethod {
  using Made = std::unique_ptr<Sum>;

  const char* name;
  const char* text;  ///< for --list
  /// CannotMeasure where the GPUs or the toolkit cannot.
  Made (*make)(Element element, On... on);
  Set set = Set::kToday;
  bool sums = true;  ///< false: it reads the array, and writes no sum
};

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

/// make(element, gpu, most): for arrays of up to `most` elements.
using ArraySumMethod = SumMethod<ArraySum, Gpu, long long>;

/// In the order of rows and of --list.
const std::vector<ArraySumMethod>& array_sum_methods();

/// What one GPU holds of the array, in its own memory.
struct Part {
  const void* data;
  long long count;  ///< elements, >= 0
};

class NodeSum {
 public:
  virtual ~NodeSum() = default;

  /// Overwrites what the last sum has left in memory: if the next one reads
  /// something too early, it is then wrong. Waits for the GPUs.
  virtual void spoil() = 0;

  /// Sums the parts, one a GPU, and waits for the end. Nanoseconds of the
  /// host's clock, from the first launch, with the threads of all GPUs there,
  /// until the host knows that the sum is done. Throws where CUDA fails.
  virtual double time_ns(const std::vector<Part>& parts) = 0;

  /// The last sum, in the memory of the first GPU.
  virtual void* sum() const = 0;
};

/// make(element, gpus).
using NodeSumMethod = SumMethod<NodeSum, std::vector<Gpu>>;

/// In the order of rows and of --list.
std::vector<NodeSumMethod> node_sum_methods();

/// Those that this build lacks, and why.
std::vector<MethodInfo> missing_node_sum_methods();

}  // namespace syncbench::reduction
