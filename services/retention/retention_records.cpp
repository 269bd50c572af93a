#include "evershard/services/retention/retention_records.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_payloads.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t policies_a_page = 256;
constexpr auto shown_within = std::chrono::seconds(10);

AggregateId policy_aggregate(const std::string& name) { return {std::string(retention::policy_type), name}; }

Result<void> check_policy(const RetentionPolicy& policy) {
  const auto bad = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "policy " + in_quotes(policy.name) + ": " + why);
  };
  if (policy.name.empty()) return refuse(ErrorCode::invalid_argument, "a policy has a name");
  EVERSHARD_TRY(AggregateId::check(policy_aggregate(policy.name)));
  if (name_of(policy.kind) == "unknown") return bad("its kind is none of events, truncate, remove");
  if (policy.type.empty()) return bad("it names a type, of events or of aggregates");
  const bool of_events = policy.kind == RetentionPolicy::Kind::events;
  if (of_events ? is_reserved(policy.type) : is_own_aggregate(policy.type))
    return bad("types that begin with '$' are the store's own");
  if (policy.kind != RetentionPolicy::Kind::events) EVERSHARD_TRY(AggregateId::check({policy.type, "x"}));
  if (policy.keep.count() < 1) return bad("it keeps for at least a second");
  if (policy.keep > std::chrono::hours(24 * 366) * 1'000) return bad("it keeps for at most a thousand years");
  if (policy.uncovered && policy.kind != RetentionPolicy::Kind::events)
    return bad("only a policy of events may go without snapshots");
  return {};
}

}  // namespace

/// Records an entry of the log, which the next reader in this process finds.
Result<void> RetentionRecords::record(Event event) {
  const auto done = store_.append(Append{}.event(std::move(event)));
  if (!done) return refuse(done.error());
  // Not shown in time: it is done all the same.
  static_cast<void>(store_.wait_for(done->last_position, shown_within));
  return {};
}

Result<void> RetentionRecords::set_policy(const RetentionPolicy& policy, const RetentionOrder& order) {
  EVERSHARD_TRY(check_policy(policy));
  EVERSHARD_TRY(check(order));
  if (order.dry_run) return {};
  return record(
      retention_event(policy_aggregate(policy.name), retention::policy_created, policy_payload(policy, order)));
}

Result<void> RetentionRecords::drop_policy(const std::string& name, const RetentionOrder& order) {
  EVERSHARD_TRY(check(order));
  auto all = policies();
  if (!all) return refuse(std::move(all).error());
  if (std::ranges::find(*all, name, &RetentionPolicy::name) == all->end())
    return refuse(ErrorCode::not_found, "there is no policy " + in_quotes(name));
  if (order.dry_run) return {};
  return record(retention_event(policy_aggregate(name), retention::policy_dropped, RetentionPayload({}, order).take()));
}

Result<std::vector<RetentionPolicy>> RetentionRecords::policies() {
  std::vector<RetentionPolicy> found;
  std::optional<AggregateId> after;
  for (;;) {
    const auto page = store_.aggregates(std::string(retention::policy_type), after, policies_a_page);
    if (!page) return refuse(page.error());
    for (const auto& info : *page) {
      StreamOptions last;
      last.limit = 1;
      last.direction = Direction::backwards;
      auto stream = store_.read(info.aggregate, last);
      auto event = stream.next();
      if (!event) return refuse(std::move(event).error());
      if (!*event) continue;  // what it was made by is not shown yet
      auto policy = policy_in(info.aggregate, **event);
      if (!policy) return refuse(std::move(policy).error());
      if (*policy) found.push_back(**std::move(policy));
    }
    if (page->size() < policies_a_page) return found;
    after = page->back().aggregate;
  }
}

Result<std::optional<RetentionPolicy>> RetentionRecords::policy_in(const AggregateId& definition,
                                                                   const RecordedEvent& last) {
  if (last.type == retention::policy_dropped) return std::optional<RetentionPolicy>{};
  auto policy = policy_of(definition.value, last.payload);
  if (!policy)
    return refuse(ErrorCode::corruption, "policy " + in_quotes(definition.value) +
                                             " says nothing this program knows, at position " +
                                             std::to_string(last.position.value));
  return policy;
}

Result<std::vector<RetentionEntry>> RetentionRecords::log(SeqNr after, std::size_t limit) {
  StreamOptions options;
  options.from = after + 1;
  options.limit = limit;
  std::vector<RetentionEntry> entries;
  auto stream = store_.read(retention_log(), options);
  for (const auto& event : stream)
    entries.push_back({event.position, event.seq_nr, event.occurred_at, event.type, event.payload});
  if (stream.error()) return refuse(*stream.error());
  return entries;
}

Result<RetentionResult> RetentionRecords::run(RetentionResult total, const RetentionOrder& order, std::uint32_t node) {
  if (order.dry_run || (total.events == 0 && total.snapshots == 0)) return total;
  total.operation = EventId::random().text();
  RetentionPayload payload(total.operation, order);
  if (node != 0) payload.number("node", node);
  payload.number("aggregates", total.aggregates)
      .number("snapshots", total.snapshots)
      .figures({total.events, total.records, total.bytes_before, total.bytes_after});
  EVERSHARD_TRY(record(retention_event(retention_log(), retention::policies_applied, payload.take())));
  return total;
}

}  // namespace evershard::cluster
