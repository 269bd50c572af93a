#include "evershard/doors/wire/status.hpp"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <optional>

#include "evershard/api/messages/refusal.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::wire {
namespace {

using google::protobuf::internal::WireFormatLite;

/// A status travels in the call's trailing metadata, of which a client takes 8 KiB unless it is told to take more.
constexpr std::size_t details_bytes_max = 6u << 10;
constexpr std::size_t text_bytes_max = 2u << 10;  ///< it goes there twice

/// A google.rpc.Status: code 1, message 2, details 3.
std::string rpc_status(grpc::StatusCode code, const std::string& what, const google::protobuf::MessageLite& detail,
                       const char* type_url) {
  google::protobuf::Any any;
  any.set_type_url(type_url);
  any.set_value(detail.SerializeAsString());
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    WireFormatLite::WriteInt32(1, code, &out);
    WireFormatLite::WriteString(2, what, &out);
    WireFormatLite::WriteBytes(3, any.SerializeAsString(), &out);
  }
  return bytes;
}

/// The Error in a google.rpc.Status. Absent: there is none.
std::optional<messages::pb::Error> detail_of(const std::string& bytes) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  while (const auto tag = in.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(3, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
      continue;
    }
    std::string value;
    google::protobuf::Any any;
    messages::pb::Error message;
    if (!WireFormatLite::ReadBytes(&in, &value) || !any.ParseFromString(value)) return std::nullopt;
    if (any.type_url().ends_with("/evershard.v1.Error") && message.ParseFromString(any.value())) return message;
  }
  return std::nullopt;
}

}  // namespace

Error error_of(const grpc::Status& status) {
  if (auto message = detail_of(status.error_details())) {
    Error error;
    if (messages::get(*message, error)) return error;
  }
  const auto& what = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {ErrorCode::timeout, "no answer in time"};
    case grpc::StatusCode::UNAUTHENTICATED:
      return {ErrorCode::unauthenticated, what};
    case grpc::StatusCode::PERMISSION_DENIED:
      return {ErrorCode::permission_denied, what};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {ErrorCode::too_large, what};
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return {ErrorCode::invalid_argument, what};
    case grpc::StatusCode::CANCELLED:
      return {ErrorCode::unavailable, "the call was cut off: " + what};
    default:
      return {ErrorCode::unavailable, what.empty() ? "the server cannot be reached" : what};
  }
}

std::chrono::milliseconds retry_after_of(const grpc::Status& status) {
  const auto message = detail_of(status.error_details());
  return std::chrono::milliseconds(message ? message->retry_after_ms() : 0);
}

grpc::StatusCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
      return grpc::StatusCode::ABORTED;
    case ErrorCode::duplicate_event:
    case ErrorCode::already_exists:
      return grpc::StatusCode::ALREADY_EXISTS;
    case ErrorCode::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::too_large:
    case ErrorCode::overloaded:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::wrong_shard:
    case ErrorCode::fenced:
    case ErrorCode::unavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::timeout:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::corruption:
    case ErrorCode::io:
      return grpc::StatusCode::DATA_LOSS;
    case ErrorCode::cancelled:
      return grpc::StatusCode::CANCELLED;
    case ErrorCode::unauthenticated:
      return grpc::StatusCode::UNAUTHENTICATED;
    case ErrorCode::permission_denied:
      return grpc::StatusCode::PERMISSION_DENIED;
  }
  return grpc::StatusCode::DATA_LOSS;
}

grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& conflicts,
                       std::optional<std::chrono::milliseconds> retry_after) {
  Error shown = error;
  if (shown.what.size() > text_bytes_max) shown.what = in_quotes(shown.what, text_bytes_max / 4);
  messages::pb::Error detail;
  messages::put_refusal(shown, conflicts, details_bytes_max, detail,
                        retry_after.value_or(messages::retry_after_full_queue));
  const auto code = code_of(error.code);
  const auto text = std::string(name_of(error.code)) + ": " + detail.message();
  return {code, text, rpc_status(code, text, detail, "type.googleapis.com/evershard.v1.Error")};
}

}  // namespace evershard::wire
