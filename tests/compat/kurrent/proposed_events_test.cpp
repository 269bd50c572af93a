// Proposed events that are read without a message: the same as the generated code makes of them, or left to it.

#include "evershard/compat/kurrent/proposed_events.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"

namespace evershard::kurrent {
namespace {

const AggregateId order{"order", "7"};

esp::AppendReq::ProposedMessage proposed_event(const std::string& type = "Placed") {
  esp::AppendReq::ProposedMessage message;
  put_id(EventId::random(), false, *message.mutable_id());
  (*message.mutable_metadata())["type"] = type;
  (*message.mutable_metadata())["content-type"] = "application/json";
  (*message.mutable_metadata())["mine"] = "kept from nobody";
  message.set_custom_metadata("m");
  message.set_data(R"({"a":1})");
  return message;
}

TEST(ProposedEvents, AreWhatTheGeneratedCodeMakesOfThem) {
  std::vector<esp::AppendReq::ProposedMessage> messages(4, proposed_event());
  (*messages[1].mutable_metadata())["content-type"] = "application/octet-stream";
  messages[2].clear_metadata();
  messages[3].clear_data();
  messages[3].clear_custom_metadata();
  for (auto& message : messages) {
    Event read;
    ASSERT_TRUE(read_proposed(message.SerializeAsString(), read));
    const auto accepted = accept_proposed(read, order);
    const auto made = event_of(message, order);
    ASSERT_EQ(accepted.has_value(), made.has_value());
    if (made) {
      EXPECT_EQ(read, *made);
    }
  }
}

TEST(ProposedEvents, AreLeftToTheGeneratedCodeWhereTheyAreNotAsUsual) {
  std::vector<esp::AppendReq::ProposedMessage> messages(5, proposed_event());
  put_id(EventId::random(), true, *messages[0].mutable_id());
  messages[1].mutable_id()->set_string("{" + EventId::random().text() + "}");
  messages[2].clear_id();
  messages[3].mutable_id()->set_string("no UUID");
  std::vector<std::string> all;
  for (const auto& message : messages) all.push_back(message.SerializeAsString());
  all.pop_back();
  const auto usual = messages.back().SerializeAsString();
  all.push_back(usual.substr(0, usual.size() - 1));
  all.push_back(usual + messages.back().id().SerializeAsString());
  all.push_back(usual + std::string("\x12\x03\x0a\x01\xff", 5));  // a key that is no text
  all.push_back(usual + std::string("\x2d\x00\x00\x00\x00", 5));  // a field that nobody knows
  for (const auto& bytes : all) {
    Event event;
    EXPECT_FALSE(read_proposed(bytes, event)) << bytes.size();
  }
}

TEST(ProposedEvents, AreTakenOutOfTheirMessage) {
  esp::BatchAppendReq request;
  request.mutable_correlation_id()->set_string("c");
  request.mutable_options()->mutable_stream_identifier()->set_stream_name("order-7");
  request.set_is_final(true);
  auto expected = request;
  for (const char* type : {"A", "B"})
    ASSERT_TRUE(request.add_proposed_messages()->ParseFromString(proposed_event(type).SerializeAsString()));
  std::string rest;
  std::vector<Event> events;
  ASSERT_TRUE(split_proposed(request.SerializeAsString(), proposed_in_batch, rest, events));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].type, "A");
  EXPECT_EQ(events[1].type, "B");
  EXPECT_EQ(rest, expected.SerializeAsString());
  EXPECT_FALSE(split_proposed("\xff", proposed_in_batch, rest, events));
}

}  // namespace
}  // namespace evershard::kurrent
