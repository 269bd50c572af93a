// Which event types with `$` a definition may name.

#include "evershard/protocol/reserved_types.hpp"

#include <gmock/gmock.h>

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(ReservedTypes, AreTheStoresAndItsClients) {
  for (const auto* type : {"Placed", "$AggregateRemoved", "$ProjectionCreated", "$GroupDropped", "$DocumentHidden",
                           "$ErasureDone", "$CopyBegan", "$SinkClaimed"})
    EXPECT_TRUE(check_known_type(type)) << type;
  EXPECT_TRUE(check_known_types(Query::all()));
}

TEST(ReservedTypes, OthersAreRefusedWithTheNearest) {
  const auto misspelt = check_known_types(Query{}.types({"Placed", "$AggregateRemovd"}));

  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(misspelt.error().what, HasSubstr("\"$AggregateRemovd\""));
  EXPECT_THAT(misspelt.error().what, HasSubstr("nearest ones are $AggregateRemoved, "));
  EXPECT_FALSE(check_known_type("$"));
}

}  // namespace
}  // namespace evershard
