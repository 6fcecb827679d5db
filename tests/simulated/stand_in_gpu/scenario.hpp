// What the pretended node is and what its work costs, as the environment says:
// STAND_IN="gpus=2 sms=16 noise=0.01". Words are KEY=VALUE, the keys those of
// scenario.inc; `_` in a name of a GPU is a blank. Any other word ends the
// program, so that a test cannot misspell one. `cycles.METHOD` and
// `rate.METHOD` are keys, too.
#pragma once

#include <string>

namespace stand_in {

struct Scenario {
#define NUMBER(key, value) double key = value;
#define TEXT(key, value) std::string key = value;
#include "stand_in_gpu/scenario.inc"
#undef NUMBER
#undef TEXT
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
