#include "evershard/compat/kurrent/stream_name.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::kurrent {
namespace {

/// Of aggregates that the store itself keeps.
constexpr std::array<std::string_view, 11> own_types{"$copy",     "$document", "$group",      "$persistent",
                                                     "$policy",   "$process",  "$projection", "$retention",
                                                     "$schedule", "$sink",     "$timers"};

bool is_own(std::string_view type) { return std::ranges::find(own_types, type) != own_types.end(); }

/// Of what is too large clients say that the append is: a name is just wrong.
Result<AggregateId> checked(AggregateId id) {
  if (auto ok = AggregateId::check(id); !ok) return refuse(ErrorCode::invalid_argument, ok.error().what);
  return id;
}

std::string name_shown(std::string_view type, std::string_view value) {
  std::string name;
  name.reserve(type.size() + 1 + value.size());
  if (type == metadata_type) name += metadata_mark;
  if (type != plain_type && type != metadata_type) (name += type) += '-';
  return name += value;
}

}  // namespace

Result<AggregateId> aggregate_of(std::string_view stream) {
  if (stream.empty()) return refuse(ErrorCode::invalid_argument, "the name of the stream is empty");
  if (stream.size() > metadata_mark.size() && stream.starts_with(metadata_mark))
    return checked({std::string(metadata_type), std::string(stream.substr(metadata_mark.size()))});
  const auto dash = stream.find('-');
  const auto type = stream.substr(0, dash);
  const bool parts = dash != std::string_view::npos && !type.empty() && type.size() <= aggregate_type_bytes_max &&
                     dash + 1 < stream.size();
  if (parts && (!is_reserved(type) || is_own(type)))
    return checked({std::string(type), std::string(stream.substr(dash + 1))});
  return checked({std::string(plain_type), std::string(stream)});
}

std::string name_of(const AggregateId& aggregate) { return name_shown(aggregate.type, aggregate.value); }

std::string name_of(const RecordedEvent& event) {
  return event.aggregate ? name_of(*event.aggregate) : std::string(no_stream_name);
}

std::string name_of(const RecordedView& event) {
  return event.aggregate_type.empty() ? std::string(no_stream_name)
                                      : name_shown(event.aggregate_type, event.aggregate_value);
}

Result<AggregateId> stream_of_metadata(const AggregateId& metadata) { return aggregate_of(metadata.value); }

Result<AggregateId> metadata_of(const AggregateId& stream) {
  return checked({std::string(metadata_type), name_of(stream)});
}

Result<void> check_writable(std::string_view stream, const AggregateId& aggregate) {
  const bool derived =
      stream.starts_with(category_mark) || stream.starts_with(event_type_mark) || stream == no_stream_name;
  if (!derived && !is_own(aggregate.type) && stream != "$all") return {};
  return refuse(ErrorCode::permission_denied, "stream " + in_quotes(std::string(stream), 300) +
                                                  (derived ? " is derived from others" : " is the store's own") +
                                                  ": it cannot be written to");
}

Result<void> check_writable_type(std::string_view type, const AggregateId& aggregate) {
  if (type.size() > event_type_bytes_max)
    return refuse(ErrorCode::invalid_argument, "the event's type has " + std::to_string(type.size()) +
                                                   " bytes, the limit is " + std::to_string(event_type_bytes_max));
  if (!is_reserved(type)) return {};
  const bool own =
      is_own_type(type) || type == stream_deleted_type || (type == metadata_event_type) != is_metadata(aggregate);
  if (!own) return {};
  return refuse(ErrorCode::permission_denied, "events of type " + in_quotes(std::string(type), 300) +
                                                  " cannot be written to stream " + in_quotes(name_of(aggregate), 600) +
                                                  ": the name is the store's own");
}

}  // namespace evershard::kurrent
