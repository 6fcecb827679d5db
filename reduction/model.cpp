#include "reduction/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace syncbench::reduction {
namespace {

// Of bytes beyond those in flight at the same time.
double cycles(double first, double rate, double latency, double bytes) {
  return first + std::max(0., bytes - concurrency(latency, rate)) / rate;
}

}  // namespace

double concurrency(double latency, double rate) { return latency * rate; }

double basic_cycles(const Choice& choice, double bytes) {
  return cycles(choice.latency, choice.basic_rate, choice.latency, bytes);
}

double more_cycles(const Choice& choice, double bytes) {
  return cycles(choice.latency + choice.sync, choice.more_rate, choice.latency,
                bytes);
}

double medium_switch(const Choice& choice) {
  return (choice.latency + choice.sync) * choice.basic_rate;
}

double large_switch(const Choice& choice) {
  if (!(choice.more_rate > choice.basic_rate)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return choice.sync * choice.more_rate * choice.basic_rate /
         (choice.more_rate - choice.basic_rate);
}

Switch predicted_switch(const Choice& choice) {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  if (!positive(choice.latency) || !positive(choice.basic_rate) ||
      !positive(choice.more_rate) || !std::isfinite(choice.sync) ||
      choice.sync < 0) {
    throw std::invalid_argument("a latency, rate or cost that cannot be");
  }
  const double large = large_switch(choice);
  if (std::isnan(large)) return {SwitchCase::kNever, large};
  // Both sides meet once, for `more` gains on `basic` from the concurrency of
  // `basic` on: before that of `more` or behind it.
  const double medium = medium_switch(choice);
  if (medium <= concurrency(choice.latency, choice.more_rate)) {
    return {SwitchCase::kMedium, medium};
  }
  return {SwitchCase::kLarge, large};
}

}  // namespace syncbench::reduction
