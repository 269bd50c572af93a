// Fuzzing the messages of evershard.v1, from bytes to what is stored: what a client can send over gRPC, and what a
// server can answer it. The first byte says which message the rest is.

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/event_codec.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/v1/service.pb.h"

namespace {

using namespace evershard;
namespace pb = evershard::v1;

template <class Message>
std::optional<Message> parsed(std::string_view bytes) {
  const google::protobuf::LogSilencer silence;
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  return message;
}

/// As generated code alone has it. Absent: refused.
template <class Message, class T>
std::optional<T> by_generated_code(std::string_view bytes) {
  auto message = parsed<Message>(bytes);
  T value;
  if (!message || !messages::get(*message, value)) return std::nullopt;
  return value;
}

/// Ours and the generated code's say the same, and what was read is written and read again.
template <class Message, class T>
std::optional<T> look_at(std::string_view bytes) {
  const auto ours = codec::decode<T>(bytes);
  const auto generated = by_generated_code<Message, T>(bytes);
  EVERSHARD_CHECK(ours.has_value() == generated.has_value(), "our decoder refuses what the generated one refuses");
  if (!ours) {
    EVERSHARD_CHECK(is_utf8(ours.error().what) && ours.error().code == ErrorCode::invalid_argument,
                    "a refusal is text, and of its kind");
    return std::nullopt;
  }
  EVERSHARD_CHECK(*ours == *generated, "our decoder reads what the generated one reads");
  const auto written = codec::encode(*ours);
  const auto again = codec::decode<T>(written);
  EVERSHARD_CHECK(again && *again == *ours, "what was written is read again");
  EVERSHARD_CHECK(codec::encode(*again) == written, "equal values are equal bytes");
  return *ours;
}

/// The decoder for events that are many: silent, or right.
template <class Message, class T>
void look_at_event(std::string_view bytes) {
  T event;
  if (event_codec::read(bytes, event)) {
    const auto generated = by_generated_code<Message, T>(bytes);
    EVERSHARD_CHECK(generated && *generated == event, "an event read by hand is the generated code's");
  }
  const auto value = look_at<Message, T>(bytes);
  if (!value) return;
  Message message;
  messages::put(*value, message);
  std::string field(event_codec::bytes_as_field(7, *value), '\0');
  auto* const begin = reinterpret_cast<std::uint8_t*>(field.data());
  EVERSHARD_CHECK(event_codec::write_as_field(7, *value, begin) == begin + field.size(),
                  "an event has the size it was said to have");
  std::string_view rest = field;
  event_codec::Field taken;
  EVERSHARD_CHECK(event_codec::take_field(rest, taken) && rest.empty() && taken.number == 7 && taken.is_bytes,
                  "an event is one field");
  EVERSHARD_CHECK(taken.bytes == message.SerializeAsString(),
                  "an event written by hand has the generated code's bytes");
}

void look_at_query(const Query& query) {
  const auto checked = query.check();
  const auto canonical = query.canonical();
  EVERSHARD_CHECK(canonical.canonical() == canonical, "the canonical form is its own");
  EVERSHARD_CHECK(canonical.check().has_value() == checked.has_value(), "repetitions count once");
  if (!checked) EVERSHARD_CHECK(is_utf8(checked.error().what), "a refusal is text");
}

/// Checked as the store does it; what passes is stored and found again.
void look_at_append(Append append) {
  const auto usual = check(append, Limits{});
  const auto most = check(append, Limits::most());
  EVERSHARD_CHECK(most || usual.error() == most.error(), "what is wrong at any limits is found first");
  for (const auto& condition : append.conditions) look_at_query(condition.query);
  if (!usual) {
    EVERSHARD_CHECK(is_utf8(usual.error().what), "a refusal is text");
    return;
  }
  const auto given = std::make_unique<bool[]>(append.events.size());
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    auto& event = append.events[i];
    given[i] = event.id.given();
    if (!given[i]) event.id = EventId::derived(RequestId{{1}}, static_cast<std::uint32_t>(i));
    normalise(event);
  }
  constexpr Timestamp now{1'769'860'800'000'000};
  constexpr ShardId shard{7};
  constexpr ShardOffset first{1'000};
  const auto events = append.events;
  const auto encoded =
      storage::encode_append(std::move(append), {given.get(), events.size()}, 16, sharding::TermHasher{0x5eed}, now);
  EVERSHARD_CHECK(encoded.events.size() == events.size(), "every event is encoded");
  storage::RecordBuilder builder;
  builder.begin(shard, first);
  for (const auto& event : encoded.events) builder.add(encoded.body_of(event), event.body_hash, SeqNr{1});
  const auto record = storage::RecordView::open(builder.finish(), shard, first);
  EVERSHARD_CHECK(record && record->size() == events.size(), "a record is read again");
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto view = record->event(i);
    EVERSHARD_CHECK(view.has_value(), "an event is read again");
    const auto stored = storage::to_event(*view, GlobalPosition{1}, {shard, first, static_cast<std::uint16_t>(i)});
    const auto& event = events[i];
    EVERSHARD_CHECK(stored.id == event.id && stored.aggregate == event.aggregate && stored.type == event.type,
                    "an event is stored as it was given");
    EVERSHARD_CHECK(stored.tags == event.tags && stored.also == event.also,
                    "an event's tags are stored as they were given");
    EVERSHARD_CHECK(
        stored.payload == event.payload && stored.format == event.format && stored.metadata == event.metadata,
        "so is its content");
    EVERSHARD_CHECK(stored.occurred_at == event.occurred_at.value_or(now) && stored.append_index == i &&
                        stored.append_events == events.size(),
                    "and its place");
  }
}

void look_at_append_bytes(std::string_view bytes) {
  std::uint32_t conflicts_max = 0;
  const auto append = codec::decode_append(bytes, conflicts_max);
  auto message = parsed<pb::AppendRequest>(bytes);
  if (append)
    EVERSHARD_CHECK(message && message->conflicts_max() == conflicts_max, "the door's part is the generated code's");
  if (auto value = look_at<pb::AppendRequest, Append>(bytes)) look_at_append(std::move(*value));
}

/// Requests that the doors take apart: their parts are the values above.
void look_at_read(std::string_view bytes) {
  auto request = parsed<pb::ReadRequest>(bytes);
  if (!request) return;
  if (Query query; request->has_query() && messages::get(*request->mutable_query(), query)) look_at_query(query);
  ReadOptions options;
  (void)messages::get(*request->mutable_options(), options);
  StreamOptions stream;
  (void)messages::get(*request->mutable_stream(), stream);
}

void look_at_subscribe(std::string_view bytes) {
  auto request = parsed<pb::SubscribeRequest>(bytes);
  if (Query query; request && messages::get(*request->mutable_query(), query)) look_at_query(query);
}

using Look = void (*)(std::string_view);
constexpr std::array looks{
    Look(look_at_append_bytes),
    Look(look_at_event<pb::Event, Event>),
    Look(look_at_event<pb::RecordedEvent, RecordedEvent>),
    Look([](std::string_view bytes) {
      if (const auto query = look_at<pb::Query, Query>(bytes)) look_at_query(*query);
    }),
    Look([](std::string_view bytes) {
      const auto snapshot = look_at<pb::Snapshot, Snapshot>(bytes);
      if (!snapshot) return;
      const auto usual = check(*snapshot, Limits{}), most = check(*snapshot, Limits::most());
      EVERSHARD_CHECK(most || usual.error() == most.error(), "what is wrong at any limits is found first");
    }),
    Look(look_at_read),
    Look(look_at_subscribe),
    Look([](std::string_view bytes) { look_at<pb::Page, Page>(bytes); }),
    Look([](std::string_view bytes) { look_at<pb::RecordedSnapshot, RecordedSnapshot>(bytes); }),
    Look([](std::string_view bytes) { look_at<pb::AppendResponse, Appended>(bytes); }),
    Look([](std::string_view bytes) { look_at<pb::Error, Error>(bytes); }),
    Look([](std::string_view bytes) { look_at<pb::ReadOptions, ReadOptions>(bytes); }),
    Look([](std::string_view bytes) { look_at<pb::StreamOptions, StreamOptions>(bytes); }),
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
