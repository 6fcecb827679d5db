// All methods, each of which does nothing.
#include "tests/machine_code/planted_methods.hpp"

int main(int argc, char** argv) {
  return syncbench::explicit_barrier::planted_main(
      argc, argv, syncbench::explicit_barrier::all_methods());
}
