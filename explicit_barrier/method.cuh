// The contract: what a method, one way to synchronize, says of itself.
//
// A method is a struct that derives from Method, in a file of methods/, and its
// name in the list at the end of that file. All else follows from the struct:
// --list, --method, rows, and what the tests expect. NamedBarrier in
// methods/block.cu is one that says much of itself.
//
// It has to give kAbout, expected_code() and the operation; all else has a
// default in Method, below, which says what it is for. Members such as a
// cooperative group are made once, by the threads that take part, before
// anything is timed. A constructor may take what the operation finds, as that
// of Semaphore does.
//
// The operation is called many times in a row, without a loop, each time with
// the value that the time before returned. Where it moves data its result
// depends on `value`, so that calls form a chain, unless it waits for the data
// itself; a barrier returns `value`.
// Before a shape is timed, one operation is made from start_value() in every
// thread that takes part, then kMostChecked in a row, and what they return has
// to be expected(). Then to each of 16 operations of a barrier of more than a
// warp another warp comes late, and none may be out before.
//
// Rows: BenchmarkIntraSM has a method of a block without groups() of its own in
// `block latency`, of a warp in `warp latency`, other ones up to a cluster in
// `group latency`; with throughput_repeats() in `throughput` too, and, if it is
// of a warp, in `warp latency` once more for several warps. BenchmarkInterSM
// has those of a grid and of GPUs, exchanges in `exchange`, TestRepeat has all.
// The machine-code test names a wrong `others` or pattern: ctest -R
// machine_code_Reduction.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <vector>

#include "common/launch_attributes.hpp"
#include "common/sets.hpp"

namespace syncbench::explicit_barrier {

/// Whom one operation joins. It decides who measures a method and where:
/// BenchmarkIntraSM up to the cluster, BenchmarkInterSM grid and GPUs,
/// TestRepeat all. kThread joins nobody: a known latency that validates clocks.
enum class Scope { kThread, kWarp, kBlock, kCluster, kGrid, kGpus };

/// What an operation takes: of a barrier of one block the time from the last
/// warp to enter to the first to leave; of all else the mean of each warp's own
/// time, for SMs have no common clock, and of one warp both are the same.
enum class Window { kBarrier, kOperation };

struct About {
  const char* name;  ///< of its rows, and for --method; several may share it
  const char* text;  ///< for --list
  Scope scope;
  Window window;
  /// What a reader of its rows has to know: above them and in --list.
  const char* caution = "";
  /// What the column `tile` counts, where it is neither the threads of the
  /// group nor the blocks of the cluster: "bytes".
  const char* tile = "";
  /// Of one that is a PTX instruction: its name, with which `name` begins; the
  /// rest and `text` say what is pending.
  const char* instruction = "";
};

/// How the machine-code test proves that the timed code does the work.
enum class Proof {
  kEach,       ///< the instruction, `count` times an operation on every path
  kLanes,      ///< the same, under conditions: not every lane does it
  kRate,       ///< the same of blocks or GPUs, none of which waits
  kChain,      ///< as kEach, and each reads the result of the one before
  kBarrier,    ///< a barrier of blocks over memory; `instruction` is how one
               ///< arrives, "": by an atomic; `count`: how often at most
  kUnordered,  ///< as kBarrier, without a fence
  kNode,       ///< of blocks of several GPUs: a barrier of the grid; then one
               ///< of the GPUs, as kBarrier, with `also` as its fence, if it
               ///< has one; then a barrier of the grid
  kParts,      ///< a barrier of blocks over memory that cannot be judged so,
               ///< for flags of two values or a library: its parts are there
  kMessages,   ///< as kParts, of messages: blocks do not meet, and there is a
               ///< fence only if `also` is one
  kTurn,       ///< a semaphore of blocks over memory; `instruction` is how a
               ///< block meets, twice: it has the turn, and it is done
  kNothing,    ///< not the instruction but a NOP, or a test for convergence
};

/// An instruction that an operation has exactly so often, on one of its paths:
/// a regular expression as that of ExpectedCode.
struct Beside {
  constexpr Beside(const char* instruction_ = "", int count_ = 1)
      : instruction(instruction_), count(count_) {}
  const char* instruction;  ///< "": there is none
  int count;
};

/// What the machine code of one operation is on an architecture, 90 for sm_90.
/// The machine-code test counts it between the two reads of the clock.
struct ExpectedCode {
  /// Regular expression for the whole instruction in SASS, operands too:
  /// R"(SHFL\.DOWN .*, 0x1, .*)". SIZE in it is the first of Method::groups, in
  /// hexadecimal digits.
  const char* instruction;
  int count = 1;
  /// Most other instructions that come with each operation, on any GPU: what
  /// twice as many operations add, less the work. NOPs are none.
  int others = 0;
  Proof proof = Proof::kEach;
  int paths = 1;  ///< ways through an operation that each have the instruction
  /// Others, each counted for itself: the fence of a release, what is stored
  /// before it. No regular expression may take two opcodes where both belong to
  /// an operation: it would take one of them twice.
  std::array<Beside, 5> also = {};
};

/// 0 or more sizes to measure: first, then one more, or `factor` times as many,
/// each time, up to `last`. {1, 32, 32}: 1 and 32.
struct Sizes {
  int first, last;
  int factor = 1;

  constexpr int after(int size) const {
    return factor == 1 ? size + 1 : size * factor;
  }
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (int size = first; size <= last; size = after(size)) visit(size);
  }
};

/// Where a thread is. `group`: the size of the group, of those that
/// Method::groups gives, that the launch is for.
struct Position {
  unsigned thread, threads;  ///< in its block, of the block
  unsigned block, blocks;    ///< in its grid, of the grid
  unsigned group;
};

/// What every thread has before its first operation: no two of a block alike.
__host__ __device__ constexpr unsigned start_value(const Position& position) {
  return position.thread + position.group;
}

/// A value of each thread of a grid, for the host.
struct Values {
  std::vector<unsigned> of_threads;  ///< of a block, one block behind the other

  unsigned operator()(const Position& position) const {
    return of_threads[position.block * position.threads + position.thread];
  }
  /// That of another thread of the same block.
  unsigned of_thread(Position position, unsigned thread) const {
    position.thread = thread;
    return (*this)(position);
  }
  /// That of a lane of the same warp.
  unsigned of_lane(const Position& position, unsigned lane) const {
    return of_thread(position, position.thread / 32 * 32 + lane);
  }
  /// The sum of `count` threads of the same block, from `first` on.
  unsigned sum(const Position& position, unsigned first, unsigned count) const {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += of_thread(position, first + i);
    return sum;
  }
};

/// Whether it is one of the first lanes of its warp, as many as the group has.
__host__ __device__ constexpr bool first_lanes(const Position& position) {
  return position.thread % 32 < position.group;
}

/// How many blocks meet in an operation of a GPU, one behind the other.
__host__ __device__ constexpr unsigned blocks_that_meet(
    Scope scope, const Position& position) {
  return scope == Scope::kCluster ? position.group
         : scope >= Scope::kGrid  ? position.blocks
                                  : 1;
}

/// Whether it is a barrier of more than a warp.
constexpr bool meets(const About& about) {
  return about.scope >= Scope::kBlock && about.window == Window::kBarrier;
}

struct None {};

struct Arguments;  // arguments.hpp

/// What an operation finds: its position and the method's state. `shared` is
/// that of its block, `global` the words of its GPU, `local` the thread's own.
template <class Shared = None, class Local = None>
struct Here : Position {
  Shared& shared;
  unsigned long long* global;
  Local local;
};

struct Method {
  /// Who asks for it, and for its points between those that pages show.
  static constexpr Set kSet = Set::kToday;
  static constexpr Set kBetween = Set::kEvidence;
  /// First architecture that has it, as in sm_90; its kernels are empty before.
  static constexpr int kFirstArchitecture = 60;
  /// First toolkit that has it, as in CUDART_VERSION; no kernels before either.
  static constexpr int kFirstToolkit = 0;
  /// Most operations in a row, where more compile slowly or to other code. More
  /// are rounds of half as many: at least four rounds, for compilers replace
  /// the counter of two, by which the machine-code test counts them.
  static constexpr int kMostInLine = 1 << 30;

  /// Whether nobody leaves an operation before all have come to it, though it
  /// is not timed as a barrier. Of barriers that is checked anyway.
  static constexpr bool kMeets = false;
  /// Operations that nobody leaves before all have come: two, where one hands
  /// over and back, as half of the threads wait in the next one.
  static constexpr int kMeetsIn = 1;
  /// The method itself, if it has rows of one warp that comes late. What
  /// derives from it has none.
  using Late = void;
  /// Whether TestRepeat measures it, in lines of up to kMostTestRepeats.
  static constexpr bool kInTestRepeat = true;
  /// Straight-line repeats, a power of two: enough to hide clock reads and the
  /// loop, few enough that four times as many cost four times as much, code
  /// fetched included.
  static constexpr int repeats(int /*group*/) { return 64; }
  /// Trips round that line which a latency row is over, and as many before
  /// them: more than one where threads poll or run ahead of each other, so that
  /// what an operation takes settles only after a while.
  static constexpr int kTrips = 1;
  /// Operations of each warp in a throughput row where up to 8 warps share an
  /// SM; more warps make fewer each. 0: this group has no throughput rows, nor,
  /// of a warp, rows of several warps.
  static constexpr int throughput_repeats(int /*group*/) { return 0; }
  /// Operations of warps that no SM exceeds in a cycle. By default the 4 warps
  /// that it issues; others are from the table of throughput in NVIDIA's CUDA
  /// C++ Programming Guide.
  static constexpr double kThroughputLimit = 4;
  /// Operations of the longer kernel of BenchmarkInterSM; the shorter one makes
  /// a ninth of them.
  static constexpr int kLonger = 288;
  /// Kernels in one queue that a sample of BenchmarkInterSM is the mean of.
  static constexpr int launches(int /*blocks_per_sm*/, int /*gpus*/) {
    return 1;
  }

  /// The groups to measure in a block of so many threads; one of them is in
  /// Position::group and in the column `tile` (About::tile says what it
  /// counts). {32, 32}: it has no sizes of its own.
  static constexpr Sizes groups(int /*threads*/) { return {32, 32}; }
  /// Whether it can be measured in blocks of so many threads.
  static constexpr bool fits(int /*threads*/) { return true; }
  /// Whether a thread calls it. Lane 0, which records the clock, has to be
  /// among the lanes of a warp that do.
  static constexpr __host__ __device__ bool takes_part(const Position&) {
    return true;
  }
  /// What the other threads do meanwhile.
  template <class Here>
  static __device__ void meanwhile(Here&) {}
  /// What operations hand on: any type of numbers.
  using Value = unsigned;
  /// What one operation makes of the values that all threads have before, a
  /// whole number, and whether the thread, of those that take part, is one that
  /// gets it.
  static unsigned expected(const Position& position, const Values& before) {
    return before(position);
  }
  static constexpr bool has_result(const Position&) { return true; }
  /// Operations in a row whose last result is still expected().
  static constexpr int kMostChecked = 16;
  /// Whether something else is an error. If not (say a chain without the
  /// barrier that it needs), a comment says how many results are right.
  static constexpr bool kChecked = true;

  /// State in shared memory, a plain struct. All threads of a block start it,
  /// a __syncthreads() follows. start() may take a Here in place of a Position.
  using Shared = None;
  template <class Shared>
  static __device__ void start(Shared&, const Position&) {}
  /// Only before the checked operation: may fill memory so that results show
  /// which words it takes.
  template <class Here>
  static __device__ void before_check(Here&) {}
  /// Words of state in global memory, for a GPU that runs so many threads. They
  /// are zero before the first kernel and left to the next as they are.
  static constexpr __host__ __device__ long long global_words(
      long long /*threads*/) {
    return 0;
  }
  /// What else the host hands to the kernel of each GPU, copied by value, for
  /// a launch of `blocks` blocks on each, and what each thread makes of it.
  using Argument = None;
  using Local = None;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);

  /// Copies of its memory that the samples of a row of BenchmarkInterSM are
  /// spread over, where what it takes depends on where that lies.
  static constexpr int kPlaces = 1;

  /// How its kernels have to be launched: cooperative, clusters of `group`, ...
  static constexpr LaunchAttributes attributes(int /*group*/) { return {}; }
  /// Blocks of a cluster that its code has by __cluster_dims__. 0: it is in
  /// attributes(), or there are no clusters.
  static constexpr int kClusterDims = 0;
  /// Of an exchange between GPUs, of Position::group bytes of each: those of a
  /// thread. It has rows in the section `exchange` alone. 0: of all others.
  static constexpr int kBytesOfThread = 0;
  /// Fewest GPUs that a method of kGpus is measured on.
  static constexpr int kFewestGpus = 1;
  /// It needs the runtime's multi-device launch, gone with CUDA 13, and these
  /// GPUs access to each other's memory, or none.
  static constexpr bool kMultiDevice = false;
  static constexpr bool kPeerAccess = true;
  /// Its cost differs between processes and is the same for all launches of
  /// one, so it is measured in several.
  static constexpr bool kDiffersByProcess = false;
};

}  // namespace syncbench::explicit_barrier
