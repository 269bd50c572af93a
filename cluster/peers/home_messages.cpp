#include "evershard/cluster/peers/home_messages.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/messages.hpp"
#include "evershard/v1/homes.pb.h"

namespace evershard::cluster {
namespace {

template <class Message>
bool parse_home(std::string_view bytes, Message& message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

std::string encode(const HomeAsked& asked) {
  v1::HomeAsked message;
  message.set_method(asked.method);
  message.mutable_aggregate()->set_type(asked.aggregate.type);
  message.mutable_aggregate()->set_value(asked.aggregate.value);
  message.set_request(asked.request);
  message.set_time_ms(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(asked.time.count(), 0, std::numeric_limits<std::uint32_t>::max())));
  message.set_read(asked.read);
  return message.SerializeAsString();
}

Result<HomeAsked> decode_home_asked(std::string_view bytes) {
  v1::HomeAsked message;
  if (!parse_home(bytes, message) || message.method().empty())
    return refuse(ErrorCode::corruption, "a peer's message is no call to a home");
  HomeAsked asked{std::move(*message.mutable_method()),
                  {message.aggregate().type(), message.aggregate().value()},
                  std::move(*message.mutable_request()),
                  std::chrono::milliseconds(message.time_ms()),
                  message.read()};
  if (auto checked = AggregateId::check(asked.aggregate); !checked)
    return refuse(ErrorCode::corruption, "a peer calls the home of what cannot be: " + checked.error().what);
  return asked;
}

std::string encode(const HomeAnswered& answered) {
  v1::HomeAnswered message;
  switch (answered.kind) {
    case HomeAnswered::Kind::answered:
      message.set_kind(v1::HomeAnswered::KIND_ANSWERED);
      break;
    case HomeAnswered::Kind::failed:
      message.set_kind(v1::HomeAnswered::KIND_FAILED);
      break;
    case HomeAnswered::Kind::not_here:
      message.set_kind(v1::HomeAnswered::KIND_NOT_HERE);
      break;
  }
  message.set_response(answered.response);
  if (answered.kind != HomeAnswered::Kind::answered) messages::put(answered.error, *message.mutable_error());
  return message.SerializeAsString();
}

Result<HomeAnswered> decode_home_answered(std::string_view bytes) {
  const auto malformed = [] { return refuse(ErrorCode::corruption, "a peer's message is no home's answer"); };
  v1::HomeAnswered message;
  HomeAnswered answered;
  if (!parse_home(bytes, message)) return malformed();
  switch (message.kind()) {
    case v1::HomeAnswered::KIND_ANSWERED:
      answered.kind = HomeAnswered::Kind::answered;
      break;
    case v1::HomeAnswered::KIND_FAILED:
      answered.kind = HomeAnswered::Kind::failed;
      break;
    case v1::HomeAnswered::KIND_NOT_HERE:
      answered.kind = HomeAnswered::Kind::not_here;
      break;
    default:
      return malformed();
  }
  if (answered.kind != HomeAnswered::Kind::answered &&
      (!message.has_error() || !messages::get(*message.mutable_error(), answered.error)))
    return malformed();
  answered.response = std::move(*message.mutable_response());
  return answered;
}

}  // namespace evershard::cluster
