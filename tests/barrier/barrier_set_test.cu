// The host's part of the multi-GPU barrier: when it waits for GPUs and frees
// memory, for a peer's kernel may write to that of a GPU that is done; and what
// several processes agree on and open. On GPUs another order hardly shows. Here
// processes are threads, and the library calls functions that note what they
// are called for.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/barrier/noted_cuda.hpp"

namespace {

using noted::problems;
using peer_grid::CannotJoin;
using peer_grid::Error;
using peer_grid::ProcessBarrierSet;
using peer_grid::Processes;

constexpr int kProcesses = 3;

// What the processes hand to each other, in as many turns as they like.
class Table {
 public:
  void all_gather(int rank, const void* mine, void* all, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (gone_) throw std::runtime_error("a process has gone");
    if (came_ == 0) next_.assign(kProcesses * bytes, 0);
    std::memcpy(next_.data() + rank * bytes, mine, bytes);
    const int turn = turn_;
    if (++came_ == kProcesses) {
      whole_ = next_;
      came_ = 0;
      ++turn_;
      turned_.notify_all();
    }
    const bool in_time = turned_.wait_for(
        lock, std::chrono::minutes(10), [&] { return turn_ != turn || gone_; });
    if (!in_time || turn_ == turn)
      throw std::runtime_error("a process has gone");
    std::memcpy(all, whole_.data(), whole_.size());
  }
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    gone_ = true;
    turned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::vector<char> next_, whole_;
  int came_ = 0, turn_ = 0;
  bool gone_ = false;
};

// What process(rank, processes) of each rank throws.
std::vector<std::string> run(
    const std::function<void(const Processes&, Table&)>& process) {
  Table table;
  std::vector<std::string> thrown(kProcesses);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kProcesses; ++rank) {
    threads.emplace_back([&, rank] {
      noted::self = rank;
      noted::current = 7;
      const auto gather = [&, rank](const void* mine, void* all,
                                    std::size_t bytes) {
        table.all_gather(rank, mine, all, bytes);
      };
      try {
        process({rank, kProcesses, gather}, table);
      } catch (const CannotJoin& error) {
        thrown[rank] = std::string("CannotJoin: ") + error.what();
      } catch (const std::exception& error) {
        thrown[rank] = error.what();
      }
      const std::lock_guard<std::mutex> lock(noted::mutex);
      noted::expect(noted::current == 7, "another device is current");
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

int failures = 0;

// That all have thrown what contains `expected`, "": nothing; nothing else is
// wrong, no handle is open, and so many allocations are left.
void expect(const std::string& what, const std::vector<std::string>& thrown,
            const std::string& expected, std::size_t left = 0) {
  bool right = problems.empty() && noted::opened.empty() &&
               noted::allocated.size() == left && noted::host.empty();
  for (const std::string& text : thrown) {
    right = right && (expected.empty() ? text.empty()
                                       : text.find(expected) != text.npos);
  }
  std::printf("%s: %s; %s%zu open, %zu left%s\n", what.c_str(),
              thrown[0].c_str(), problems.c_str(), noted::opened.size(),
              noted::allocated.size(), right ? "" : " FAILED");
  if (!right) ++failures;
  problems.clear();
  noted::fails.clear();
  noted::opened.clear();
  for (const auto& [memory, of] : noted::allocated) std::free(memory);
  noted::allocated.clear();
}

// Whether these calls have been made since the last look, by one process.
void expect_calls(const char* what, const std::string& expected) {
  const bool right = noted::calls == expected && noted::current == 5;
  std::printf("%s: %s%s\n", what, noted::calls.c_str(), right ? "" : "FAILED");
  if (!right) ++failures;
  noted::calls.clear();
}

void check_one_process() {
  using peer_grid::BarrierSet;
  noted::current = 5;  // has to be so after each call
  const std::string all = "wait 3, wait 4, free, free, free, ";
  {
    BarrierSet set({3, 4}), other({4, 3});
    noted::calls.clear();
    BarrierSet moved = std::move(set);
    expect_calls("moved", "");
    moved = std::move(other);
    expect_calls("assigned", all);
    BarrierSet& same = moved;
    moved = std::move(same);
    expect_calls("assigned to itself", "");
    set = std::move(moved);
    expect_calls("assigned to a moved one", "");
    if (set.for_blocks(8).size() != 2 || !moved.for_blocks(8).empty())
      ++failures;
    set = BarrierSet({3, 4});
    noted::calls.erase(
        0, noted::calls.find("wait 4, wait 3"));  // the constructor's
    expect_calls("assigned a new one", "wait 4, wait 3, free, free, free, ");
  }
  expect_calls("destroyed", all);
  {
    const BarrierSet set({3, 4});
    noted::calls.clear();
    noted::is_broken = true;
  }
  noted::is_broken = false;
  expect_calls("destroyed after an error", all);
  try {
    const BarrierSet set({3, 3});
    ++failures;
  } catch (const peer_grid::CannotJoin&) {
    expect_calls("refused", "");
  }
  expect("GPUs of one process", {""}, "");
}

// A process with the GPU of its rank and one more.
void make_and_close(const Processes& processes, Table&) {
  ProcessBarrierSet set(processes.rank + 1, processes);
  set.close();
  set.close();
}

void check_ends(const Processes& processes, Table&) {
  ProcessBarrierSet set(processes.rank + 1, processes);
  const auto end = set.for_blocks(132);
  static void* state_of[kProcesses];
  static std::string texts[kProcesses];
  state_of[processes.rank] = end.end.own;
  const int next = (processes.rank + 1) % kProcesses;
  *end.machine.failure =
      static_cast<peer_grid::Failure>(peer_grid::Reason::kOtherGpu) << 60 |
      static_cast<peer_grid::Failure>(next) << 32 | 5;
  texts[processes.rank] = set.failure().value_or("none");
  set.close();  // after it all have written
  const std::lock_guard<std::mutex> lock(noted::mutex);
  noted::expect(end.end.rank == processes.rank && end.end.gpus == kProcesses &&
                    end.end.blocks == 132 &&
                    end.end.meeting == peer_grid::Meeting::kLastTells,
                "wrong end");
  for (int rank = 0; rank < kProcesses; ++rank) {
    noted::expect(end.end.of_rank[rank] == state_of[rank], "wrong memory");
  }
  noted::expect(
      texts[0].find("peer grid barrier: process 0 (pid ") == 0 &&
          texts[0].find(", GPU 0000:01:00.0) waited 10000 ms in barrier 5 of "
                        "its kernel for process 1 (pid ") != std::string::npos,
      "wrong failure");
}

void check_failed_calls() {
  for (const char* name :
       {"cudaGetDeviceProperties", "cudaDeviceGetPCIBusId", "cudaSetDevice",
        "cudaHostAlloc", "cudaMalloc", "cudaMemset", "cudaDeviceSynchronize",
        "cudaIpcGetMemHandle", "cudaIpcOpenMemHandle"}) {
    noted::fails[1] = name;
    const bool opens = std::strcmp(name, "cudaIpcOpenMemHandle") == 0;
    const auto thrown = run(make_and_close);
    expect(std::string(name) + " fails", thrown,
           std::string(opens ? "CannotJoin: process 1: it cannot access the "
                               "memory of process 0"
                             : "process 1: peer grid barrier: ") +
               (opens ? "" : name));
  }
}

// What the processes hand to each other is refused, or cannot be handed: then
// what another may have opened stays.
void check_gathers() {
  using peer_grid::detail::Offer;
  expect("another version", run([](Processes processes, Table& table) {
           const auto gather = processes.all_gather;
           processes.all_gather = [&](const void* mine, void* all,
                                      std::size_t bytes) {
             gather(mine, all, bytes);
             if (bytes == sizeof(Offer))
               static_cast<Offer*>(all)[2].version = 9;
           };
           make_and_close(processes, table);
         }),
         "processes 0 and 2 have different versions of the barrier");
  for (const int fails : {1, 2, 3}) {
    expect("a gather fails", run([&](Processes processes, Table& table) {
             const auto gather = processes.all_gather;
             int calls = 0;
             processes.all_gather = [&](const void* mine, void* all,
                                        std::size_t bytes) {
               gather(mine, all, bytes);
               if (++calls == fails) throw std::runtime_error("it fails");
             };
             make_and_close(processes, table);
           }),
           "it fails", fails == 1 ? 0 : kProcesses);
  }
}

int run_all() {
  check_one_process();
  check_gathers();
  expect("closed", run(make_and_close), "");
  expect("ends", run(check_ends), "");
  expect("two sets", run([](const Processes& processes, Table&) {
           ProcessBarrierSet one(processes.rank + 1, processes);
           ProcessBarrierSet other(processes.rank + 1, processes);
           one.close();
           other.close();
         }),
         "");
  check_failed_calls();
  noted::other_kind = 2;
  expect("another GPU", run(make_and_close),
         "0000:03:00.0) have GPUs of different kinds");
  noted::other_kind = -1;
  expect("a limit", run([](const Processes& processes, Table&) {
           ProcessBarrierSet set(
               processes.rank + 1, processes,
               std::chrono::milliseconds(processes.rank == 2 ? 1 : 100));
         }),
         "process 2: a wait limit is");
  expect("a wrong rank", run([](Processes processes, Table& table) {
           if (processes.rank == 1) processes.rank = kProcesses;
           make_and_close(processes, table);
         }),
         "process 1: peer grid barrier: no process 3 of 3");
  // Nobody can say that all have closed what is theirs: so it stays.
  expect("not closed", run([](const Processes& processes, Table&) {
           ProcessBarrierSet set(processes.rank + 1, processes);
         }),
         "", kProcesses);
  expect("closing fails", run([](const Processes& processes, Table&) {
           ProcessBarrierSet set(processes.rank + 1, processes);
           noted::is_broken = processes.rank == 0;
           set.close();
         }),
         "process 0: peer grid barrier: cudaDeviceSynchronize", kProcesses);
  expect("a process goes", run([](const Processes& processes, Table& table) {
           ProcessBarrierSet set(processes.rank + 1, processes);
           if (processes.rank == 1) {
             table.leave();
             throw std::runtime_error("a process has gone: this");
           }
           set.close();
         }),
         "a process has gone", kProcesses);
  {
    noted::current = 7;
    const auto gather = [](const void* mine, void* all, std::size_t bytes) {
      std::memcpy(all, mine, bytes);
    };
    const ProcessBarrierSet set(1, {0, 1, gather});
  }
  expect("one process", {""}, "");
  const std::pair<int, int> none[] = {{0, 0}, {0, 17}, {2, 2}, {-1, 2}};
  for (const auto& wrong : none) {
    try {  // where others can be told, they are
      const auto gather = [&](const void* mine, void* all, std::size_t bytes) {
        for (int rank = 0; rank < wrong.second; ++rank) {
          std::memcpy(static_cast<char*>(all) + rank * bytes, mine, bytes);
        }
      };
      ProcessBarrierSet set(0, {wrong.first, wrong.second, gather});
      ++failures;
    } catch (const Error& error) {
      std::printf("%s\n", error.what());
    }
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main() { return run_all(); }
