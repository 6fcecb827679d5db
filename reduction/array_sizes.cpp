#include "reduction/array_sizes.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "reduction/elements.hpp"

namespace syncbench::reduction {
namespace {

constexpr long long kMiB = 1 << 20;

std::string type_names(const char* separator) {
  std::string names;
  for (const ElementType& type : kElementTypes) {
    names += (names.empty() ? "" : separator) + std::string(type.name);
  }
  return names;
}

void check_type(const std::string& name) {
  for (const ElementType& type : kElementTypes) {
    if (type.name == name) return;
  }
  throw UsageError("unknown type " + quoted(name) + ": it is one of " +
                   type_names(", "));
}

void check_types(const SumOptions& sums, long long bytes) {
  for (const ElementType& type : kElementTypes) {
    if (!sums.wants_type(type.name) || bytes % type.size == 0) continue;
    throw UsageError("arrays of " + std::to_string(bytes) +
                     " bytes are no whole number of elements of type " +
                     type.name);
  }
}

// Of the GPU that has least.
struct Memory {
  std::size_t free, total;
};

Memory least_memory(const std::vector<Gpu>& gpus) {
  Memory least = {std::size_t(-1), std::size_t(-1)};
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    least = {std::min(least.free, free), std::min(least.total, total)};
  }
  return least;
}

}  // namespace

bool SumOptions::wants_type(const std::string& type) const {
  return types.empty() ||
         std::find(types.begin(), types.end(), type) != types.end();
}

bool SumOptions::measures_type(const std::string& type,
                               const std::string& shown,
                               const Options& options) const {
  return types.empty() ? options.all || type == shown : wants_type(type);
}

std::vector<Option> options_for(SumOptions& sums) {
  return {{"type", "TYPE[,TYPE...]", "sum only these: " + type_names(" "),
           [&sums](const std::string& value, Options&) {
             for (const std::string& name : split_words(value)) {
               check_type(name);
               sums.types.push_back(name);
             }
           }},
          {"min-bytes", "N",
           "bytes of the smallest array; N may end in K, M or G (default 1M)",
           [&sums](const std::string& value, Options&) {
             sums.min_bytes = parse_bytes(value, "--min-bytes");
           }},
          {"max-bytes", "N",
           "bytes of the largest array, likewise (default 1/" +
               std::to_string(kPartsOnOne) + " of a GPU's memory, 1/" +
               std::to_string(kPartsOnSeveral) +
               " where several GPUs share an array)",
           [&sums](const std::string& value, Options&) {
             sums.max_bytes = parse_bytes(value, "--max-bytes");
           }}};
}

std::vector<long long> ArraySizes::swept(int factor) const {
  std::vector<long long> sizes;
  for (long long bytes = smallest; bytes <= largest; bytes *= factor) {
    sizes.push_back(bytes);
  }
  return sizes;
}

ArraySizes array_sizes(const SumOptions& sums, const std::vector<Gpu>& gpus,
                       int parts) {
  const Memory memory = least_memory(gpus);
  ArraySizes sizes = {sums.min_bytes, sums.max_bytes};
  if (sizes.largest == 0) {
    const auto room = static_cast<long long>(
        std::min(memory.free / 10 * 9, memory.total / parts));
    sizes.largest = kMiB;
    while (2 * sizes.largest <= room) sizes.largest *= 2;
    sizes.largest = std::max(sizes.largest, sizes.smallest);
  }
  if (sizes.smallest == 0) sizes.smallest = std::min(kMiB, sizes.largest);
  if (sizes.smallest > sizes.largest) {
    throw UsageError("--min-bytes is more than --max-bytes");
  }
  check_types(sums, sizes.smallest);
  if (sizes.largest > static_cast<long long>(memory.free)) {
    throw UsageError("an array of " + std::to_string(sizes.largest) +
                     " bytes does not fit into the " +
                     std::to_string(memory.free) +
                     " bytes of memory that are free");
  }
  return sizes;
}

}  // namespace syncbench::reduction
