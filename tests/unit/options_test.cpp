#include "common/options.hpp"

#include <gtest/gtest.h>

#include "explicit_barrier/blocks_per_sm.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

using namespace explicit_barrier;
using namespace reduction;
namespace {

ProgramInfo program(bool takes_gpu_count = true) {
  ProgramInfo info;
  info.name = "program";
  info.takes_gpu_count = takes_gpu_count;
  info.methods = {{"alpha", "first"},
                  {"beta", "second; no note", "grid", "a note", "fence"}};
  info.missing = {{"delta", "not here"}};
  info.columns =
      "a section\tblk\t\tblocks\t\na section\tm(time)\tns\ttime\tm(time)\n";
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

std::string message_of(const std::vector<std::string>& words,
                       const ProgramInfo& info = program()) {
  try {
    parse(words, info);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
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
  SumOptions none, sums;
  EXPECT_TRUE(none.wants_type("int"));
  ProgramInfo info = program();
  info.options = options_for(sums);
  parse({"--type", "double", "--min-bytes", "12", "--max-bytes=3G"}, info);
  EXPECT_FALSE(sums.wants_type("int"));
  EXPECT_TRUE(sums.wants_type("double"));
  EXPECT_EQ(sums.min_bytes, 12);
  EXPECT_EQ(sums.max_bytes, 3LL << 30);
  for (const char* bad : {"0", "-1", "", "K", "1k", "1KiB", "01", "1.5G",
                          "2000000G", "99999999999999999999"}) {
    EXPECT_NE(message_of({"--min-bytes", bad}, info)
                  .find("got '" + std::string(bad) + "'"),
              std::string::npos)
        << bad;
  }
  EXPECT_EQ(message_of({"--type", "half"}, info),
            "unknown type 'half': it is one of double, float, int");
}

TEST(Options, MethodsAddUp) {
  const std::vector<std::vector<std::string>> both = {
      {"--method", "alpha,beta"}, {"--method=alpha", "--method=beta"}};
  for (const auto& words : both) {
    EXPECT_TRUE(parse(words).wants("alpha", Set::kStudy));
    EXPECT_TRUE(parse(words).wants("beta", Set::kStudy));
  }
}

TEST(Options, NearNamesAreOffered) {
  const auto offers = [](const std::string& message) {
    const std::size_t mark = message.find("did you mean ");
    return mark == message.npos ? "" : message.substr(mark + 13, 5);
  };
  EXPECT_EQ(offers(message_of({"--method", "aplha"})), "alpha");
  EXPECT_EQ(offers(message_of({"--method", "gamma"})), "");
  EXPECT_EQ(offers(message_of({"--lsit"})), "--lis");
}

TEST(Options, BlocksPerSm) {
  using Blocks = std::vector<int>;
  BlocksPerSm blocks = {32};
  ProgramInfo info = program();
  info.options = {blocks.option()};
  EXPECT_EQ(blocks.swept(), (Blocks{1, 2, 4, 8, 16, 32}));
  parse({"--blocks-per-sm", "3,32,3"}, info);
  EXPECT_EQ(blocks.swept(), (Blocks{3, 32}));
  for (const char* bad : {"33", "0", "1,", ",", "x", ""}) {
    EXPECT_NE(message_of({"--blocks-per-sm", bad}, info).find("from 1 to 32"),
              std::string::npos)
        << bad;
  }
}

TEST(Options, WhatIsPrintedInsteadOfMeasuring) {
  const ProgramInfo info = program();
  EXPECT_EQ(parse({"--list"}, info).print(),
            "alpha\tfirst\t\t\t\ttoday\n"
            "beta\tsecond; no note\ta note\tgrid\tfence\ttoday");
  EXPECT_EQ(parse({"--version"}, info).print(), version_text(info));
  EXPECT_TRUE(parse({"--devices"}, info).print);
  EXPECT_EQ(
      parse({"--columns"}, info).print(),
      "a section\tblk\t\tblocks\t\na section\tm(time)\tns\ttime\tm(time)");
  const std::string help = parse({"--help"}, info).print();
  EXPECT_EQ(parse({"-h"}, info).print(), help);
  EXPECT_EQ(help.rfind("usage: program [options] [gpu_count]\n", 0), 0u);
}

TEST(Options, HelpIsBrokenIntoLines) {
  ProgramInfo info = program();
  info.options = {{"size", "N",
                   "so many words that they need two lines in the "
                   "text that --help prints",
                   [](const std::string&, Options&) {}},
                  {"of-a-long-name", "N[,N...]", "few words",
                   [](const std::string&, Options&) {}}};
  EXPECT_NE(parse({"--help"}, info)
                .print()
                .find("\n"
                      "  --size N          so many words that they need two "
                      "lines in the text that\n"
                      "                    --help prints\n"
                      "  --of-a-long-name N[,N...]  few words\n"),
            std::string::npos);
}

TEST(Options, WhatIsTaken) {
  EXPECT_EQ(parse({"--samples=3"}).samples, 3);
  EXPECT_EQ(parse({"--stats", "--", "8"}).gpu_count, 8);
}

TEST(Options, WhatIsRefused) {
  using Words = std::vector<std::string>;
  const std::pair<Words, std::string> cases[] = {
      {{"--samp", "3"}, "unknown option '--samp'"},  // written out
      {{"--samp=3"}, "unknown option '--samp=3'"},
      {{"--nothing"}, "unknown option '--nothing'"},
      {{"-x"}, "unknown option '-x'"},
      {{"--stats=1"}, "unknown option '--stats=1'; did you mean --stats?"},
      {{"--help=2"}, "unknown option '--help=2'; did you mean --help?"},
      {{"--type", "1"}, "unknown option '--type'"},  // of another program
      {{"--samples"}, "option '--samples' needs a value"},
      {{"--method"}, "option '--method' needs a value"},
      {{"1", "2"}, "unexpected argument '2'"},
      {{"--", "8", "--stats"}, "unexpected argument '--stats'"},
      {{"--method", "--"}, "unknown method '--' (--list names them)"},
      {{"--method", "alpha,delta"}, "delta: not here"}};
  for (const auto& [words, message] : cases) {
    EXPECT_EQ(message_of(words), message);
  }
  const std::pair<std::string, Words> values[] = {
      {"gpu_count must be",
       {"0", "-1", "-15", "abc", "1e9", "3.5", "", " 2", "2 ", "+2", "0x2",
        "01", "1025", "99999999999999999999"}},
      {"--samples must be", {"0", "-1", "x", "1.5", "", "03", "1000001"}},
      {"unknown method", {"gamma", "", "alpha,", ",beta", "Alpha"}}};
  for (const auto& [message, bad] : values) {
    for (const std::string& word : bad) {
      const std::string said =
          message_of(message[0] == 'g'   ? Words{word}
                     : message[0] == '-' ? Words{"--samples", word}
                                         : Words{"--method", word});
      EXPECT_EQ(said.rfind(message, 0), 0u) << word << ": " << said;
    }
  }
  EXPECT_THROW(parse({"1"}, program(false)), UsageError);
  EXPECT_THROW(parse({"-1"}, program(false)), UsageError);
}

TEST(GpuCount, Resolved) {
  EXPECT_EQ(resolve_gpu_count(0, 8), 2);
  EXPECT_EQ(resolve_gpu_count(0, 1), 1);
  EXPECT_EQ(resolve_gpu_count(8, 8), 8);
  EXPECT_EQ(resolve_gpu_count(1, 8), 1);
}

TEST(GpuCount, BeyondTheNode) {
  try {
    resolve_gpu_count(9, 8);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "requested 9 GPUs but only 8 were found");
  }
  EXPECT_THROW(resolve_gpu_count(2, 1), UsageError);
}

}  // namespace
}  // namespace syncbench
