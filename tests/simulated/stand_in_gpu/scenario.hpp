// What the pretended node is and what its work costs, as the environment says:
// STAND_IN="gpus=2 sms=16 noise=0.01". Words are KEY=VALUE, the keys those of
// Scenario; `_` in a name of a GPU is a blank. Any other word ends the program,
// so that a test cannot misspell one. `cycles.METHOD` and `rate.METHOD` are
// keys, too.
#pragma once

#include <string>

namespace stand_in {

struct Scenario {
  // The node.
  double gpus = 1, capability = 90 /* times 10 */, sms = 132;
  std::string name = "NVIDIA H200";
  double code = 0;  // that the programs have; 0: as they were compiled
  double threads_per_sm = 2048, blocks_per_sm = 32;
  double memory_mib = 256, l2_kib = 1024;        // of each GPU
  double memory_khz = 3201000, bus_bits = 6144;  // of its memory's clock
  std::string peer = "all";  // all, none, or halves: within each half
  double driver = 13000, cooperative = 1;
  double multi_device = 1;   // whether the driver has that launch
  double stream_memory = 1;  // whether it has stream memory operations
  double nccl_processes =
      0;                    // whether NCCL joins processes: no send, no receive
  double nccl_windows = 1;  // whether it registers some
  double others = 0;        // processes of others on each GPU, as NVML says
  double others_from = 0;   // s, before which there are none

  // Nanoseconds of the host's calls, by what they do.
  double clock_read = 25, call = 300, call_copy = 6000, call_synchronize = 600;
  double call_traditional = 2000, call_cooperative = 2300;
  double call_multi_device = 4000;  // for each GPU
  // Of graphs, the last three for each kernel.
  double call_graph = 2500, instantiate_node = 400, upload_node = 100;
  double update_node = 200;

  // Nanoseconds of the GPU. Between two kernels of a stream, by how the second
  // is launched; from a call to an idle GPU; from an end to a host that waits.
  double gap_traditional = 1000, gap_cooperative = 1200, gap_programmatic = 400;
  double gap_multi_device = 1500;  // for each GPU
  double node_gap = 0.4;           // gaps are so many times as long in a graph
  double gap_seam = 900;           // from a graph to the next
  double relaunch = 3900;          // the same where its kernel launches it
  double load_module = 700000, load_kernel = 30000;  // where that is done late
  double held_gap = 1;  // gaps are so many times as long in a held stream
  double flight = 900, notice = 700;
  double null = 600;   // an empty kernel
  double step = 700;   // between two steps of one kernel
  double nccl = 9000;  // ncclReduce of one number, other calls of NCCL
  double nccl_registered = 2500;  // ncclAllReduce in windows
  double event = 1300, event_wait = 500;
  double sleep_grid = 1;    // sleeps of 1000 ns take 1024
  double bandwidth = 2000;  // GB/s at which sums read
  double ghz = 1.98;        // of the SMs
  double tick = 32;         // of the global timer

  // Cycles of a timed kernel, whatever it repeats, and what an operation takes
  // more for each more: warp of a block, block per SM of a grid, GPU.
  double fixed_cycles = 40, warp_cycles = 1, block_cycles = 100;
  double gpu_cycles = 1000;
  double skew_cycles = 0;  // between warps that start or end a block's barrier
  // Operations that the instruction cache holds, and what one beyond takes
  // more each time.
  double cached_line = 1e9, uncached_cycles = 0;

  // Sums in shared memory: cycles that a thread takes for a value (the study's
  // T), and bytes that an SM reads there in a cycle, whatever its threads.
  double shared_latency = 32, shared_rate = 128;

  // What disturbs, mostly parts of 1.
  double noise = 0;           // standard deviation of what kernels take
  double noise_threads = -1;  // only of those with such blocks
  double host_noise = 0;      // greatest deviation of what calls take
  double drift = 0;           // growth of kernels' costs in a second
  double outliers = 0;        // part of the kernels that take ...
  double outlier = 1e5;       // ... so many nanoseconds more
  double stream_level = 0;    // gaps grow by it from stream to stream
  double process_level = 0;   // and from process to process
  // Gaps of the stream that a process uses first are so many times as long.
  double first_stream = 1;
  double slow_gpu = -1, slow_by = 1;  // this GPU takes so many times as long
  double halve_at = -1;   // s, after which the SM clock is half as fast
  double halve_gpu = -1;  // only of this GPU; -1: of all
  double full_at = -1;    // s, after which it is as before
  double reasons = 0;     // why, as NVML's bits; -1: it does not say
  double seed = 1;

  // Values that cannot be: clock0, clockneg, timer0, records0, recordsneg,
  // recordsff, results, notes; "results:N": of GPU N alone. Of large fields:
  // half (of one is stepped), staying (kernels of all steps forget one).
  std::string bad;
  std::string hang;  // kernels with this in their names never end

  // Of Pitfalls: which part of the tries of a race is wrong; and what must not
  // be, of kernels with these texts in their names: barriers that let threads
  // pass, a control that holds, a right form (or a lane's value) that is wrong,
  // GPUs that are sick afterwards, as all processes see by this file.
  double race_rate = 0.9;
  std::string lets_pass, holds, right_is_wrong, sick, sick_file;

  // A call that fails: its number from 1, the error, how (once, stays, sticky,
  // hang, abort, kill), counting calls with this in their names alone, from
  // this offset in the program, for this GPU (-1: for all) and in the process
  // of this number (-2: in all).
  double fail_at = 0, fail_code = 999, fail_process = -2, fail_gpu = -1;
  std::string fail_mode = "once", fail_call, fail_from;
  std::string calls;  // file that gets a line for each call
};

const Scenario& scenario();

/// Whether the results of a GPU are to be wrong.
bool has_wrong_results(int gpu);

/// Cycles of one operation of a method (`cycles.NAME`), or its operations per
/// cycle and SM (`rate.NAME`), or `otherwise`.
double of_method(const char* what, const std::string& method, double otherwise);

/// Number of this process among those that a program starts; -1 in the first.
int process();

}  // namespace stand_in
