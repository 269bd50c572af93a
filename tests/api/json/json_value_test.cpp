// JSON from outside: strictness, paths, exact bytes; base64.

#include "evershard/api/json/json_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/base64.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(JsonValue, GivesEveryValueItsExactBytes) {
  const auto root = JsonValue::parse(R"(  {"a" : [ 1.50 ,{"x":"}]\"\\"},null ] , "b":true,"c":{}, "d":[]} )");
  ASSERT_TRUE(root);

  std::vector<std::string> members;
  const auto seen = root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    members.push_back(std::string(key) + '=' + std::string(value.raw()));
    return {};
  });

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(members, ::testing::ElementsAre(R"(a=[ 1.50 ,{"x":"}]\"\\"},null ])", "b=true", "c={}", "d=[]"));
}

// JSON bounds no number; a double does.
TEST(JsonValue, TakesNumbersThatNoDoubleCanHold) {
  for (const std::string text : {"1e400", "-1e400", "1E+999", "[1e400,-2.5e9999]",
                                 R"({"a":1e400,"b":"1e400\\\"","c":[1e-9999]})", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_json(text)) << text;
    const auto root = JsonValue::parse(text);
    ASSERT_TRUE(root) << text << ": " << root.error().what;
    EXPECT_EQ(root->raw(), text);
  }
  EXPECT_TRUE(is_json(std::string(400, '9'))) << "without an exponent";
  for (const std::string text : {"1e400.", "1e400e1", "[1e400,01e400]", "[1e400,1.e400]", "[1e400,-.1e400]", "01e400",
                                 "[1e400", "1e400 1", "--1e400", "1e", "+1e400", R"({"a":1e400,})", R"([1e400,"a)"}) {
    EXPECT_FALSE(is_json(text)) << text;
    EXPECT_FALSE(JsonValue::parse(text)) << text;
  }
  const auto number = JsonValue::parse("1e400")->number();
  ASSERT_FALSE(number) << "where a whole number is wanted";
  EXPECT_THAT(number.error().what, HasSubstr("must be a whole number"));
}

TEST(JsonValue, NamesThePathOfAMistake) {
  const auto root = JsonValue::parse(R"({"a":[0,{"b":[true]}]})", "--query");
  ASSERT_TRUE(root);

  const auto wrong = root->for_each_member([](std::string_view, const JsonValue& a) {
    return a.for_each_element([](const JsonValue& element) -> Result<void> {
      if (element.kind() != JsonValue::Kind::object) return {};
      return element.for_each_member([](std::string_view, const JsonValue& b) {
        return b.for_each_element([](const JsonValue& last) -> Result<void> {
          auto number = last.number();
          if (!number) return refuse(number.error());
          return {};
        });
      });
    });
  });

  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("--query: a[1].b[0]: must be a whole number"));
}

TEST(JsonValue, RefusesAKeyThatComesTwiceHoweverManyThereAre) {
  const auto of = [](std::size_t keys, std::size_t again) {
    std::string text = "{";
    for (std::size_t i = 0; i < keys; ++i) text += '"' + std::to_string(i) + "\":0,";
    return text + '"' + (again < keys ? std::to_string(again) : "last") + "\":0}";
  };
  const auto see = [](std::string_view, const JsonValue&) -> Result<void> { return {}; };
  for (const std::size_t keys : {1, 2, 15, 16, 17, 40}) {
    const auto once = of(keys, keys);
    EXPECT_TRUE(JsonValue::parse(once)->for_each_member(see)) << keys;
    for (std::size_t again = 0; again < keys; ++again) {
      const auto twice = of(keys, again);
      const auto refused = JsonValue::parse(twice)->for_each_member(see);
      ASSERT_FALSE(refused) << keys << ' ' << again;
      EXPECT_THAT(refused.error().what, HasSubstr("key \"" + std::to_string(again) + "\" comes twice"));
    }
  }

  // One comparison with each of the others would take minutes.
  const auto many = of(500'000, 500'000);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(JsonValue::parse(many)->for_each_member(see));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(JsonValue, TakesWholeNumbersOnly) {
  for (const auto* good : {"0", "7", "18446744073709551615"}) EXPECT_TRUE(JsonValue::parse(good)->number()) << good;
  for (const auto* bad : {"-1", "1.0", "1e3", "18446744073709551616", "\"7\"", "null", "[]"})
    EXPECT_FALSE(JsonValue::parse(bad)->number()) << bad;
}

TEST(JsonValue, UnescapesStringsAndKeys) {
  const auto root = JsonValue::parse(R"({"\u0061\n":"\ud83d\ude00\"/"})");
  std::string key_seen;
  std::string value_seen;

  const auto seen = root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    key_seen = key;
    value_seen = value.string().value();
    return {};
  });

  ASSERT_TRUE(seen);
  EXPECT_EQ(key_seen, "a\n");
  EXPECT_EQ(value_seen, "\U0001F600\"/");
}

TEST(JsonValue, RefusesAKeyThatComesTwiceHoweverItIsWritten) {
  const auto root = JsonValue::parse(R"({"a":1,"\u0061":2})");

  const auto seen = root->for_each_member([](std::string_view, const JsonValue&) -> Result<void> { return {}; });

  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().what, HasSubstr("comes twice"));
}

TEST(JsonValue, RefusesWhatIsNoJson) {
  for (const auto* bad : {"", " ", "{", "{}}", "[1,]", "{\"a\"}", "nul", "'a'", "\"\\ud800\"", "\"\xc3\"", "01", "1 2",
                          "\"\n\"", "\xef\xbb\xbf{} {}"}) {
    EXPECT_FALSE(JsonValue::parse(bad)) << bad;
    EXPECT_FALSE(is_json(bad)) << bad;
  }
  EXPECT_FALSE(JsonValue::parse(std::string_view("7\0", 2)));
  EXPECT_FALSE(JsonValue::parse("\xef\xbb\xbf{}"));
}

TEST(JsonValue, NamesTheKeysThatAreKnown) {
  const auto object = JsonValue::parse(R"({"x":1})", "");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->unknown_key("x", {"a", "b"}).value().what, "unknown key \"x\"; known are a, b");
  EXPECT_EQ(object->unknown_key("x", {}).value().what, "unknown key \"x\"; there are none");
}

TEST(JsonValue, IsNotAfraidOfDepth) {
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');

  const auto value = JsonValue::parse(deep);

  ASSERT_TRUE(value);
  EXPECT_EQ(value->raw().size(), deep.size());
}

TEST(Base64, HasTheVectorsOfItsStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, RefusesEveryOtherSpelling) {
  for (const auto* bad : {"Zg", "Zg=", "Zh==", "Zm9=", "Zm9v\n", "Zm 9v", "====", "Z===", "Zg==Zg==", "Zm9-"})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

RC_GTEST_PROP(Base64, GivesBackWhatItTook, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

TEST(JsonText, PutsWhatStandsOnManyLinesOnOne) {
  EXPECT_EQ(json_on_one_line(" \r\n{\"a\":\n  1,\r\n\"b\":\"x\\ny\"}\t\n"), "{\"a\":   1,  \"b\":\"x\\ny\"}");
  EXPECT_EQ(json_on_one_line(" \n "), "");
  EXPECT_EQ(json_on_one_line(""), "");
}

RC_GTEST_PROP(JsonText, WritesStringsThatReadAsTheSame, ()) {
  const auto points = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));

  std::string json;
  append_json_string(json, points);

  const auto value = JsonValue::parse(json);
  RC_ASSERT(value.has_value());
  RC_ASSERT(value->string().value() == points);
}

}  // namespace
}  // namespace evershard
