// All methods, each of which does nothing.
#include "tests/machine_code/planted_methods.hpp"

int main(int argc, char** argv) {
  return syncbench::planted_main(argc, argv, syncbench::all_methods());
}
