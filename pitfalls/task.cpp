#include "pitfalls/task.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace syncbench {
namespace {

constexpr const char* kTaskVariable = "SYNCBENCH_PITFALL";

}  // namespace

const char* name_of(Form form) {
  switch (form) {
    case Form::kAllowed:
      return "as allowed";
    case Form::kExits:
      return "exits early";
    case Form::kStays:
      return "stays and skips";
    case Form::kTooMany:
      return "too many blocks";
    case Form::kOneByOne:
      return "one by one";
    case Form::kEachInBranch:
      return "each in its branch";
    case Form::kWrong:
      return "wrong";
    case Form::kRight:
      break;
  }
  return "right";
}

std::string Task::mark() const {
  return std::string(kTaskVariable) + "=" + name + ":" + name_of(form) + ":" +
         std::to_string(gpus) + ":" + std::to_string(gpus_to_look_at);
}

std::optional<Task> Task::of_this_process() {
  const char* text = std::getenv(kTaskVariable);
  if (text == nullptr) return std::nullopt;
  std::istringstream words(text);
  Task task;
  std::string form;
  char colon = 0;
  std::getline(words, task.name, ':');
  std::getline(words, form, ':');
  words >> task.gpus >> colon >> task.gpus_to_look_at;
  for (const Form one : kAllForms) {
    task.form = one;
    if (words && form == name_of(one)) return task;
  }
  throw std::runtime_error("not a task: " + std::string(text));
}

}  // namespace syncbench
