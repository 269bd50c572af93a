#include "evershard/compat/kurrent/records.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/expected_of.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/kurrent/streams_v2_errors.pb.h"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

namespace errors = ::kurrentdb::protocol::v2::streams::errors;

constexpr std::int64_t state_none = -1;
constexpr std::int64_t state_any = -2;
constexpr std::int64_t state_exists = -4;
constexpr const char* format_key = "$schema.format";
constexpr const char* schema_name_key = "$schema.name";
constexpr const char* schema_id_key = "$schema.id";

const char* name_of_format(esv2::SchemaFormat format) {
  switch (format) {
    case esv2::SCHEMA_FORMAT_JSON:
      return "Json";
    case esv2::SCHEMA_FORMAT_PROTOBUF:
      return "Protobuf";
    case esv2::SCHEMA_FORMAT_AVRO:
      return "Avro";
    default:
      return "Bytes";
  }
}

nlohmann::json json_of(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kBoolValue:
      return value.bool_value();
    case google::protobuf::Value::kNumberValue:
      return value.number_value();
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    default:
      break;
  }
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(value, &text).ok()) return nullptr;
  auto parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_discarded() ? nlohmann::json() : parsed;
}

/// Properties are what version 1 shows as an event's metadata, with what was said of the schema.
std::string metadata_in(const esv2::AppendRecord& record) {
  auto object = nlohmann::json::object();
  for (const auto& [key, value] : record.properties()) object[key] = json_of(value);
  object[format_key] = name_of_format(record.schema().format());
  object[schema_name_key] = record.schema().name();
  if (record.schema().has_id()) object[schema_id_key] = record.schema().id();
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Event> event_of_record(esv2::AppendRecord& record, const AggregateId& aggregate) {
  Event event;
  if (record.has_record_id()) {
    es::UUID id;
    id.set_string(record.record_id());
    const auto read = id_of(id);
    if (!read) return refuse(read.error());
    event.id = *read;
  }
  if (!event.id.given()) event.id = EventId::random();
  event.aggregate = aggregate;
  event.type = record.schema().name();
  EVERSHARD_TRY(check_writable_type(event.type, aggregate));
  if (record.schema().format() == esv2::SCHEMA_FORMAT_JSON) event.format = PayloadFormat::json;
  event.metadata = metadata_in(record);
  event.payload = std::move(*record.mutable_data());
  return event;
}

/// Streams in the order in which they are first named.
class Named {
 public:
  explicit Named(std::vector<StreamExpected>& streams) : streams_(streams) {}
  /// Returns: its index. `added`: it is new.
  Result<std::size_t> find(const std::string& name, bool& added) {
    auto aggregate = aggregate_of(name);
    if (!aggregate) return refuse(std::move(aggregate).error());
    const auto [found, is_new] = indexes_.emplace(*aggregate, streams_.size());
    added = is_new;
    if (added) streams_.push_back({name, *std::move(aggregate), ExpectedVersion::any(), false});
    return found->second;
  }

 private:
  std::vector<StreamExpected>& streams_;
  std::unordered_map<AggregateId, std::size_t> indexes_;
};

template <class Detail>
grpc::Status detailed(grpc::StatusCode code, const std::string& what, const Detail& detail) {
  es::RpcStatus status;
  status.set_code(code);
  status.set_message(what);
  status.mutable_details()->PackFrom(detail, "type.googleapis.com");
  return {code, what, status.SerializeAsString()};
}

std::int64_t state_at(SeqNr version) { return static_cast<std::int64_t>(version.value) - 1; }

}  // namespace

Result<ExpectedVersion> expected_state(std::int64_t state) {
  if (state >= 0) return at_revision(static_cast<std::uint64_t>(state));
  if (state == state_none) return ExpectedVersion::none();
  if (state == state_any) return ExpectedVersion::any();
  if (state == state_exists) return ExpectedVersion::exists();
  return refuse(ErrorCode::invalid_argument, "a stream cannot be expected to be at " + std::to_string(state));
}

std::int64_t state_of(ExpectedVersion expected) {
  switch (expected.kind()) {
    case ExpectedVersion::Kind::any:
      return state_any;
    case ExpectedVersion::Kind::none:
      return state_none;
    case ExpectedVersion::Kind::exists:
      return state_exists;
    case ExpectedVersion::Kind::exactly:
      return state_at(expected.number());
  }
  return state_any;
}

Result<StreamWrite> session_write(std::vector<esv2::AppendRequest>& requests) {
  if (requests.empty()) return refuse(ErrorCode::invalid_argument, "the session appends nothing");
  StreamWrite write;
  Named named(write.streams);
  for (auto& request : requests) {
    bool added = false;
    const auto at = named.find(request.stream(), added);
    if (!at) return refuse(at.error());
    if (!added)
      return refuse(ErrorCode::invalid_argument,
                    "stream " + in_quotes(request.stream(), 300) + " is in the session twice");
    if (request.records().empty())
      return refuse(ErrorCode::invalid_argument,
                    "nothing is appended to stream " + in_quotes(request.stream(), 300) + " of the session");
    auto& stream = write.streams[*at];
    stream.written = true;
    EVERSHARD_TRY(check_writable(stream.name, stream.aggregate));
    if (request.has_expected_revision()) {
      const auto expected = expected_state(request.expected_revision());
      if (!expected) return refuse(expected.error());
      stream.expected = *expected;
    }
    for (auto& record : *request.mutable_records()) {
      auto event = event_of_record(record, stream.aggregate);
      if (!event) return refuse(std::move(event).error());
      write.events.push_back(*std::move(event));
    }
  }
  return write;
}

Result<RecordsWrite> records_write(esv2::AppendRecordsRequest& request) {
  if (request.records().empty()) return refuse(ErrorCode::invalid_argument, "there are no records to append");
  RecordsWrite records;
  auto& write = records.write;
  Named named(write.streams);
  bool added = false;
  for (auto& record : *request.mutable_records()) {
    const auto at = named.find(record.stream(), added);
    if (!at) return refuse(at.error());
    auto& stream = write.streams[*at];
    stream.written = true;
    EVERSHARD_TRY(check_writable(stream.name, stream.aggregate));
    auto event = event_of_record(record, stream.aggregate);
    if (!event) return refuse(std::move(event).error());
    write.events.push_back(*std::move(event));
  }
  for (int i = 0; i < request.checks_size(); ++i) {
    if (!request.checks(i).has_stream_state())
      return refuse(ErrorCode::invalid_argument, "check " + std::to_string(i) + " is of no known kind");
    const auto& check = request.checks(i).stream_state();
    const auto at = named.find(check.stream(), added);
    if (!at) return refuse(at.error());
    const auto expected = expected_state(check.expected_state());
    if (!expected) return refuse(expected.error());
    records.checks.resize(write.streams.size());
    if (records.checks[*at])
      return refuse(ErrorCode::invalid_argument, "stream " + in_quotes(check.stream(), 300) + " is checked twice");
    records.checks[*at] = static_cast<std::size_t>(i);
    write.streams[*at].expected = *expected;
  }
  records.checks.resize(write.streams.size());
  return records;
}

std::optional<grpc::Status> too_large_status(const StreamWrite& write, const Limits& limits) {
  std::size_t sum = 0;
  for (const auto& event : write.events) {
    const auto size = event.payload.size() + event.metadata_bytes().size();
    sum += size;
    const auto most = event.payload.size() > limits.payload_bytes_max             ? limits.payload_bytes_max
                      : event.metadata_bytes().size() > limits.metadata_bytes_max ? limits.metadata_bytes_max
                                                                                  : 0;
    if (most == 0) continue;
    errors::AppendRecordSizeExceededErrorDetails detail;
    detail.set_stream(name_of(*event.aggregate));
    detail.set_record_id(event.id.text());
    detail.set_size(static_cast<std::int32_t>(size));
    detail.set_max_size(static_cast<std::int32_t>(most));
    return detailed(
        grpc::StatusCode::INVALID_ARGUMENT,
        "record " + event.id.text() + " has " + std::to_string(size) + " bytes, the most is " + std::to_string(most),
        detail);
  }
  if (sum <= limits.append_bytes_max) return std::nullopt;
  errors::AppendTransactionSizeExceededErrorDetails detail;
  detail.set_size(static_cast<std::int32_t>(sum));
  detail.set_max_size(static_cast<std::int32_t>(limits.append_bytes_max));
  return detailed(
      grpc::StatusCode::ABORTED,
      "the append has " + std::to_string(sum) + " bytes, the most is " + std::to_string(limits.append_bytes_max),
      detail);
}

grpc::Status records_status(door::UnderWay& here, grpc::CallbackServerContext& context, const Refusal& refusal) {
  const auto& what = refusal.error.what;
  if (refusal.why == Refusal::Why::stream_deleted) {
    // This counts it; the status that is answered is made below.
    static_cast<void>(here.refused(refusal.error));
    errors::StreamTombstonedErrorDetails detail;
    detail.set_stream(refusal.stream);
    return detailed(grpc::StatusCode::FAILED_PRECONDITION, what, detail);
  }
  if (refusal.why != Refusal::Why::wrong_version) return status_of(here, context, refusal, 0);
  // This counts it; the status that is answered is made below.
  static_cast<void>(here.refused(refusal.error));
  errors::StreamRevisionConflictErrorDetails detail;
  detail.set_stream(refusal.stream);
  detail.set_expected_revision(state_of(refusal.expected));
  detail.set_actual_revision(state_at(refusal.actual));
  return detailed(grpc::StatusCode::FAILED_PRECONDITION, what, detail);
}

grpc::Status violations_status(const RecordsWrite& records, const std::vector<SeqNr>& seen, const Refusal& refusal) {
  errors::AppendConsistencyViolationErrorDetails detail;
  const auto add = [&](std::size_t stream, SeqNr actual) {
    auto& violation = *detail.add_violations();
    violation.set_check_index(static_cast<std::int32_t>(records.checks[stream].value_or(0)));
    violation.mutable_stream_state()->set_stream(records.write.streams[stream].name);
    violation.mutable_stream_state()->set_expected_state(state_of(records.write.streams[stream].expected));
    violation.mutable_stream_state()->set_actual_state(state_at(actual));
  };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (records.checks[i] && !records.write.streams[i].expected.holds_for(seen[i])) add(i, seen[i]);
  }
  // The expectation may hold again by now: then the answer has the version that was found at the decision.
  if (detail.violations().empty() && refusal.which && *refusal.which < records.checks.size())
    add(*refusal.which, refusal.actual);
  std::sort(detail.mutable_violations()->begin(), detail.mutable_violations()->end(),
            [](const auto& a, const auto& b) { return a.check_index() < b.check_index(); });
  return detailed(grpc::StatusCode::FAILED_PRECONDITION, refusal.error.what, detail);
}

}  // namespace evershard::kurrent
