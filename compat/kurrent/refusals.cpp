#include "evershard/compat/kurrent/refusals.hpp"

#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

namespace es = ::event_store::client;

constexpr const char* exception_key = "exception";

/// Trailers are ASCII.
std::string in_trailer(const std::string& text) {
  std::string shown;
  for (const char c : text) shown += c >= 0x20 && c < 0x7f ? c : '?';
  return shown;
}

/// As clients have it: a revision, or -1 no stream, -2 any, -4 exists.
std::int64_t revision_of_expected(ExpectedVersion expected) {
  switch (expected.kind()) {
    case ExpectedVersion::Kind::any:
      return -2;
    case ExpectedVersion::Kind::none:
      return -1;
    case ExpectedVersion::Kind::exists:
      return -4;
    case ExpectedVersion::Kind::exactly:
      return static_cast<std::int64_t>(expected.number().value) - 1;
  }
  return -2;
}

template <class Detail>
void pack_detail(const Detail& detail, es::RpcStatus& to) {
  to.mutable_details()->PackFrom(detail, "type.googleapis.com");
}

}  // namespace

Refusal wrong_version(std::string stream, ExpectedVersion expected, SeqNr actual) {
  Refusal refusal;
  refusal.why = Refusal::Why::wrong_version;
  refusal.error = {ErrorCode::version_conflict,
                   "stream " + in_quotes(stream, 600) +
                       (actual.value == 0 ? " does not exist" : " is at revision " + std::to_string(actual.value - 1)) +
                       ", expected is " + std::to_string(revision_of_expected(expected))};
  refusal.stream = std::move(stream);
  refusal.expected = expected;
  refusal.actual = actual;
  return refusal;
}

Refusal stream_deleted(std::string stream) {
  Refusal refusal;
  refusal.why = Refusal::Why::stream_deleted;
  refusal.error = {ErrorCode::version_conflict, "stream " + in_quotes(stream, 600) + " is deleted for good"};
  refusal.stream = std::move(stream);
  return refusal;
}

Refusal stream_deleted_already(std::string stream) {
  auto refusal = stream_deleted(std::move(stream));
  refusal.error.what = "stream " + in_quotes(refusal.stream, 600) + " is deleted";
  return refusal;
}

Refusal refused_of_group(std::string exception, std::string stream, std::string group, ErrorCode code,
                         std::string what) {
  Refusal refusal;
  refusal.why = Refusal::Why::of_group;
  refusal.error = {code, std::move(what)};
  refusal.exception = std::move(exception);
  refusal.stream = std::move(stream);
  refusal.group = std::move(group);
  return refusal;
}

Refusal not_served(std::string what) {
  Refusal refusal;
  refusal.why = Refusal::Why::not_served;
  refusal.error = {ErrorCode::invalid_argument, std::move(what)};
  return refusal;
}

namespace {

/// Who reads keeps a place and begins behind it again: to pass over an event that is damaged is the reader's to decide.
std::string text_of_error(const Error& error) {
  if (error.code != ErrorCode::corruption || !error.details || !error.details->position) return error.what;
  return "the event at position " + std::to_string(error.details->position->value) + " cannot be read: " + error.what;
}

}  // namespace

grpc::Status status_of(door::UnderWay& here, grpc::CallbackServerContext& context, const Refusal& refusal,
                       std::size_t append_bytes_max) {
  const auto status = here.refused(refusal.error);
  const auto trailer = [&](const char* key, const std::string& value) {
    context.AddTrailingMetadata(key, in_trailer(value));
  };
  switch (refusal.why) {
    case Refusal::Why::wrong_version:
      trailer(exception_key, "wrong-expected-version");
      trailer("stream-name", refusal.stream);
      trailer("expected-version", std::to_string(revision_of_expected(refusal.expected)));
      trailer("actual-version", std::to_string(static_cast<std::int64_t>(refusal.actual.value) - 1));
      // Python's client reads the text.
      return {grpc::StatusCode::FAILED_PRECONDITION,
              "WrongExpectedVersion: " + refusal.error.what +
                  ". Actual version: " + std::to_string(static_cast<std::int64_t>(refusal.actual.value) - 1)};
    case Refusal::Why::stream_deleted:
      trailer(exception_key, "stream-deleted");
      trailer("stream-name", refusal.stream);
      return {grpc::StatusCode::FAILED_PRECONDITION, refusal.error.what};
    case Refusal::Why::of_group:
      trailer(exception_key, refusal.exception);
      trailer("stream-name", refusal.stream);
      trailer("group-name", refusal.group);
      trailer("reason", refusal.error.what);
      if (refusal.exception == "maximum-subscribers-reached")
        return {grpc::StatusCode::FAILED_PRECONDITION, "Maximum subscriptions reached: " + refusal.error.what};
      return {refusal.error.code == ErrorCode::not_found              ? grpc::StatusCode::NOT_FOUND
              : refusal.exception == "persistent-subscription-exists" ? grpc::StatusCode::ALREADY_EXISTS
                                                                      : grpc::StatusCode::FAILED_PRECONDITION,
              refusal.error.what};
    case Refusal::Why::not_served:
      return {grpc::StatusCode::UNIMPLEMENTED, refusal.error.what};
    case Refusal::Why::error:
      break;
  }
  if (refusal.error.code == ErrorCode::permission_denied) trailer(exception_key, "access-denied");
  if (refusal.error.code == ErrorCode::too_large && append_bytes_max != 0) {
    trailer(exception_key, "maximum-append-size-exceeded");
    trailer("maximum-append-size", std::to_string(append_bytes_max));
    return {grpc::StatusCode::INVALID_ARGUMENT, refusal.error.what};
  }
  if (refusal.error.code == ErrorCode::corruption) return {status.error_code(), text_of_error(refusal.error)};
  return status;
}

void put_error(const Refusal& refusal, std::size_t append_bytes_max, es::RpcStatus& to) {
  to.set_code(wire::code_of(refusal.error.code));
  to.set_message(text_of_error(refusal.error));
  switch (refusal.why) {
    case Refusal::Why::wrong_version: {
      es::WrongExpectedVersion detail;
      if (refusal.actual.value == 0)
        detail.mutable_current_no_stream();
      else
        detail.set_current_stream_revision(refusal.actual.value - 1);
      switch (refusal.expected.kind()) {
        case ExpectedVersion::Kind::any:
          detail.mutable_expected_any();
          break;
        case ExpectedVersion::Kind::none:
          detail.mutable_expected_no_stream();
          break;
        case ExpectedVersion::Kind::exists:
          detail.mutable_expected_stream_exists();
          break;
        case ExpectedVersion::Kind::exactly:
          detail.set_expected_stream_position(refusal.expected.number().value - 1);
          break;
      }
      to.set_code(grpc::StatusCode::FAILED_PRECONDITION);
      return pack_detail(detail, to);
    }
    case Refusal::Why::stream_deleted: {
      es::StreamDeleted detail;
      detail.mutable_stream_identifier()->set_stream_name(refusal.stream);
      to.set_code(grpc::StatusCode::FAILED_PRECONDITION);
      return pack_detail(detail, to);
    }
    case Refusal::Why::of_group:
    case Refusal::Why::not_served:
    case Refusal::Why::error:
      break;
  }
  switch (refusal.error.code) {
    case ErrorCode::permission_denied:
    case ErrorCode::unauthenticated:
      return pack_detail(es::AccessDenied(), to);
    case ErrorCode::timeout:
      return pack_detail(es::Timeout(), to);
    case ErrorCode::too_large: {
      es::MaximumAppendSizeExceeded detail;
      detail.set_maxappendsize(static_cast<std::uint32_t>(append_bytes_max));
      return pack_detail(detail, to);
    }
    case ErrorCode::invalid_argument: {
      es::BadRequest detail;
      detail.set_message(refusal.error.what);
      return pack_detail(detail, to);
    }
    default:
      return pack_detail(es::Unknown(), to);
  }
}

}  // namespace evershard::kurrent
