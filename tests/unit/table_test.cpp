#include "common/table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace syncbench {
namespace {

Row row_of(const std::string& name = "", int count = 0,
           const Summary& time = {}) {
  return Row("a name", name)
      .cell("count", "", "a number", count)
      .mean_stddev("time", "ns", "something", time)
      .stats("time", "ns", time)
      .clock(1980)
      .set(Set::kToday);
}

// A file that can be written and read back.
class TemporaryFile {
 public:
  TemporaryFile() { descriptor_ = mkstemp(path_); }
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_);
  }
  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  char path_[32] = "/tmp/table_test_XXXXXX";
  int descriptor_;
};

TEST(FormatNumber, FixedPointAndNan) {
  EXPECT_EQ(format_number(1081.12345), "1081.123");
  EXPECT_EQ(format_number(0.04348, 5), "0.04348");
  EXPECT_EQ(format_number(1e12), "1000000000000.000");
  EXPECT_EQ(format_number(kNan), "nan");
  EXPECT_EQ(format_number(-kNan), "nan");
  EXPECT_EQ(format_number(INFINITY), "nan");
  const std::string huge = format_number(1e300, 5);
  EXPECT_EQ(huge.size(), 301u + 6);
  EXPECT_EQ(std::strtod(huge.c_str(), nullptr), 1e300);
}

TEST(Table, RowsHaveItsColumns) {
  TemporaryFile file;
  LineWriter out(file.descriptor());
  Table table(out, "a section", row_of());
  Row other("a name", "first");
  while (other.cells().size() < row_of().cells().size()) {
    other.cell("other", "", "", 1);
  }
  EXPECT_THROW(table.row(other), std::logic_error);
  EXPECT_THROW(table.row(row_of("first").cell("more", "", "", 1)),
               std::logic_error);
  EXPECT_EQ(file.text(), "");
}

TEST(Table, CellsOfStatsWhereAskedFor) {
  TemporaryFile file;
  LineWriter out(file.descriptor());
  out.show_stats(true);
  Table table(out, "a section", row_of());
  table.row(row_of("first", 1, summarize({1, 3, 2})));
  EXPECT_EQ(file.text(),
            "# a section\nmethod\tcount\tm(time)\ts(time)\tn\tmed(time)\t"
            "ci95(time)\tclock\tset\n# section[main=time]\n"
            "first\t1\t2.000\t1.000\t3\t2.000\t2.484\t1980.0\ttoday\n");
}

TEST(Row, KeysAreOfTheLabels) {
  const auto key = [](const Word& count) {
    return Row("a name", "first")
        .label("count", "", "a number", count)
        .cell("other", "", "no label", 3)
        .key()
        .text;
  };
  EXPECT_EQ(key(7), "first count=7");
  EXPECT_EQ(key("as allowed"), "first count=\"as allowed\"");
  for (const Word& any : {Word(kAny), Word("nan"), Word("")}) {
    EXPECT_EQ(key(any), "first");
  }
}

TEST(Table, ColumnsAreDescribed) {
  EXPECT_EQ(describe("a section",
                     Row("a name", "")
                         .cell("count", "", "a number", 0)
                         .mean_stddev("time", "ns", "something", Summary{})),
            "a section\tmethod\t\ta name\t\na section\tcount\t\ta number\t\n"
            "a section\tm(time)\tns\tsomething\tm(time)\n"
            "a section\ts(time)\tns\tstandard deviation (n - 1) of the same\t"
            "m(time)\n");
}

TEST(PairText, QuotesWhatIsNoWord) {
  EXPECT_EQ(pair_text("name", "12.2.0"), "name=12.2.0");
  EXPECT_EQ(pair_text("name", "NVIDIA H200"), "name=\"NVIDIA H200\"");
  EXPECT_EQ(pair_text("name", "a:b"), "name=\"a:b\"");
  EXPECT_EQ(pair_text("name", "a \"b\""), "name=\"a 'b'\"");
  EXPECT_EQ(pair_text("name", ""), "name=\"\"");
}

TEST(Told, OneLineForEachKind) {
  Told told;
  told.add("a title: with a colon");
  told.add("note[method] a: text");
  told.add("skipped[does-not-fit holds=2] a blk=3: text");
  EXPECT_TRUE(told.lines().empty());
  told.add("warning[spread percent=2.10] a thrd=32: little");
  told.add("warning[spread percent=9.00] b thrd=64: much");
  told.add("warning[spread percent=3.00] c: middle");
  told.add("warning[clock from=1 to=2]: it moved");
  told.add("skipped[one-gpu] d: none there");
  told.add("skipped[one-gpu] e blk=1: none there");
  told.add("skipped[one-gpu] e blk=2: none there");
  told.add("skipped[toolkit] f: too old");
  const std::vector<std::string> lines = told.lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "not measured: 2 methods: d: none there");
  EXPECT_EQ(lines[1], "not measured: f: too old");
  EXPECT_EQ(lines[2], "warning: it moved");
  EXPECT_EQ(lines[3], "warning: 3 rows, the worst: b thrd=64: much");
}

}  // namespace
}  // namespace syncbench
