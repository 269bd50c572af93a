#include "evershard/services/retention/cluster_erasure.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/services/retention/store_retention.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint32_t done_index =
    1;  ///< of the event's id, made of the operation's: whoever says it second says nothing new

storage::RewriteFigures figures_of(const RetentionResult& result) {
  storage::RewriteFigures figures;
  figures.events = result.events;
  figures.records = result.records;
  figures.bytes_before = result.bytes_before;
  figures.bytes_after = result.bytes_after;
  return figures;
}

}  // namespace

Result<RetentionResult> ClusterErasure::erase(const std::string& subject, const RetentionOrder& order,
                                              const Progress& progress) {
  EVERSHARD_TRY(check_name("subject", subject, subject_bytes_max));
  EVERSHARD_TRY(check(order));
  const std::lock_guard one_at_a_time(mutex_);
  if (!order.dry_run) {
    // What cannot be finished just now keeps nobody else's key alive: it is told by finish().
    const auto others = finish_in_turn(progress);
    if (!others && others.error().code == ErrorCode::cancelled) return refuse(others.error());
  }
  auto key = keys_->current(subject);
  if (!key) return refuse(std::move(key).error());
  if (!*key)
    return refuse(ErrorCode::not_found,
                  "subject " + in_quotes(subject) +
                      " has no key: nothing was sealed for it with these keys, or it is erased already");
  if (order.dry_run) return take_out_(**key, order, progress);

  const auto id = EventId::random();
  const Left ordered{id.text(), **key};
  auto event = retention_event(retention_log(), retention::erasure_ordered,
                               RetentionPayload(ordered.operation, order).text("key", (*key)->text()).take());
  EVERSHARD_TRY(check_fits(event.payload, limits_));  // before the key goes
  event.id = id;
  auto said = log_.append(Append{}.event(std::move(event)));
  if (!said) return refuse(std::move(said).error());
  step(StoreRetention::Steps::ordered);
  return erase_ordered(ordered, order, progress);
}

Result<RetentionResult> ClusterErasure::erase_ordered(const Left& ordered, const RetentionOrder& order,
                                                      const Progress& progress) {
  EVERSHARD_TRY(keys_->destroy(ordered.key));
  step("retention.key_destroyed");
  return take_out_ordered(ordered, order, progress);
}

Result<RetentionResult> ClusterErasure::take_out_ordered(const Left& ordered, const RetentionOrder& order,
                                                         const Progress& progress) {
  auto result = take_out_(ordered.key, order, progress);
  if (!result && result.error().code != ErrorCode::cancelled) {
    // The same again would be told that there is no key: what matters is done.
    auto why = std::move(result).error();
    why.what =
        "the key is destroyed, and nobody can read what it sealed; the next erasure, `run` or `vacuum` takes the "
        "ciphertext out where that is left: " +
        why.what;
    return refuse(std::move(why));
  }
  if (!result) return result;
  auto event = retention_event(
      retention_log(), retention::erasure_done,
      RetentionPayload(ordered.operation, {}).text("key", ordered.key.text()).figures(figures_of(*result)).take());
  const auto id = EventId::parse(ordered.operation);
  if (!id) return refuse(ErrorCode::corruption, "an erasure in the log has no name");
  event.id = EventId::derived(*id, done_index);
  auto done = log_.append(Append{}.event(std::move(event)));
  if (!done && done.error().code != ErrorCode::duplicate_event) return refuse(std::move(done).error());
  step(StoreRetention::Steps::done);
  result->operation = ordered.operation;
  return result;
}

Result<void> ClusterErasure::finish(const Progress& progress) {
  const std::lock_guard one_at_a_time(mutex_);
  return finish_in_turn(progress);
}

Result<void> ClusterErasure::finish_in_turn(const Progress& progress) {
  auto open = left();
  if (!open) return refuse(std::move(open).error());
  std::optional<Error> first;
  for (const auto& ordered : *open) {
    auto destroyed = keys_->destroy(ordered.key);
    // Without its keys a cluster cannot go on with it: whoever gives them back does.
    if (!destroyed && destroyed.error().code == ErrorCode::invalid_argument) continue;
    auto done = destroyed ? take_out_ordered(ordered, {}, progress)
                          : Result<RetentionResult>(refuse(std::move(destroyed).error()));
    if (done) continue;
    if (done.error().code == ErrorCode::cancelled) return refuse(std::move(done).error());
    if (!first) first = std::move(done).error();
  }
  if (first) return refuse(*std::move(first));
  return {};
}

/// In order; all of the log behind what is known to be settled.
Result<std::vector<ClusterErasure::Left>> ClusterErasure::left() {
  std::vector<Left> open;
  SeqNr last = settled_, open_from{0};
  auto stream = log_.read(retention_log(), {.from = settled_ + 1});
  for (const auto& event : stream) {
    last = event.seq_nr;
    const bool ordered = event.type == retention::erasure_ordered;
    if (!ordered && event.type != retention::erasure_done) continue;
    const auto json = nlohmann::json::parse(event.payload, nullptr, false);
    const auto text = [&](const char* name) {
      return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                               : std::string();
    };
    const auto operation = text("operation");
    std::erase_if(open, [&](const Left& one) { return one.operation == operation; });
    if (!ordered) continue;
    const auto key = KeyId::parse(text("key"));
    if (!key) return refuse(ErrorCode::corruption, "an erasure in the log names no key");
    if (open.empty()) open_from = event.seq_nr;
    open.push_back({operation, *key});
  }
  if (stream.error()) return refuse(*stream.error());
  settled_ = open.empty() ? last : SeqNr{std::min(last.value, open_from.value - 1)};
  return open;
}

}  // namespace evershard::cluster
