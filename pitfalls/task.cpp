#include "pitfalls/task.hpp"

#include <sstream>
#include <vector>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/options.hpp"

namespace syncbench::pitfalls {
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
  return mark_of(kTaskVariable, name + ":" + name_of(form) + ":" +
                                    std::to_string(gpus) + ":" +
                                    std::to_string(gpus_to_look_at));
}

std::optional<Task> Task::of_this_process() {
  const auto text = marked(kTaskVariable);
  if (!text) return std::nullopt;
  std::istringstream stream(*text);
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, ':');) {
    words.push_back(word);
  }
  if (words.size() == 4) {
    Task task;
    task.name = words[0];
    task.gpus = parse_count(words[2], kTaskVariable, kMaxGpuCount);
    task.gpus_to_look_at = parse_count(words[3], kTaskVariable, kMaxGpuCount);
    for (const Form one : kAllForms) {
      task.form = one;
      if (words[1] == name_of(one)) return task;
    }
  }
  throw UsageError(std::string(kTaskVariable) +
                   " is no task: " + quoted(*text));
}

}  // namespace syncbench::pitfalls
