// Ways to make the time steps of a field.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/table.hpp"
#include "stencil/field.hpp"

namespace syncbench::stencil {

/// Makes the time steps of one field, from its copy 0 on, on all its GPUs.
class FieldSteps {
 public:
  virtual ~FieldSteps() = default;

  /// Nanoseconds from the first call, with the threads of all GPUs there, until
  /// the host knows that all GPUs have done these steps. What the first run of
  /// so many steps makes, such as a graph, comes before. Throws where CUDA
  /// fails.
  virtual double run(int steps) = 0;
};

/// What kernels do with the field between steps.
enum class FieldForm {
  kMemory,  ///< each step reads and writes all of it in global memory
  kTile     ///< the tile of a block stays in shared memory
};

/// One entry of the list of ways.
struct FieldWay {
  const char* name;
  const char* text;  ///< for --list
  enum class Gpus { kOne, kSeveral, kAny } gpus;
  FieldForm form;
  bool orders;  ///< false: no block waits for another, so results are wrong
  /// CannotMeasure where these GPUs, or a field of this size, cannot.
  std::unique_ptr<FieldSteps> (*make)(const Field&);
  /// Where the GPUs are those of one process, or one of each process.
  enum class In { kOneProcess, kProcesses, kBoth } in = In::kOneProcess;

  bool is_for(int count) const {
    return gpus == Gpus::kAny || (gpus == Gpus::kOne) == (count == 1);
  }
  /// What is compared with, which has no order, is for any number.
  bool is_for_processes(int count) const {
    return !orders || in == In::kBoth || (in == In::kProcesses) == (count > 1);
  }
};

/// FieldWay::make of a class.
template <class Steps>
std::unique_ptr<FieldSteps> make_steps(const Field& field) {
  return std::make_unique<Steps>(field);
}

/// In the order of rows and of --list.
std::vector<FieldWay> field_ways();

/// One that this build lacks, and why.
struct MissingWay {
  std::string name;
  Remark reason;
};
std::vector<MissingWay> missing_field_ways();

/// The parts of the list: a kernel a step, and one kernel of all steps. The
/// second begins with the two ways without order, one of each form.
std::vector<FieldWay> launched_field_ways();
std::vector<FieldWay> resident_field_ways();

/// What others are compared with: the host waits for each step of all GPUs, and
/// copies the halos; between processes MPI does.
std::unique_ptr<FieldSteps> reference_steps(const Field& field);

/// A kernel that makes one step of a Slab: its arguments are that, and the
/// number of the step.
const void* field_step_kernel(const Field& field);

/// Halos by NCCL, where this build has it.
std::unique_ptr<FieldSteps> make_nccl_steps(const Field& field);

/// Halos by MPI, between processes.
std::unique_ptr<FieldSteps> make_mpi_steps(const Field& field);

/// CannotMeasure unless all blocks of the kernel fit on each GPU at once, and
/// all GPUs have cooperative launches. `shared_bytes`: of dynamic shared
/// memory, which the kernel may then have.
void require_resident(const Field& field, const void* kernel,
                      std::size_t shared_bytes);

}  // namespace syncbench::stencil
