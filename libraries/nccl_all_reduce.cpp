#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "common/graphs.hpp"
#include "libraries/nccl_group.hpp"
#include "libraries/processes.hpp"

namespace syncbench::libraries {
namespace {

// So many floats in the memory of each GPU of this process.
std::vector<DeviceBuffer<float>> unregistered(NcclGroup& group,
                                              std::size_t count) {
  std::vector<DeviceBuffer<float>> buffers;
  for (const Gpu& gpu : group.team().gpus()) {
    buffers.emplace_back(gpu.index, count);
  }
  return buffers;
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)

// Gives back memory of NCCL, which must not be in a window then.
struct FreeOfWindow {
  ncclComm_t communicator = nullptr;
  ncclWindow_t window = nullptr;

  void operator()(float* data) const {
    if (window != nullptr) {
      keep_nccl_failure(ncclCommWindowDeregister(communicator, window),
                        "ncclCommWindowDeregister");
    }
    keep_nccl_failure(ncclMemFree(data), "ncclMemFree");
  }
};

// As many floats in the memory of each GPU, at the start of a symmetric window,
// which all GPUs register together: NCCL then has kernels that read and write
// the memory of other GPUs, where they have access to it.
std::vector<DeviceBuffer<float, FreeOfWindow>> registered(NcclGroup& group,
                                                          std::size_t count) {
  const std::size_t bytes = count * sizeof(float);
  std::vector<std::unique_ptr<float, FreeOfWindow>> made(
      group.team().gpus().size());
  group.run("ncclMemAlloc and ncclCommWindowRegister", [&](int i, CallResult&) {
    void* data = nullptr;
    const ncclResult_t allocated = ncclMemAlloc(&data, bytes);
    if (allocated != ncclSuccess) return allocated;
    made[i] = {static_cast<float*>(data), {group.communicator(i)}};
    return ncclCommWindowRegister(group.communicator(i), data, bytes,
                                  &made[i].get_deleter().window,
                                  NCCL_WIN_COLL_SYMMETRIC);
  });
  return make_together([&] {
    std::vector<DeviceBuffer<float, FreeOfWindow>> buffers;
    for (auto& one : made) {
      if (one.get_deleter().window == nullptr) {
        throw CannotMeasure("no-window", "NCCL registers no window here");
      }
      buffers.emplace_back(std::move(one), count);
    }
    return buffers;
  });
}

#endif

// What each GPU adds to, and where the sums go, in memory of kMake(group,
// floats).
template <auto kMake>
class Sums {
 public:
  Sums(NcclGroup& group, int bytes)
      : group_(group),
        count_(static_cast<std::size_t>(bytes) / sizeof(float)),
        terms_(kMake(group, count_)),
        sums_(kMake(group, count_)) {
    int number = group.team().first();
    for (auto& terms : terms_) {
      terms.write(std::vector<float>(count_, ++number));
    }
  }

  // So that a sum which is not made is not taken for an earlier one.
  void spoil() {
    for (auto& sums : sums_) sums.spoil();
  }

  // Enqueues so many all-reduces in the stream of a GPU.
  ncclResult_t add_up(int i, int operations) const {
    ncclResult_t result = ncclSuccess;
    for (int k = 0; k < operations && result == ncclSuccess; ++k) {
      result = ncclAllReduce(terms_[i].get(), sums_[i].get(), count_, ncclFloat,
                             ncclSum, group_.communicator(i), group_.stream(i));
    }
    return result;
  }

  // Throws where a sum is not that of the numbers from 1 on.
  void check() const {
    const int gpus = group_.team().total();
    const int sum = gpus * (gpus + 1) / 2;
    const auto right = static_cast<float>(sum);
    for (const auto& buffer : sums_) {
      const std::vector<float> sums = buffer.read();
      if (std::count(sums.begin(), sums.end(), right) !=
          static_cast<std::ptrdiff_t>(count_)) {
        throw std::runtime_error("ncclAllReduce: a sum is wrong");
      }
    }
  }

 private:
  using Buffers = decltype(kMake(std::declval<NcclGroup&>(), 0));

  NcclGroup& group_;
  std::size_t count_;
  Buffers terms_, sums_;
};

template <auto kMake>
class InGraph {
 public:
  InGraph(NcclGroup& group, int bytes, Lengths lengths)
      : group_(group), sums_(group, bytes) {
    // NCCL connects GPUs at the first use, not while a graph is made.
    group_.run("ncclAllReduce",
               [&](int i, CallResult&) { return sums_.add_up(i, 1); });
    for (const int length : {lengths.basic, lengths.more}) {
      make(length);
      sums_.spoil();
      run(length);
      sums_.check();
    }
  }

  // One of the two lengths.
  double run(int operations) {
    const auto& graphs = graphs_.at(operations);
    return group_.run("no call of NCCL", [&](int i, CallResult& result) {
      result.note(cudaGraphLaunch(graphs[i]->get(), group_.stream(i)),
                  "cudaGraphLaunch");
      return ncclSuccess;
    });
  }

 private:
  void make(int operations) {
    auto& graphs = graphs_[operations];
    graphs.resize(group_.team().gpus().size());
    std::vector<std::exception_ptr> errors(graphs.size());
    group_.run("ncclAllReduce", [&](int i, CallResult&) {
      ncclResult_t added = ncclSuccess;
      try {
        const cudaStream_t stream = group_.stream(i);
        const Graph graph(stream, [&] { added = sums_.add_up(i, operations); });
        if (added != ncclSuccess) return added;
        graphs[i] = std::make_unique<GraphExec>(graph);
        graphs[i]->upload(stream);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      return added;
    });
    for (const auto& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  NcclGroup& group_;
  Sums<kMake> sums_;
  // By their length. They go before the communicators.
  std::map<int, std::vector<std::unique_ptr<GraphExec>>> graphs_;
};

Session all_reduce(Team& team, Lengths) {
  const auto group = std::make_shared<NcclGroup>(team);
  return {[group](const CallShape& shape) {
    const auto sums = std::make_shared<Sums<unregistered>>(*group, shape.bytes);
    Point run = [group, sums](int operations) {
      return group->run("ncclAllReduce", [&](int i, CallResult&) {
        return sums->add_up(i, operations);
      });
    };
    sums->spoil();
    run(1);
    sums->check();
    return run;
  }};
}

template <auto kMake>
Session in_graph(Team& team, Lengths lengths) {
  const auto group = std::make_shared<NcclGroup>(team);
  return {[group, lengths](const CallShape& shape) -> Point {
    const auto graphs =
        std::make_shared<InGraph<kMake>>(*group, shape.bytes, lengths);
    return [group, graphs](int operations) { return graphs->run(operations); };
  }};
}

std::string version() {
  int number = 0;
  check_nccl(ncclGetVersion(&number), "ncclGetVersion");
  return std::to_string(number / 10000) + '.' +
         std::to_string(number / 100 % 100) + '.' +
         std::to_string(number % 100);
}

}  // namespace

LibraryPart nccl_part() {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  const LibraryPart::Open graph_registered = in_graph<registered>;
#else
  const auto graph_registered = nccl_lacks("windows need NCCL 2.27");
#endif
  return {version,
          {{"nccl_all_reduce_unregistered", all_reduce},
           {"nccl_graph_unregistered", in_graph<unregistered>},
           {"nccl_graph_registered", graph_registered},
           {"nccl_lsa_block", nccl_lsa_block()},
           {"nccl_lsa_grid", nccl_lsa_grid()}}};
}

}  // namespace syncbench::libraries
