// GPU test: does an exchange between GPUs give each the data of this round, of
// all? In each round every element differs, and a GPU, block or thread is late
// at random: before it sends, and before it reads. One wrong word fails. With
// one buffer and without acknowledgement the test has to see wrong words, or a
// wait that has no end. That ends CUDA for the process, so it is a case of its
// own.
//
// arguments: CASE [rounds]: holds, or one_buffer
#include <cstdio>
#include <string>
#include <vector>

#include "explicit_barrier/grid_barriers/exchange.cuh"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench::explicit_barrier::exchange {
namespace {

using namespace grid_barriers;

// Holds threads up, one in 64 each time.
__device__ void come_late(unsigned round, unsigned who) {
  const unsigned chance = mixed(clock() ^ mixed(round * 8191 + who));
  if (chance % 64 == 0) delay(chance >> 18);  // up to 16,000 cycles
}

/// The machine of an exchange that comes late to a read, too.
template <class Packet>
struct LateExchange : ExchangeMachine<Packet> {
  using Base = ExchangeMachine<Packet>;
  template <class Visit>
  __device__ static void load_all(const typename Base::Data* first,
                                  unsigned gpus, Visit visit) {
    come_late(1, Base::element());
    Base::load_all(first, gpus, visit);
  }
  template <class Visit>
  __device__ static void receive(const Packet* first, unsigned gpus,
                                 unsigned number, Visit visit) {
    come_late(number, Base::element());
    Base::receive(first, gpus, number, visit);
  }
};

// Data that differ between rounds, GPUs and elements.
template <class Data>
__device__ Data data_of(unsigned round, unsigned gpu, unsigned element) {
  const unsigned low = mixed(round * 4099 + gpu * 131071 + element);
  return static_cast<Data>(static_cast<unsigned long long>(mixed(low)) << 32 |
                           low);
}

template <class Machine, class Protocol>
__global__ void exchange_kernel(NodeEnd end, unsigned elements, unsigned before,
                                unsigned rounds, unsigned long long* wrong) {
  using Data = typename Machine::Data;
  const Machine machine;
  const unsigned element = Machine::element();
  Protocol protocol;
  protocol.learn(machine, end, elements);
  unsigned bad = 0;
  for (unsigned round = before + 1; round <= before + rounds; ++round) {
    come_late(round, end.rank * 65537 + element / 32);
    unsigned seen = 0;
    protocol.exchange(machine, end, data_of<Data>(round, end.rank, element),
                      [&](unsigned gpu, Data found) {
                        bad += found != data_of<Data>(round, gpu, element);
                        ++seen;
                      });
    bad += seen != (element < elements ? end.gpus : 0);
  }
  if (bad != 0) atomicAdd(wrong, bad);
}

struct ExchangeShape {
  int blocks, threads;
  unsigned elements;
};

// Wrong words of two launches that follow each other on each GPU.
template <class Machine, class Protocol>
unsigned long long count_wrong(const std::vector<Gpu>& gpus,
                               const ExchangeShape& shape, unsigned rounds) {
  const std::vector<int> devices = device_numbers(gpus);
  NodeMemory memory(devices,
                    exchange_words(static_cast<unsigned>(gpus.size()),
                                   static_cast<unsigned>(shape.blocks)));
  std::vector<DeviceBuffer<unsigned long long>> wrong;
  for (const int device : devices) {
    wrong.emplace_back(device, 1);
    wrong.back().set_to_zero();
  }
  const std::vector<Stream> streams = make_streams(devices);
  GpuThreads(gpus).run([&](int rank) {
    CallResult result;
    NodeEnd end = memory.ends()[rank];
    unsigned elements = shape.elements, before = 0, count = 0;
    unsigned long long* to = wrong[rank].get();
    void* arguments[] = {&end, &elements, &before, &count, &to};
    // First without rounds, which loads the code.
    for (const unsigned some : {0u, rounds, rounds / 2}) {
      count = some;
      result.note(launch_cooperative(
                      {reinterpret_cast<const void*>(
                           &exchange_kernel<Machine, Protocol>),
                       dim3(shape.blocks), dim3(shape.threads), arguments},
                      streams[rank].get()),
                  "launch");
      before += some;
    }
    result.note(cudaStreamSynchronize(streams[rank].get()),
                "cudaStreamSynchronize");
#pragma omp barrier
    return result;
  });
  unsigned long long sum = 0;
  for (const auto& of_gpu : wrong) sum += of_gpu.read()[0];
  return sum;
}

template <class Machine>
std::vector<ExchangeShape> shapes() {
  constexpr unsigned kMost = Machine::kMostElements;
  return {{1, 32, 1}, {1, 512, 512}, {kMost / 512, 512, kMost}, {3, 96, 200}};
}

// 1 where a word was wrong.
template <class Machine, class Protocol>
int check(const char* name, const std::vector<Gpu>& gpus, unsigned rounds) {
  unsigned long long wrong = 0;
  for (const ExchangeShape& shape : shapes<Machine>()) {
    wrong += count_wrong<Machine, Protocol>(
        gpus, shape, shape.elements > 512 ? rounds / 10 : rounds);
  }
  std::printf("%s: %zu GPUs: %llu wrong\n", name, gpus.size(), wrong);
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

template <template <class> class Machine>
int check_all(const char* name, const std::vector<Gpu>& gpus, unsigned rounds) {
  using In8 = Machine<Packet8>;
  using In16 = Machine<Packet16>;
  std::printf("%s\n", name);
  return check<In16, FlaggedData<In16>>("exchange_flag", gpus, rounds) +
         check<In16, FlaggedData<In16, 1, true>>("exchange_acknowledged", gpus,
                                                 rounds) +
         check<In8, NumberedData<In8>>("exchange_ll_8", gpus, rounds) +
         check<In16, NumberedData<In16>>("exchange_ll_16", gpus, rounds);
}

int run_one_buffer(const std::vector<Gpu>& gpus, unsigned rounds) {
  using In16 = LateExchange<Packet16>;
  const unsigned long long wrong =
      count_wrong<In16, FlaggedData<In16, 1>>(gpus, {1, 512, 512}, rounds);
  std::printf("flag after data, one buffer: %llu wrong\n", wrong);
  bool ended = false;
  try {
    count_wrong<In16, NumberedData<In16, 1>>(gpus, {1, 512, 512}, rounds);
  } catch (const CudaError& error) {
    ended = true;
    std::printf("data as flag, one buffer: %s\n", error.what());
  }
  return wrong > 0 && ended ? 0 : 1;
}

int run(const std::string& name, unsigned rounds) {
  const std::vector<Gpu> gpus = gpus_with_access(kMostGpus);
  if (gpus.empty()) return kSkipped;
  int failures = 0;
  if (name == "one_buffer") {
    failures = run_one_buffer(gpus, rounds);
  } else if (name == "holds") {
    std::vector<Gpu> two = gpus;
    two.resize(2);
    failures = check_all<ExchangeMachine>("as shipped", gpus, rounds) +
               check_all<LateExchange>("late readers", gpus, rounds) +
               check_all<LateExchange>("late readers", two, rounds);
  } else {
    std::printf("unknown case: %s\n", name.c_str());
    return 2;
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "exchange",
    [](const Words& words) { return run(words[0], words.number(1, 20000)); });

}  // namespace
}  // namespace syncbench::explicit_barrier::exchange
