// The contract: what a method, one way to synchronize, says of itself.
//
// A method is a struct that derives from Method, in a file of methods/, and its
// name in the list at the end of that file. All else follows from the struct:
// --list, --method, rows, and what the tests expect. NamedBarrier in
// methods/in_sm/block.cu is one that says much of itself.
//
// It gives the operation and describe(), which fills an About, below: what a
// name says there it says nowhere else. All has a default but name and machine
// code. One that derives from another method begins with the other's
// describe(). Members such as a cooperative group are made once, by the threads
// that take part, before anything is timed. A constructor may take what the
// operation finds, as that of Semaphore does.
//
// The operation is called many times in a row, without a loop, each time with
// the value that the time before returned. Where it moves data its result
// depends on `value`, so that calls form a chain, unless it waits for the data
// itself; a barrier returns `value`.
// Before a shape is timed, one operation is made from start_value() in every
// thread that takes part, then in small grids most_checked in a row, and what
// they return has to be expected(). Then there are 16 rounds of `meets_in`
// operations of a barrier of more than a warp: in each another warp comes late,
// and none may be out before.
//
// Rows: BenchmarkIntraSM has a method of a block without `groups` of its own in
// `block latency`, of a warp in `warp latency`, other ones up to a cluster in
// `group latency`; with `throughput_repeats` in `throughput` too, and, if it is
// of a warp, in `warp latency` once more for several warps. BenchmarkInterSM
// has those of a grid and of GPUs, exchanges in `exchange`; TestRepeat the
// study's. The machine-code test names a wrong `others` or pattern: ctest -R
// machine_code_Reduction.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <type_traits>
#include <vector>

#include "common/launch_attributes.hpp"
#include "common/sets.hpp"

namespace syncbench::explicit_barrier {

/// Whom one operation joins. It decides who measures a method and where:
/// BenchmarkIntraSM up to the cluster, BenchmarkInterSM grid and GPUs,
/// TestRepeat the study's. kThread joins nobody: a known latency that validates
/// clocks.
enum class Scope { kThread, kWarp, kBlock, kCluster, kGrid, kGpus };

/// What an operation takes: of a barrier of one block the time from the last
/// warp to enter to the first to leave; of all else the mean of each warp's own
/// time, for SMs have no common clock, and of one warp both are the same.
enum class Window { kBarrier, kOperation };

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

/// What the machine code of one operation is. The machine-code test counts it
/// between the two reads of the clock:
/// ExpectedCode(R"(SHFL\.DOWN .*, 0x1, .*)").others(2).
struct ExpectedCode {
  /// An instruction, and how often each operation has it: a regular expression
  /// for all of it in SASS, operands too. SIZE in it is the first of
  /// About::groups, in hexadecimal digits. "": there is none.
  constexpr ExpectedCode(const char* pattern = "", int times = 1)
      : instruction(pattern), count(times) {}

  /// Most other instructions that come with each operation, on any GPU: what
  /// twice as many operations add, less the work. NOPs are none.
  constexpr ExpectedCode& others(int n) { return most_others = n, *this; }
  constexpr ExpectedCode& proof(Proof p) { return proven_by = p, *this; }
  /// Ways through an operation that each have the instruction.
  constexpr ExpectedCode& paths(int n) { return ways = n, *this; }
  /// One that an operation has exactly so often, on one of its paths, up to
  /// five of them: the fence of a release, what is stored before it. No regular
  /// expression may take two opcodes where both belong to an operation: it
  /// would take one of them twice.
  constexpr ExpectedCode& also(const char* pattern, int times = 1) {
    std::size_t next = 0;
    while (beside.at(next).count > 0) ++next;
    beside.at(next) = {pattern, pattern[0] == '\0' ? 0 : times};
    return *this;
  }

  struct Beside {
    const char* instruction = "";
    int count = 0;
  };
  const char* instruction;
  int count, most_others = 0, ways = 1;
  Proof proven_by = Proof::kEach;
  std::array<Beside, 5> beside = {};
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
/// About::groups gives, that the launch is for.
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

/// A property: a constant, or what a function without captures makes of its
/// arguments.
template <class Function>
class Property;

template <class Result, class... Of>
class Property<Result(Of...)> {
 public:
  constexpr Property(Result constant) : constant_(constant) {}
  template <class Lambda, class = std::enable_if_t<
                              std::is_convertible_v<Lambda, Result (*)(Of...)>>>
  constexpr Property(Lambda function) : function_(function) {}

  constexpr Result operator()(Of... of) const {
    return function_ == nullptr ? constant_ : function_(of...);
  }

 private:
  Result constant_ = {};
  Result (*function_)(Of...) = nullptr;
};

inline unsigned as_before(const Position& position, const Values& before) {
  return before(position);
}
Arguments no_arguments(const std::vector<int>& devices, int blocks);

/// What a method says of itself in describe(). It has to call barrier() or
/// operation() and to set `code`.
struct About {
  /// `its_name`: of its rows, and for --method; several may share it.
  /// `its_text`: for --list. Forgets the caution, `tile`, instruction and
  /// `late` that a base may have set.
  constexpr void operation(Scope its_scope, const char* its_name,
                           const char* its_text) {
    name = its_name;
    text = its_text;
    scope = its_scope;
    window = Window::kOperation;
    caution = tile = instruction = "";
    late = false;
  }
  constexpr void barrier(Scope its_scope, const char* its_name,
                         const char* its_text) {
    operation(its_scope, its_name, its_text);
    window = Window::kBarrier;
  }
  /// Whether it is a barrier of more than a warp.
  constexpr bool meets() const {
    return scope >= Scope::kBlock && window == Window::kBarrier;
  }

  /// Whether TestRepeat has it in lines of up to kMostTestRepeats: a barrier of
  /// the study, all points of which the study shows.
  constexpr bool in_test_repeat() const {
    return between == Set::kStudy && fewest_gpus == 1;
  }

  const char *name = "", *text = "";
  Scope scope = Scope::kThread;
  Window window = Window::kOperation;
  /// What a reader of its rows has to know: above them and in --list.
  const char* caution = "";
  /// What the column `tile` counts, where it is neither the threads of the
  /// group nor the blocks of the cluster: "bytes".
  const char* tile = "";
  /// Of one that is a PTX instruction: its name, with which `name` begins; the
  /// rest and `text` say what is pending.
  const char* instruction = "";
  /// What the machine code is on `architecture`, 90 for sm_90, which is given.
  ExpectedCode code = {"", 0};
  int architecture = 0;

  /// Who asks for it, and for its points between those that pages show.
  Set set = Set::kToday;
  Set between = Set::kEvidence;
  /// First architecture that has it, as in sm_90; its kernels are empty before.
  int first_architecture = 60;
  /// First toolkit that has it, as in CUDART_VERSION; no kernels before either.
  int first_toolkit = 0;
  /// Most operations in a row, where more compile slowly or to other code. More
  /// are rounds of half as many: at least four rounds, for compilers replace
  /// the counter of two, by which the machine-code test counts them.
  int most_in_line = 1 << 30;

  /// Whether nobody leaves an operation before all have come to it, though it
  /// is not timed as a barrier. Of barriers that is checked anyway.
  bool meets_too = false;
  /// Operations that nobody leaves before all have come: two, where one hands
  /// over and back, as half of the threads wait in the next one.
  int meets_in = 1;
  /// Whether it has rows of one warp that comes late.
  bool late = false;
  /// Straight-line repeats, a power of two: enough to hide clock reads and the
  /// loop, few enough that four times as many cost four times as much, code
  /// fetched included.
  Property<int(int group)> repeats = 64;
  /// Trips round that line which a latency row is over, and as many before
  /// them: more than one where threads poll or run ahead of each other, so that
  /// what an operation takes settles only after a while.
  int trips = 1;
  /// Operations of each warp in a throughput row where up to 8 warps share an
  /// SM; more warps make fewer each. 0: this group has no throughput rows, nor,
  /// of a warp, rows of several warps.
  Property<int(int group)> throughput_repeats = 0;
  /// Operations of warps that no SM exceeds in a cycle. By default the 4 warps
  /// that it issues; others are from the table of throughput in NVIDIA's CUDA
  /// C++ Programming Guide.
  double throughput_limit = 4;
  /// Operations of the longer kernel of BenchmarkInterSM; the shorter one makes
  /// a ninth of them.
  int longer = 288;
  /// Kernels in one queue that a sample of BenchmarkInterSM is the mean of.
  Property<int(int blocks_per_sm, int gpus)> launches = 1;

  /// The groups to measure in a block of so many threads; one of them is in
  /// Position::group and in the column `tile`. {32, 32}: it has no sizes of its
  /// own.
  Property<Sizes(int threads)> groups = Sizes{32, 32};
  /// Whether it can be measured in blocks of so many threads.
  Property<bool(int threads)> fits = true;
  /// What one operation makes of the values that all threads have before, a
  /// whole number, and whether the thread, of those that take part, is one that
  /// gets it.
  unsigned (*expected)(const Position&, const Values& before) = as_before;
  Property<bool(const Position&)> has_result = true;
  /// Operations in a row whose last result is still expected().
  int most_checked = 16;
  /// Whether something else is an error. If not (say a chain without the
  /// barrier that it needs), a comment says how many results are right.
  bool checked = true;

  /// What the host hands to the kernel of each GPU, a Method::Argument, for a
  /// launch of `blocks` blocks on each.
  Arguments (*make_arguments)(const std::vector<int>& devices,
                              int blocks) = no_arguments;
  /// Copies of its memory that the samples of a row of BenchmarkInterSM are
  /// spread over, where what it takes depends on where that lies.
  int places = 1;

  /// How its kernels have to be launched: cooperative, clusters of `group`, ...
  Property<LaunchAttributes(int group)> attributes = LaunchAttributes{};
  /// Blocks of a cluster that its code has by __cluster_dims__. 0: it is in
  /// `attributes`, or there are no clusters.
  int cluster_dims = 0;
  /// Of an exchange between GPUs, of Position::group bytes of each: those of a
  /// thread. It has rows in the section `exchange` alone. 0: of all others.
  int bytes_of_thread = 0;
  /// Fewest GPUs that a method of kGpus is measured on.
  int fewest_gpus = 1;
  /// It needs the runtime's multi-device launch, gone with CUDA 13, and these
  /// GPUs access to each other's memory, or none.
  bool multi_device = false;
  bool peer_access = true;
  /// Its cost differs between processes and is the same for all launches of
  /// one, so it is measured in several.
  bool differs_by_process = false;
};

/// What the kernel needs of a method; most is for few methods. `Here` is a
/// Here.
struct Method {
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
  /// What About::make_arguments makes, copied by value, and what each thread
  /// makes of it.
  using Argument = None;
  using Local = None;
};

/// What a method says of itself, and of its code on an architecture.
template <class Method>
constexpr About about_of(int architecture = 0) {
  About about;
  about.architecture = architecture;
  Method::describe(about);
  return about;
}
template <class Method>
inline constexpr About kAbout = about_of<Method>();

}  // namespace syncbench::explicit_barrier
