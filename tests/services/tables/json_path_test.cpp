// Paths into JSON, and JSON read strictly, as another reader of it does.

#include "evershard/services/indexes/json_path.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace evershard::actors {
namespace {

std::string found_at(std::string_view json, std::string_view path) {
  const JsonPath parsed = JsonPath::parse(path).value();
  const JsonPath* paths[] = {&parsed};
  std::optional<std::string_view> found[1];
  if (!find_paths(json, paths, found)) return "no JSON";
  return found[0] ? std::string(*found[0]) : "nothing";
}

TEST(JsonPath, FindsExactBytes) {
  constexpr std::string_view json =
      R"( {"a": {"b": [1, {"c": 12345678901234567890.50}]}, "odd name": "x", "é": null, "esc\u0061ped": 1} )";

  EXPECT_EQ(found_at(json, "$.a.b[1].c"), "12345678901234567890.50");
  EXPECT_EQ(found_at(json, "$.a.b"), R"([1, {"c": 12345678901234567890.50}])");
  EXPECT_EQ(found_at(json, "$['odd name']"), R"("x")");
  EXPECT_EQ(found_at(json, "$.é"), "null");
  EXPECT_EQ(found_at(json, "$.escaped"), "1");
  EXPECT_EQ(found_at(json, "$.a.b[2]"), "nothing");
  EXPECT_EQ(found_at(json, "$.a.b.c"), "nothing");
  EXPECT_EQ(found_at("17", "$"), "17");
}

TEST(JsonPath, TakesTheLastOfAKeyThatIsThereTwice) {
  EXPECT_EQ(found_at(R"({"a":{"b":1},"a":{"b":2}})", "$.a.b"), "2");
  EXPECT_EQ(found_at(R"({"a":{"b":1},"a":3})", "$.a.b"), "nothing");
}

TEST(JsonPath, AsManyAreFoundTogetherAsATableHasFields) {
  for (const std::size_t count : {std::size_t{1}, json_paths_max - 1, json_paths_max}) {
    std::vector<JsonPath> parsed;
    std::string list, object;
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = std::to_string(i);
      parsed.push_back(JsonPath::parse(i % 2 == 0 ? "$.list[" + number + "].x" : "$.m" + number).value());
      list += (i == 0 ? "" : ",") + ("{\"x\":" + number + "}");
      object += ",\"m" + number + "\":" + number;
    }
    std::vector<const JsonPath*> paths;
    for (const auto& path : parsed) paths.push_back(&path);
    std::vector<std::optional<std::string_view>> found(count);
    const std::string json = "{\"list\":[" + list + "]" + object + "}";
    ASSERT_TRUE(find_paths(json, paths, found));
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], std::to_string(i)) << parsed[i].text();
  }
}

TEST(JsonPath, NamesTheByteThatIsWrong) {
  for (const auto& [path, what] : std::vector<std::pair<std::string, std::string>>{{"a", "at byte 0"},
                                                                                   {"$a", "at byte 1"},
                                                                                   {"$.", "at byte 2"},
                                                                                   {"$[", "at byte 2"},
                                                                                   {"$[1", "at byte 3"},
                                                                                   {"$['a]", "at byte 5"},
                                                                                   {"$.a b", "at byte 3"},
                                                                                   {"$[-1]", "at byte 2"}}) {
    const auto parsed = JsonPath::parse(path);
    ASSERT_FALSE(parsed) << path;
    EXPECT_NE(parsed.error().what.find(what), std::string::npos) << parsed.error().what;
  }
}

TEST(JsonPath, SaysHowAnotherDialectIsWrittenHere) {
  for (const auto& [path, right] :
       std::vector<std::pair<std::string, std::string>>{{"customer.city", "$.customer.city"},
                                                        {"items.0.sku", "$.items[0].sku"},
                                                        {"/items/0/sku", "$.items[0].sku"},
                                                        {"/a~1b/c~0d", "$['a/b']['c~d']"},
                                                        {"odd name", "$['odd name']"},
                                                        {"a..b", "such as $.items[0].sku"},
                                                        {"", "such as $.items[0].sku"},
                                                        {"$.items.0", "an element of a list is [0]"}}) {
    const auto parsed = JsonPath::parse(path);
    ASSERT_FALSE(parsed) << path;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().what.find(right), std::string::npos) << parsed.error().what;
  }
  EXPECT_EQ(found_at(R"({"0":{"x":1}})", "$['0'].x"), "1");
}

TEST(JsonPath, IsReadAsItIsWritten) {
  for (const char* text : {"$", "$.a", "$.a-b.c[0][17]", "$['odd name'].x", R"($['it\'s'])", R"($['back\\slash'])",
                           "$['']", "$['0']", "$.0a"}) {
    const auto path = JsonPath::parse(text);
    ASSERT_TRUE(path) << text;
    EXPECT_EQ(path->text(), text);
    EXPECT_EQ(JsonPath::parse(path->text()).value(), *path);
  }
}

TEST(JsonPath, UnderstandsWhatOtherReadersUnderstand) {
  // Pieces of JSON thrown together, now and then damaged.
  constexpr std::string_view pieces[] = {"{",           "}",       "[", "]",       ",",     ":",    "\"a\"",
                                         "\"\\u00e9\"", "\"\\x\"", "1", "-0.5e-3", "01",    "1.",   "true",
                                         "nul",         "null",    " ", "\"a\":",  "\"é\"", "\x01", "\xc3"};
  std::mt19937 random(7);
  int good = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string text;
    const auto count = 1 + random() % 7;
    for (std::size_t i = 0; i < count; ++i) text += pieces[random() % std::size(pieces)];
    const bool expected = nlohmann::json::accept(text);
    EXPECT_EQ(is_json_text(text), expected) << text;
    good += expected ? 1 : 0;
  }
  EXPECT_GT(good, 100);
}

TEST(JsonPath, RefusesJsonThatIsTooDeep) {
  EXPECT_TRUE(is_json_text(std::string(500, '[') + std::string(500, ']')));
  EXPECT_FALSE(is_json_text(std::string(100'000, '[') + std::string(100'000, ']')));
}

TEST(JsonPath, ReadsEscapedStrings) {
  EXPECT_EQ(unescaped(R"("a\n\t\"\\\/é\u00e9\ud83d\ude00")"), "a\n\t\"\\/éé😀");
  EXPECT_EQ(unescaped(R"("a\ud83d")"), "a\xEF\xBF\xBD") << "half of a pair is U+FFFD";
  EXPECT_EQ(unescaped(R"("\ude00\ud83d\u0041")"),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
  EXPECT_FALSE(without_half_surrogates(R"({"a":"\ud83d\ude00","b":"\\ud83d"})"))
      << "a pair, and a backslash before ud83d";
  EXPECT_EQ(without_half_surrogates(R"({"a":"\ud83dx","\uDE00":"\ud83d\ude00"})"),
            R"({"a":"\ufffdx","\ufffd":"\ud83d\ude00"})");
  std::string quoted;
  append_json_quoted(quoted, std::string("a\"\\\n\x01é", 7));
  EXPECT_EQ(nlohmann::json::parse(quoted).get<std::string>(), std::string("a\"\\\n\x01é", 7));
}

}  // namespace
}  // namespace evershard::actors
