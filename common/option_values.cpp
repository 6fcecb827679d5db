#include "common/option_values.hpp"

#include <charconv>
#include <cstdio>

#include "common/errors.hpp"

namespace syncbench {

std::string printable(const std::string& text) {
  std::string shown;
  for (const char byte : text) {
    char escape[8] = "";
    if (byte == '\n') {
      shown += "\\n";
    } else if (byte == '\t') {
      shown += "\\t";
    } else if (byte >= ' ' && byte <= '~') {
      shown += byte;
    } else {
      std::snprintf(escape, sizeof escape, "\\x%02x",
                    static_cast<unsigned char>(byte));
      shown += escape;
    }
  }
  return shown;
}

std::string quoted(const std::string& text) {
  constexpr std::size_t kMost = 200;
  return "'" + printable(text.substr(0, kMost)) +
         (text.size() > kMost ? "..." : "") + "'";
}

int parse_count(const std::string& text, const std::string& name, int maximum) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > maximum ||
      text.front() == '0') {
    throw UsageError(name + " must be a whole number from 1 to " +
                     std::to_string(maximum) + ", got " + quoted(text));
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
                     "end in K, M or G, got " +
                     quoted(text));
  }
  return value << shift;
}

}  // namespace syncbench
