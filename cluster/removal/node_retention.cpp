#include "evershard/cluster/removal/node_retention.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/retention_messages.hpp"
#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_records.hpp"

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds wait_at_once =
    std::chrono::seconds(1);  ///< of a job, in one call: it holds one of few threads

constexpr std::chrono::milliseconds applied_within = std::chrono::seconds(10);

AggregateId aggregate_of(const v1::AggregateId& from) { return {from.type(), from.value()}; }

}  // namespace

NodeRetention::NodeRetention(ClusterNode& node, storage::NodeStore& store, HomeCalls& homes,
                             NodeRetentionOptions options)
    : node_(node),
      store_(store),
      homes_(homes),
      options_(std::move(options)),
      reader_(store),
      writer_(node, store, options_.touched, options_.at_step),
      retention_(store, reader_, writer_, options_.keys.get(), options_.touched, options_.at_step),
      jobs_({}) {
  homes_.serve("retention.begin", [this](const HomeCall& call) -> Result<std::string> {
    auto asked = std::make_shared<v1::BeginRetention>();
    if (!asked->ParseFromString(call.request))
      return refuse(ErrorCode::invalid_argument, "a node asks for a part of retention that cannot be read");
    EVERSHARD_TRY(
        jobs_.begin(asked->id(), [this, asked](const Progress& progress) { return carry_out(*asked, progress); }));
    return v1::RetentionBegun().SerializeAsString();
  });
  homes_.serve("retention.wait", [this](const HomeCall& call) -> Result<std::string> {
    v1::WaitForRetention asked;
    if (!asked.ParseFromString(call.request))
      return refuse(ErrorCode::invalid_argument, "a node asks for a part of retention that cannot be read");
    auto state = jobs_.wait(asked.id(), asked.give_up(),
                            std::min(wait_at_once, std::chrono::duration_cast<std::chrono::milliseconds>(
                                                       call.deadline - std::chrono::steady_clock::now()) /
                                                       2));
    v1::RetentionGoesOn told;
    if (state && state->outcome && *state->outcome) return **std::move(state->outcome);
    if (!state) {
      told.set_unknown(true);
    } else if (state->outcome) {
      told.set_trouble_code(static_cast<std::int32_t>(state->outcome->error().code));
      told.set_trouble(state->outcome->error().what);
    } else {
      told.set_done(state->done);
      told.set_total(state->total);
    }
    return told.SerializeAsString();
  });
  homes_.serve("retention.heard", [this](const HomeCall&) -> Result<std::string> {
    heard();
    return std::string();
  });
  homes_.serve("retention.policies", [this](const HomeCall& call) -> Result<std::string> {
    v1::PoliciesThere asked;
    if (!asked.ParseFromString(call.request))
      return refuse(ErrorCode::invalid_argument, "a node asks for policies that cannot be read");
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(call.deadline - std::chrono::steady_clock::now());
    if (const auto there = node_.wait_for(GlobalPosition{asked.position()}, left); !there)
      return refuse(ErrorCode::unavailable, there.error().what);
    auto told = policies_here();
    if (!told) return refuse(std::move(told).error());
    return told->SerializeAsString();
  });
  homes_.watch(this, [this](const NodeCommitter::OpenShards& open) { writer_.shards_are(open); });
  settling_ = std::thread([this] { settle_left(); });
}

Progress NodeRetention::until_closed(const Progress& progress) const {
  return [this, &progress](std::uint64_t done, std::uint64_t total) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return false;
    }
    return !progress || progress(done, total);
  };
}

Result<void> NodeRetention::finish(const Progress& progress) { return retention_.finish(until_closed(progress)); }

Result<PoliciesApplied> NodeRetention::apply(const std::vector<RetentionPolicy>& policies, const RetentionOrder& order,
                                             const Progress& progress) {
  return retention_.apply(policies, order, until_closed(progress));
}

Result<RetentionResult> NodeRetention::remove_settled_schedules(std::chrono::milliseconds keep,
                                                                const RetentionOrder& order, const Progress& progress) {
  return retention_.remove_settled_schedules(keep, order, until_closed(progress));
}

Result<std::string> NodeRetention::carry_out(const v1::BeginRetention& asked, const Progress& progress) {
  const auto going = until_closed(progress);
  v1::RetentionGoesOn ended;
  const auto said = [&]() -> std::string {
    heard();  // before it is answered: behind an erasure nothing that was read before goes out
    ended.set_position(node_.committer().watch().watermark().value);
    return ended.SerializeAsString();
  };
  const auto one = [&](Result<RetentionResult> result) -> Result<std::string> {
    if (!result) return refuse(std::move(result).error());
    messages::put(*result, *ended.mutable_result());
    return said();
  };
  const auto open_before = writer_.open();
  const auto looked_at = [&] {
    const auto open = writer_.open();  // those that were all the time
    for (const auto& [shard, epoch] : open_before)
      if (const auto still = open.find(shard); still != open.end() && still->second == epoch)
        ended.add_shards(shard.value);
  };
  switch (asked.what_case()) {
    case v1::BeginRetention::kTruncate: {
      TruncateOptions options;
      static_cast<RetentionOrder&>(options) = messages::order_of(asked.truncate().order());
      options.uncovered = asked.truncate().uncovered();
      return one(retention_.truncate(aggregate_of(asked.truncate().aggregate()), SeqNr{asked.truncate().before()},
                                     options, going));
    }
    case v1::BeginRetention::kRemove:
      return one(retention_.remove(aggregate_of(asked.remove().aggregate()), messages::order_of(asked.remove().order()),
                                   going));
    case v1::BeginRetention::kPolicies: {
      if (asked.policies().only_finish()) {
        if (auto finished = retention_.finish(going); !finished) return refuse(finished.error());
        looked_at();
        return one(RetentionResult{});
      }
      std::vector<RetentionPolicy> policies;
      for (const auto& policy : asked.policies().policies()) {
        auto known = messages::policy_of(policy);
        if (!known) return refuse(std::move(known).error());
        policies.push_back(*std::move(known));
      }
      auto applied = retention_.apply(policies, messages::order_of(asked.policies().order()), going);
      if (!applied) return refuse(std::move(applied).error());
      if (!applied->trouble || applied->trouble->code == ErrorCode::corruption)
        looked_at();  // else it ended before all was
      if (applied->trouble) {
        ended.set_trouble_code(static_cast<std::int32_t>(applied->trouble->code));
        ended.set_trouble(applied->trouble->what);
      }
      return one(std::move(applied->total));
    }
    case v1::BeginRetention::kTakeOut: {
      const auto key = KeyId::parse(asked.take_out().key());
      if (!key) return refuse(ErrorCode::invalid_argument, "what is to be erased names no key");
      const auto figures = retention_.take_out(*key, messages::order_of(asked.take_out().order()), going);
      if (!figures) return refuse(figures.error());
      looked_at();
      RetentionResult result;
      result.events = figures->events;
      result.records = figures->records;
      result.bytes_before = figures->bytes_before;
      result.bytes_after = figures->bytes_after;
      return one(std::move(result));
    }
    case v1::BeginRetention::kTakeOver: {
      EventId marker;
      const auto& id = asked.take_over().marker();
      if (id.size() != marker.bytes.size())
        return refuse(ErrorCode::invalid_argument, "what is to be hidden names no event");
      std::copy(id.begin(), id.end(), marker.bytes.begin());
      const auto aggregate = aggregate_of(asked.take_over().aggregate());
      EVERSHARD_TRY(node_.wait_for(GlobalPosition{asked.take_over().position()}, applied_within));
      if (const auto shard = node_.shard_of(aggregate); !open_before.contains(shard)) return refuse(not_open(shard));
      EVERSHARD_TRY(retention_.take_over(aggregate, marker));
      return one(RetentionResult{});
    }
    case v1::BeginRetention::WHAT_NOT_SET:
      break;
  }
  return refuse(ErrorCode::unavailable, "a node asks for a part of retention that this one does not know");
}

Result<v1::PoliciesThere> NodeRetention::policies_here() const {
  constexpr std::size_t policies_a_page = 256;
  const auto open = writer_.open();
  v1::PoliciesThere told;
  const auto view = store_.view();
  for (std::optional<AggregateId> after;;) {
    const auto page = reader_.aggregates(view, retention::policy_type, after, policies_a_page);
    if (!page) return refuse(page.error());
    for (const auto& info : *page) {
      if (!open.contains(info.shard)) continue;
      StreamOptions last;
      last.limit = 1;
      last.direction = Direction::backwards;
      std::vector<RecordedEvent> events;
      EVERSHARD_TRY(reader_.open(view, info.aggregate, last)->next(1, 1, events));
      if (events.empty()) continue;  // what it was made by is written, and no cut that was heard of has it yet
      const auto policy = RetentionRecords::policy_in(info.aggregate, events.front());
      if (!policy) return refuse(policy.error());
      if (*policy) messages::put(**policy, *told.add_policies());
    }
    if (page->size() < policies_a_page) break;
    after = page->back().aggregate;
  }
  const auto still = writer_.open();
  for (const auto& [shard, epoch] : open)
    if (const auto now = still.find(shard); now != still.end() && now->second == epoch) told.add_shards(shard.value);
  return told;
}

void NodeRetention::settle_left() {
  const Progress nobody;
  for (std::unique_lock lock(mutex_);;) {
    if (changed_.wait_for(lock, options_.settle_every, [this] { return closing_; })) return;
    lock.unlock();
    const auto any = writer_.has_unsettled();
    if (any && *any)
      static_cast<void>(retention_.settle(until_closed(nobody)));  // what cannot be yet is tried again in a moment
    lock.lock();
  }
}

void NodeRetention::close() {
  std::call_once(closed_, [this] {
    homes_.watch(this, {});
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    settling_.join();
    jobs_.stop();
  });
}

}  // namespace evershard::cluster
