#include "evershard/protocol/codec.hpp"

#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::codec {
namespace {

namespace pb = evershard::v1;

// ---- messages and bytes

template <class T>
struct MessageOf;
template <> struct MessageOf<Event> { using type = pb::Event; };
template <> struct MessageOf<RecordedEvent> { using type = pb::RecordedEvent; };
template <> struct MessageOf<Query> { using type = pb::Query; };
template <> struct MessageOf<Append> { using type = pb::AppendRequest; };
template <> struct MessageOf<Appended> { using type = pb::AppendResponse; };
template <> struct MessageOf<Error> { using type = pb::Error; };
template <> struct MessageOf<ReadOptions> { using type = pb::ReadOptions; };
template <> struct MessageOf<StreamOptions> { using type = pb::StreamOptions; };
template <> struct MessageOf<Snapshot> { using type = pb::Snapshot; };
template <> struct MessageOf<RecordedSnapshot> { using type = pb::RecordedSnapshot; };
template <> struct MessageOf<Page> { using type = pb::Page; };

/// Fields go out in order of number and no message has a map: equal messages, equal bytes.
template <class T>
std::string encoded(const T& value) {
  typename MessageOf<T>::type message;
  messages::put(value, message);
  std::string bytes;
  EVERSHARD_CHECK(message.SerializeToString(&bytes), "a message is under 2 GiB");
  return bytes;
}

}  // namespace

std::string encode(const Event& value) { return encoded(value); }
std::string encode(const RecordedEvent& value) { return encoded(value); }
std::string encode(const Query& value) { return encoded(value); }
std::string encode(const Append& value) { return encoded(value); }
std::string encode(const Appended& value) { return encoded(value); }
std::string encode(const Error& value) { return encoded(value); }
std::string encode(const ReadOptions& value) { return encoded(value); }
std::string encode(const StreamOptions& value) { return encoded(value); }
std::string encode(const Snapshot& value) { return encoded(value); }
std::string encode(const RecordedSnapshot& value) { return encoded(value); }
std::string encode(const Page& value) { return encoded(value); }

template <class T>
Result<T> decode(std::string_view bytes) {
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
