#include "evershard/services/tables/table_projection.hpp"

#include <exception>
#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::actors {
namespace {

constexpr std::uint8_t parked_format = 1;
constexpr std::size_t thrown_bytes_max = 1'000;

/// It goes into messages, whose texts are UTF-8: bytes that are none would keep everything beside them from being read
/// elsewhere.
std::string thrown_text(const std::exception& thrown) {
  const std::string_view what = thrown.what();
  return is_utf8(what) && what.size() <= thrown_bytes_max ? std::string(what) : in_quotes(what, thrown_bytes_max);
}

std::string at_position(const RecordedEvent& event) {
  return "event " + in_quotes(event.type) + " at position " + std::to_string(event.position.value);
}

/// Which positions an order to retry or discard names; nothing: all.
std::optional<std::vector<GlobalPosition>> named_positions(const std::string& payload) {
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || !json.contains("positions") || !json.at("positions").is_array()) return {};
  std::vector<GlobalPosition> positions;
  for (const auto& each : json.at("positions")) {
    if (each.is_number_unsigned()) positions.emplace_back(each.get<std::uint64_t>());
  }
  return positions;
}

/// What of the store's own the definition asks for by name; of everything it is given none.
std::set<std::string, std::less<>> reserved_types_of(const Query& query) {
  std::set<std::string, std::less<>> types;
  for (const auto& item : query.items()) {
    for (const auto& type : item.types) {
      if (is_reserved(type)) types.insert(type);
    }
  }
  types.erase(std::string(parked_retried_type));
  types.erase(std::string(parked_discarded_type));
  return types;
}

std::optional<std::uint32_t> part_number(const std::string& name) {
  const auto part = parse_part_name(name);
  return part ? std::optional(part->part) : std::nullopt;
}

}  // namespace

std::string encode(const ParkedEvent& parked) {
  std::string bytes(1, static_cast<char>(parked_format));
  bytes += static_cast<char>(parked.kind);
  storage::append_varint(bytes, parked.attempts);
  for (const std::string* part : {&parked.type, &parked.aggregate, &parked.reason}) {
    storage::append_varint(bytes, part->size());
    bytes += *part;
  }
  return bytes;
}

Result<ParkedEvent> decode_parked(std::string_view key, std::string_view value) {
  const auto position = table_keys::position_of_parked(key);
  if (!position) return refuse(position.error());
  ParkedEvent parked{.position = *position};
  storage::ByteReader reader(value);
  const auto format = reader.fixed<std::uint8_t>();
  const auto kind = reader.fixed<std::uint8_t>();
  parked.kind = static_cast<TableFault::Kind>(kind);
  parked.attempts = reader.varint();
  for (std::string* part : {&parked.type, &parked.aggregate, &parked.reason}) *part = reader.bytes(reader.varint());
  if (format != parked_format || kind > 3 || !reader.done())
    return refuse(ErrorCode::corruption, "a parked event of a table is damaged");
  return parked;
}

TableProjection::TableProjection(std::string name, TableDefinition definition, TableMapping mapping)
    : own_{"$projection", std::move(name)},
      part_(part_number(own_.value)),
      definition_(std::move(definition)),
      told_of_(reserved_types_of(definition_.query())),
      writer_(definition_.schema),
      mapping_(std::move(mapping)) {}
TableProjection::TableProjection(std::string name, TableDefinition definition, TableHandler handler)
    : own_{"$projection", std::move(name)},
      part_(part_number(own_.value)),
      definition_(std::move(definition)),
      told_of_(reserved_types_of(definition_.query())),
      writer_(definition_.schema),
      handler_(std::move(handler)) {}

Result<std::unique_ptr<TableProjection>> TableProjection::make(std::string name, TableDefinition definition,
                                                               TableHandler handler, EventAt event_at,
                                                               PayloadAsJson as_json) {
  EVERSHARD_TRY(definition.check());
  std::unique_ptr<TableProjection> made;
  Query query = definition.query_of({"$projection", name});
  if (const auto* rules = std::get_if<std::vector<MappingRule>>(&definition.made_by)) {
    auto mapping = TableMapping::make(definition.schema, *rules);
    if (!mapping) return refuse(std::move(mapping).error());
    made.reset(new TableProjection(std::move(name), std::move(definition), std::move(*mapping)));
  } else {
    if (!handler)
      return refuse(ErrorCode::unavailable, "the handler " + in_quotes(std::get<HandlerName>(definition.made_by).name) +
                                                " is not registered in this process");
    made.reset(new TableProjection(std::move(name), std::move(definition), std::move(handler)));
  }
  made->event_at_ = std::move(event_at);
  made->as_json_ = std::move(as_json);
  made->query_ = std::move(query);
  return made;
}

std::vector<std::pair<std::string, std::uint64_t>> TableProjection::figures(const std::string& state) const {
  const auto counts = decode_counts(state);
  if (!counts) return {};  // figures: whoever opens the rows says that they are damaged
  return {{"rows", counts->rows},     {"events", counts->events},   {"changes", counts->changes},
          {"missed", counts->missed}, {"skipped", counts->skipped}, {"parked", counts->parked},
          {"erased", counts->erased}};
}

Result<void> TableProjection::handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) {
  auto counts = decode_counts(rows.state());
  if (!counts) return refuse(std::move(counts).error());
  if (mapping_ && events.size() > 1) {
    std::vector<std::string> keys;
    keys.reserve(events.size());
    for (const RecordedEvent* event : events) {
      if (event->type.starts_with('$') || (as_json_ && event->format == PayloadFormat::protobuf)) continue;
      mapping_->add_keys(*event, writer_, keys);
    }
    if (part_)
      std::erase_if(keys, [&](const std::string& key) {
        return part_of_key(std::string_view(key).substr(1), definition_.parts) != *part_;
      });
    EVERSHARD_TRY(rows.fetch(std::move(keys)));
  }
  EventRows changed(rows);
  for (const RecordedEvent* event : events) EVERSHARD_TRY(consume(*event, rows, changed, *counts));
  rows.put_state(encode(*counts));
  return {};
}

Result<void> TableProjection::consume(const RecordedEvent& event, ProjectionRows& rows, EventRows& changed,
                                      TableCounts& counts) {
  if (is_reserved(event.type)) {
    if (event.aggregate == own_ && event.type == parked_retried_type)
      return settle_parked(event, true, rows, changed, counts);
    if (event.aggregate == own_ && event.type == parked_discarded_type)
      return settle_parked(event, false, rows, changed, counts);
    if (!told_of_.contains(event.type)) return {};
  }
  const auto done = effect(event, changed, counts);
  if (done) return {};
  const TableFault& fault = done.error();
  const OnFault policy = fault.kind == TableFault::Kind::unique ? definition_.on_violation : definition_.on_error;
  if (fault.kind == TableFault::Kind::store) return refuse(fault.error);
  if (policy == OnFault::fail) return refuse(fault.error.code, at_position(event) + ": " + fault.error.what);
  if (policy == OnFault::skip) {
    ++counts.skipped;
    return {};
  }
  rows.put(table_keys::parked(event.position),
           encode(ParkedEvent{event.position, fault.kind, event.type, event.aggregate ? event.aggregate->text() : "",
                              fault.error.what}));
  ++counts.parked;
  return {};
}

Faultable<void> TableProjection::effect(const RecordedEvent& event, EventRows& changed, TableCounts& counts) {
  changed.discard();
  TableCounts counted = counts;
  Faultable<void> done;
  if (mapping_) {
    auto json = as_json_ && event.format == PayloadFormat::protobuf && event.state == EventState::live ? as_json_(event)
                                                                                                       : std::nullopt;
    if (json) {
      RecordedEvent readable = event;
      readable.payload = std::move(*json);
      if (!is_own(readable)) return {};
      done = mapping_->apply(readable, writer_, changed, counted);
    } else {
      if (!is_own(event)) return {};
      done = mapping_->apply(event, writer_, changed, counted);
    }
  } else {
    TableChanges changes(writer_, changed, counted);
    try {
      handler_(event, changes);
      if (changes.fault()) done = Faulted(*changes.fault());
    } catch (const std::exception& thrown) {
      done = fault(TableFault::Kind::handler, ErrorCode::invalid_argument, "the handler threw: " + thrown_text(thrown));
    } catch (...) {
      done =
          fault(TableFault::Kind::handler, ErrorCode::invalid_argument, "the handler threw what is no std::exception");
    }
  }
  if (!done) return done;
  changed.keep();
  ++counted.events;
  counts = counted;
  return {};
}

bool TableProjection::is_own(const RecordedEvent& event) const {
  if (!part_) return true;
  const auto key = mapping_->row_key(event, writer_);
  return *part_ == (key ? part_of_key(std::string_view(*key).substr(1), definition_.parts) : 0);
}

Result<void> TableProjection::settle_parked(const RecordedEvent& order, bool retry, ProjectionRows& rows,
                                            EventRows& changed, TableCounts& counts) {
  const auto positions = named_positions(order.payload);
  std::vector<ParkedEvent> settled;
  Result<void> read;
  const auto see = [&](std::string_view key, std::string_view value) {
    auto parked = decode_parked(key, value);
    if (parked)
      settled.push_back(std::move(*parked));
    else
      read = refuse(std::move(parked).error());
    return read.has_value();
  };
  if (positions) {
    for (const GlobalPosition position : *positions) {
      const std::string key = table_keys::parked(position);
      const auto value = rows.get(key);
      if (!value) return refuse(value.error());
      if (*value) see(key, **value);
      EVERSHARD_TRY(read);
    }
  } else {
    EVERSHARD_TRY(rows.each(storage::RowRange::prefix(table_keys::part_prefix(table_keys::Part::parked)), see));
    EVERSHARD_TRY(read);
  }
  for (ParkedEvent& parked : settled) {
    if (!retry) {
      rows.erase(table_keys::parked(parked.position));
      --counts.parked;
      ++counts.skipped;
      continue;
    }
    EVERSHARD_TRY(retry_parked(std::move(parked), rows, changed, counts));
  }
  return {};
}

Result<void> TableProjection::retry_parked(ParkedEvent parked, ProjectionRows& rows, EventRows& changed,
                                           TableCounts& counts) {
  const std::string key = table_keys::parked(parked.position);
  const auto event = event_at_(parked.position);
  if (!event && event.error().code == ErrorCode::corruption) {  // it stays parked, and the table goes on
    ++parked.attempts;
    parked.reason = event.error().what;
    rows.put(key, encode(parked));
    return {};
  }
  if (!event) return refuse(event.error());
  const auto done = effect(*event, changed, counts);
  if (done) {
    rows.erase(key);
    --counts.parked;
    return {};
  }
  if (done.error().kind == TableFault::Kind::store) return refuse(done.error().error);
  ++parked.attempts;
  parked.kind = done.error().kind;
  parked.reason = done.error().error.what;
  rows.put(key, encode(parked));
  return {};
}

}  // namespace evershard::actors
