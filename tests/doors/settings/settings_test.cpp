// Settings: values and their units, the order of sources, files, the environment, and what is shown.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "evershard/doors/settings/settings.hpp"
#include "evershard/doors/settings/settings_file.hpp"
#include "evershard/doors/settings/settings_text.hpp"

namespace evershard::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Setting setting_of(std::string name, Kind kind, std::string by_default = {}, std::string group = "first") {
  Setting setting;
  setting.name = std::move(name);
  setting.group = std::move(group);
  setting.kind = kind;
  setting.sentence = "What it is for.";
  setting.by_default = std::move(by_default);
  return setting;
}

Table a_table() {
  Table table{setting_of("data", Kind::path),
              setting_of("block-cache", Kind::size, "128MiB"),
              setting_of("drain-timeout", Kind::duration, "30s"),
              setting_of("threads", Kind::number, "4", "second"),
              setting_of("insecure", Kind::yes_no, "no", "second"),
              setting_of("listen", Kind::list, "127.0.0.1:7420", "second"),
              setting_of("level", Kind::choice, "info", "second"),
              setting_of("password", Kind::text, "", "second")};
  table[3].least = 1;
  table[3].most = 64;
  table[6].choices = {"debug", "info"};
  table[7].secret = true;
  return table;
}

std::string error_of(const Result<Value>& value) { return value ? "" : value.error().what; }

// What durations and sizes look like: tests/protocol/quantity_test.cpp.
TEST(SettingValue, TakesSizesAndDurationsWithTheirUnits) {
  const auto size = setting_of("size", Kind::size);
  const auto duration = setting_of("wait", Kind::duration);
  EXPECT_EQ(value_of(size, " 64 KiB ")->number, 65'536u);
  EXPECT_EQ(value_of(size, "1048576")->text, "1MiB");
  EXPECT_EQ(value_of(duration, "5min")->number, 300'000u);
  EXPECT_EQ(value_of(duration, "120000ms")->text, "2min");
  EXPECT_EQ(value_of(duration, "0")->number, 0u);
  EXPECT_THAT(error_of(value_of(size, "1mib")), HasSubstr("size must be a size such as"));
  EXPECT_THAT(error_of(value_of(duration, "30")), HasSubstr("wait must be a duration such as"));
}

TEST(SettingValue, HoldsTheBoundsOfSizesAndDurations) {
  auto wait = setting_of("wait", Kind::duration);
  wait.least = 100;
  wait.most = 3'600'000;
  EXPECT_EQ(value_of(wait, "1h")->number, 3'600'000u);
  EXPECT_THAT(error_of(value_of(wait, "99ms")), HasSubstr("wait must be at least 100ms, is \"99ms\""));
  EXPECT_THAT(error_of(value_of(wait, "61min")), HasSubstr("wait must be at most 1h, is \"61min\""));
  auto size = setting_of("size", Kind::size);
  size.least = 1u << 20;
  EXPECT_THAT(error_of(value_of(size, "1MB")), HasSubstr("size must be at least 1MiB, is \"1MB\""));
}

TEST(SettingValue, HoldsItsBounds) {
  const auto threads = a_table()[3];
  EXPECT_EQ(value_of(threads, "64")->number, 64u);
  EXPECT_THAT(error_of(value_of(threads, "0")), HasSubstr("threads must be at least 1, is \"0\""));
  EXPECT_THAT(error_of(value_of(threads, "65")), HasSubstr("threads must be at most 64, is \"65\""));
}

TEST(SettingValue, TakesListsChoicesAndTruths) {
  const auto table = a_table();
  EXPECT_THAT(value_of(table[5], " a , b,c")->list, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(value_of(table[5], "none")->list.empty());
  EXPECT_THAT(error_of(value_of(table[5], "a,,b")), HasSubstr("empty places"));
  EXPECT_THAT(error_of(value_of(table[5], "a,")), HasSubstr("empty places"));
  EXPECT_EQ(value_of(table[4], "true")->text, "yes");
  EXPECT_EQ(value_of(table[4], "off")->number, 0u);
  EXPECT_THAT(error_of(value_of(table[4], "maybe")), HasSubstr("yes or no"));
  EXPECT_THAT(error_of(value_of(table[6], "loud")), HasSubstr("one of debug, info, is \"loud\""));
  EXPECT_THAT(error_of(value_of(table[0], std::string_view("a\0b", 3))), HasSubstr("one line of text"));
}

TEST(SettingValue, NeverShowsASecret) {
  const auto password = a_table()[7];
  EXPECT_THAT(error_of(value_of(password, std::string_view("hush\0hush", 9))), Not(HasSubstr("hush")));
}

RC_GTEST_PROP(SettingValue, IsReadBackFromItsText, ()) {
  const auto kind = *rc::gen::element(Kind::size, Kind::duration, Kind::number);
  const auto number = *rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max());
  const auto setting = setting_of("x", kind);
  const auto text = text_of_figure(kind, number);
  RC_ASSERT(value_of(setting, text).has_value());
  RC_ASSERT(value_of(setting, text)->number == number);
  RC_ASSERT(value_of(setting, text)->text == text);
}

RC_GTEST_PROP(SettingValue, NeverTakesMoreThanItsBoundWhateverTheText, (const std::string& text)) {
  for (const auto kind : {Kind::size, Kind::duration, Kind::number}) {
    const auto value = value_of(setting_of("x", kind), text);
    RC_ASSERT(!value || value->number <= Setting{}.most);
  }
}

// Any mix of sources: the value, and where it is said to come from, are those of the first source that has one.
RC_GTEST_PROP(Settings, ObeyPrecedenceInAnyMixOfSources, ()) {
  const auto table = a_table();
  const std::map<std::string, std::vector<std::string>> texts{
      {"data", {"/a", "/b", "/c"}}, {"block-cache", {"1MiB", "2MiB", "3MiB"}}, {"drain-timeout", {"1s", "2s", "3s"}},
      {"threads", {"1", "2", "3"}}, {"listen", {"a:1", "b:2", "c:3"}},         {"password", {"x", "y", "z"}}};
  const std::vector<std::string> order{"flag", "environment", "file"};
  std::vector<std::vector<Given>> sources(3);
  std::map<std::string, std::pair<std::string, std::string>> expected;
  for (const auto& [name, values] : texts) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (!*rc::gen::arbitrary<bool>()) continue;
      sources[i].push_back({name, values[i], order[i]});
      expected.emplace(name, std::pair{values[i], order[i]});
    }
  }
  const auto settings = Settings::gather(table, sources[0], sources[1], sources[2]);
  RC_ASSERT(settings.has_value());
  for (const auto& entry : settings->entries()) {
    const auto wanted = expected.find(entry.setting.name);
    RC_ASSERT(entry.where == (wanted == expected.end() ? "default" : wanted->second.second));
    RC_ASSERT(entry.value.text == (wanted == expected.end() ? entry.setting.by_default : wanted->second.first));
  }
}

TEST(Settings, RefuseAValueThatAnotherGoesBefore) {
  const auto settings =
      Settings::gather(a_table(), {{"threads", "3", "flag --threads"}}, {}, {{"threads", "many", "a.conf, line 3"}});
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().what,
              HasSubstr("a.conf, line 3: threads must be a whole number, not negative, is \"many\""));
}

TEST(Settings, PutAListOfOneSourceTogetherAndReplaceThatOfAnother) {
  const auto settings =
      Settings::gather(a_table(), {{"listen", "a:1", "flag --listen"}, {"listen", "b:2", "flag --listen"}},
                       {{"listen", "c:3", "environment"}}, {});
  EXPECT_THAT(settings->value("listen").list, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(settings->value("listen").text, "a:1, b:2");
}

TEST(Settings, ReadTheEnvironment) {
  const auto given = from_environment(a_table(),
                                      {{"EVERSHARD_BLOCK_CACHE", "1MiB"},
                                       {"HOME", "/root"},
                                       {"EVERSHARD_SERVER", "x"},
                                       {"EVERSHARD_THREADS", ""},
                                       {"EVERSHARD_PORT_7420_TCP", "tcp://10.0.0.1:7420"},
                                       {"EVERSHARD_SERVICE_HOST", "10.0.0.1"}},
                                      {"EVERSHARD_SERVER"});
  ASSERT_TRUE(given);
  ASSERT_EQ(given->given.size(), 1u);
  EXPECT_EQ(given->given.front().name, "block-cache");
  EXPECT_EQ(given->given.front().where, "environment EVERSHARD_BLOCK_CACHE");
  EXPECT_TRUE(given->unknown.empty());

  const auto wrong = from_environment(a_table(), {{"EVERSHARD_BLOK_CACHE", "secret"}}, {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().what,
            "environment EVERSHARD_BLOK_CACHE: there is no such setting; did you mean EVERSHARD_BLOCK_CACHE?");
  EXPECT_THAT(from_environment(a_table(), {{"EVERSHARD_SOMETHING_ELSE", "1"}}, {})->unknown,
              ElementsAre("EVERSHARD_SOMETHING_ELSE"));
}

TEST(SettingsFile, ReadsKeysGroupsQuotesAndComments) {
  const auto given = from_file(a_table(),
                               "\xef\xbb\xbf# a file\n\nthreads = 3\r\n[first]\n  data=\"/with # and \\\"quotes\\\" "
                               "\\\\ \"  # here\nblock-cache =  1MiB # less\n"
                               "[second]  # the second\npassword = a#b\nlisten = a:1, b:2",
                               "a.conf");
  ASSERT_TRUE(given) << given.error().what;
  std::vector<std::string> seen;
  for (const auto& one : *given) seen.push_back(one.name + '=' + one.text + '@' + one.where);
  EXPECT_THAT(seen, ElementsAre("threads=3@a.conf, line 3", "data=/with # and \"quotes\" \\ @a.conf, line 5",
                                "block-cache=1MiB@a.conf, line 6", "password=a#b@a.conf, line 8",
                                "listen=a:1, b:2@a.conf, line 9"));
}

TEST(SettingsFile, NamesTheLineAndWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"\n\nthraeds = 3", "a.conf, line 3: there is no setting \"thraeds\"; did you mean threads?"},
      {"wholly-different = 3", "a.conf, line 1: there is no setting \"wholly-different\""},
      {"[frist]", "a.conf, line 1: there is no group \"frist\"; did you mean first?"},
      {"[first", "a group is [NAME]"},
      {"[second]\ndata = x", "a.conf, line 2: data belongs to [first]"},
      {"threads = 1\nthreads = 2", "a.conf, line 2: threads comes twice"},
      {"threads", "neither KEY = VALUE nor [group]"},
      {"data = \"abc", "the quotes do not end"},
      {"data = \"abc\" d", "the quotes do not end"},
      {"= 3", "there is no setting \"\""},
      {"\xff\xfe = 1", "there is no setting"},
  };
  for (const auto& [text, says] : cases) {
    const auto given = from_file(a_table(), text, "a.conf");
    ASSERT_FALSE(given) << text;
    EXPECT_THAT(given.error().what, HasSubstr(says)) << text;
  }
}

TEST(SettingsFile, DoesNotShowTheValueOfAKeyItDoesNotKnow) {
  const auto given = from_file(a_table(), "token = hush-hush-hush-hush", "a.conf");
  ASSERT_FALSE(given);
  EXPECT_THAT(given.error().what, Not(HasSubstr("hush")));
}

RC_GTEST_PROP(SettingsFile, EndsForAnyText, (const std::string& text)) {
  const auto given = from_file(a_table(), text, "a.conf");
  RC_ASSERT(given || given.error().code == ErrorCode::invalid_argument);
}

TEST(SettingsText, ShowsStarsForSecrets) {
  const auto settings = Settings::gather(a_table(), {{"password", "hush", "flag --password"}}, {}, {});
  JsonText json;
  json.begin_object();
  write_settings_member(json, *settings);
  const auto text = json.end_object().take();
  EXPECT_THAT(text, HasSubstr(R"({"name":"password","value":"***","default":"","source":"flag --password")"));
  EXPECT_THAT(text, Not(HasSubstr("hush")));
}

TEST(SettingsText, GivesASampleThatIsTakenAndChangesNothing) {
  auto sample = sample_file_of(a_table());
  ASSERT_TRUE(from_file(a_table(), sample, "sample"));
  for (std::size_t at = 0; (at = sample.find("\n#", at)) != std::string::npos;) {
    if (sample[at + 2] == ' ')
      at += 2;
    else
      sample.erase(at + 1, 1);
  }
  const auto given = from_file(a_table(), sample, "sample");
  ASSERT_TRUE(given) << given.error().what;
  EXPECT_EQ(given->size(), a_table().size());
  EXPECT_TRUE(changed(*Settings::gather(a_table(), {}, {}, {}), *Settings::gather(a_table(), {}, {}, *given)).empty());
}

TEST(SettingsText, FindsWhatChanged) {
  const auto before = Settings::gather(a_table(), {}, {}, {});
  const auto now =
      Settings::gather(a_table(), {{"threads", "5", "flag"}, {"block-cache", "131072KiB", "flag"}}, {}, {});
  EXPECT_THAT(changed(*before, *now), ElementsAre("threads"));
}

}  // namespace
}  // namespace evershard::settings
