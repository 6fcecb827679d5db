// Stencil: what a time step costs where each needs the results of the one
// before, by all ways to put a barrier between them (study, section VII).
#include <string>

#include "common/measuring_run.hpp"
#include "stencil/field_ways.hpp"
#include "stencil/time_steps.hpp"

namespace syncbench {
namespace {

class Stencil {
 public:
  Stencil(const ProgramInfo& info, const Options& options, LineWriter& out,
          const FieldOptions& fields)
      : run_(info, options, out), fields_(fields) {}

  void run() {
    WrongSteps wrong;
    run_.measure([&] { wrong = measure_time_steps(run_, fields_); });
    run_.finish(wrong.text());
  }

 private:
  MeasuringRun run_;
  const FieldOptions& fields_;
};

ProgramInfo program_info(FieldOptions& fields) {
  ProgramInfo info;
  info.name = "Stencil";
  info.summary =
      "Time steps of a field of floats (Jacobi iteration) in two and three\n"
      "dimensions on one GPU and several: kernels that are launched again, "
      "and\nkernels that stay and meet at barriers.";
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
  constexpr const char* kGroups[] = {"grid", "gpus", "gpus"};
  for (const FieldWay& way : field_ways()) {
    info.methods.push_back(
        {way.name, way.text, kGroups[static_cast<int>(way.gpus)]});
  }
  info.missing = missing_field_ways();
  info.columns = describe_time_steps();
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  FieldOptions fields;
  return program_main<Stencil>(program_info(fields), argc, argv, fields);
}
