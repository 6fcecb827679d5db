// The values of options: text -> number or words, or a UsageError that names
// the option.
#pragma once

#include <algorithm>
#include <string>

namespace syncbench {

/// `text` with an escape sequence such as \n or \x1b for every byte that is no
/// printable ASCII, so that it cannot break a line or move the cursor.
std::string printable(const std::string& text);

/// An argument for a message: printable(), in quotes, cut after 200 bytes.
std::string quoted(const std::string& text);

/// A decimal whole number from 1 to `maximum`, without leading zeros, and
/// nothing else.
int parse_count(const std::string& text, const std::string& name, int maximum);

/// A number of bytes, 1 to 2^50, which may end in K, M or G (of 1024).
long long parse_bytes(const std::string& text, const std::string& name);

/// Calls visit(WORD) for each of WORD[,WORD...].
template <class Visitor>
void for_each_word(const std::string& text, Visitor visit) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace syncbench
