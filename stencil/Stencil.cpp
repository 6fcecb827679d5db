// Stencil: what a time step costs where each needs the results of the one
// before, by all ways to put a barrier between them (study, section VII).
#include <string>

#include "common/measuring_run.hpp"
#include "libraries/processes.hpp"
#include "stencil/field_ways.hpp"
#include "stencil/time_steps.hpp"

namespace syncbench::stencil {

using libraries::process_options;
using libraries::ProcessOptions;

namespace {

ProgramInfo program_info(FieldOptions& fields, ProcessOptions& asked) {
  ProgramInfo info;
  info.name = "Stencil";
  info.summary =
      "Time steps of a field of floats, by Jacobi's method, in two and three\n"
      "dimensions on one GPU and several: kernels that are launched again, "
      "and\nkernels that stay and meet at barriers. mpirun or srun start a "
      "process for\neach GPU.";
  info.takes_gpu_count = true;
  info.default_samples = 20;
  info.counted +=
      "; as many as fit into 50 ms by the fastest, at least 5 of them";
  info.options = {
      {"max-bytes", "N",
       "bytes of the largest field on each GPU, two copies; N may end in K, M "
       "or G (default 1/" +
           std::to_string(kPartOfMemory) + " of a GPU's memory)",
       [&fields](const std::string& value, Options&) {
         fields.max_bytes = parse_bytes(value, "--max-bytes");
       }}};
  for (const Option& option : process_options(asked)) {
    info.options.push_back(option);
  }
  constexpr const char* kGroups[] = {"grid", "gpus", "gpus"};
  for (const FieldWay& way : field_ways()) {
    info.methods.push_back(
        {way.name, way.text, kGroups[static_cast<int>(way.gpus)]});
  }
  for (const MissingWay& way : missing_field_ways()) {
    info.missing.push_back({way.name, way.reason.text});
  }
  info.columns = describe_time_steps();
  return info;
}

}  // namespace
}  // namespace syncbench::stencil

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace stencil;
  FieldOptions fields;
  ProcessOptions asked;
  return libraries::run_in_processes(
      program_info(fields, asked), argc, argv, asked,
      [&](MeasuringRun& run, const ProcessRun& process) {
        return measure_time_steps(run, process, fields).text();
      });
}
