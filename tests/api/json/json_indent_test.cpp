// JSON on several lines.

#include "evershard/api/json/json_indent.hpp"

#include <gtest/gtest.h>

namespace evershard {
namespace {

TEST(JsonIndent, GivesEveryMemberALine) {
  EXPECT_EQ(
      indented(R"({"a":1,"b":[true,{"c":null}],"d":{},"e":[]})"),
      "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {\n      \"c\": null\n    }\n  ],\n  \"d\": {},\n  \"e\": []\n}");
}

TEST(JsonIndent, LeavesTokensAsTheyAre) {
  EXPECT_EQ(indented(R"({"a, {\"b\\":"[:]" , "n": 123456789012345678901234567890})"),
            "{\n  \"a, {\\\"b\\\\\": \"[:]\",\n  \"n\": 123456789012345678901234567890\n}");
  for (const auto* same : {"7", "\"{}\"", "null", "{}", "[]"}) EXPECT_EQ(indented(same), same);
}

}  // namespace
}  // namespace evershard
