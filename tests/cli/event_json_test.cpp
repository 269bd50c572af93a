// An event as JSON: whatever its bytes, reading it gives them back.

#include "evershard/api/json/event_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "evershard/api/json/append_json.hpp"
#include "evershard/cli/events/export_lines.hpp"

namespace evershard::cli {
namespace {

RecordedEvent event_with(std::string payload, PayloadFormat format, std::string metadata) {
  RecordedEvent event;
  event.position = GlobalPosition{5};
  event.id.bytes[0] = 1;
  event.type = "T";
  event.payload = std::move(payload);
  event.format = format;
  event.metadata = std::move(metadata);
  return event;
}

Event through_json(const RecordedEvent& event) {
  JsonText json;
  write_event(json, event);
  EXPECT_EQ(json.text().find('\n'), std::string::npos);
  auto line = read_append(json.text(), LineRules::import);
  EXPECT_TRUE(line) << line.error().what << json.text();
  return line ? line->append.events.at(0) : Event{};
}

void expect_same(const RecordedEvent& event) {
  const Event back = through_json(event);
  EXPECT_EQ(back.payload, event.payload);
  EXPECT_EQ(back.format, event.format) << event.payload;
  EXPECT_EQ(back.metadata, event.metadata);
  EXPECT_EQ(back.occurred_at, event.occurred_at);
}

TEST(EventJson, GivesBackEveryPayloadInEveryFormat) {
  const std::string payloads[] = {"",
                                  "7",
                                  "{}",
                                  " {}",
                                  "{} ",
                                  "{\"a\":\n1}",
                                  "{\"a\":1.0,\"a\":2}",
                                  "null",
                                  "\"text\"",
                                  "text",
                                  std::string("\0", 1),
                                  "\xff",
                                  "1e999",
                                  "123456789012345678901234567890",
                                  "\xef\xbb\xbf{}",
                                  "[1,2",
                                  "{\"\xc3\xa4\":\"\\u00e4\"}",
                                  "\r",
                                  "tr\xc3",
                                  std::string("7\0 8", 4),
                                  std::string("{}\0", 3)};
  for (const auto& payload : payloads) {
    for (const auto format : {0u, 1u, 2u, 3u, 4u, 1000u, 4294967295u}) {
      for (const auto& metadata : payloads) expect_same(event_with(payload, PayloadFormat{format}, metadata));
    }
  }
}

RC_GTEST_PROP(EventJson, GivesBackAnyBytes, (const std::string& payload, const std::string& metadata, bool json)) {
  expect_same(event_with(payload, json ? PayloadFormat::json : PayloadFormat::unspecified, metadata));
}

TEST(EventJson, ShowsJsonAsJson) {
  EXPECT_TRUE(shown_as_json("{\"a\":1}", PayloadFormat::json));
  EXPECT_TRUE(shown_as_json("{\"a\":1}", PayloadFormat::unspecified));
  EXPECT_FALSE(shown_as_json("{\"a\":1}", PayloadFormat::protobuf));
  EXPECT_FALSE(shown_as_json("{\"a\":1", PayloadFormat::json));
}

TEST(ExportLines, PutsTheEventsOfAnAppendOnALine) {
  std::vector<std::string> lines;
  ExportLines out([&](std::string_view line) { lines.emplace_back(line); });
  // appends of 1, 3 and 2 events at 1, 2 and 5; of the last one a query chose the second event only
  const std::tuple<std::uint64_t, std::uint32_t, std::uint32_t> events[] = {
      {1, 0, 1}, {2, 0, 3}, {3, 1, 3}, {4, 2, 3}, {6, 1, 2}};
  for (const auto& [position, index, count] : events) {
    auto event = event_with("", PayloadFormat::unspecified, "");
    event.id.bytes[1] = static_cast<std::uint8_t>(position);
    event.position = GlobalPosition{position};
    event.append_index = index;
    event.append_events = count;
    out.event(event);
  }
  out.finish();

  std::vector<std::size_t> sizes;
  for (const auto& line : lines) sizes.push_back(read_append(line, LineRules::import).value().append.events.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 3, 1}));
}

}  // namespace
}  // namespace evershard::cli
