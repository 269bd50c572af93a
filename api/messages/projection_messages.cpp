#include "evershard/api/messages/projection_messages.hpp"

#include <algorithm>
#include <utility>

namespace evershard::messages {
namespace {

constexpr std::uint32_t rows_timeout_ms_max = 10u * 60u * 1'000u;

template <class Request>
void put_rows(const RowsAsked& from, Request& to) {
  if (from.at_least) {
    to.mutable_at_least()->set_position(from.at_least->value);
    to.mutable_at_least()->set_timeout_ms(
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(from.timeout.count(), 0, rows_timeout_ms_max)));
  }
  if (from.version) to.set_version(from.version->value);
  to.set_events(from.events);
}

template <class Request>
void get_rows(const Request& from, RowsAsked& to) {
  if (from.has_at_least()) {
    to.at_least = GlobalPosition{from.at_least().position()};
    if (from.at_least().has_timeout_ms())
      to.timeout = std::chrono::milliseconds(std::min(from.at_least().timeout_ms(), rows_timeout_ms_max));
  }
  if (from.has_version()) to.version = SeqNr{from.version()};
  to.events = from.events();
}

template <class From, class To>
Result<void> get_event(From& from, To& to) {
  if (!from.has_event()) return {};
  return get(*from.mutable_event(), to.event.emplace());
}

}  // namespace

void put(const ProjectionInfo& from, pb::ProjectionInfo& to) {
  to.set_name(from.name);
  to.set_kind(from.kind);
  to.set_spec(from.spec);
  to.set_last(from.last.value);
  to.set_paused(from.paused);
  to.set_watermark(from.watermark.value);
  for (const auto& version : from.versions) {
    auto& one = *to.add_versions();
    one.set_version(version.version.value);
    one.set_rows(version.rows.value);
    one.set_state(version.state);
    one.set_complete(version.complete);
    one.set_serving(version.serving);
    one.set_position(version.position.value);
    one.set_lag(version.lag);
    one.set_events(version.events);
    one.set_errors(version.errors);
    if (version.error) put(*version.error, *one.mutable_error());
    if (version.failed_at) one.set_failed_at(version.failed_at->value);
    if (version.busy_ms) one.set_busy_ms(*version.busy_ms);
    for (const auto& [name, value] : version.figures) {
      auto& figure = *one.add_figures();
      figure.set_name(name);
      figure.set_value(value);
    }
    if (version.part) one.set_part(*version.part);
    one.set_home(version.home);
  }
}

Result<void> get(pb::ProjectionInfo& from, ProjectionInfo& to) {
  to = {std::move(*from.mutable_name()),
        std::move(*from.mutable_kind()),
        std::move(*from.mutable_spec()),
        SeqNr{from.last()},
        from.paused(),
        GlobalPosition{from.watermark()},
        {}};
  for (auto& one : *from.mutable_versions()) {
    ProjectionVersion version;
    version.version = SeqNr{one.version()};
    version.rows = SeqNr{one.rows()};
    version.state = std::move(*one.mutable_state());
    version.complete = one.complete();
    version.serving = one.serving();
    version.position = GlobalPosition{one.position()};
    version.lag = one.lag();
    version.events = one.events();
    version.errors = one.errors();
    if (one.has_error()) EVERSHARD_TRY(get(*one.mutable_error(), version.error.emplace()));
    if (one.has_failed_at()) version.failed_at = GlobalPosition{one.failed_at()};
    if (one.has_busy_ms()) version.busy_ms = one.busy_ms();
    for (auto& figure : *one.mutable_figures())
      version.figures.emplace_back(std::move(*figure.mutable_name()), figure.value());
    if (one.has_part()) version.part = one.part();
    version.home = one.home();
    to.versions.push_back(std::move(version));
  }
  return {};
}

void put(const IndexRead& from, pb::ReadIndexRequest& to) {
  if (from.start) to.set_start(*from.start);
  to.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(from.limit, UINT32_MAX)));
  to.set_backwards(from.direction == Direction::backwards);
  put_rows(from.rows, to);
}

Result<void> get(const pb::ReadIndexRequest& from, IndexRead& to) {
  if (from.has_start()) to.start = from.start();
  if (from.has_limit()) to.limit = from.limit();
  if (from.backwards()) to.direction = Direction::backwards;
  get_rows(from, to.rows);
  return {};
}

void put(const ValueRead& from, pb::ReadValuesRequest& to) {
  if (from.equal) to.set_equal(*from.equal);
  if (from.from) to.set_from(*from.from);
  if (from.to) to.set_to(*from.to);
  if (from.until) to.set_until(*from.until);
  to.set_after(from.after);
  to.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(from.limit, UINT32_MAX)));
  to.set_backwards(from.direction == Direction::backwards);
  put_rows(from.rows, to);
}

Result<void> get(const pb::ReadValuesRequest& from, ValueRead& to) {
  if (from.has_equal()) to.equal = from.equal();
  if (from.has_from()) to.from = from.from();
  if (from.has_to()) to.to = from.to();
  if (from.has_until()) to.until = from.until();
  to.after = from.after();
  if (from.has_limit()) to.limit = from.limit();
  if (from.backwards()) to.direction = Direction::backwards;
  get_rows(from, to.rows);
  return {};
}

void put(const IndexPage& from, pb::IndexPage& to) {
  to.set_count(from.count);
  to.set_watermark(from.watermark.value);
  for (const auto& entry : from.entries) {
    auto& one = *to.add_entries();
    one.set_number(entry.number);
    one.set_position(entry.position.value);
    if (entry.event) put(*entry.event, *one.mutable_event());
  }
}

Result<void> get(pb::IndexPage& from, IndexPage& to) {
  to = {{}, from.count(), GlobalPosition{from.watermark()}};
  for (auto& one : *from.mutable_entries())
    EVERSHARD_TRY(
        get_event(one, to.entries.emplace_back(IndexEntry{one.number(), GlobalPosition{one.position()}, {}})));
  return {};
}

void put(const ValuePage& from, pb::ValuePage& to) {
  to.set_next(from.next);
  to.set_watermark(from.watermark.value);
  for (const auto& entry : from.entries) {
    auto& one = *to.add_entries();
    one.set_value(entry.value);
    one.set_position(entry.position.value);
    if (entry.event) put(*entry.event, *one.mutable_event());
  }
}

Result<void> get(pb::ValuePage& from, ValuePage& to) {
  to = {{}, std::move(*from.mutable_next()), GlobalPosition{from.watermark()}};
  for (auto& one : *from.mutable_entries())
    EVERSHARD_TRY(get_event(
        one, to.entries.emplace_back(ValueEntry{std::move(*one.mutable_value()), GlobalPosition{one.position()}, {}})));
  return {};
}

void put(Projections::Ask from, pb::AskProjectionRequest& to) {
  to.set_ask(static_cast<pb::AskProjectionRequest::Ask>(static_cast<int>(from) + 1));
}

Result<void> get(const pb::AskProjectionRequest& from, Projections::Ask& to) {
  if (from.ask() < pb::AskProjectionRequest::ASK_PAUSE || from.ask() > pb::AskProjectionRequest::ASK_DROP)
    return refuse(ErrorCode::invalid_argument, "ask: is missing, or none that is known");
  to = static_cast<Projections::Ask>(from.ask() - 1);
  return {};
}

}  // namespace evershard::messages
