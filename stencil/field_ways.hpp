// Ways to make the time steps of a field.
#pragma once

#include <memory>
#include <vector>

#include "common/errors.hpp"
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
  /// CannotMeasure where these GPUs, or a field of this size, cannot. Null in a
  /// build that lacks it.
  std::unique_ptr<FieldSteps> (*make)(const Field&);
  FieldForm form = FieldForm::kMemory;
  /// Where the GPUs are those of one process, or one of each process.
  enum class In { kOneProcess, kProcesses, kBoth } in = In::kOneProcess;
  bool orders = true;   ///< false: no block waits, so results are wrong
  Remark missing = {};  ///< why, where `make` is null

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

/// In the order of rows and of --list; and those that this build lacks.
std::vector<FieldWay> field_ways();
std::vector<FieldWay> missing_field_ways();

/// The parts of both: a kernel a step, and one kernel of all steps. The second
/// begins with the two ways without order, one of each form.
std::vector<FieldWay> launched_field_ways();
std::vector<FieldWay> resident_field_ways();

/// What others are compared with: the host waits for each step of all GPUs, and
/// copies the halos; between processes MPI does.
std::unique_ptr<FieldSteps> reference_steps(const Field& field);

/// CannotMeasure unless all blocks of the kernel fit on each GPU at once, and
/// all GPUs have cooperative launches. `shared_bytes`: of dynamic shared
/// memory, which the kernel may then have.
void require_resident(const Field& field, const void* kernel,
                      std::size_t shared_bytes);

}  // namespace syncbench::stencil
