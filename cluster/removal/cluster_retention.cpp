#include "evershard/cluster/removal/cluster_retention.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "evershard/api/messages/retention_messages.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using Again = HomeCalls::Again;

constexpr auto begin_time = std::chrono::seconds(10);
constexpr auto wait_time = std::chrono::seconds(15);  ///< a home that does not answer for so long is given up
constexpr auto policy_list_time = std::chrono::seconds(5);
constexpr auto give_up_time = std::chrono::seconds(15);
constexpr auto shown_within = std::chrono::seconds(10);
constexpr auto heard_within = std::chrono::milliseconds(500);
constexpr auto report_every = std::chrono::milliseconds(50);

Error ended_with(const v1::RetentionGoesOn& told) {
  const auto code = told.trouble_code();
  if (code <= 0 || code > static_cast<int>(error_code_last)) return {ErrorCode::unavailable, told.trouble()};
  return {static_cast<ErrorCode>(code), told.trouble()};
}

Error went_away(bool dry_run, const std::string& why) {
  if (dry_run) return {ErrorCode::unavailable, "the node that looked went away: " + why};
  return {ErrorCode::timeout, "it is not known what became of it: the node that did it went away (" + why +
                                  "). The same again tells, and does what is left"};
}

std::string named(const std::vector<ShardId>& shards) {
  constexpr std::size_t most = 10;
  std::string text = shards.size() == 1 ? "shard " : "shards ";
  for (std::size_t i = 0; i != std::min(shards.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shards[i].value);
  return shards.size() > most ? text + " and " + std::to_string(shards.size() - most) + " more" : text;
}

Error both_troubles(Error trouble, const std::optional<Error>& also) {
  if (also) trouble.what += "; and " + also->what;
  return trouble;
}

/// One home's work, until it has ended. Errors: the work's; those of calls to homes
Result<v1::RetentionGoesOn> carried_out(HomeCalls& homes, const AggregateId& address, v1::BeginRetention asked,
                                        bool dry_run, const Progress& progress) {
  asked.set_id(EventId::random().text());
  const auto begun = homes.call({"retention.begin", address, asked.SerializeAsString(), begin_time}, Again::always);
  if (!begun) return refuse(begun.error());
  std::optional<Clock::time_point> given_up;
  for (;;) {
    v1::WaitForRetention waiting;
    waiting.set_id(asked.id());
    waiting.set_give_up(given_up.has_value());
    const auto bytes = homes.call({"retention.wait", address, waiting.SerializeAsString(), wait_time}, Again::always);
    if (!bytes) return refuse(went_away(dry_run, bytes.error().what));
    v1::RetentionGoesOn told;
    if (!told.ParseFromString(*bytes)) return refuse(went_away(dry_run, "it answers what cannot be read"));
    if (told.unknown()) return refuse(went_away(dry_run, "it knows nothing of it any more"));
    if (told.has_result()) return told;
    if (told.trouble_code() != 0) return refuse(ended_with(told));
    if (given_up && Clock::now() > *given_up)
      return refuse(ErrorCode::cancelled, "stopped; what was ordered is done by the next call");
    if (!given_up && progress && !progress(told.done(), told.total())) given_up = Clock::now() + give_up_time;
  }
}

}  // namespace

Result<RetentionResult> ClusterRetention::truncate_aggregate(const AggregateId& aggregate, SeqNr before,
                                                             TruncateOptions options, Progress progress) {
  EVERSHARD_TRY(check_removable(aggregate));
  EVERSHARD_TRY(check(options));
  v1::BeginRetention asked;
  auto& truncate = *asked.mutable_truncate();
  messages::put(aggregate, *truncate.mutable_aggregate());
  truncate.set_before(before.value);
  truncate.set_uncovered(options.uncovered);
  messages::put(options, *truncate.mutable_order());
  return at_home(aggregate, std::move(asked), options.dry_run, progress);
}

Result<RetentionResult> ClusterRetention::remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                                           Progress progress) {
  EVERSHARD_TRY(check_removable(aggregate));
  EVERSHARD_TRY(check(order));
  v1::BeginRetention asked;
  messages::put(aggregate, *asked.mutable_remove()->mutable_aggregate());
  messages::put(order, *asked.mutable_remove()->mutable_order());
  return at_home(aggregate, std::move(asked), order.dry_run, progress);
}

Result<RetentionResult> ClusterRetention::erase_subject(const std::string& subject, RetentionOrder order,
                                                        Progress progress) {
  EVERSHARD_TRY(check_name("subject", subject, subject_bytes_max));
  if (!erasure_) return refuse(ErrorCode::invalid_argument, "this node was made without keys: nothing can be erased");
  return erasure_->erase(subject, order, progress);
}

Result<void> ClusterRetention::finish_here(const Progress& progress) {
  const auto finished = here_.finish(progress);
  if (!finished && finished.error().code == ErrorCode::cancelled) return finished;
  const auto erased = finish_erasures(progress);
  return finished ? erased : finished;
}

Result<RetentionResult> ClusterRetention::at_home(const AggregateId& aggregate, v1::BeginRetention asked, bool dry_run,
                                                  const Progress& progress) {
  const auto ended = carried_out(homes_, aggregate, std::move(asked), dry_run, progress);
  if (!ended) return refuse(ended.error());
  // Waits so that the next caller at this node sees the removal; if it does not show in time, it is done all the same.
  static_cast<void>(node_.wait_for(GlobalPosition{ended->position()}, shown_within));
  if (!dry_run) have_all_look_again();
  return messages::result_of(ended->result());
}

Result<void> ClusterRetention::take_over(const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least) {
  v1::BeginRetention asked;
  auto& take_over = *asked.mutable_take_over();
  messages::put(aggregate, *take_over.mutable_aggregate());
  take_over.set_marker(std::string(marker.bytes.begin(), marker.bytes.end()));
  take_over.set_position(at_least.value);
  const auto taken_over = at_home(aggregate, std::move(asked), false, {});
  if (!taken_over) return refuse(taken_over.error());
  return {};
}

AggregateId ClusterRetention::address_of(ShardId shard) const {
  for (std::uint64_t i = 0;; ++i) {
    AggregateId address{std::string(retention::log_type), std::to_string(i)};
    if (node_.shard_of(address) == shard) return address;
  }
}

void ClusterRetention::have_all_look_again() {
  struct Hearing {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t asked = 0;
  };
  here_.heard();
  const auto hearing = std::make_shared<Hearing>();
  std::set<std::uint32_t> told{0, homes_.node()};
  const auto owners = node_.committer().owners();
  for (std::size_t s = 0; s != owners.size(); ++s) {
    if (!told.insert(owners[s]).second) continue;
    {
      const std::lock_guard lock(hearing->mutex);
      ++hearing->asked;
    }
    homes_.ask_once({"retention.heard", address_of(ShardId{static_cast<std::uint16_t>(s)}), {}, heard_within},
                    [hearing](const Result<HomeAnswered>&) {
                      const std::lock_guard lock(hearing->mutex);
                      --hearing->asked;
                      hearing->changed.notify_all();
                    });
  }
  std::unique_lock lock(hearing->mutex);
  hearing->changed.wait_for(lock, heard_within, [&] { return hearing->asked == 0; });
}

struct ClusterRetention::Part {
  AggregateId address{};
  std::thread thread{};
  std::atomic<std::uint64_t> done{0}, total{0};
  std::atomic<bool> ended{false};
  Result<v1::RetentionGoesOn> outcome{};
};

Result<PoliciesApplied> ClusterRetention::everywhere(const v1::BeginRetention& asked, bool dry_run,
                                                     const Progress& progress) {
  std::map<std::uint32_t, Part> parts;  // by node
  const auto owners = node_.committer().owners();
  for (std::size_t s = 0; s != owners.size(); ++s) {
    if (owners[s] != 0 && !parts.contains(owners[s]))
      parts[owners[s]].address = address_of(ShardId{static_cast<std::uint16_t>(s)});
  }
  std::atomic<bool> stopped{false};
  for (auto& [number, part] : parts) {
    const auto work = [this, &asked, &stopped, dry_run, &own = part] {
      own.outcome = carried_out(homes_, own.address, asked, dry_run, [&](std::uint64_t done, std::uint64_t total) {
        own.done = done;
        own.total = total;
        return !stopped;
      });
      own.ended = true;
    };
    try {
      part.thread = std::thread(work);
    } catch (const std::system_error&) {
      part.outcome = refuse(ErrorCode::unavailable, "this node has no thread to ask it");
      part.ended = true;
    }
  }
  // The caller's progress function is called in the caller's own thread.
  while (std::ranges::any_of(parts, [](const auto& part) { return !part.second.ended; })) {
    std::uint64_t done = 0, total = 0;
    for (const auto& [number, part] : parts) {
      done += part.done;
      total += part.total;
    }
    if (progress && !stopped && !progress(done, total)) stopped = true;
    std::this_thread::sleep_for(report_every);
  }
  PoliciesApplied sum;
  std::set<std::uint32_t> looked_at;
  GlobalPosition position;
  std::optional<Error> failed;
  for (auto& [number, part] : parts) {
    if (part.thread.joinable()) part.thread.join();
    if (!part.outcome) {
      auto why = part.outcome.error();
      why.what = "node " + std::to_string(number) + ": " + why.what;
      if (!failed) failed = std::move(why);
      continue;
    }
    const auto& told = *part.outcome;
    const auto result = messages::result_of(told.result());
    sum.total.aggregates += result.aggregates;
    sum.total.events += result.events;
    sum.total.snapshots += result.snapshots;
    sum.total.records += result.records;
    sum.total.bytes_before += result.bytes_before;
    sum.total.bytes_after += result.bytes_after;
    looked_at.insert(told.shards().begin(), told.shards().end());
    position = std::max(position, GlobalPosition{told.position()});
    if (told.trouble_code() == 0) continue;
    auto why = ended_with(told);
    why.what = "node " + std::to_string(number) + ": " + why.what;
    if (told.shards().empty() && !failed) failed = why;
    if (!sum.trouble) sum.trouble = std::move(why);
  }
  if (stopped) return refuse(ErrorCode::cancelled, "stopped; what was ordered is done by the next call");
  // Not shown in time: it is done all the same.
  static_cast<void>(node_.wait_for(position, shown_within));
  if (!dry_run) have_all_look_again();
  std::vector<ShardId> left;
  for (std::size_t s = 0; s != owners.size(); ++s)
    if (!looked_at.contains(static_cast<std::uint32_t>(s))) left.push_back(ShardId{static_cast<std::uint16_t>(s)});
  if (!left.empty()) {
    ErrorDetails details;
    details.shard = left.front();
    const auto code = failed && failed->code != ErrorCode::wrong_shard ? failed->code : ErrorCode::unavailable;
    auto what =
        "not done for " + named(left) + ": " + (failed ? failed->what : std::string("no node has them just now"));
    // This advice does not hold for an erasure: its key is gone. And an error of unknown outcome gives the advice
    // itself.
    if (!asked.has_take_out() && !what.ends_with("does what is left")) what += ". The same again does what is left";
    sum.trouble = Error(code, std::move(what), std::move(details));
  }
  return sum;
}

Result<ClusterRetention::Policies> ClusterRetention::policies_there() {
  auto all = records_.policies();
  if (all) return Policies{*std::move(all), {}};
  if (all.error().code != ErrorCode::unavailable && all.error().code != ErrorCode::timeout &&
      all.error().code != ErrorCode::wrong_shard)
    return refuse(std::move(all).error());
  v1::PoliciesThere asked;
  asked.set_position(node_.committer().watch().watermark().value);
  const auto owners = node_.committer().owners();
  std::set<std::uint32_t> asked_of, read;
  Policies policies;
  std::optional<Error> failed;
  for (std::size_t s = 0; s != owners.size(); ++s) {
    if (owners[s] == 0 || !asked_of.insert(owners[s]).second) continue;
    const auto bytes = homes_.call({"retention.policies", address_of(ShardId{static_cast<std::uint16_t>(s)}),
                                    asked.SerializeAsString(), policy_list_time},
                                   Again::read);
    if (!bytes && bytes.error().code == ErrorCode::corruption) return refuse(bytes.error());
    v1::PoliciesThere told;
    if (!bytes || !told.ParseFromString(*bytes)) {
      if (!failed)
        failed = Error(ErrorCode::unavailable,
                       "node " + std::to_string(owners[s]) + ": " +
                           (bytes ? std::string("it answers what cannot be read") : bytes.error().what));
      continue;
    }
    read.insert(told.shards().begin(), told.shards().end());
    for (const auto& policy : told.policies()) {
      auto known = messages::policy_of(policy);
      if (!known) return refuse(std::move(known).error());
      policies.found.push_back(*std::move(known));
    }
  }
  std::vector<ShardId> left;
  for (std::size_t s = 0; s != owners.size(); ++s)
    if (!read.contains(static_cast<std::uint32_t>(s))) left.push_back(ShardId{static_cast<std::uint16_t>(s)});
  if (left.empty()) return policies;
  ErrorDetails details;
  details.shard = left.front();
  policies.trouble = Error(ErrorCode::unavailable,
                           "policies of " + named(left) + " could not be read, and were not applied: " +
                               (failed ? failed->what : std::string("no node has them just now")),
                           std::move(details));
  return policies;
}

Result<RetentionResult> ClusterRetention::apply_retention(RetentionOrder order, Progress progress) {
  EVERSHARD_TRY(check(order));
  auto policies = policies_there();
  if (!policies) return refuse(policies.error());
  const auto erased = order.dry_run ? Result<void>() : finish_erasures(progress);
  if (!erased && erased.error().code == ErrorCode::cancelled) return refuse(erased.error());
  v1::BeginRetention asked;
  messages::put(order, *asked.mutable_policies()->mutable_order());
  for (const auto& policy : policies->found) messages::put(policy, *asked.mutable_policies()->add_policies());
  auto applied = everywhere(asked, order.dry_run, progress);
  if (!applied) return refuse(std::move(applied).error());
  auto total = records_.run(std::move(applied->total), order);
  if (total && applied->trouble) return refuse(both_troubles(*std::move(applied->trouble), policies->trouble));
  if (total && policies->trouble) return refuse(*std::move(policies->trouble));
  if (total && !erased) return refuse(erased.error());
  return total;
}

Result<RetentionResult> ClusterRetention::take_out(const std::string& key, const RetentionOrder& order,
                                                   const Progress& progress) {
  v1::BeginRetention asked;
  messages::put(order, *asked.mutable_take_out()->mutable_order());
  asked.mutable_take_out()->set_key(key);
  auto done = everywhere(asked, order.dry_run, progress);
  if (!done) return refuse(std::move(done).error());
  if (done->trouble) return refuse(*std::move(done->trouble));
  return std::move(done->total);
}

Result<RetentionResult> ClusterRetention::apply_here(const RetentionOrder& order, const Progress& progress) {
  auto policies = policies_there();
  if (!policies) return refuse(policies.error());
  auto applied = here_.apply(policies->found, order, progress);
  if (!applied) return refuse(std::move(applied).error());
  auto total = records_.run(std::move(applied->total), order, homes_.node());
  if (!order.dry_run) have_all_look_again();
  if (total && applied->trouble) return refuse(both_troubles(*std::move(applied->trouble), policies->trouble));
  if (total && policies->trouble) return refuse(*std::move(policies->trouble));
  return total;
}

}  // namespace evershard::cluster
