#include <algorithm>
#include <exception>
#include <map>

#include "common/graphs.hpp"
#include "libraries/nccl_group.hpp"
#include "libraries/sessions.hpp"

namespace syncbench::libraries {
namespace {

// What each GPU adds to, and where the sums go.
class Sums {
 public:
  Sums(NcclGroup& group, int bytes)
      : group_(group), count_(static_cast<std::size_t>(bytes) / sizeof(float)) {
    int number = group.team().first();
    for (const Gpu& gpu : group.team().gpus()) {
      terms_.emplace_back(gpu.index, count_);
      sums_.emplace_back(gpu.index, count_);
      terms_.back().write(std::vector<float>(count_, ++number));
      sums_.back().spoil();
    }
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
    const auto right = static_cast<float>(gpus * (gpus + 1) / 2);
    for (const auto& buffer : sums_) {
      const std::vector<float> sums = buffer.read();
      if (std::count(sums.begin(), sums.end(), right) !=
          static_cast<std::ptrdiff_t>(count_)) {
        throw std::runtime_error("ncclAllReduce: a sum is wrong");
      }
    }
  }

 private:
  NcclGroup& group_;
  std::size_t count_;
  std::vector<DeviceBuffer<float>> terms_, sums_;
};

class Enqueued : public Point {
 public:
  Enqueued(NcclGroup& group, int bytes) : group_(group), sums_(group, bytes) {
    run(1);
    sums_.check();
  }

  double run(int operations) override {
    return group_.run("ncclAllReduce", [&](int i, CallResult&) {
      return sums_.add_up(i, operations);
    });
  }

 private:
  NcclGroup& group_;
  Sums sums_;
};

class InGraph : public Point {
 public:
  InGraph(NcclGroup& group, int bytes, Lengths lengths)
      : group_(group), sums_(group, bytes) {
    // NCCL connects GPUs at the first use, not while a graph is made.
    group_.run("ncclAllReduce",
               [&](int i, CallResult&) { return sums_.add_up(i, 1); });
    make(lengths.basic);
    make(lengths.more);
    run(lengths.basic);
    sums_.check();
  }

  // One of the two lengths.
  double run(int operations) override {
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
  Sums sums_;
  // By their length. They go before the communicators.
  std::map<int, std::vector<std::unique_ptr<GraphExec>>> graphs_;
};

template <bool kGraph>
class AllReduce : public Session {
 public:
  AllReduce(Team& team, Lengths lengths) : group_(team), lengths_(lengths) {}

  std::unique_ptr<Point> point(const CallShape& shape) override {
    if constexpr (kGraph) {
      return std::make_unique<InGraph>(group_, shape.bytes, lengths_);
    } else {
      return std::make_unique<Enqueued>(group_, shape.bytes);
    }
  }

 private:
  NcclGroup group_;
  Lengths lengths_;
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  return std::to_string(version / 10000) + '.' +
         std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

std::unique_ptr<Session> open_nccl_all_reduce(Team& team, Lengths lengths) {
  return opened<AllReduce<false>>(team, lengths);
}

std::unique_ptr<Session> open_nccl_graph(Team& team, Lengths lengths) {
  return opened<AllReduce<true>>(team, lengths);
}

}  // namespace syncbench::libraries
