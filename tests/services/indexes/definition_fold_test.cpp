// The events of a definition, by hand.

#include "evershard/services/indexes/definition_fold.hpp"

#include <gtest/gtest.h>

#include <string>

namespace evershard::actors {
namespace {

Result<void> folded_with(std::string_view verb, std::string payload, const std::string& name = "orders") {
  const DefinitionNames names("projection");
  Definition definition;
  definition.name = name;
  RecordedEvent event;
  event.seq_nr = SeqNr{1};
  event.position = GlobalPosition{7};
  event.type = names.event_type(verb);
  event.payload = std::move(payload);
  return fold(definition, names, event);
}

TEST(DefinitionFold, TakesNoPayloadThatIsNone) {
  EXPECT_TRUE(folded_with(verbs::created, R"({"kind":"index","spec":{"all":true}})"));
  for (const auto& [name, verb, payload] :
       {std::tuple("orders", verbs::created, R"({"kind":"index"})"),
        std::tuple("orders", verbs::changed, R"({"kind":1,"spec":{}})"), std::tuple("orders", verbs::created, "["),
        std::tuple("orders~1", verbs::reset, R"({"of":-1})"), std::tuple("orders~1", verbs::reset, "[]")}) {
    const auto refused = folded_with(verb, payload, name);
    ASSERT_FALSE(refused) << name << " " << payload;
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  }
}

// It may come from an import: no definition that was made here is.
TEST(DefinitionFold, IsDamagedWhereItIsNestedWithoutEnd) {
  const std::string deep = R"({"kind":"index","spec":)" + std::string(300'000, '[') + std::string(300'000, ']') + "}";

  const auto refused = folded_with(verbs::created, deep);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corruption);
}

}  // namespace
}  // namespace evershard::actors
