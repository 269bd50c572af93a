// Which event types with `$` a definition may name.

#include "evershard/protocol/reserved_types.hpp"

#include <gmock/gmock.h>

#include "evershard/protocol/reserved.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(ReservedTypes, AreTheStoresAndItsClients) {
  for (const auto* type : {"Placed", "$AggregateRemoved", "$ProjectionCreated", "$GroupDropped", "$DocumentHidden",
                           "$ErasureDone", "$CopyBegan", "$SinkClaimed", "$metadata", "$streamDeleted", "$>"})
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

Append append_of(std::optional<AggregateId> aggregate, std::string type, bool from_export) {
  Append append;
  Event event;
  event.aggregate = std::move(aggregate);
  event.type = std::move(type);
  append.event(std::move(event));
  append.from_export = from_export;
  return append;
}

TEST(ReservedTypes, UsersUnderReservedNamesAreHistoryOfAnotherStore) {
  const std::vector<std::pair<AggregateId, std::string>> users{{{"$stream", "cart"}, "Added"},
                                                               {{"$metastream", "order-7"}, "$metadata"},
                                                               {{"order", "7"}, "$streamDeleted"},
                                                               {{"order", "7"}, "$>"},
                                                               {{"$stream", "$mine-7"}, "$mine"}};
  for (const auto& [aggregate, type] : users) {
    const auto exported = append_of(aggregate, type, true);
    EXPECT_TRUE(check_reserved(exported)) << aggregate.text() << ' ' << type;
    EXPECT_TRUE(needs_export(exported)) << aggregate.text() << ' ' << type;
    EXPECT_FALSE(is_own(exported.events.front())) << aggregate.text() << ' ' << type;
    EXPECT_FALSE(check_reserved(append_of(aggregate, type, false))) << aggregate.text() << ' ' << type;
  }
  EXPECT_FALSE(needs_export(append_of(AggregateId{"order", "7"}, "Placed", false)));
}

TEST(ReservedTypes, MarksOfImportsAreNobodyElses) {
  for (const auto* tag : {"evershard-import:url", "evershard-import-position:7", "evershard-tracking:s",
                          "evershard-tracking-position:7"}) {
    auto append = append_of(AggregateId{"order", "7"}, "Placed", false);
    append.events.front().tags = {"a", tag};
    EXPECT_TRUE(needs_export(append)) << tag;
    const auto refused = check_reserved(append);
    ASSERT_FALSE(refused) << tag;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    append.from_export = true;
    EXPECT_TRUE(check_reserved(append)) << tag;
  }
  auto free = append_of(AggregateId{"order", "7"}, "Placed", false);
  free.events.front().tags = {"evershard-fan"};
  EXPECT_TRUE(check_reserved(free));
}

TEST(ReservedTypes, WhatTheStoreKeepsForItselfIsRefusedFromAnotherToo) {
  const std::vector<std::pair<AggregateId, std::string>> own{{{"$process", "p"}, "Any"},
                                                             {{"$persistent", "order-7"}, "$PersistentSubscription"},
                                                             {{"$stream", "cart"}, "$ProjectionCreated"},
                                                             {{"order", "7"}, "$CopyBegan"}};
  for (const auto& [aggregate, type] : own) {
    const auto exported = append_of(aggregate, type, true);
    EXPECT_FALSE(check_reserved(exported)) << aggregate.text() << ' ' << type;
    EXPECT_TRUE(is_own(exported.events.front())) << aggregate.text() << ' ' << type;
  }
  // But for its events in users' aggregates, whose numbers count them.
  EXPECT_TRUE(check_reserved(append_of(AggregateId{"order", "7"}, "$AggregateRemoved", true)));
  EXPECT_TRUE(check_reserved(append_of(AggregateId{"$stream", "cart"}, "$AggregateRemoved", true)));
}

}  // namespace
}  // namespace evershard
