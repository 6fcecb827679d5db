// What --list says of a method.
#pragma once

#include <string>

#include "common/sets.hpp"

namespace syncbench {

/// What a program can measure under one name.
struct MethodInfo {
  std::string name;
  std::string description;       ///< what it does
  std::string group = {};        ///< for scripts: whom it joins, or its kind
  std::string notes = {};        ///< what a reader of its rows has to know
  std::string instruction = {};  ///< About::instruction
  Set set = Set::kToday;
};

}  // namespace syncbench
