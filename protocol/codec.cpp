#include "evershard/protocol/codec.hpp"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/event_codec.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::codec {
namespace {

namespace pb = evershard::v1;

// ---- messages and bytes

template <class T>
struct MessageOf;
template <>
struct MessageOf<Event> {
  using type = pb::Event;
};
template <>
struct MessageOf<RecordedEvent> {
  using type = pb::RecordedEvent;
};
template <>
struct MessageOf<Query> {
  using type = pb::Query;
};
template <>
struct MessageOf<Append> {
  using type = pb::AppendRequest;
};
template <>
struct MessageOf<Appended> {
  using type = pb::AppendResponse;
};
template <>
struct MessageOf<Error> {
  using type = pb::Error;
};
template <>
struct MessageOf<ReadOptions> {
  using type = pb::ReadOptions;
};
template <>
struct MessageOf<StreamOptions> {
  using type = pb::StreamOptions;
};
template <>
struct MessageOf<Snapshot> {
  using type = pb::Snapshot;
};
template <>
struct MessageOf<RecordedSnapshot> {
  using type = pb::RecordedSnapshot;
};
template <>
struct MessageOf<Page> {
  using type = pb::Page;
};

/// Fields go out in order of number and no message has a map: equal messages, equal bytes.
template <class T>
std::string encoded(const T& value) {
  typename MessageOf<T>::type message;
  messages::put(value, message);
  std::string bytes;
  EVERSHARD_CHECK(message.SerializeToString(&bytes), "a message is under 2 GiB");
  return bytes;
}

/// Source: protocol/v1/store.proto, AppendRequest
constexpr std::uint32_t append_events_field = 2;
constexpr std::uint32_t conflicts_max_field = 8;
/// Source: protocol/v1/store.proto, Page
constexpr std::uint32_t page_events_field = 1;
constexpr std::uint32_t page_watermark_field = 2;
constexpr std::uint32_t page_complete_field = 3;

template <class Events>
std::size_t bytes_of_events(std::uint32_t field, const Events& events) {
  std::size_t bytes = 0;
  for (const auto& event : events) bytes += event_codec::bytes_as_field(field, event);
  return bytes;
}

/// What stands behind a page's events.
std::size_t bytes_of_end(GlobalPosition watermark, bool complete) {
  return event_codec::bytes_of_number(page_watermark_field, watermark.value) +
         event_codec::bytes_of_number(page_complete_field, complete ? 1 : 0);
}
void write_end(GlobalPosition watermark, bool complete, std::uint8_t* to) {
  to = event_codec::write_number(page_watermark_field, watermark.value, to);
  event_codec::write_number(page_complete_field, complete ? 1 : 0, to);
}

template <class T>
Result<T> decode_by_message(std::string_view bytes) {
  typename MessageOf<T>::type message;
  // Protobuf writes to standard error about text that is not UTF-8, then refuses it; the refusal is enough.
  const google::protobuf::LogSilencer silence;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return refuse(ErrorCode::invalid_argument, std::to_string(bytes.size()) + " bytes are no " + message.GetTypeName() +
                                                   ": malformed Protobuf, or text that is not UTF-8");
  }
  T value;
  EVERSHARD_TRY(messages::get(message, value));
  return value;
}

/// Absent: the bytes are not as usual.
std::optional<Page> page_as_usual(std::string_view bytes) {
  Page page;
  while (!bytes.empty()) {
    event_codec::Field field;
    if (!event_codec::take_field(bytes, field)) return std::nullopt;
    if (field.number == page_events_field && field.is_bytes) {
      if (!event_codec::read(field.bytes, page.events.emplace_back())) return std::nullopt;
    } else if (field.number == page_watermark_field && !field.is_bytes) {
      page.watermark = GlobalPosition(field.value);
    } else if (field.number == page_complete_field && !field.is_bytes) {
      page.complete = field.value != 0;
    } else {
      return std::nullopt;
    }
  }
  return page;
}

/// The events by hand, all else by its message. Absent: the events' bytes are not as usual.
std::optional<Result<Append>> append_as_usual(std::string_view bytes, std::uint32_t& conflicts_max) {
  std::vector<Event> events;
  std::string others;
  while (!bytes.empty()) {
    event_codec::Field field;
    if (!event_codec::take_field(bytes, field)) return std::nullopt;
    if (field.number == append_events_field) {
      if (!field.is_bytes || !event_codec::read(field.bytes, events.emplace_back())) return std::nullopt;
    } else if (field.number == conflicts_max_field && !field.is_bytes) {
      conflicts_max =
          static_cast<std::uint32_t>(field.value);  // of more bits the lower ones, as the generated code has it
    } else {
      others += field.raw;
    }
  }
  auto append = others.empty() ? Result<Append>(Append{}) : decode_by_message<Append>(others);
  if (append) append->events = std::move(events);
  return append;
}

}  // namespace

std::string encode(const Event& value) { return encoded(value); }
std::string encode(const RecordedEvent& value) { return encoded(value); }
std::string encode(const Query& value) { return encoded(value); }
std::string encode(const Append& value) {
  pb::AppendRequest message;
  messages::put_without_events(value, message);
  std::string front;  // what stands before the events
  if (value.request_id) {
    pb::AppendRequest id;
    id.set_request_id(message.request_id());
    front = id.SerializeAsString();
    message.clear_request_id();
  }
  const auto back = message.SerializeAsString();
  const auto events = bytes_of_events(append_events_field, value.events);
  std::string bytes(front.size() + events + back.size(), '\0');
  std::copy(front.begin(), front.end(), bytes.begin());
  auto* to = reinterpret_cast<std::uint8_t*>(bytes.data()) + front.size();
  for (const auto& event : value.events) to = event_codec::write_as_field(append_events_field, event, to);
  std::copy(back.begin(), back.end(), reinterpret_cast<char*>(to));
  return bytes;
}
std::string encode(const Appended& value) { return encoded(value); }
std::string encode(const Error& value) { return encoded(value); }
std::string encode(const ReadOptions& value) { return encoded(value); }
std::string encode(const StreamOptions& value) { return encoded(value); }
std::string encode(const Snapshot& value) { return encoded(value); }
std::string encode(const RecordedSnapshot& value) { return encoded(value); }
std::string encode(const Page& value) {
  std::string bytes(bytes_of_events(page_events_field, value.events) + bytes_of_end(value.watermark, value.complete),
                    '\0');
  auto* to = reinterpret_cast<std::uint8_t*>(bytes.data());
  for (const auto& event : value.events) to = event_codec::write_as_field(page_events_field, event, to);
  write_end(value.watermark, value.complete, to);
  return bytes;
}

void PageEncoder::add(const RecordedView& event) {
  const auto at = bytes_.size();
  bytes_.resize(at + event_codec::bytes_as_field(page_events_field, event));
  event_codec::write_as_field(page_events_field, event, reinterpret_cast<std::uint8_t*>(bytes_.data()) + at);
  ++events_;
}

std::string PageEncoder::finish(GlobalPosition watermark, bool complete) {
  const auto at = bytes_.size();
  bytes_.resize(at + bytes_of_end(watermark, complete));
  write_end(watermark, complete, reinterpret_cast<std::uint8_t*>(bytes_.data()) + at);
  return std::move(bytes_);
}

template <class T>
Result<T> decode(std::string_view bytes) {
  if constexpr (std::is_same_v<T, Page>) {
    if (auto page = page_as_usual(bytes)) return *std::move(page);
  } else if constexpr (std::is_same_v<T, Append>) {
    std::uint32_t ignored = 0;
    return decode_append(bytes, ignored);
  }
  return decode_by_message<T>(bytes);
}

Result<Append> decode_append(std::string_view bytes, std::uint32_t& conflicts_max) {
  conflicts_max = 0;
  if (auto append = append_as_usual(bytes, conflicts_max)) return *std::move(append);
  pb::AppendRequest request;
  const google::protobuf::LogSilencer silence;
  if (request.ParseFromArray(bytes.data(),
                             static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max())))) {
    conflicts_max = request.conflicts_max();
  }
  return decode_by_message<Append>(bytes);
}

template Result<Event> decode<Event>(std::string_view);
template Result<RecordedEvent> decode<RecordedEvent>(std::string_view);
template Result<Query> decode<Query>(std::string_view);
template Result<Append> decode<Append>(std::string_view);
template Result<Appended> decode<Appended>(std::string_view);
template Result<Error> decode<Error>(std::string_view);
template Result<ReadOptions> decode<ReadOptions>(std::string_view);
template Result<StreamOptions> decode<StreamOptions>(std::string_view);
template Result<Snapshot> decode<Snapshot>(std::string_view);
template Result<RecordedSnapshot> decode<RecordedSnapshot>(std::string_view);
template Result<Page> decode<Page>(std::string_view);

}  // namespace evershard::codec
