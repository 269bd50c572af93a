#include "evershard/api/messages/group_messages.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace evershard::messages {
namespace {

constexpr std::uint64_t ms_max = std::numeric_limits<std::uint32_t>::max();  // more than any setting takes

std::uint64_t ms_of(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}
std::chrono::milliseconds time_of(std::uint64_t ms) { return std::chrono::milliseconds(std::min(ms, ms_max)); }

pb::GroupOrder order_of(GroupOrder order) {
  return order == GroupOrder::global ? pb::GROUP_ORDER_GLOBAL : pb::GROUP_ORDER_AGGREGATE;
}
pb::AfterParked after_of(AfterParked after) {
  return after == AfterParked::block ? pb::AFTER_PARKED_BLOCK : pb::AFTER_PARKED_GO_ON;
}

}  // namespace

void put(const GroupSettings& from, pb::GroupSettings& to) {
  to.set_order(order_of(from.order));
  to.set_after_parked(after_of(from.after_parked));
  to.set_attempts_max(from.attempts_max);
  to.set_retry_first_ms(ms_of(from.retry_first));
  to.set_retry_factor(from.retry_factor);
  to.set_retry_most_ms(ms_of(from.retry_most));
  to.set_retry_jitter_percent(from.retry_jitter_percent);
  to.set_lease_ms(ms_of(from.lease));
  to.set_window(from.window);
  to.set_parked_max(from.parked_max);
}

void put(const GroupSettingsChange& from, pb::GroupSettings& to) {
  if (from.order) to.set_order(order_of(*from.order));
  if (from.after_parked) to.set_after_parked(after_of(*from.after_parked));
  if (from.attempts_max) to.set_attempts_max(*from.attempts_max);
  if (from.retry_first) to.set_retry_first_ms(ms_of(*from.retry_first));
  if (from.retry_factor) to.set_retry_factor(*from.retry_factor);
  if (from.retry_most) to.set_retry_most_ms(ms_of(*from.retry_most));
  if (from.retry_jitter_percent) to.set_retry_jitter_percent(*from.retry_jitter_percent);
  if (from.lease) to.set_lease_ms(ms_of(*from.lease));
  if (from.window) to.set_window(*from.window);
  if (from.parked_max) to.set_parked_max(*from.parked_max);
}

Result<void> get(const pb::GroupSettings& from, GroupSettingsChange& to) {
  if (from.has_order()) {
    if (from.order() != pb::GROUP_ORDER_AGGREGATE && from.order() != pb::GROUP_ORDER_GLOBAL)
      return refuse(ErrorCode::invalid_argument, "settings.order: is unknown");
    to.order = from.order() == pb::GROUP_ORDER_GLOBAL ? GroupOrder::global : GroupOrder::aggregate;
  }
  if (from.has_after_parked()) {
    if (from.after_parked() != pb::AFTER_PARKED_GO_ON && from.after_parked() != pb::AFTER_PARKED_BLOCK) {
      return refuse(ErrorCode::invalid_argument, "settings.after_parked: is unknown");
    }
    to.after_parked = from.after_parked() == pb::AFTER_PARKED_BLOCK ? AfterParked::block : AfterParked::go_on;
  }
  if (from.has_attempts_max()) to.attempts_max = from.attempts_max();
  if (from.has_retry_first_ms()) to.retry_first = time_of(from.retry_first_ms());
  if (from.has_retry_factor()) to.retry_factor = from.retry_factor();
  if (from.has_retry_most_ms()) to.retry_most = time_of(from.retry_most_ms());
  if (from.has_retry_jitter_percent()) to.retry_jitter_percent = from.retry_jitter_percent();
  if (from.has_lease_ms()) to.lease = time_of(from.lease_ms());
  if (from.has_window()) to.window = from.window();
  if (from.has_parked_max()) to.parked_max = from.parked_max();
  return {};
}

Result<void> get(const pb::GroupSettings& from, GroupSettings& to) {
  GroupSettingsChange change;
  EVERSHARD_TRY(get(from, change));
  change.apply(to);
  return {};
}

void put(const GroupInfo& from, pb::GroupInfo& to) {
  to.set_name(from.definition.name);
  put(from.definition.query, *to.mutable_query());
  to.set_after(from.definition.after.value_or(GlobalPosition{0}).value);
  put(from.definition.settings, *to.mutable_settings());
  to.set_position(from.position.value);
  to.set_read_to(from.read_to.value);
  to.set_head(from.head.value);
  to.set_unsettled(from.unsettled);
  to.set_in_flight(from.in_flight);
  to.set_waiting(from.waiting);
  to.set_parked(from.parked);
  to.set_parked_full(from.parked_full);
  to.set_acknowledged(from.acknowledged);
  to.set_rejected(from.rejected);
  to.set_expired(from.expired);
  to.set_parked_ever(from.parked_ever);
  to.set_replayed(from.replayed);
  to.set_discarded(from.discarded);
  to.set_damaged(from.damaged);
  for (const auto& worker : from.workers) {
    auto& member = *to.add_workers();
    member.set_name(worker.name);
    member.set_worker(worker.worker);
    member.set_credit(worker.credit);
    member.set_in_flight(worker.in_flight);
    member.set_share(worker.share);
    member.set_oldest(worker.oldest.value);
    member.set_acknowledged(worker.acknowledged);
  }
  to.set_trouble(from.trouble);
}

Result<void> get(pb::GroupInfo& from, GroupInfo& to) {
  to.definition.name = std::move(*from.mutable_name());
  EVERSHARD_TRY(get(*from.mutable_query(), to.definition.query));
  to.definition.after = GlobalPosition(from.after());
  EVERSHARD_TRY(get(from.settings(), to.definition.settings));
  to.position = GlobalPosition(from.position());
  to.read_to = GlobalPosition(from.read_to());
  to.head = GlobalPosition(from.head());
  to.unsettled = from.unsettled();
  to.in_flight = from.in_flight();
  to.waiting = from.waiting();
  to.parked = from.parked();
  to.parked_full = from.parked_full();
  to.acknowledged = from.acknowledged();
  to.rejected = from.rejected();
  to.expired = from.expired();
  to.parked_ever = from.parked_ever();
  to.replayed = from.replayed();
  to.discarded = from.discarded();
  to.damaged = from.damaged();
  for (const auto& member : from.workers()) {
    to.workers.push_back({member.name(), member.worker(), member.credit(), member.in_flight(), member.share(),
                          GlobalPosition(member.oldest()), member.acknowledged()});
  }
  to.trouble = std::move(*from.mutable_trouble());
  return {};
}

void put(const ParkedEvent& from, pb::ParkedEvent& to) {
  to.set_position(from.position.value);
  to.set_attempts(from.attempts);
  to.set_behind(from.behind);
  to.set_reason(from.reason);
  to.set_parked_at(from.parked_at.micros);
  if (from.aggregate) put(*from.aggregate, *to.mutable_aggregate());
  to.set_type(from.type);
}

void get(pb::ParkedEvent& from, ParkedEvent& to) {
  to.position = GlobalPosition(from.position());
  to.attempts = from.attempts();
  to.behind = from.behind();
  to.reason = std::move(*from.mutable_reason());
  to.parked_at = Timestamp{from.parked_at()};
  if (from.has_aggregate()) to.aggregate = AggregateId{from.aggregate().type(), from.aggregate().value()};
  to.type = std::move(*from.mutable_type());
}

void put(const GroupDelivery& from, pb::WorkResponse::Delivery& to) {
  put(from.event, *to.mutable_event());
  to.set_delivery(from.delivery);
  to.set_attempt(from.attempt);
}

Result<void> get(pb::WorkResponse::Delivery& from, GroupDelivery& to) {
  EVERSHARD_TRY(get(*from.mutable_event(), to.event));
  to.delivery = from.delivery();
  to.attempt = from.attempt();
  return {};
}

void put(const GroupSettlement& from, pb::WorkRequest::Settlement& to) {
  using Kind = GroupSettlement::Kind;
  to.set_kind(from.kind == Kind::acknowledge ? pb::WorkRequest::Settlement::KIND_ACKNOWLEDGE
              : from.kind == Kind::reject    ? pb::WorkRequest::Settlement::KIND_REJECT
              : from.kind == Kind::park      ? pb::WorkRequest::Settlement::KIND_PARK
                                             : pb::WorkRequest::Settlement::KIND_BEGIN);
  to.set_position(from.position.value);
  to.set_delivery(from.delivery);
  to.set_reason(from.reason);
  // One below 0 has to be refused where it is settled: none that is taken is as long as this.
  if (from.after)
    to.set_after_ms(from.after->count() < 0 ? std::numeric_limits<std::int64_t>::max() : ms_of(*from.after));
}

Result<void> get(pb::WorkRequest::Settlement& from, GroupSettlement& to) {
  using Kind = GroupSettlement::Kind;
  switch (from.kind()) {
    case pb::WorkRequest::Settlement::KIND_ACKNOWLEDGE:
      to.kind = Kind::acknowledge;
      break;
    case pb::WorkRequest::Settlement::KIND_REJECT:
      to.kind = Kind::reject;
      break;
    case pb::WorkRequest::Settlement::KIND_PARK:
      to.kind = Kind::park;
      break;
    case pb::WorkRequest::Settlement::KIND_BEGIN:
      to.kind = Kind::begin;
      break;
    default:
      return refuse(ErrorCode::invalid_argument, "settlements.kind: is unknown");
  }
  to.position = GlobalPosition(from.position());
  to.delivery = from.delivery();
  to.reason = std::move(*from.mutable_reason());
  if (from.has_after_ms()) to.after = time_of(from.after_ms());
  return {};
}

}  // namespace evershard::messages
