// Ways to sum an array that lies in the memory of several GPUs (study, section
// VII-E).
#pragma once

#include <memory>
#include <vector>

#include "common/devices.hpp"
#include "common/options.hpp"
#include "reduction/elements.hpp"

namespace syncbench::reduction {

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

struct NodeSumMethod {
  const char* name;
  const char* text;  ///< for --list
  /// CannotMeasure where these GPUs cannot.
  std::unique_ptr<NodeSum> (*make)(Element element, std::vector<Gpu> gpus);
  Set set = Set::kToday;
};

/// In the order of rows and of --list.
std::vector<NodeSumMethod> node_sum_methods();

/// Those that this build lacks, and why.
std::vector<MethodInfo> missing_node_sum_methods();

/// NCCL's reduction of what each GPU has summed up.
std::unique_ptr<NodeSum> make_nccl_sum(Element element, std::vector<Gpu> gpus);

}  // namespace syncbench::reduction
