// Lines from a descriptor, however they are cut.

#include "evershard/cli/events/line_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <thread>

namespace evershard::cli {
namespace {

struct Seen {
  std::uint64_t number;
  std::string text;
  bool too_long;
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Feeds the parts through a pipe, one write each.
std::vector<Seen> lines_of(const std::vector<std::string>& parts, std::size_t line_bytes_max = 1000) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (const auto& part : parts)
      EXPECT_EQ(::write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
    ::close(ends[1]);
  });
  std::vector<Seen> seen;
  LineReader reader(ends[0], line_bytes_max, {});
  for (;;) {
    const auto line = reader.next().value();
    if (line.kind == LineReader::Kind::end) break;
    seen.push_back({line.number, std::string(line.text), line.kind == LineReader::Kind::too_long});
  }
  writer.join();
  ::close(ends[0]);
  return seen;
}

TEST(LineReader, CountsBlankLinesAndSkipsThem) {
  EXPECT_EQ(lines_of({"\n\r\n a \r\n\t\n", "b"}), (std::vector<Seen>{{3, " a ", false}, {5, "b", false}}));
}

TEST(LineReader, HasNothingToSayOfAnEmptyFile) {
  EXPECT_TRUE(lines_of({}).empty());
  EXPECT_TRUE(lines_of({"\n"}).empty());
}

TEST(LineReader, SkipsALineThatIsTooLongWhole) {
  const std::string long_line(2'000'000, 'x');

  const auto seen = lines_of({"a\n", long_line, long_line, "\nb\n", long_line});

  EXPECT_EQ(seen, (std::vector<Seen>{{1, "a", false}, {2, "", true}, {3, "b", false}, {4, "", true}}));
}

TEST(LineReader, TakesALineOfExactlyTheMost) {
  EXPECT_EQ(lines_of({std::string(10, 'x') + "\n" + std::string(11, 'x')}, 10),
            (std::vector<Seen>{{1, std::string(10, 'x'), false}, {2, "", true}}));
}

TEST(LineReader, StopsWhereItIsAskedTo) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  int asked = 0;
  LineReader reader(ends[0], 100, [&] { return ++asked > 1; });

  const auto line = reader.next();

  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, LineReader::Kind::stopped);
  ::close(ends[0]);
  ::close(ends[1]);
}

RC_GTEST_PROP(LineReader, DoesNotCareHowTheBytesCome, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n', '\r')));
  std::string whole;
  for (const auto& part : parts) whole += part;

  RC_ASSERT(lines_of(parts, 5) == lines_of({whole}, 5));
}

}  // namespace
}  // namespace evershard::cli
