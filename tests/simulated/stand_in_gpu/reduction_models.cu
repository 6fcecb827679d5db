// Kernels of Reduction. Arrays are really filled, and what is in memory is
// really added up, so that a wrong argument leads to a wrong sum; only in which
// order is not a GPU's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "explicit_barrier/methods.hpp"
#include "reduction/shared_sums.hpp"
#include "reduction/sum_kernels.cuh"
#include "reduction/test_data.hpp"
#include "reduction/warp_sums.hpp"
#include "stand_in_gpu/method_models.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

using syncbench::explicit_barrier::WarpRecord;
using syncbench::reduction::DoubleDouble;
using syncbench::reduction::Packet;
using syncbench::reduction::SharedSumKernels;

// As need(), of values that have to be aligned as their type asks for.
template <class T>
void needs(T* values, long long count, const char* whose) {
  if (reinterpret_cast<std::uintptr_t>(values) % alignof(T) != 0) {
    complain(std::string("misaligned: ") + whose);
    throw Failed{cudaErrorIllegalAddress};
  }
  need(values, static_cast<std::size_t>(count), whose);
}

// Nanoseconds of a kernel that reads or writes so many values.
template <class T>
double reading(const T*, long long count) {
  const auto bytes = static_cast<double>(count) * sizeof(T);
  return scenario().null + bytes / scenario().bandwidth;
}

Ended after(const Running& running, double nanoseconds) {
  return {running.factor * nanoseconds};
}

// Nanoseconds of a barrier among all blocks of a kernel, as planted for the
// method that times it.
double barrier(const Running& running, const char* method, unsigned blocks,
               unsigned threads, int gpus = 1) {
  return cycles_of(syncbench::explicit_barrier::find_method(method), blocks,
                   threads, gpus) /
         running.ghz();
}

bool launched(const Launch& launch, LaunchKind kind) {
  if (launch.kind == kind) return true;
  complain("its blocks are not sure to run together: " + launch.name);
  return false;
}

// What adds up values with an error well below that of a GPU's many short sums.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, long long, long double>;

template <class T>
T sum_of(const T* values, long long count) {
  Wide<T> sum = 0;
  for (long long i = 0; i < count; ++i) sum += values[i];
  return static_cast<T>(sum);
}

// The last sum of a kernel, or another one where that is planted.
template <class T>
T total_of(const T* values, long long count) {
  return scenario().bad == "results" ? 4242 : sum_of(values, count);
}

// Where part `part` of `parts` begins.
long long begin_of(long long count, long long part, long long parts) {
  return count / parts * part + count % parts * part / parts;
}

// The sums of as many parts of an array as there are blocks. Programs sum the
// same arrays again and again: those of long ones are kept until they change.
template <class T>
std::vector<T> shares_of(const T* data, long long count, unsigned blocks) {
  struct Kept {
    long long version = 0;
    std::vector<T> sums;
  };
  static std::map<std::tuple<const T*, long long, unsigned>, Kept> all;
  constexpr long long kLong = 4096;
  Kept unkept;
  Kept& kept = count < kLong ? unkept : all[{data, count, blocks}];
  const long long version = version_of(data);
  if (kept.version == version) return kept.sums;
  kept = {version, {}};
  for (unsigned block = 0; block < blocks; ++block) {
    const long long begin = begin_of(count, block, blocks);
    const long long end = begin_of(count, block + 1, blocks);
    kept.sums.push_back(sum_of(data + begin, end - begin));
  }
  return kept.sums;
}

// As in test_data.cu.
unsigned long long hash_of(unsigned long long index) {
  index += 0x9e3779b97f4a7c15;
  index = (index ^ (index >> 30)) * 0xbf58476d1ce4e5b9;
  index = (index ^ (index >> 27)) * 0x94d049bb133111eb;
  return index ^ (index >> 31);
}

template <class T>
T element_at(unsigned long long index) {
  const unsigned long long bits = hash_of(index);
  if (std::is_integral_v<T>) return 2 * static_cast<int>(bits >> 56) - 255;
  return static_cast<T>(sizeof(T) == 8 ? (bits >> 11) * 0x1p-53
                                       : (bits >> 40) * 0x1p-24);
}

template <class T>
Model fill(const Launch& launch) {
  auto* data = launch.argument<T*>(0);
  const auto first = launch.argument<long long>(1);
  const auto count = launch.argument<long long>(2);
  return {[=](const Running& running) -> Ended {
    needs(data, count, "fill_kernel");
    for (long long i = 0; i < count; ++i) data[i] = element_at<T>(first + i);
    return after(running, reading(data, count));
  }};
}

// In double-doubles, by Knuth's two-sum; shares nothing with sum_of().
template <class T>
DoubleDouble exact_sum(const T* begin, const T* end) {
  double high = 0, low = 0;
  for (const T* at = begin; at < end; ++at) {
    const double value = *at;
    const double sum = high + value;
    const double of_value = sum - high;
    low += (high - (sum - of_value)) + (value - of_value);
    high = sum;
  }
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

template <class T>
Model reference(const Launch& launch) {
  const auto* data = launch.argument<const T*>(0);
  const auto count = launch.argument<long long>(1);
  auto* of_blocks = launch.argument<DoubleDouble*>(2);
  const long long blocks = launch.grid.x, arrays = launch.grid.y;
  return {[=](const Running& running) -> Ended {
    needs(data, arrays * count, "reference_kernel");
    needs(of_blocks, arrays * blocks, "sums of reference_kernel");
    for (long long i = 0; i < arrays * blocks; ++i) {
      const T* array = data + i / blocks * count;
      const long long block = i % blocks;
      of_blocks[i] = exact_sum(array + begin_of(count, block, blocks),
                               array + begin_of(count, block + 1, blocks));
    }
    return after(running, reading(data, arrays * count));
  }};
}

// A sum a block: partial_sums, tree_sums, and CUB's.
template <class T>
Model block_sums(const Launch& launch, const T* data, long long count,
                 T* sums) {
  const unsigned blocks = launch.blocks();
  return {[=](const Running& running) -> Ended {
    needs(data, count, "what is summed");
    needs(sums, blocks, "partial sums");
    const std::vector<T> shares = shares_of(data, count, blocks);
    std::copy(shares.begin(), shares.end(), sums);
    if (blocks == 1) *sums = total_of(data, count);
    return after(running, reading(data, count));
  }};
}

template <class T>
Model partial_sums(const Launch& launch) {
  return block_sums(launch, launch.argument<const T*>(0),
                    launch.argument<long long>(1), launch.argument<T*>(2));
}

template <class T>
Model sum_partials(const Launch& launch) {
  return block_sums(launch, launch.argument<const T*>(0),
                    launch.argument<int>(1), launch.argument<T*>(2));
}

// DeviceReduceKernel and DeviceReduceSingleTileKernel begin with the same three
// arguments from CUB 1.17 (CUDA 11.8) to 3.0 (13.0): input, output, and how
// many values, of a type that only the name tells. A sum begins with 0, and how
// CUB shares the input among blocks is its own affair.
template <class T>
Model cub_sum(const Launch& launch) {
  const std::string parameters = launch.name.substr(launch.name.rfind(">("));
  const std::size_t third =
      parameters.find(',', parameters.find(',') + 1) + 1;  // begins there
  const std::string type =
      parameters.substr(third, parameters.find(',', third) - third);
  long long count = 0;
  if (type.find("long") != std::string::npos) {
    count = launch.argument<long long>(2);
  } else if (type.find("unsigned") != std::string::npos) {
    count = launch.argument<unsigned>(2);
  } else {
    count = launch.argument<int>(2);
  }
  return block_sums(launch, launch.argument<const T*>(0), count,
                    launch.argument<T*>(1));
}

template <class T>
Model sum_by_grid(const Launch& launch) {
  const auto* data = launch.argument<const T*>(0);
  const auto count = launch.argument<long long>(1);
  auto* partials = launch.argument<T*>(2);
  auto* sum = launch.argument<T*>(3);
  const unsigned blocks = launch.blocks(), threads = launch.threads();
  const bool together = launched(launch, LaunchKind::kCooperative);
  return {[=](const Running& running) -> Ended {
    if (!together) return {0, cudaErrorLaunchFailure};
    needs(data, count, "sum_by_grid");
    needs(partials, blocks, "partial sums");
    needs(sum, 1, "the sum");
    const std::vector<T> shares = shares_of(data, count, blocks);
    std::copy(shares.begin(), shares.end(), partials);
    *sum = total_of(partials, blocks);
    return after(running, reading(data, count) +
                              barrier(running, "grid_sync", blocks, threads));
  }};
}

template <class T>
Model sum_by_last_block(const Launch& launch) {
  const auto* data = launch.argument<const T*>(0);
  const auto count = launch.argument<long long>(1);
  auto* partials = launch.argument<T*>(2);
  auto* arrived = launch.argument<unsigned*>(3);
  auto* sum = launch.argument<T*>(4);
  const unsigned blocks = launch.blocks();
  return {[=](const Running& running) -> Ended {
    needs(data, count, "sum_by_last_block");
    needs(partials, blocks, "partial sums");
    needs(arrived, 1, "what counts blocks");
    needs(sum, 1, "the sum");
    const std::vector<T> shares = shares_of(data, count, blocks);
    for (unsigned block = 0; block < blocks; ++block) {
      partials[block] = shares[block];
      const unsigned before = *arrived;  // as atomicInc() does
      *arrived = before >= blocks - 1 ? 0 : before + 1;
      if (before == blocks - 1) *sum = total_of(partials, blocks);
    }
    return after(running, reading(data, count));
  }};
}

Model read_packets(const Launch& launch) {
  const auto* packets = launch.argument<const Packet<int>*>(0);
  const auto count = launch.argument<long long>(1);
  return {[=](const Running& running) -> Ended {
    needs(packets, count, "read_packets");
    return after(running, reading(packets, count));
  }};
}

// What sum_by_node is given: as in node_sums.cu, whose own nobody else sees.
template <class T, class End>
struct SumArguments {
  const T* data;
  long long count;
  int rank, gpus;
  T* gathered;
  T* sum;
  End end;
};

// The kernels of a sum over several GPUs start together, and are run one after
// the other: the last one does what the first GPU's does behind the barrier.
struct Gathering {
  int there = 0;
  std::function<void()> add_up;
};

template <class T, class End>
Model sum_by_node(const Launch& launch, const SumArguments<T, End>& own,
                  const char* method) {
  const unsigned blocks = launch.blocks(), threads = launch.threads();
  return {[=](const Running& running) -> Ended {
    T* gathered = own.gathered + std::size_t{blocks} * own.rank;
    const long long all = static_cast<long long>(blocks) * own.gpus;
    needs(own.data, own.count, "sum_by_node");
    needs(gathered, blocks, "partial sums of a GPU");
    needs(own.gathered, all, "partial sums of all GPUs");
    needs(own.sum, 1, "the sum");
    const std::vector<T> shares = shares_of(own.data, own.count, blocks);
    std::copy(shares.begin(), shares.end(), gathered);
    static std::map<const T*, Gathering> gatherings;
    Gathering& gathering = gatherings[own.gathered];
    if (own.rank == 0) {
      gathering.add_up = [=] { *own.sum = total_of(own.gathered, all); };
    }
    if (++gathering.there == own.gpus) {
      if (gathering.add_up) gathering.add_up();
      gatherings.erase(own.gathered);
    }
    return after(running,
                 reading(own.data, own.count) +
                     barrier(running, method, blocks, threads, own.gpus));
  }};
}

Model failing() {
  return {[](const Running&) -> Ended { return {0, cudaErrorLaunchFailure}; }};
}

template <class T>
Model sum_by_node(const Launch& launch) {
  if (launch.is("MultiGridBarrier")) {
    struct End {};
    const auto own = launch.argument<SumArguments<T, End>>(0);
    if (!launched(launch, LaunchKind::kMultiDevice)) return failing();
    return sum_by_node(launch, own, "multi_grid_sync");
  }
  const auto own = launch.argument<SumArguments<T, peer_grid::BarrierEnd>>(0);
  const auto& end = own.end.end;
  if (!launched(launch, LaunchKind::kCooperative)) return failing();
  if (own.rank != end.rank || own.gpus != end.gpus ||
      launch.blocks() != end.blocks) {
    complain("sum_by_node: its share and its barrier differ, or lie elsewhere");
    return failing();
  }
  Model model = sum_by_node(launch, own, "peer_grid_sync");
  meet_peers(own.end, model);
  return model;
}

template <class T>
std::optional<Model> model_of_type(const Launch& launch,
                                   const std::string& type) {
  constexpr std::pair<const char*, Model (*)(const Launch&)> kModels[] = {
      {"fill_kernel", fill<T>},
      {"reference_kernel", reference<T>},
      {"partial_sums", partial_sums<T>},
      {"sum_partials", sum_partials<T>},
      {"sum_by_grid", sum_by_grid<T>},
      {"sum_by_last_block", sum_by_last_block<T>},
      {"tree_sums", partial_sums<T>},
      {"sum_by_node", sum_by_node<T>}};
  for (const auto& [kernel, model] : kModels) {
    for (const char* behind : {">", ","}) {
      const std::string name = std::string("::") + kernel + "<" + type + behind;
      if (launch.is(name.c_str())) return model(launch);
    }
  }
  const bool cub = launch.is("::DeviceReduceKernel<") ||
                   launch.is("::DeviceReduceSingleTileKernel<");
  if (cub && (launch.is((">(" + type + " const*,").c_str()) ||
              launch.is((">(" + type + "*,").c_str()))) {
    return cub_sum<T>(launch);
  }
  return std::nullopt;
}

// Sums of values in shared memory, as in shared_sums.cu.
struct SharedSum {
  unsigned threads, count, stride;
  int value_bytes;

  // Cycles until the threads have added up their own values: all of them in
  // turn, at the pace of a thread or of the SM, and the first at least (Eq. 2).
  double cycles() const {
    const double bytes = static_cast<double>(count) * value_bytes;
    const double rate =
        std::min(threads * value_bytes / scenario().shared_latency,
                 scenario().shared_rate);
    return std::max(scenario().shared_latency, bytes / rate);
  }
  double sum_of_thread(unsigned thread) const {
    double sum = 0;
    for (unsigned i = thread; i < count; i += stride) sum += i % 8 + 1;
    return sum;
  }
};

// Where the values of a block lie: it has no more.
void must_fit(const SharedSum& sum) {
  if (static_cast<long long>(sum.count) * sum.value_bytes <=
      syncbench::reduction::kMostSharedBytes) {
    return;
  }
  complain("out of bounds: shared memory");
  throw Failed{cudaErrorIllegalAddress};
}

Model shared_loop(const Launch& launch, int value_bytes) {
  const SharedSum sum = {launch.threads(), launch.argument<unsigned>(0),
                         launch.argument<unsigned>(1), value_bytes};
  const auto passes = launch.argument<int>(2);
  auto* records = launch.argument<WarpRecord*>(3);
  auto* sums = launch.argument<double*>(4);
  return {[=](const Running& running) -> Ended {
    const unsigned warps = (sum.threads + 31) / 32;
    must_fit(sum);
    needs(records, warps, "records of loop_kernel");
    needs(sums, sum.threads, "sums of loop_kernel");
    const bool bad = scenario().bad == "results";
    for (unsigned thread = 0; thread < sum.threads; ++thread) {
      sums[thread] = bad ? 4242 : (passes + 1) * sum.sum_of_thread(thread);
    }
    const double pass = running.factor * sum.cycles();
    const auto start = running.cycles() + std::llround(pass);
    const auto end =
        start + std::llround(passes * pass + scenario().fixed_cycles);
    for (unsigned warp = 0; warp < warps; ++warp) {
      records[warp] = {start, end, 0};
      damage(records[warp]);
    }
    return {scenario().null + (passes + 1) * pass / running.ghz()};
  }};
}

// T_sync: what threads take more that have to bring their sums together. Five
// steps each with a barrier from a block to a warp, five shuffles from there.
double synchronizing_cycles(unsigned threads) {
  constexpr int kSteps = 5;
  double cycles = 0;
  if (threads > 1) {
    cycles += kSteps *
              cycles_of(syncbench::explicit_barrier::find_method("tile_shufl"),
                        1, 32);
  }
  if (threads > 32) {
    cycles += kSteps *
              cycles_of(syncbench::explicit_barrier::find_method("blocksync"),
                        1, threads);
  }
  return cycles;
}

Model shared_sum(const Launch& launch, int value_bytes, unsigned most_threads) {
  const SharedSum sum = {launch.threads(), launch.argument<unsigned>(0),
                         launch.argument<unsigned>(1), value_bytes};
  const auto trips = launch.argument<int>(2);
  auto* result = launch.argument<double*>(3);
  return {[=](const Running& running) -> Ended {
    must_fit(sum);
    needs(result, 2, "result of sum_kernel");
    result[0] = scenario().bad == "results" ? 4242 : 0;
    for (unsigned i = 0; i < std::min(sum.threads, most_threads); ++i) {
      result[0] += sum.sum_of_thread(i);
    }
    const double cycles =
        running.factor * (sum.cycles() + synchronizing_cycles(sum.threads));
    WarpRecord record = {running.cycles(),
                         running.cycles() + std::llround(cycles), 0};
    damage(record);
    result[1] = static_cast<double>(record.end - record.start);
    return {scenario().null + trips * cycles / running.ghz()};
  }};
}

std::optional<Model> model_of_shared(const Launch& launch) {
  static const auto all = syncbench::reduction::shared_sum_kernels();
  for (const SharedSumKernels& kernels : all) {
    const int bytes = kernels.value_bytes;
    if (launch.function == kernels.loop) return shared_loop(launch, bytes);
    if (launch.function == kernels.thread) return shared_sum(launch, bytes, 1);
    if (launch.function == kernels.warp) return shared_sum(launch, bytes, 32);
    if (launch.function == kernels.block) {
      return shared_sum(launch, bytes, 1024);
    }
  }
  return std::nullopt;
}

std::optional<Model> model_of(const Launch& launch) {
  static const auto warp_sums = syncbench::reduction::warp_sum_methods();
  if (auto model = model_of_method(launch, warp_sums)) return model;
  if (auto model = model_of_shared(launch)) return model;
  if (launch.is("::read_packets(")) return read_packets(launch);
  if (auto model = model_of_type<double>(launch, "double")) return model;
  if (auto model = model_of_type<float>(launch, "float")) return model;
  return model_of_type<int>(launch, "int");
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in
