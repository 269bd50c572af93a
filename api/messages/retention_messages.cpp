#include "evershard/api/messages/retention_messages.hpp"

#include <limits>
#include <utility>

namespace evershard::messages {

void put(const RetentionOrder& from, pb::RetentionOrder& to) {
  to.set_by(from.by);
  to.set_reason(from.reason);
  to.set_dry_run(from.dry_run);
  to.set_bytes_per_second(from.bytes_per_second);
}

void put(const RetentionResult& from, pb::RetentionResult& to) {
  to.set_operation(from.operation);
  to.set_aggregates(from.aggregates);
  to.set_events(from.events);
  to.set_snapshots(from.snapshots);
  to.set_records(from.records);
  to.set_bytes_before(from.bytes_before);
  to.set_bytes_after(from.bytes_after);
  to.set_version(from.version.value);
  to.set_before(from.before.value);
  if (from.covered_by) to.set_covered_by(from.covered_by->value);
  to.set_covered_revision(from.covered_revision);
}

void put(const RetentionPolicy& from, pb::RetentionPolicy& to) {
  to.set_name(from.name);
  to.set_kind(static_cast<pb::RetentionPolicyKind>(from.kind));
  to.set_type(from.type);
  to.set_keep_seconds(from.keep.count() < 0 ? 0 : static_cast<std::uint64_t>(from.keep.count()));
  to.set_uncovered(from.uncovered);
}

void put(RetentionEntry&& from, pb::RetentionEntry& to) {
  to.set_position(from.position.value);
  to.set_number(from.number.value);
  to.set_at_us(from.at.micros);
  to.set_what(std::move(from.what));
  to.set_json(std::move(from.json));
}

RetentionOrder order_of(const pb::RetentionOrder& from) {
  return {from.by(), from.reason(), from.dry_run(), from.bytes_per_second()};
}

RetentionResult result_of(const pb::RetentionResult& from) {
  RetentionResult to{from.operation(),   from.aggregates(),     from.events(),
                     from.snapshots(),   from.records(),        from.bytes_before(),
                     from.bytes_after(), SeqNr(from.version()), SeqNr(from.before())};
  if (from.has_covered_by()) to.covered_by = SeqNr(from.covered_by());
  to.covered_revision = from.covered_revision();
  return to;
}

Result<RetentionPolicy> policy_of(const pb::RetentionPolicy& from) {
  if (from.kind() < pb::RETENTION_POLICY_KIND_EVENTS || from.kind() > pb::RETENTION_POLICY_KIND_REMOVE)
    return refuse(ErrorCode::invalid_argument, "policy.kind: is unknown");
  if (from.keep_seconds() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return refuse(ErrorCode::invalid_argument, "policy.keep_seconds: is too long");
  return RetentionPolicy{from.name(), static_cast<RetentionPolicy::Kind>(from.kind()), from.type(),
                         std::chrono::seconds(static_cast<std::int64_t>(from.keep_seconds())), from.uncovered()};
}

RetentionEntry entry_of(pb::RetentionEntry&& from) {
  return {GlobalPosition(from.position()), SeqNr(from.number()), Timestamp{from.at_us()},
          std::move(*from.mutable_what()), std::move(*from.mutable_json())};
}

}  // namespace evershard::messages
