#include "evershard/compat/umadb/uma_status.hpp"

#include <string>
#include <utility>

#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/umadb/umadb.pb.h"

namespace evershard::umadb {
namespace {

using ::umadb::v1::ErrorResponse;

constexpr std::size_t text_bytes_max = 2u << 10;  ///< it goes twice into trailers, of which a client takes 8 KiB

std::pair<grpc::StatusCode, ErrorResponse::ErrorType> kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
      return {grpc::StatusCode::FAILED_PRECONDITION, ErrorResponse::INTEGRITY};
    case ErrorCode::not_found:
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large:
      return {grpc::StatusCode::INVALID_ARGUMENT, ErrorResponse::INVALID_ARGUMENT};
    case ErrorCode::corruption:
      return {grpc::StatusCode::DATA_LOSS, ErrorResponse::CORRUPTION};
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
      return {wire::code_of(code), ErrorResponse::AUTHENTICATION};
    case ErrorCode::io:
      return {grpc::StatusCode::INTERNAL, ErrorResponse::IO};
    default:
      return {wire::code_of(code), ErrorResponse::IO};
  }
}

}  // namespace

grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& /*conflicts*/,
                       std::optional<std::chrono::milliseconds> /*retry_after*/) {
  auto text = std::string(name_of(error.code)) + ": " + error.what;
  if (text.size() > text_bytes_max) text = in_quotes(text, text_bytes_max / 4);
  const auto [code, type] = kind_of(error.code);
  if (code == grpc::StatusCode::UNAVAILABLE) return {code, text};
  ErrorResponse response;
  response.set_message(text);
  response.set_error_type(type);
  return {code, text, response.SerializeAsString()};
}

}  // namespace evershard::umadb
