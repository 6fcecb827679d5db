#include "stand_in_gpu/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace stand_in {
namespace {

const std::map<std::string, double Scenario::*> kNumbers = {
    {"gpus", &Scenario::gpus},
    {"capability", &Scenario::capability},
    {"code", &Scenario::code},
    {"nccl", &Scenario::nccl},
    {"nccl_registered", &Scenario::nccl_registered},
    {"nccl_processes", &Scenario::nccl_processes},
    {"nccl_windows", &Scenario::nccl_windows},
    {"sms", &Scenario::sms},
    {"threads_per_sm", &Scenario::threads_per_sm},
    {"blocks_per_sm", &Scenario::blocks_per_sm},
    {"memory_mib", &Scenario::memory_mib},
    {"l2_kib", &Scenario::l2_kib},
    {"memory_khz", &Scenario::memory_khz},
    {"bus_bits", &Scenario::bus_bits},
    {"driver", &Scenario::driver},
    {"cooperative", &Scenario::cooperative},
    {"multi_device", &Scenario::multi_device},
    {"stream_memory", &Scenario::stream_memory},
    {"others", &Scenario::others},
    {"others_from", &Scenario::others_from},
    {"clock_read", &Scenario::clock_read},
    {"call", &Scenario::call},
    {"call_copy", &Scenario::call_copy},
    {"call_synchronize", &Scenario::call_synchronize},
    {"call_traditional", &Scenario::call_traditional},
    {"call_cooperative", &Scenario::call_cooperative},
    {"call_multi_device", &Scenario::call_multi_device},
    {"gap_traditional", &Scenario::gap_traditional},
    {"gap_cooperative", &Scenario::gap_cooperative},
    {"gap_programmatic", &Scenario::gap_programmatic},
    {"gap_multi_device", &Scenario::gap_multi_device},
    {"call_graph", &Scenario::call_graph},
    {"instantiate_node", &Scenario::instantiate_node},
    {"upload_node", &Scenario::upload_node},
    {"update_node", &Scenario::update_node},
    {"node_gap", &Scenario::node_gap},
    {"gap_seam", &Scenario::gap_seam},
    {"relaunch", &Scenario::relaunch},
    {"load_module", &Scenario::load_module},
    {"load_kernel", &Scenario::load_kernel},
    {"held_gap", &Scenario::held_gap},
    {"flight", &Scenario::flight},
    {"notice", &Scenario::notice},
    {"null", &Scenario::null},
    {"step", &Scenario::step},
    {"event", &Scenario::event},
    {"event_wait", &Scenario::event_wait},
    {"sleep_grid", &Scenario::sleep_grid},
    {"bandwidth", &Scenario::bandwidth},
    {"ghz", &Scenario::ghz},
    {"tick", &Scenario::tick},
    {"fixed_cycles", &Scenario::fixed_cycles},
    {"warp_cycles", &Scenario::warp_cycles},
    {"block_cycles", &Scenario::block_cycles},
    {"gpu_cycles", &Scenario::gpu_cycles},
    {"skew_cycles", &Scenario::skew_cycles},
    {"cached_line", &Scenario::cached_line},
    {"uncached_cycles", &Scenario::uncached_cycles},
    {"shared_latency", &Scenario::shared_latency},
    {"shared_rate", &Scenario::shared_rate},
    {"noise", &Scenario::noise},
    {"noise_threads", &Scenario::noise_threads},
    {"host_noise", &Scenario::host_noise},
    {"drift", &Scenario::drift},
    {"outliers", &Scenario::outliers},
    {"outlier", &Scenario::outlier},
    {"stream_level", &Scenario::stream_level},
    {"process_level", &Scenario::process_level},
    {"first_stream", &Scenario::first_stream},
    {"slow_gpu", &Scenario::slow_gpu},
    {"slow_by", &Scenario::slow_by},
    {"halve_at", &Scenario::halve_at},
    {"halve_gpu", &Scenario::halve_gpu},
    {"full_at", &Scenario::full_at},
    {"reasons", &Scenario::reasons},
    {"seed", &Scenario::seed},
    {"race_rate", &Scenario::race_rate},
    {"fail_at", &Scenario::fail_at},
    {"fail_code", &Scenario::fail_code},
    {"fail_process", &Scenario::fail_process},
    {"fail_gpu", &Scenario::fail_gpu}};

const std::map<std::string, std::string Scenario::*> kTexts = {
    {"name", &Scenario::name},
    {"peer", &Scenario::peer},
    {"bad", &Scenario::bad},
    {"hang", &Scenario::hang},
    {"lets_pass", &Scenario::lets_pass},
    {"holds", &Scenario::holds},
    {"right_is_wrong", &Scenario::right_is_wrong},
    {"sick", &Scenario::sick},
    {"sick_file", &Scenario::sick_file},
    {"fail_mode", &Scenario::fail_mode},
    {"fail_call", &Scenario::fail_call},
    {"fail_from", &Scenario::fail_from},
    {"calls", &Scenario::calls}};

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
  check(given.scenario.fail_mode, "once stays sticky hang abort kill");
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
