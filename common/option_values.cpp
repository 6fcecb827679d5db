#include "common/option_values.hpp"

#include <charconv>

#include "common/errors.hpp"

namespace syncbench {

int parse_count(const std::string& text, const std::string& name, int maximum) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > maximum ||
      text.front() == '0') {
    throw UsageError(name + " must be a whole number from 1 to " +
                     std::to_string(maximum) + ", got '" + text + "'");
  }
  return value;
}

long long parse_bytes(const std::string& text, const std::string& name) {
  const std::string units = "KMG";
  long long value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const auto unit = stop + 1 == end ? units.find(*stop) : units.npos;
  const int shift = unit == units.npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  const bool whole = stop + (shift > 0) == end && text[0] != '0';
  if (error != std::errc() || !whole || value < 1 ||
      value > (1LL << 50) >> shift) {
    throw UsageError(name +
                     " must be a whole number of bytes from 1 on, which may "
                     "end in K, M or G, got '" +
                     text + "'");
  }
  return value << shift;
}

}  // namespace syncbench
