// usage: EXECUTABLE TEST [WORD...]
#include "tests/gpu/gpu_test.hpp"

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto found = syncbench::gpu_tests().find(name);
  if (found != syncbench::gpu_tests().end()) {
    return found->second({{argv + 2, argv + argc}});
  }
  std::fprintf(stderr, "unknown test '%s'; there are:\n", name.c_str());
  for (const auto& [known, test] : syncbench::gpu_tests()) {
    std::fprintf(stderr, "  %s\n", known.c_str());
  }
  return 2;
}
