#include "evershard/cluster/door/status.hpp"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include "evershard/protocol/messages.hpp"

namespace evershard::door {
namespace {

using google::protobuf::internal::WireFormatLite;

/// A status travels in the call's trailing metadata, of which a client takes 8 KiB unless it is told to take more.
constexpr std::size_t details_bytes_max = 6u << 10;

/// A google.rpc.Status: code 1, message 2, details 3.
std::string rpc_status(grpc::StatusCode code, const std::string& what, const google::protobuf::MessageLite& detail, const char* type) {
  google::protobuf::Any any;
  any.set_type_url(std::string("type.googleapis.com/") + type);
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

}  // namespace

grpc::StatusCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed: return grpc::StatusCode::ABORTED;
    case ErrorCode::duplicate_event: return grpc::StatusCode::ALREADY_EXISTS;
    case ErrorCode::not_found: return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query: return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::too_large:
    case ErrorCode::overloaded: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::wrong_shard:
    case ErrorCode::fenced:
    case ErrorCode::unavailable: return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::timeout: return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::corruption:
    case ErrorCode::io: return grpc::StatusCode::DATA_LOSS;
    case ErrorCode::cancelled: return grpc::StatusCode::CANCELLED;
    case ErrorCode::unauthenticated: return grpc::StatusCode::UNAUTHENTICATED;
    case ErrorCode::permission_denied: return grpc::StatusCode::PERMISSION_DENIED;
  }
  return grpc::StatusCode::DATA_LOSS;
}

grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& conflicts) {
  messages::pb::Error detail;
  messages::put(error, detail);
  for (const auto& event : conflicts) {
    messages::put(event, *detail.add_conflicts());
    if (detail.ByteSizeLong() <= details_bytes_max) continue;
    detail.mutable_conflicts()->RemoveLast();
    break;
  }
  if (error.code == ErrorCode::overloaded) detail.set_retry_after_ms(20);
  const auto code = code_of(error.code);
  const auto text = std::string(name_of(error.code)) + ": " + detail.message();
  return {code, text, rpc_status(code, text, detail, "evershard.v1.Error")};
}

}  // namespace evershard::door
