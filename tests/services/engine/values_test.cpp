#include "evershard/services/indexes/indexed_value.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "evershard/services/indexes/definition_fold.hpp"
#include "evershard/services/indexes/query_spec.hpp"
#include "evershard/services/indexes/value_index.hpp"

namespace evershard::actors {
namespace {

void expect_ascending(ValueType type, const std::vector<std::string>& values) {
  std::string before;
  for (const auto& value : values) {
    const auto key = value_key(type, value);
    ASSERT_TRUE(key) << value;
    EXPECT_LT(before, *key) << value;
    before = *key;
  }
}

TEST(IndexedValue, SortsInByteOrderAsItDoesInLife) {
  expect_ascending(ValueType::integer,
                   {"-9223372036854775808", "-256", "-1", "0", "1", "255", "256", "9223372036854775807"});
  expect_ascending(ValueType::number, {"-1e308", "-2.5", "-1", "-1e-300", "0", "1e-300", "0.5", "1", "1.5", "1e308"});
  expect_ascending(ValueType::boolean, {"false", "true"});
  expect_ascending(ValueType::time, {"0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z",
                                     "2026-01-31T12:00:00Z", "2026-01-31T13:00:00.5+00:00"});
  expect_ascending(ValueType::text, {"", std::string(1, '\0'), std::string("\0a", 2), "\x01", "a",
                                     std::string("a\0", 2), std::string("a\0b", 3), "a\x01", "aa", "b", "\xC3\xA4"});
}

TEST(IndexedValue, WhatIsNoneIsRefused) {
  for (const auto* text : {"", "1.5", "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "x", " 1", "1 "})
    EXPECT_FALSE(value_key(ValueType::integer, text)) << text;
  for (const auto* text : {"", "nan", "inf", "-inf", "1e999", "1e-999", "x"})
    EXPECT_FALSE(value_key(ValueType::number, text)) << text;
  for (const auto* text : {"", "True", "1"}) EXPECT_FALSE(value_key(ValueType::boolean, text)) << text;
  EXPECT_FALSE(value_key(ValueType::time, "yesterday"));
  EXPECT_FALSE(value_key(ValueType::text, "a\x80"));
  EXPECT_EQ(*value_key(ValueType::number, "-0"), *value_key(ValueType::number, "0"));
  EXPECT_EQ(*value_key(ValueType::integer, "-0"), *value_key(ValueType::integer, "0"));
  EXPECT_TRUE(value_key(ValueType::integer, "-9223372036854775808"));
}

TEST(IndexedValue, IsReadBackFromItsKey) {
  const auto back = [](ValueType type, const std::string& text) {
    return read_value_key(type, *value_key(type, text) + "position").value().json;
  };
  EXPECT_EQ(back(ValueType::integer, "-42"), "-42");
  EXPECT_EQ(back(ValueType::number, "-1.5"), "-1.5");
  EXPECT_EQ(back(ValueType::boolean, "true"), "true");
  EXPECT_EQ(back(ValueType::time, "2026-01-31T12:00:00Z"), "\"2026-01-31T12:00:00.000000Z\"");
  EXPECT_EQ(back(ValueType::text, std::string("a\0\"b", 4)), "\"a\\u0000\\\"b\"");
  EXPECT_FALSE(read_value_key(ValueType::text, "no end"));
  EXPECT_FALSE(read_value_key(ValueType::integer, "short"));
}

TEST(QuerySpec, EqualQueriesHaveOneNameWhateverTheirOrder) {
  const auto one = Query{}.types({"B", "A", "B"}).tags({"y", "x"}).or_().tags({"z"});
  const auto same = Query{}.tags({"z"}).or_().tags({"x", "y", "x"}).types({"A", "B"});
  EXPECT_EQ(query_spec(one), query_spec(same));
  EXPECT_EQ(index_name(one), index_name(same));
  EXPECT_NE(index_name(one), index_name(Query{}.types({"A"})));
  EXPECT_EQ(*read_query_spec(query_spec(one)), one.canonical());
  EXPECT_EQ(*read_query_spec(query_spec(Query::all())), Query::all());
  for (const auto* bad : {"", "{}", "[]", R"({"items":[]})", R"({"items":[{}]})", R"({"items":[{"tipes":["A"]}]})",
                          R"({"all":false})", R"({"all":true,"items":[]})", R"({"items":[{"types":"A"}]})"})
    EXPECT_FALSE(read_query_spec(bad)) << bad;
}

TEST(ValueIndexSpec, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(read_value_index_spec(R"({"types":["A"],"path":"$.a.b","value":"text"})"));
  EXPECT_TRUE(read_value_index_spec(R"({"types":["A"],"path":"$['a/b'][0]","value":"time","source":"metadata"})"));
  for (const auto* bad :
       {"", "{}", R"({"types":[],"path":"$.a","value":"text"})", R"({"types":["A"],"path":"","value":"text"})",
        R"({"types":["A"],"path":"$.a..b","value":"text"})", R"({"types":["A"],"path":"$.a","value":"colour"})",
        R"({"types":["A"],"path":"$.a"})", R"({"types":["A"],"path":"$.a","value":"text","source":"tags"})",
        R"({"types":["A"],"path":"$.a","value":"text","more":1})", R"({"types":["A"],"path":"/a","value":"text"})"})
    EXPECT_FALSE(read_value_index_spec(bad)) << bad;
  EXPECT_NE(read_value_index_spec(R"({"types":["A"],"path":"items.0.sku","value":"text"})")
                .error()
                .what.find("$.items[0].sku"),
            std::string::npos);
  EXPECT_EQ(read_value_index_spec(R"({"types":["A"],"path":"$['a']","value":"text"})")->path, "$.a") << "one form";
}

TEST(DefinitionFold, KnowsVersionsPausesAndAnotherLife) {
  const DefinitionNames names("projection");
  EXPECT_EQ(names.event_type(verbs::created), "$ProjectionCreated");
  EXPECT_EQ(names.aggregate("x").text(), "$projection-x");
  Definition definition{.name = "x"};
  std::uint64_t seq = 0;
  const auto happens = [&](std::string_view verb, const std::string& spec = {}) {
    RecordedEvent event;
    event.type = names.event_type(verb);
    event.seq_nr = SeqNr{++seq};
    event.payload = spec.empty() ? "{}" : definition_payload("k", spec);
    EXPECT_TRUE(fold(definition, names, event));
  };
  happens(verbs::created, R"({"v":1})");
  happens(verbs::paused);
  happens(verbs::changed, R"({"v":2})");
  happens(verbs::rebuilt);
  EXPECT_TRUE(definition.paused);
  ASSERT_EQ(definition.versions.size(), 2u);
  EXPECT_EQ(definition.newest().spec, R"({"v":2})");
  EXPECT_EQ(definition.newest().rows, SeqNr{4});
  EXPECT_TRUE(definition.newest().beside);
  happens(verbs::resumed);
  EXPECT_FALSE(definition.paused);
  happens(verbs::dropped);
  EXPECT_TRUE(definition.dropped);
  happens(verbs::created, R"({"v":3})");
  EXPECT_FALSE(definition.dropped);
  ASSERT_EQ(definition.versions.size(), 1u);
  EXPECT_EQ(definition.newest().version, SeqNr{7});
  RecordedEvent damaged;
  damaged.type = names.event_type(verbs::changed);
  damaged.payload = "{";
  EXPECT_EQ(fold(definition, names, damaged).error().code, ErrorCode::corruption);
  EXPECT_TRUE(check_definition_name("projection", "a-b_c.D9"));
  for (const auto* bad : {"", ".a", "a b", "a@1", "a/b", "\xC3\xA4"})
    EXPECT_FALSE(check_definition_name("projection", bad)) << bad;
}

}  // namespace
}  // namespace evershard::actors
