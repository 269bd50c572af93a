// What a person sees: tables, progress, numbers.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "evershard/cli/away_notice.hpp"
#include "evershard/cli/options.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/cli/table.hpp"

namespace evershard::cli {
namespace {

using ::testing::HasSubstr;

/// What is written to a pipe.
template <class Write>
std::string written(Write write) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  {
    Output out(ends[1]);
    write(out);
  }
  ::close(ends[1]);
  std::string text(65'536, '\0');
  const auto n = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

TEST(AwayNotice, IsSaidOnceAnAbsence) {
  std::vector<std::string> said;
  AwayNotice notice("evershard: the server", [&](std::string_view line) { said.emplace_back(line); });
  const Timestamp noon = *Timestamp::parse("2026-01-31T12:00:00Z");
  const auto away = [](int ms) {
    return FeedItem::Away{{ErrorCode::unavailable, "connection refused"}, std::chrono::milliseconds(ms)};
  };
  notice.see({}, noon);
  EXPECT_EQ(said.size(), 0u);
  notice.see(away(1'000), {noon.micros + 1'000'000});
  notice.see(away(2'500), {noon.micros + 2'500'000});
  notice.see({}, {noon.micros + 7'000'000});
  notice.see({}, {noon.micros + 8'000'000});
  EXPECT_EQ(
      said,
      (std::vector<std::string>{
          "evershard: the server is away since 2026-01-31T12:00:00.000000Z: connection refused; it is waited for\n",
          "evershard: the server is back after 7s\n"}));
  notice.see(away(1'000), {noon.micros + 20'000'000});
  EXPECT_EQ(said.size(), 3u) << "another absence";
}

std::string table_in(const Terminal& terminal, const std::vector<std::vector<std::string>>& rows) {
  return written([&](Output& out) {
    Table table(out, terminal, {{"NR", true}, {"NAME"}, {"TEXT"}});
    for (const auto& row : rows) table.row(row);
  });
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(table_in({}, {{"1", "ä", "x"}, {"22", "longer", ""}}), "NR  NAME    TEXT\n 1  ä       x\n22  longer\n");
}

TEST(Table, IsAsWideAsTheTerminal) {
  Terminal narrow;
  narrow.width = 20;

  const std::string text = table_in(narrow, {{"1", "name", "a text that is too long for the terminal"}});

  EXPECT_EQ(text, "NR  NAME  TEXT\n 1  name  a text th\u2026\n");
}

TEST(Table, ColoursOnATerminalOnly) {
  Terminal coloured;
  coloured.colours = true;

  EXPECT_THAT(table_in(coloured, {{"1", "a", "b"}}), HasSubstr("\x1b[1m"));
  EXPECT_EQ(table_in({}, {{"1", "a", "b"}}).find('\x1b'), std::string::npos);
}

TEST(Table, LetsNoValueSteerTheTerminal) {
  const std::string text = table_in({}, {{"1", "\x1b[31m", "a\nb\x7f\xc2\x9b"}, {"2", "\xff", ""}});

  EXPECT_THAT(text, HasSubstr("?[31m"));
  EXPECT_THAT(text, HasSubstr("a?b??"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Table, FixesItsWidthsAfterManyRows) {
  std::vector<std::vector<std::string>> rows(300, {"1", "a", "b"});
  rows.push_back({"1", "much longer", "b"});

  const std::string text = table_in({}, rows);

  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 302);
  EXPECT_THAT(text, HasSubstr("muc\u2026"));
}

TEST(Progress, SaysRateAndTimeLeft) {
  const ProgressLine line({}, "import");

  EXPECT_EQ(line.text(250'000, 1'000'000, 10), "import [======                  ] 25 %  250,000  25,000/s  0:30 left");
  EXPECT_EQ(line.text(3, 0, 1), "import 3  3/s");
  EXPECT_THAT(ProgressLine({}, "read", ProgressLine::Unit::bytes).text(1536, 1u << 30, 1),
              HasSubstr("1.5KiB  1.5KiB/s  194:10:50 left"));
}

TEST(Output, TellsAClosedPipeFromAFullDisk) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const int full = ::open("/dev/full", O_WRONLY);
  Output closed(ends[1]);
  Output disk(full);

  closed.write("x");
  closed.flush();
  disk.write("x");
  disk.flush();

  EXPECT_TRUE(closed.closed());
  EXPECT_TRUE(closed.status());
  EXPECT_FALSE(disk.closed());
  ASSERT_FALSE(disk.status());
  EXPECT_EQ(disk.status().error().code, ErrorCode::io);
  ::close(ends[1]);
  ::close(full);
}

TEST(ShownText, GroupsNumbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(ShownText, CutsBetweenCharacters) {
  EXPECT_EQ(fitted("äöü", 3), "äöü");
  EXPECT_EQ(fitted("äöüß", 3), "äö\u2026");
  EXPECT_EQ(fitted("abc", 1), "\u2026");
  EXPECT_EQ(fitted("abc", 0), "");
}

TEST(Hint, IsEveryNameThatIsEquallyNear) {
  using ::testing::ElementsAre;
  EXPECT_THAT(near_ones("stat", {"state", "status", "query", "states"}, 3), ElementsAre("state", "status", "states"));
  EXPECT_THAT(near_ones("stats", {"state", "status", "stata"}, 2), ElementsAre("state", "status"));
  EXPECT_THAT(near_ones("reed", {"read", "reset"}, 3), ElementsAre("read"));
  EXPECT_EQ(did_you_mean({"a"}), "did you mean a?");
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean a, b or c?");
  EXPECT_EQ(did_you_mean({}), "");
}

TEST(Hint, IsTheNearestName) {
  EXPECT_EQ(nearest("--typ", {"--tag", "--type"}), "--type");
  EXPECT_EQ(nearest("exprot", {"export", "import"}), "export");
  EXPECT_EQ(nearest("frobnicate", {"export", "import"}), "");
}

}  // namespace
}  // namespace evershard::cli
