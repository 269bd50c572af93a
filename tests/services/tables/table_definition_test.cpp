// What a definition may be, and what a change of one asks for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/protocol/limits.hpp"
#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using testing::HasSubstr;

std::string fault_of(const TableDefinition& definition) {
  const auto checked = definition.check();
  return checked ? "" : checked.error().what;
}

TEST(TableDefinition, IsRefusedForWhatIsWrong) {
  const TableDefinition good = orders_by_rules();
  EXPECT_EQ(fault_of(good), "");
  const auto with = [&](auto change) {
    TableDefinition changed = good;
    change(changed, std::get<std::vector<MappingRule>>(changed.made_by));
    return fault_of(changed);
  };
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields.clear(); }), HasSubstr("no fields"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[0].role = FieldRole::normal; }),
              HasSubstr("no field of role key"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[0].nullable = true; }), HasSubstr("cannot be nullable"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[1].type = FieldType::json; }),
              HasSubstr("\"customer\" is index"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[2].name = "order"; }), HasSubstr("there twice"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[2].name = "Like"; }), HasSubstr("word of filter expressions"));
  EXPECT_THAT(with([](auto& d, auto&) { d.schema.fields[2].name = "2nd"; }), HasSubstr("a letter or _"));
  EXPECT_THAT(with([](auto& d, auto&) { d.on_error = OnFault::skip; }), HasSubstr("fail or park"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules.clear(); }), HasSubstr("no rules"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[1].key.clear(); }),
              HasSubstr("rule 1: the key needs field \"order\""));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[0].fields[0].first = "custom"; }),
              HasSubstr("no field \"custom\"; its fields are order, customer, total, mail"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[0].fields[0].second = constant("7"); }),
              HasSubstr("takes text, not"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[0].fields[1].second = said(ValueSource::Kind::type); }),
              HasSubstr("takes integer, and what it is set from is text"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[2].fields = rules[0].fields; }),
              HasSubstr("a delete sets no fields"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[3].fields[0].first = "customer"; }),
              HasSubstr("cannot be incremented"));
  EXPECT_THAT(with([](auto&, auto& rules) { rules[0].types.clear(); }), HasSubstr("no event type"));
}

/// A table reads what was ordered about its parked events too: that has to fit into its query.
TEST(TableDefinition, WhatIsTakenCanBeRead) {
  TableDefinition many = orders_by_rules();
  auto& rules = std::get<std::vector<MappingRule>>(many.made_by);
  const MappingRule first = rules[0];
  rules.assign(mapping_rules_max, first);
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i].types = {"T" + std::to_string(i)};
  ASSERT_TRUE(many.check());
  EXPECT_TRUE(many.query_of({"$projection", "t"}).check());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].tags = {"t" + std::to_string(i)};
    for (std::size_t n = 1; n < query_terms_max / mapping_rules_max - 1; ++n)
      rules[i].types.push_back("T" + std::to_string(i) + "-" + std::to_string(n));
  }
  ASSERT_FALSE(many.check());
  EXPECT_THAT(many.check().error().what, HasSubstr("takes one with three terms for itself"));
  rules.pop_back();
  EXPECT_TRUE(many.check());
}

TEST(TableDefinition, ReadsOnlyEventsOfItsRules) {
  const Query query = orders_by_rules().query();
  EXPECT_TRUE(query.matches(happened("Placed", "order-1")));
  EXPECT_FALSE(query.matches(happened("Other", "order-1")));
}

}  // namespace
}  // namespace evershard::actors
