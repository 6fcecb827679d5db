#include "common/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace syncbench {
namespace {

ProgramInfo program(bool takes_gpu_count = true) {
  ProgramInfo info;
  info.name = "program";
  info.takes_gpu_count = takes_gpu_count;
  info.most_blocks_per_sm = takes_gpu_count ? 32 : 0;
  info.methods = {{"alpha", ""}, {"beta", ""}};
  info.missing = {{"delta", "not here"}};
  return info;
}

Options parse(std::vector<std::string> words,
              const ProgramInfo& info = program()) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse_options(info, static_cast<int>(words.size()), argv.data());
}

std::string message_of(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, Defaults) {
  const Options options = parse({});
  EXPECT_EQ(options.action, Action::kMeasure);
  EXPECT_EQ(options.gpu_count, 0);
  EXPECT_EQ(options.samples, 100);
  EXPECT_FALSE(options.stats);
  EXPECT_TRUE(options.wants("alpha"));
}

TEST(Options, EverythingGiven) {
  const Options options =
      parse({"8", "--samples", "3", "--stats", "--method", "beta"});
  EXPECT_EQ(options.gpu_count, 8);
  EXPECT_EQ(options.samples, 3);
  EXPECT_TRUE(options.stats);
  EXPECT_FALSE(options.wants("alpha"));
  EXPECT_TRUE(options.wants("beta"));
}

TEST(Options, PosixlyCorrectChangesNothing) {
  setenv("POSIXLY_CORRECT", "1", 1);
  EXPECT_EQ(parse({"8", "--samples", "3"}).samples, 3);
  setenv("POSIXLY_CORRECT", "1", 1);
  EXPECT_EQ(message_of({"1", "--samples", "3", "2"}),
            "unexpected argument '2'");
  unsetenv("POSIXLY_CORRECT");
}

TEST(Options, WhatIsRefusedIsPrintable) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a\n\x1b[2J\xc2\x9b"},
        {"1", "a\n\x1b[2J\xc2\x9b"},
        {"--a\n\x1b[2J\xc2\x9b"},
        {"-a\n\x1b[2J\xc2\x9b"},
        {"--samples", "a\n\x1b[2J\xc2\x9b"},
        {"--method", "a\n\x1b[2J\xc2\x9b"}}) {
    const std::string message = message_of(words);
    EXPECT_NE(message.find("a\\n\\x1b[2J\\xc2\\x9b'"), std::string::npos)
        << message;
  }
  const std::string message = message_of({std::string(60000, 'x')});
  EXPECT_NE(message.find(std::string(200, 'x') + "...'"), std::string::npos);
  EXPECT_LT(message.size(), 300u);
}

TEST(Options, Arrays) {
  ProgramInfo info = program();
  info.types = {"int", "double"};
  const Options none = parse({}, info);
  EXPECT_TRUE(none.wants_type("int"));
  EXPECT_EQ(none.min_bytes, 0);
  const Options options =
      parse({"--type", "double", "--min-bytes", "12", "--max-bytes=3G"}, info);
  EXPECT_FALSE(options.wants_type("int"));
  EXPECT_TRUE(options.wants_type("double"));
  EXPECT_EQ(options.min_bytes, 12);
  EXPECT_EQ(options.max_bytes, 3LL << 30);
  for (const char* bad : {"0", "-1", "", "K", "1k", "1KiB", "01", "1.5G",
                          "2000000G", "99999999999999999999"}) {
    EXPECT_THROW(parse({"--min-bytes", bad}, info), UsageError) << bad;
  }
  EXPECT_THROW(parse({"--type", "half"}, info), UsageError);
  EXPECT_THROW(parse({"--type", "int"}), UsageError);
  EXPECT_THROW(parse({"--max-bytes", "1G"}), UsageError);
}

TEST(Options, AreWrittenOut) {
  EXPECT_EQ(message_of({"--samp", "3"}), "unknown option '--samp'");
  EXPECT_EQ(message_of({"--samp=3"}), "unknown option '--samp=3'");
  EXPECT_EQ(parse({"--samples=3"}).samples, 3);
  EXPECT_NE(message_of({"--samples", "03"}), "");
  EXPECT_NE(message_of({"01"}), "");
}

TEST(Options, Processes) {
  EXPECT_NE(message_of({"--processes", "2"}), "");  // measures in one
  ProgramInfo several = program();
  several.default_processes = 10;
  several.processes_on_many_gpus = 5;
  several.default_samples = 7;
  EXPECT_EQ(parse({}, several).processes, 10);
  EXPECT_EQ(parse({"4"}, several).processes, 10);
  EXPECT_EQ(parse({"5"}, several).processes, 5);
  EXPECT_EQ(parse({"5"}).processes, 0);
  EXPECT_EQ(parse({"8", "--processes", "9"}, several).processes, 9);
  EXPECT_EQ(parse({}, several).samples, 7);
  EXPECT_EQ(parse({"--processes", "2"}, several).processes, 2);
  EXPECT_THROW(parse({"--processes", "0"}, several), UsageError);
}

TEST(Options, MethodsAddUp) {
  EXPECT_TRUE(parse({"--method", "alpha,beta"}).wants("alpha"));
  EXPECT_TRUE(parse({"--method=alpha", "--method=beta"}).wants("alpha"));
}

TEST(Options, BlocksPerSm) {
  using Blocks = std::vector<int>;
  EXPECT_EQ(parse({}).blocks_per_sm, (Blocks{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(parse({"--blocks-per-sm", "3,32,3"}).blocks_per_sm,
            (Blocks{3, 32}));
  EXPECT_TRUE(parse({}, program(false)).blocks_per_sm.empty());
  for (const char* bad : {"33", "0", "1,", ",", "x", ""}) {
    EXPECT_NE(message_of({"--blocks-per-sm", bad}).find("from 1 to 32"),
              std::string::npos)
        << bad;
  }
  EXPECT_THROW(parse({"--blocks-per-sm", "1"}, program(false)), UsageError);
}

TEST(Options, Actions) {
  EXPECT_EQ(parse({"--help"}).action, Action::kHelp);
  EXPECT_EQ(parse({"-h"}).action, Action::kHelp);
  EXPECT_EQ(parse({"--version"}).action, Action::kVersion);
  EXPECT_EQ(parse({"--list"}).action, Action::kList);
  EXPECT_EQ(parse({"--devices"}).action, Action::kDevices);
}

TEST(Options, BadGpuCounts) {
  for (const std::string bad :
       {"0", "-1", "-15", "abc", "1e9", "3.5", "", " 2", "2 ", "+2", "0x2",
        "1025", "99999999999999999999"}) {
    const std::string message = message_of({bad});
    EXPECT_NE(message.find("gpu_count must be"), std::string::npos) << bad;
    EXPECT_NE(message.find("'" + bad + "'"), std::string::npos) << message;
  }
}

TEST(Options, BadSampleCounts) {
  for (const std::string bad : {"0", "-1", "x", "1.5", "", "1000001"}) {
    EXPECT_NE(message_of({"--samples", bad}).find("--samples must be"),
              std::string::npos)
        << bad;
  }
}

TEST(Options, OtherBadWords) {
  for (const std::string bad : {"--nothing", "-x", "--stats=1", "--help=2"}) {
    EXPECT_NE(message_of({bad}).find("'" + bad + "'"), std::string::npos)
        << bad;
  }
  EXPECT_EQ(message_of({"--samples"}), "option '--samples' needs a value");
  EXPECT_EQ(message_of({"--method"}), "option '--method' needs a value");
  EXPECT_EQ(message_of({"1", "2"}), "unexpected argument '2'");
  for (const std::string bad : {"gamma", "", "alpha,", ",beta", "Alpha"}) {
    EXPECT_NE(message_of({"--method", bad}).find("unknown method"),
              std::string::npos)
        << bad;
  }
}

TEST(Options, MethodOfAnotherBuild) {
  EXPECT_EQ(message_of({"--method", "alpha,delta"}), "delta: not here");
}

TEST(Options, ProgramsWithoutGpuCountTakeNone) {
  EXPECT_THROW(parse({"1"}, program(false)), UsageError);
  EXPECT_THROW(parse({"-1"}, program(false)), UsageError);
}

TEST(GpuCount, Resolved) {
  bool clamped = true;
  EXPECT_EQ(resolve_gpu_count(0, 8, &clamped), 2);
  EXPECT_FALSE(clamped);
  EXPECT_EQ(resolve_gpu_count(0, 1, &clamped), 1);
  EXPECT_TRUE(clamped);
  EXPECT_EQ(resolve_gpu_count(8, 8, &clamped), 8);
  EXPECT_FALSE(clamped);
  EXPECT_EQ(resolve_gpu_count(1, 8, &clamped), 1);
}

TEST(GpuCount, BeyondTheNode) {
  bool clamped = false;
  try {
    resolve_gpu_count(9, 8, &clamped);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "requested 9 GPUs but only 8 were found");
  }
  EXPECT_THROW(resolve_gpu_count(2, 1, &clamped), UsageError);
}

}  // namespace
}  // namespace syncbench
