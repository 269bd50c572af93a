#include "evershard/compat/kurrent/event_form.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "evershard/compat/kurrent/event_filter.hpp"

namespace evershard::kurrent {
namespace {

const AggregateId form_order{"order", "7"};
constexpr const char* an_id = "01020304-0506-0708-090a-0b0c0d0e0f10";

esp::AppendReq::ProposedMessage proposed(const std::string& type, const std::string& content_type) {
  esp::AppendReq::ProposedMessage message;
  message.mutable_id()->set_string(an_id);
  (*message.mutable_metadata())["type"] = type;
  (*message.mutable_metadata())["content-type"] = content_type;
  message.set_custom_metadata("about");
  message.set_data("bytes");
  return message;
}

RecordedEvent stored(std::string type = "Placed") {
  RecordedEvent event;
  event.id = *EventId::parse(an_id);
  event.aggregate = form_order;
  event.type = std::move(type);
  event.seq_nr = SeqNr{3};
  event.position = GlobalPosition{20};
  event.occurred_at = Timestamp{1'234'567};
  return event;
}

esp::ReadReq::FilterOptions filter_of(bool stream, const std::string& regex, std::vector<std::string> prefixes) {
  esp::ReadReq::FilterOptions options;
  auto& expression = stream ? *options.mutable_stream_identifier() : *options.mutable_event_type();
  expression.set_regex(regex);
  for (auto& prefix : prefixes) expression.add_prefix(std::move(prefix));
  return options;
}

}  // namespace

TEST(EventForm, ReadsIdsInBothForms) {
  es::UUID text, numbers;
  text.set_string("01020304-0506-0708-090A-0B0C0D0E0F10");
  numbers.mutable_structured()->set_most_significant_bits(0x0102030405060708);
  numbers.mutable_structured()->set_least_significant_bits(0x090a0b0c0d0e0f10);

  EXPECT_EQ(id_of(text).value().text(), an_id);
  EXPECT_EQ(id_of(numbers).value().text(), an_id);
  for (const auto* other : {"0102030405060708090a0b0c0d0e0f10", "{01020304-0506-0708-090a-0b0c0d0e0f10}"}) {
    text.set_string(other);
    EXPECT_EQ(id_of(text).value().text(), an_id) << other;
  }
  es::UUID written;
  put_id(*EventId::parse(an_id), true, written);
  EXPECT_EQ(written.SerializeAsString(), numbers.SerializeAsString());
  EXPECT_EQ(id_of(es::UUID()).error().code, ErrorCode::invalid_argument);
}

TEST(EventForm, TakesWhatIsProposed) {
  auto json = proposed("Placed", "application/json"), bytes = proposed("Placed", "application/octet-stream");

  const auto event = event_of(json, form_order).value();
  EXPECT_EQ(event.id.text(), an_id);
  EXPECT_EQ(event.type, "Placed");
  EXPECT_EQ(event.format, PayloadFormat::json);
  EXPECT_EQ(event.payload, "bytes");
  EXPECT_EQ(event.metadata, "about");
  EXPECT_EQ(event_of(bytes, form_order).value().format, PayloadFormat::unspecified);
}

TEST(EventForm, RefusesWhatHasNoIdAndTypesOfTheStore) {
  auto without = proposed("Placed", "application/json"), own = proposed("$AggregateRemoved", "application/json");
  without.clear_id();

  EXPECT_EQ(event_of(without, form_order).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(event_of(own, form_order).error().code, ErrorCode::permission_denied);
}

TEST(EventForm, ShowsPlaceTimeAndContent) {
  esp::ReadResp::ReadEvent::RecordedEvent shown;
  put_event(stored(), false, shown);

  EXPECT_EQ(shown.id().string(), an_id);
  EXPECT_EQ(shown.stream_identifier().stream_name(), "order-7");
  EXPECT_EQ(shown.stream_revision(), 2u);
  EXPECT_EQ(shown.commit_position(), 20u);
  EXPECT_EQ(shown.prepare_position(), 20u);
  EXPECT_EQ(shown.metadata().at("created"), "12345670");
  EXPECT_EQ(shown.metadata().at("content-type"), "application/octet-stream");
}

TEST(EventForm, CountsRevisionsFromZeroAndEndsAtTheLast) {
  EXPECT_EQ(revision_of(stored()), 2u);
  EXPECT_EQ(revision_of(stored("$streamDeleted")), std::uint64_t(std::numeric_limits<std::int64_t>::max()));
}

TEST(EventForm, ShowsTheIdOfTheClientWhereItWasTaken) {
  Event event;
  event.id = *EventId::parse(an_id);
  event.aggregate = form_order;
  auto again = event, other = event;
  other.aggregate->value = "8";
  rename_id(event);
  rename_id(again);
  rename_id(other);

  EXPECT_NE(event.id.text(), an_id);
  EXPECT_EQ(event.id, again.id) << "the same again is known as such";
  EXPECT_NE(event.id, other.id);
  auto shown = stored();
  shown.id = event.id;
  shown.tags = event.tags;
  EXPECT_EQ(shown_id(shown).text(), an_id);
}

TEST(EventForm, ReadsLinks) {
  const auto target = target_of("7@order-1@x").value();
  EXPECT_EQ(target.revision, 7u);
  EXPECT_EQ(target.stream, "order-1@x");
  for (const char* bad : {"", "7", "7@", "@order", "x@order", "7 @order", "99999999999999999999@order"})
    EXPECT_FALSE(target_of(bad)) << bad;
}

TEST(EventFilter, TakesByPrefixOrPatternOfStreamOrType) {
  EXPECT_TRUE(EventFilter::of(filter_of(true, "", {"cart", "ord"})).value().takes(stored()));
  EXPECT_FALSE(EventFilter::of(filter_of(true, "", {"Placed"})).value().takes(stored()));
  EXPECT_TRUE(EventFilter::of(filter_of(false, "", {"Pla"})).value().takes(stored()));
  const auto users = EventFilter::of(filter_of(false, R"(^[^\$].*)", {})).value();
  EXPECT_TRUE(users.takes(stored()));
  EXPECT_FALSE(users.takes(stored("$metadata")));
  EXPECT_TRUE(EventFilter::of(filter_of(true, "-7$", {})).value().takes(stored()));
  const auto pythons = EventFilter::of(filter_of(false, R"(^(?!(\$.+$|Paid[)]|Sent$)))", {})).value();
  EXPECT_TRUE(pythons.takes(stored()));
  EXPECT_TRUE(pythons.takes(stored("Sentinel")));
  EXPECT_FALSE(pythons.takes(stored("Sent")));
  EXPECT_FALSE(pythons.takes(stored("$metadata")));
  EXPECT_FALSE(pythons.takes(stored("Paid)")));
}

TEST(EventFilter, RefusesWhatIsNone) {
  EXPECT_EQ(EventFilter::of(filter_of(true, "", {})).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(EventFilter::of(filter_of(true, "(", {})).error().code, ErrorCode::invalid_argument);
  for (const auto* other : {"^(?!a)b", "(?!a)", "^(?!a(?!b))", "^(?!a"})
    EXPECT_EQ(EventFilter::of(filter_of(true, other, {})).error().code, ErrorCode::invalid_argument) << other;
  EXPECT_EQ(EventFilter::of(filter_of(true, std::string(5'000, 'a'), {})).error().code, ErrorCode::too_large);
}

}  // namespace evershard::kurrent
