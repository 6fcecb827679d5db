// What --list says of a method.
#pragma once

#include <string>

namespace syncbench {

/// What a program can measure under one name.
struct MethodInfo {
  std::string name;
  std::string description;  ///< "WHAT; NOTES"
  std::string group =
      {};  ///< for scripts: whom it joins, or of which kind it is
};

}  // namespace syncbench
