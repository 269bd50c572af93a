#include "evershard/compat/kurrent/stream_name.hpp"

#include <gtest/gtest.h>

namespace evershard::kurrent {
namespace {

RecordedEvent event_of_type(std::string type, std::optional<AggregateId> aggregate = AggregateId{"order", "7"}) {
  RecordedEvent event;
  event.aggregate = std::move(aggregate);
  event.type = std::move(type);
  return event;
}

}  // namespace

TEST(StreamName, IsTheAggregateOfItsTypeAndValueOrAPlainOne) {
  const std::vector<std::pair<std::string, AggregateId>> names{
      {"order-7", {"order", "7"}},
      {"order-7-8", {"order", "7-8"}},
      {"cart", {"$stream", "cart"}},
      {"-7", {"$stream", "-7"}},
      {"order-", {"$stream", "order-"}},
      {"$settings", {"$stream", "$settings"}},
      {"$mine-7", {"$stream", "$mine-7"}},
      {"$$order-7", {"$metastream", "order-7"}},
      {"$$$settings", {"$metastream", "$settings"}},
      {"$$", {"$stream", "$$"}},
      {std::string(200, 't') + "-7", {"$stream", std::string(200, 't') + "-7"}},
      {"$schedule-7", {"$schedule", "7"}},
  };

  for (const auto& [name, id] : names) {
    const auto found = aggregate_of(name);
    ASSERT_TRUE(found) << name << ": " << found.error().what;
    EXPECT_EQ(*found, id) << name;
    EXPECT_EQ(name_of(*found), name);
  }
}

TEST(StreamName, RefusesWhatIsNoText) {
  EXPECT_EQ(aggregate_of("").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(aggregate_of(std::string("a\0b", 3)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(aggregate_of("\xff-1").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(aggregate_of(std::string(600, 'n')).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(check_writable_type(std::string(256, 't'), *aggregate_of("order-7")).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(check_writable_type(std::string(255, 't'), *aggregate_of("order-7")));
}

TEST(StreamName, LeadsFromMetadataToItsStreamAndBack) {
  for (const std::string name : {"order-7", "cart", "$settings"}) {
    const auto stream = aggregate_of(name).value();
    const auto metadata = metadata_of(stream).value();
    EXPECT_TRUE(is_metadata(metadata));
    EXPECT_EQ(name_of(metadata), "$$" + name);
    EXPECT_EQ(stream_of_metadata(metadata).value(), stream);
  }
}

TEST(StreamName, OfAnEventWithoutAggregateIsOneOfAll) {
  EXPECT_EQ(name_of(event_of_type("T", std::nullopt)), "$events");
  EXPECT_EQ(name_of(event_of_type("T")), "order-7");
}

TEST(StreamName, IsNotWrittenToWhereItIsTheStoresOrDerived) {
  for (const std::string name : {"$schedule-7", "$sink-a", "$process-p", "$ce-order", "$et-T", "$events", "$all"})
    EXPECT_EQ(check_writable(name, aggregate_of(name).value()).error().code, ErrorCode::permission_denied) << name;
  for (const std::string name : {"order-7", "cart", "$settings", "$mine-7", "$$order-7"})
    EXPECT_TRUE(check_writable(name, aggregate_of(name).value())) << name;
}

TEST(StreamName, TakesTypesOfTheirsAndNoneOfTheStores) {
  const AggregateId order{"order", "7"}, metadata{"$metastream", "order-7"};

  EXPECT_TRUE(check_writable_type("Placed", order));
  EXPECT_TRUE(check_writable_type("$>", order));
  EXPECT_TRUE(check_writable_type("$custom", order));
  EXPECT_TRUE(check_writable_type("$metadata", metadata));
  EXPECT_FALSE(check_writable_type("$metadata", order));
  EXPECT_FALSE(check_writable_type("$streamDeleted", order));
  EXPECT_FALSE(check_writable_type("$AggregateRemoved", order));
  EXPECT_FALSE(check_writable_type("$SinkWritten", order));
}

}  // namespace evershard::kurrent
