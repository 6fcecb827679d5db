#include "common/options.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "common/build_info.hpp"
#include "common/devices.hpp"
#include "common/table.hpp"

namespace syncbench {
namespace {

// How many letters have to be changed, added or left out to make b of a.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const std::size_t changed = diagonal + (letter != b[i]);
      diagonal = row[i + 1];
      row[i + 1] = std::min({changed, diagonal + 1, row[i] + 1});
    }
  }
  return row.back();
}

// Throws unless `name` is a method of the program.
void check_method(const std::string& name, const ProgramInfo& info) {
  std::vector<std::string> names;
  for (const MethodInfo& method : info.methods) {
    if (method.name == name) return;
    names.push_back(method.name);
  }
  for (const MethodInfo& method : info.missing) {
    if (method.name == name) throw UsageError(name + ": " + method.description);
  }
  throw UsageError("unknown method " + quoted(name) +
                   did_you_mean(name, names) + " (--list names them)");
}

std::string list_text(const ProgramInfo& info) {
  std::string text;
  for (const MethodInfo& method : info.methods) {
    text += (text.empty() ? "" : "\n") + method.name + '\t' +
            method.description + '\t' + method.notes + '\t' + method.group +
            '\t' + method.instruction + '\t' + name_of(method.set);
  }
  return text;
}

std::string devices_text() {
  std::string text = "gpu\tname\tcompute_capability\tsms\tpci_bus_id";
  for (const Gpu& gpu : find_gpus()) {
    text += "\n" + std::to_string(gpu.index) + "\t" + gpu.name + "\t" +
            std::to_string(gpu.major) + "." + std::to_string(gpu.minor) + "\t" +
            std::to_string(gpu.sm_count) + "\t" + gpu.pci_bus_id;
  }
  return text;
}

// `head` and a text behind it, which is broken into lines.
std::string help_lines(std::string head, const std::string& help) {
  constexpr std::size_t kWidth = 79, indent = 19;
  head.resize(std::max(head.size(), indent), ' ');
  std::string lines;
  std::istringstream words(help);
  for (std::string word; words >> word;) {
    if (head.size() + 1 + word.size() > kWidth) {
      lines += head + "\n";
      head.assign(indent, ' ');
    }
    head += " " + word;
  }
  return lines + head + "\n";
}

std::vector<Option> options_of(const ProgramInfo& info);

std::string help_text(const ProgramInfo& info) {
  std::string text = "usage: " + info.name + " [options]" +
                     (info.takes_gpu_count ? " [gpu_count]" : "") + "\n\n" +
                     info.summary + "\n\n";
  if (info.takes_gpu_count) {
    text += help_lines("  gpu_count ",
                       "methods of several GPUs run on up to so many (default "
                       "2, or 1 where the node has one)");
  }
  for (const Option& option : options_of(info)) {
    text += help_lines((option.name == "help" ? "  -h, --" : "  --") +
                           option.name + ' ' + option.argument + ' ',
                       option.help);
  }
  return text +
         "\nRows are tab-separated on standard output and aligned on a "
         "terminal. "
         "Comments\nstart with '#', a value that does not exist for a row is "
         "'nan'.\n\nExit codes: 0 all measured; 1 a measurement failed, a "
         "result was "
         "wrong\n"
         "or a row could not be written; 2 bad usage, such as more GPUs than "
         "the\n"
         "node has or a method that this build lacks; 3 no usable CUDA "
         "device;\n"
         "4 a method named by --method cannot be measured on these GPUs; 130\n"
         "(143) interrupted by SIGINT (SIGTERM), after the current sample; a\n"
         "second one ends it at once.";
}

// The table: the program's own options between those that all have.
std::vector<Option> options_of(const ProgramInfo& info) {
  std::vector<Option> table = {
      {"method", "NAME[,NAME...]", "measure only these methods",
       [&info](const std::string& value, Options& options) {
         for (const std::string& name : split_words(value)) {
           check_method(name, info);
           options.methods.push_back(name);
         }
       }},
      {"all", "",
       "measure all sets: by default the rows of the study and those that are "
       "asked for today, with this also the evidence behind them",
       [](const std::string&, Options& options) { options.all = true; }},
      {"samples", "N",
       info.counted + " (default " + std::to_string(info.default_samples) + ")",
       [](const std::string& value, Options& options) {
         options.samples = parse_count(value, "--samples", kMaxSamples);
       }}};
  if (info.takes_stats) {
    table.push_back(
        {"stats", "",
         "more columns after the others: n, median, 95% interval, SM clock in "
         "MHz",
         [](const std::string&, Options& options) { options.stats = true; }});
  }
  table.insert(table.end(), info.options.begin(), info.options.end());
  const auto add_text = [&table](const char* name, const char* help,
                                 const std::function<std::string()>& print) {
    table.push_back(
        {name, "", help, [print](const std::string&, Options& options) {
           options.print = print;
         }});
  };
  add_text(
      "list",
      "the methods, one a line: name, what it does, notes, group, instruction, "
      "set",
      [&info] { return list_text(info); });
  add_text(
      "columns",
      "the columns, one a line: section, name, unit, meaning, column of the "
      "mean",
      [&info] { return info.columns.substr(0, info.columns.rfind('\n')); });
  add_text("devices", "the visible GPUs, one a line", devices_text);
  add_text("version", "name, version, commit and toolkit",
           [&info] { return version_text(info); });
  add_text("help", "this text", [&info] { return help_text(info); });
  return table;
}

}  // namespace

bool Options::wants(const std::string& method, Set set) const {
  if (methods.empty()) return measures(set);
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

// Not by getopt_long(), which takes --samp for --samples: a script that says so
// breaks when an option is added.
Options parse_options(const ProgramInfo& info, int argc, char** argv) {
  const std::vector<Option> table = options_of(info);
  Options options;
  options.samples = info.default_samples;
  std::vector<std::string> others;  // that are no options
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      others.insert(others.end(), argv + i + 1, argv + argc);
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      others.push_back(word);
      continue;
    }
    if (info.takes_gpu_count && '0' <= word[1] && word[1] <= '9') {
      parse_count(word, "gpu_count", kMaxGpuCount);  // throws: it is negative
    }
    const std::size_t equals = word.find('=');
    const bool has_value = equals != word.npos;
    const std::string name = word == "-h" ? "--help" : word.substr(0, equals);
    const auto option = std::find_if(
        table.begin(), table.end(),
        [&](const Option& each) { return "--" + each.name == name; });
    const bool takes_value = option != table.end() && !option->argument.empty();
    if (option == table.end() || (has_value && !takes_value)) {
      std::vector<std::string> names;
      for (const Option& each : table) names.push_back("--" + each.name);
      throw UsageError("unknown option " + quoted(word) +
                       did_you_mean(name, names));
    }
    if (takes_value && !has_value && ++i == argc) {
      throw UsageError("option " + quoted(word) + " needs a value");
    }
    option->take(has_value     ? word.substr(equals + 1)
                 : takes_value ? argv[i]
                               : "",
                 options);
  }
  const std::size_t allowed = info.takes_gpu_count ? 1 : 0;
  if (others.size() > allowed) {
    throw UsageError("unexpected argument " + quoted(others[allowed]));
  }
  if (!others.empty()) {
    options.gpu_count = parse_count(others[0], "gpu_count", kMaxGpuCount);
  }
  return options;
}

std::string did_you_mean(const std::string& word,
                         const std::vector<std::string>& names) {
  const std::string* nearest = nullptr;
  std::size_t least =
      std::min(word.size(), std::max<std::size_t>(3, word.size() / 3 + 1));
  for (const std::string& name : names) {
    const std::size_t found = distance(word, name);
    if (found >= least) continue;
    least = found;
    nearest = &name;
  }
  return nearest == nullptr ? "" : "; did you mean " + *nearest + "?";
}

std::string version_text(const ProgramInfo& info) {
  return pair_text("name", info.name) + ' ' + pair_text("version", kVersion) +
         ' ' + pair_text("commit", kCommit) + ' ' +
         pair_text("toolkit", cuda_version_text(CUDART_VERSION));
}

int resolve_gpu_count(int requested, int found) {
  if (requested > found) {
    throw UsageError("requested " + std::to_string(requested) +
                     " GPUs but only " + std::to_string(found) +
                     (found == 1 ? " was found" : " were found"));
  }
  return requested > 0 ? requested : std::min(found, kDefaultGpuCount);
}

std::string printable(const std::string& text) {
  std::string shown;
  for (const char byte : text) {
    char escape[8] = {byte};
    if (byte < ' ' || byte > '~') {
      std::snprintf(escape, sizeof escape, "\\x%02x",
                    static_cast<unsigned char>(byte));
    }
    shown += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : escape;
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

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text + ",");
  for (std::string word; std::getline(stream, word, ',');) {
    words.push_back(word);
  }
  return words;
}

}  // namespace syncbench
