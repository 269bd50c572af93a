// Events by hand against events by message: the same bytes out, the same values and refusals in, whatever the bytes.

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/messages.hpp"
#include "tests/protocol/arbitrary_values.hpp"

namespace evershard {
namespace {

template <class Message, class Value>
std::string by_message(const Value& value) {
  Message message;
  messages::put(value, message);
  return message.SerializeAsString();
}

/// Absent: refused.
template <class Value, class Message>
std::optional<Value> by_message_from(const std::string& bytes) {
  const google::protobuf::LogSilencer silence;
  Message message;
  if (!message.ParseFromString(bytes)) return std::nullopt;
  Value value;
  if (!messages::get(message, value)) return std::nullopt;
  return value;
}

/// Bytes that were some of ours once: some changed, swapped, doubled, cut.
std::string damaged(std::string bytes) {
  const int hits = *rc::gen::inRange(0, 4);
  for (int i = 0; i < hits && !bytes.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        bytes[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, *rc::gen::inRange<std::size_t>(0, 20)));
        break;
      default:
        bytes.erase(at, *rc::gen::inRange<std::size_t>(0, 4));
        break;
    }
  }
  return bytes;
}

RC_GTEST_PROP(EventCodec, WritesWhatTheMessageWrites, ()) {
  const auto append = arbitrary::append();
  RC_ASSERT(codec::encode(append) == by_message<v1::AppendRequest>(append));
  const auto page = arbitrary::page();
  RC_ASSERT(codec::encode(page) == by_message<v1::Page>(page));
}

RecordedView view_of(const RecordedEvent& event) {
  RecordedView view;
  view.position = event.position;
  view.shard = event.shard;
  view.offset = event.offset;
  view.id = event.id;
  if (event.aggregate) {
    view.aggregate_type = event.aggregate->type;
    view.aggregate_value = event.aggregate->value;
  }
  view.seq_nr = event.seq_nr;
  view.type = event.type;
  view.tags.assign(event.tags.begin(), event.tags.end());
  for (const auto& also : event.also) view.also.emplace_back(also.type, also.value);
  view.payload = event.payload;
  view.format = event.format;
  view.metadata = event.metadata;
  view.occurred_at = event.occurred_at;
  view.state = event.state;
  view.append_index = event.append_index;
  view.append_events = event.append_events;
  return view;
}

RC_GTEST_PROP(EventCodec, WritesThePageOfEventsThatAreNotBuilt, ()) {
  auto page = arbitrary::page();
  codec::PageEncoder encoder;
  for (auto& event : page.events) {
    event.subject.clear();  // of what was sealed and opened: that is built
    const auto view = view_of(event);
    RC_ASSERT(view.event() == event);
    encoder.add(view);
  }
  RC_ASSERT(encoder.events() == page.events.size());
  RC_ASSERT(encoder.finish(page.watermark, page.complete) == codec::encode(page));
}

RC_GTEST_PROP(EventCodec, AQueryMatchesAnEventThatIsNotBuiltAsItMatchesTheEvent, ()) {
  const auto event = arbitrary::recorded_event();
  auto query = arbitrary::query();
  RC_ASSERT(query.matches(view_of(event)) == query.matches(event));
  // One that is like the event, but for a part or two.
  QueryItem item{{event.type}, event.tags, event.also};
  if (event.aggregate) item.concerning.push_back(*event.aggregate);
  if (arbitrary::maybe()) item.types.push_back(arbitrary::text());
  if (arbitrary::maybe()) item.tags.push_back(arbitrary::text());
  if (arbitrary::maybe()) item.concerning.push_back(arbitrary::aggregate());
  query = Query::of({item});
  RC_ASSERT(query.matches(view_of(event)) == query.matches(event));
}

RC_GTEST_PROP(EventCodec, ReadsWhatTheMessageReads, ()) {
  const auto append = damaged(codec::encode(arbitrary::append()));
  const auto read = codec::decode<Append>(append);
  const auto expected = by_message_from<Append, v1::AppendRequest>(append);
  RC_ASSERT(read.has_value() == expected.has_value());
  if (read) RC_ASSERT(*read == *expected);

  const auto page = damaged(codec::encode(arbitrary::page()));
  const auto page_read = codec::decode<Page>(page);
  const auto page_expected = by_message_from<Page, v1::Page>(page);
  RC_ASSERT(page_read.has_value() == page_expected.has_value());
  if (page_read) RC_ASSERT(*page_read == *page_expected);
}

RC_GTEST_PROP(EventCodec, TakesHowManyConflictsAreWanted, (std::uint32_t wanted)) {
  v1::AppendRequest message;
  messages::put(arbitrary::append(), message);
  message.set_conflicts_max(wanted);
  std::uint32_t read = 0;
  RC_ASSERT(codec::decode_append(message.SerializeAsString(), read).has_value());
  RC_ASSERT(read == wanted);
}

// Numbers in more bytes than they need: the generated code takes them where they are values, but no key and no length
// of more than five.
TEST(EventCodec, TakesLongFormsWhereTheMessageTakesThem) {
  using namespace std::string_literals;
  for (const auto& key : {"\x12"s, "\x92\x80\x80\x80\x00"s, "\x92\x80\x80\x80\x80\x00"s}) {
    for (const auto& length : {"\x03"s, "\x83\x80\x80\x80\x00"s, "\x83\x80\x80\x80\x80\x00"s}) {
      const auto append = key + length + "\x1a\x01t"s;
      const auto read = codec::decode<Append>(append);
      const auto expected = by_message_from<Append, v1::AppendRequest>(append);
      EXPECT_EQ(read.has_value(), expected.has_value()) << key.size() << ' ' << length.size();
      EXPECT_EQ(read.has_value(), key.size() <= 5 && length.size() <= 5);
      if (read) {
        EXPECT_EQ(*read, expected);
      }
    }
  }
}

TEST(EventCodec, TakesTheLowerBitsOfHowManyConflictsAreWanted) {
  const std::string append = "\x40\x85\x80\x80\x80\x10";  // 2^32 + 5
  v1::AppendRequest message;
  ASSERT_TRUE(message.ParseFromString(append));
  std::uint32_t read = 0;
  ASSERT_TRUE(codec::decode_append(append, read));
  EXPECT_EQ(read, message.conflicts_max());
  EXPECT_EQ(read, 5u);
}

TEST(EventCodec, SaysNothingOnStandardErrorOfWhatItRefuses) {
  std::uint32_t ignored = 0;
  testing::internal::CaptureStderr();
  const bool read =
      codec::decode_append("\x12\x03\x1a\x01\xff", ignored).has_value();  // an event's type that is not UTF-8
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(read);
}

}  // namespace
}  // namespace evershard
