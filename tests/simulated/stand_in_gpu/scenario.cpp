#include "stand_in_gpu/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace stand_in {
namespace {

const std::map<std::string, double Scenario::*> kNumbers = {
#define NUMBER(key, value) {#key, &Scenario::key},
#define TEXT(key, value)
#include "stand_in_gpu/scenario.inc"
};
#undef NUMBER
#undef TEXT

const std::map<std::string, std::string Scenario::*> kTexts = {
#define NUMBER(key, value)
#define TEXT(key, value) {#key, &Scenario::key},
#include "stand_in_gpu/scenario.inc"
};

[[noreturn]] void refuse(const std::string& word) {
  std::fprintf(stderr, "stand-in: not understood in STAND_IN: %s\n",
               word.c_str());
  std::_Exit(99);
}

struct Given {
  Scenario scenario;
  std::map<std::string, double> of_methods;
};

// CUDA_VISIBLE_DEVICES=2,0: only these of the GPUs, in this order.
void leave_visible(Scenario& scenario) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return;
  std::istringstream numbers(list);
  double visible = 0, slow = -1;
  for (std::string number; std::getline(numbers, number, ','); ++visible) {
    if (std::atof(number.c_str()) == scenario.slow_gpu) slow = visible;
  }
  scenario.gpus = visible;
  scenario.slow_gpu = slow;
}

Given read() {
  Given given;
  const char* all = std::getenv("STAND_IN");
  std::istringstream words(all == nullptr ? "" : all);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    if (const auto text = kTexts.find(key); text != kTexts.end()) {
      given.scenario.*text->second = value;
      continue;
    }
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') refuse(word);
    if (const auto found = kNumbers.find(key); found != kNumbers.end()) {
      given.scenario.*found->second = number;
    } else if (key.rfind("cycles.", 0) == 0 || key.rfind("rate.", 0) == 0) {
      given.of_methods[key] = number;
    } else {
      refuse(word);
    }
  }
  const auto check = [](const std::string& value, const char* known) {
    if ((" " + std::string(known) + " ").find(" " + value + " ") ==
        std::string::npos) {
      refuse(value);
    }
  };
  check(given.scenario.peer, "all none halves");
  check(given.scenario.fail_mode, "once stays sticky hang abort");
  std::string& name = given.scenario.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  leave_visible(given.scenario);
  return given;
}

const Given& given() {
  static const Given once = read();
  return once;
}

}  // namespace

const Scenario& scenario() { return given().scenario; }

bool has_wrong_results(int gpu) {
  const std::string& bad = scenario().bad;
  return bad == "results" || bad == "results:" + std::to_string(gpu);
}

double of_method(const char* what, const std::string& method,
                 double otherwise) {
  const auto& all = given().of_methods;
  const auto found = all.find(std::string(what) + "." + method);
  return found == all.end() ? otherwise : found->second;
}

int process() {
  const char* text = std::getenv("SYNCBENCH_PROCESS");
  return text == nullptr ? -1 : std::atoi(text);
}

}  // namespace stand_in
