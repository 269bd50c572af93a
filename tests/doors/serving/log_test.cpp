// The log: lines for people and programs, what is left out of many alike, files that go away or are full.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "evershard/doors/serving/log.hpp"

namespace evershard::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Timestamp noon{1'769'860'800'000'000};

std::string text_in(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class LogFile : public ::testing::Test {
 protected:
  LogFile() { std::filesystem::create_directories(directory_); }
  ~LogFile() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return directory_ / name; }

 private:
  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) /
      ("log-" + std::to_string(::getpid()) + "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(LogLine, IsForPeople) {
  EXPECT_EQ(log_text(noon, LogLevel::info, "store opened", {{"data", "/var/lib"}, {"shards", 16}, {"new", true}}),
            "2026-01-31T12:00:00.000000Z info store opened data=/var/lib shards=16 new=true");
  EXPECT_EQ(log_text(std::nullopt, LogLevel::error, "x", {{"why", "two words"}, {"empty", ""}}),
            "error x why=\"two words\" empty=\"\"");
}

TEST(LogLine, IsForPrograms) {
  EXPECT_EQ(log_json(noon, LogLevel::warning, "x", {{"a", "b\nc"}, {"n", 3}}),
            R"({"at":"2026-01-31T12:00:00.000000Z","level":"warning","what":"x","a":"b\nc","n":3})");
}

RC_GTEST_PROP(LogLine, IsOneLineWhateverTheValue, (const std::string& value)) {
  const auto text = log_text(noon, LogLevel::info, "x", {{"value", value}});
  RC_ASSERT(text.find('\n') == std::string::npos);
  RC_ASSERT(text.find('\x1b') == std::string::npos);
  const auto json = log_json(noon, LogLevel::info, "x", {{"value", value}});
  RC_ASSERT(json.find('\n') == std::string::npos);
  RC_ASSERT(nlohmann::json::accept(json));
}

TEST(Repeats, LeaveOutTheRestOfAWhileAndCountIt) {
  Repeats repeats;
  Repeats::Clock::time_point now{};
  for (std::uint32_t i = 0; i < Repeats::lines_max; ++i) EXPECT_EQ(repeats.admit("a", now), 0u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(repeats.admit("a", now), std::nullopt);
  EXPECT_EQ(repeats.admit("b", now), 0u);
  now += Repeats::a_while;
  EXPECT_EQ(repeats.admit("a", now), 5u);
  EXPECT_EQ(repeats.admit("a", now), 0u);
  EXPECT_TRUE(repeats.unsaid().empty());
}

TEST(Repeats, StayBoundedInMemory) {
  Repeats repeats;
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(repeats.admit("kind " + std::to_string(i), {}).has_value());
  for (std::uint32_t i = 0; i < Repeats::lines_max + 1; ++i) static_cast<void>(repeats.admit("same", {}));
  EXPECT_EQ(repeats.unsaid().size(), 1u);
}

TEST_F(LogFile, WritesWhatIsBadEnough) {
  auto log = Log::open({.level = LogLevel::warning, .file = path("log")}).value();
  log->info("left out");
  log->warning("written", {{"n", 1}});
  log->set_level(LogLevel::debug);
  log->debug("written too");
  const auto text = text_in(path("log"));
  EXPECT_THAT(text, HasSubstr(" warning written n=1\n"));
  EXPECT_THAT(text, HasSubstr(" debug written too\n"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
}

TEST_F(LogFile, GoesOnInANewFileWhenTheOldOneWasMovedAway) {
  auto log = Log::open({.format = LogFormat::json, .file = path("log")}).value();
  log->info("first");
  std::filesystem::rename(path("log"), path("log.1"));
  log->info("second");
  ASSERT_TRUE(log->reopen());
  log->info("third");
  EXPECT_THAT(text_in(path("log.1")), HasSubstr("second"));
  EXPECT_THAT(text_in(path("log.1")), Not(HasSubstr("third")));
  EXPECT_THAT(text_in(path("log")), HasSubstr(R"("what":"third")"));
}

TEST_F(LogFile, KeepsTheOldFileWhereTheNewOneCannotBeOpened) {
  std::filesystem::create_directory(path("folder"));
  auto log = Log::open({.file = path("folder") / "log"}).value();
  std::filesystem::rename(path("folder"), path("moved"));
  std::ofstream(path("folder")) << "a file in its place";
  const auto reopened = log->reopen();
  ASSERT_FALSE(reopened);
  EXPECT_EQ(reopened.error().code, ErrorCode::io);
  log->info("still there");
  EXPECT_THAT(text_in(path("moved") / "log"), HasSubstr("still there"));
}

TEST_F(LogFile, RefusesAFileThatCannotBeOpened) {
  std::filesystem::create_directory(path("folder"));
  const auto log = Log::open({.file = path("folder")});
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().what, HasSubstr("cannot be opened"));
}

TEST_F(LogFile, SurvivesAFullDisk) {
  auto log = Log::open({.file = "/dev/full"}).value();
  for (int i = 0; i < 200; ++i) log->info("a fact", {{"i", i}, {"padding", std::string(300, 'x')}});
}

TEST_F(LogFile, SaysWhatItLeftOutAtTheEnd) {
  {
    auto log = Log::open({.file = path("log")}).value();
    for (int i = 0; i < 100; ++i) log->info("again and again");
  }
  const auto text = text_in(path("log"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(Repeats::lines_max) + 1);
  EXPECT_THAT(text, HasSubstr("lines left out of=\"again and again\" left_out=80"));
}

TEST_F(LogFile, TakesLinesFromManyThreadsWhole) {
  {
    auto log = Log::open({.format = LogFormat::json, .file = path("log")}).value();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 50; ++i) log->info("fact " + std::to_string(t) + '-' + std::to_string(i), {{"i", i}});
      });
    }
    ASSERT_TRUE(log->reopen());
    for (auto& thread : threads) thread.join();
  }
  std::ifstream in(path("log"));
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(lines, 200u);
}

}  // namespace
}  // namespace evershard::serving
