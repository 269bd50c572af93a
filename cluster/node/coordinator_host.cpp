#include "evershard/cluster/node/coordinator_host.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds balance_pause_min{1'000};
constexpr std::chrono::milliseconds still_lasts_min{5'000};
constexpr std::chrono::milliseconds said_lasts{2'000};  ///< of nodes that are well a new word has come by then

}  // namespace

Result<std::unique_ptr<CoordinatorHost>> CoordinatorHost::lead(sharding::CutLog& log, CoordinatorNetwork& network,
                                                               CoordinatorHostOptions options) {
  auto led = log.lead();
  if (!led) return refuse(std::move(led).error());
  if (options.led) options.led(*led);
  return std::unique_ptr<CoordinatorHost>(new CoordinatorHost(log, network, std::move(options)));
}

CoordinatorHost::CoordinatorHost(sharding::CutLog& log, CoordinatorNetwork& network, CoordinatorHostOptions options)
    : log_(log),
      network_(network),
      options_(std::move(options)),
      epoch_(log.state().epoch),
      coordinator_(log.state(), options_.coordinator),
      led_at_(Clock::now()),
      log_of_changes_({led_at_, Timestamp::now()}),
      still_(StillWatch::Options{.lasts_min = std::max(options_.balance_after, still_lasts_min)}),
      has_quorums_(coordinator_.has_quorums()),
      thread_([this] { loop(); }) {}

CoordinatorHost::~CoordinatorHost() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  thread_.join();
}

void CoordinatorHost::hello(Hello hello) {
  post([this, hello = std::move(hello), here = Timestamp::now()] {
    take_clock(hello.from.node, here, hello.clock);
    const auto known = coordinator_.members().find(hello.from.node);
    if (known == coordinator_.members().end() || !known->second.here || known->second.process != hello.from) {
      balance_at_ = Clock::now() + options_.balance_after;
      still_.came(hello.from.node);
    }
    carry_out(coordinator_.hello(hello));
    has_quorums_ = coordinator_.has_quorums();
    tell_members(hello.from);
  });
}

void CoordinatorHost::lost(NodeProcess process, std::optional<std::chrono::milliseconds> silence) {
  post([this, process, silence, at = Clock::now()] {
    balance_at_ = Clock::now() + options_.balance_after;
    lost_at_[process.node] = at;
    clocks_.lost(process.node);
    learning_.erase(process.node);
    carry_out(coordinator_.lost(process, silence ? ClusterChange::Cause::node_silent : ClusterChange::Cause::node_lost),
              at - silence.value_or(std::chrono::milliseconds(0)));
    has_quorums_ = coordinator_.has_quorums();
    tell_members(std::nullopt);
  });
}

void CoordinatorHost::report(NodeProcess from, Report report, std::uint64_t ask, std::uint64_t naming) {
  post([this, from, report = std::move(report), ask, naming]() mutable {
    const bool asks = report.appends.empty();
    const auto shard = report.shard;
    const auto epoch = report.epoch;
    // The cut that is being put was made before; the next cut is made of the reports that are known by then.
    const auto promised = coordinator_.stored().last_cut + (coordinator_.putting() ? 2 : 1);
    auto actions = coordinator_.report(from, std::move(report), naming);
    if (asks && !coordinator_.ended())
      network_.promise(from, shard, epoch, ask, promised, {coordinator_.stored().epoch, coordinator_.identity()});
    carry_out(std::move(actions));
  });
}

void CoordinatorHost::held(Held held) {
  post([this, held, here = Timestamp::now()] {
    take_clock(held.from.node, here, held.clock);
    const auto now = Clock::now();
    learning_[held.from.node].seen(now, held.learned);
    still_.said(now, held.from.node, held.applied, held.applied == coordinator_.stored().last_cut);
    behind_[held.from.node] = {now, times_.behind(now, held.applied), held.applied};
    const auto member = coordinator_.members().find(held.from.node);
    if (member != coordinator_.members().end() && member->second.full != held.full) balance_at_ = Clock::now();
    carry_out(coordinator_.held(held));
  });
}

void CoordinatorHost::cuts_after(CutsAfter asked) {
  post([this, asked] { carry_out(coordinator_.cuts_after(asked)); });
}

void CoordinatorHost::narrowed(Narrowed said) {
  post([this, said] { carry_out(coordinator_.narrowed(said)); });
}

void CoordinatorHost::status(std::function<void(ClusterStatus)> done) {
  post([this, done = std::move(done)] {
    auto status = coordinator_.status();
    status.cuts_per_second = rate_.per_second(std::chrono::steady_clock::now(), status.last_cut);
    for (auto& node : status.nodes) {
      const auto told = std::ranges::find(members_.nodes, node.is.node, &ClusterView::Node::node);
      if (told != members_.nodes.end()) node.is.since = told->since;
      const auto said = behind_.find(node.is.node);
      const auto behind = node.is.up && said != behind_.end() && Clock::now() - said->second.at < said_lasts
                              ? said->second.behind
                              : times_.behind(Clock::now(), node.applied);
      node.behind_events = behind.events;
      node.behind_ms = static_cast<std::uint64_t>(behind.time.count());
      if (const auto learning = learning_.find(node.is.node); node.learns != 0 && learning != learning_.end())
        if (const auto left = learning->second.left(node.learn_events))
          node.learn_left_ms = static_cast<std::uint64_t>(left->count());
      if (const auto ahead = clocks_.ahead(node.is.node); ahead && node.is.up) node.clock_ahead_ms = ahead->count();
      node.clock_differs = node.is.up && clocks_.differs(node.is.node);
    }
    for (std::size_t s = 0; s != status.shards.size(); ++s)
      if (const auto without = log_of_changes_.without_writer(Clock::now(), ShardId{static_cast<std::uint16_t>(s)}))
        status.shards[s].without_writer_ms = static_cast<std::uint64_t>(without->count());
    status.changes.assign(log_of_changes_.changes().begin(), log_of_changes_.changes().end());
    status.counts = log_of_changes_.counts();
    done(std::move(status));
  });
}

void CoordinatorHost::assign(ShardAssignment wanted, std::function<void(Result<ShardsAssigned>)> done) {
  post([this, wanted = std::move(wanted), done = std::move(done)] {
    auto outcome = coordinator_.assign(wanted);
    if (!outcome) return done(refuse(std::move(outcome).error()));
    // Those that are begun may not be all.
    if (wanted.drain || wanted.balance) balance_at_ = Clock::now();
    if (wanted.balance) still_.forget();
    if (wanted.sets != ShardAssignment::Sets::none) tend_at_ = Clock::now() + options_.tend_every;
    carry_out(std::move(outcome->actions));
    // What is only under way goes with this coordinator.
    assigned_.push_back({outcome->stands_with, std::move(outcome->answer), done});
    answer_assigned();
  });
}

std::optional<Error> CoordinatorHost::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void CoordinatorHost::post(std::function<void()> input) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    inbox_.push_back(std::move(input));
  }
  more_.notify_one();
}

void CoordinatorHost::loop() {
  nodes_until_ = balance_at_ = tend_at_ = Clock::now();
  *tend_at_ += options_.tend_every;
  *nodes_until_ += options_.nodes_time;
  *balance_at_ += options_.balance_after;
  for (;;) {
    const auto next = coordinator_.ended() ? std::nullopt : look_at_clock();
    if (!put_) {
      const auto wait = next ? std::optional(std::chrono::ceil<std::chrono::milliseconds>(
                                   std::max(*next - Clock::now(), Clock::duration::zero())))
                             : std::nullopt;
      if (!take_inputs(wait)) return;
      continue;
    }
    // Reports that come while a cut is being put go into the next cut.
    const bool counts_only = put_->segments.empty() && put_->openings.empty();
    const auto put = log_.put(*put_);
    rate_.seen(Clock::now(), put_->number);
    if (put) times_.made(Clock::now(), put_->number, put_->last_position());
    if (put) log_of_changes_.stored({Clock::now(), Timestamp::now()}, coordinator_.stored(), *put_);
    put_.reset();
    if (!take_inputs(counts_only ? options_.counting_pause : std::chrono::milliseconds(0))) return;
    if (!coordinator_.ended()) carry_out(coordinator_.put_returned(put));
    answer_assigned();
  }
}

void CoordinatorHost::answer_assigned() {
  for (auto& assigned : std::exchange(assigned_, {})) {
    if (assigned.stands_with <= coordinator_.stored().last_cut)
      assigned.done(std::move(assigned.answer));
    else if (coordinator_.ended())
      assigned.done(refuse(ErrorCode::timeout,
                           "this coordinator has stepped down before it was stored who is to have "
                           "the shards: whether it was is unknown"));
    else
      assigned_.push_back(std::move(assigned));
  }
}

std::optional<CoordinatorHost::Clock::time_point> CoordinatorHost::look_at_clock() {
  const auto now = Clock::now();
  if (nodes_until_ && now >= *nodes_until_) {
    nodes_until_.reset();
    carry_out(coordinator_.nodes_had_time(), led_at_);
  }
  if (now >= *balance_at_ && !coordinator_.hands_over()) {
    carry_out(coordinator_.balance());
    // Those that are begun may not be all. Who lags may have caught up by the next time.
    balance_at_ = now + (coordinator_.hands_over() ? 2 * options_.hand_over_time
                                                   : std::max(options_.balance_after, balance_pause_min));
  }
  if (!coordinator_.hands_over()) {
    hand_overs_until_.reset();
  } else if (!hand_overs_until_) {
    hand_overs_until_ = now + options_.hand_over_time;
  } else if (now >= *hand_overs_until_) {
    hand_overs_until_.reset();
    carry_out(coordinator_.hand_overs_took_too_long());
  }
  if (options_.coordinator.replicas < 2) {
    tend_at_.reset();
  } else if (now >= *tend_at_) {
    tend();
    tend_at_ = Clock::now() + options_.tend_every;
  }
  std::optional<Clock::time_point> next;
  // What is handed over comes to its end before more is.
  for (const auto& due : {nodes_until_, tend_at_, hand_overs_until_, hand_overs_until_ ? std::nullopt : balance_at_})
    if (due && (!next || *due < *next)) next = due;
  return next;
}

// Of a node that was never here since this coordinator leads, it is away since then.
void CoordinatorHost::tend() {
  has_quorums_ = coordinator_.has_quorums();
  if (options_.gone_after.count() != 0) {
    std::set<std::uint32_t> keepers;
    for (const auto& shard : coordinator_.stored().shards)
      for (const auto node : shard.replicas.all()) keepers.insert(node);
    for (const auto node : keepers) {
      const auto member = coordinator_.members().find(node);
      if (member != coordinator_.members().end() && member->second.here) continue;
      const auto lost = lost_at_.find(node);
      const auto since = lost == lost_at_.end() ? led_at_ : lost->second;
      if (Clock::now() < since + options_.gone_after) continue;
      if ((member == coordinator_.members().end() || !member->second.gone) && options_.warn)
        options_.warn(Error(
            ErrorCode::unavailable,
            "node " + std::to_string(node) + " is gone for good: others are given what it kept, where there are some"));
      coordinator_.gone(node, true);
    }
  }
  look_who_stands_still();
  carry_out(coordinator_.tend_sets());
}

void CoordinatorHost::look_who_stands_still() {
  const auto now = Clock::now();
  std::set<std::uint32_t> writers;
  for (const auto& shard : coordinator_.stored().shards) writers.insert(shard.node);
  std::vector<StillWatch::Node> here;
  for (const auto& [node, member] : coordinator_.members()) {
    if (!member.here || member.gateway || member.full) continue;
    const auto said = behind_.find(node);
    const auto behind = said == behind_.end() ? CutTimes::Behind{} : times_.behind(now, said->second.applied);
    here.push_back({node, writers.contains(node), behind.time});
  }
  for (const auto node : still_.look(now, here)) {
    balance_at_ = now;
    if (options_.warn)
      options_.warn(Error(ErrorCode::unavailable, "node " + std::to_string(node) +
                                                      " is here and applies nothing: others are to write its shards"));
  }
  for (const auto& of : here) coordinator_.stands_still(of.node, still_.is_still(now, of.node));
}

/// Waits for something to come: absent: until it does. Returns: false: it is over.
bool CoordinatorHost::take_inputs(std::optional<std::chrono::milliseconds> wait) {
  std::vector<std::function<void()>> inputs;
  {
    std::unique_lock lock(mutex_);
    const auto come = [this] { return stopping_ || !inbox_.empty(); };
    if (!wait)
      more_.wait(lock, come);
    else if (wait->count() > 0)
      more_.wait_for(lock, *wait, come);
    if (stopping_) return false;
    inputs.swap(inbox_);
  }
  for (const auto& input : inputs) {
    if (!coordinator_.ended()) input();
  }
  return true;
}

void CoordinatorHost::take_clock(std::uint32_t node, Timestamp here, Timestamp there) {
  const auto turn = clocks_.said(Clock::now(), node, here, there);
  if (turn != ClockWatch::Turn::none && options_.clock)
    options_.clock(node, clocks_.ahead(node).value_or(std::chrono::milliseconds(0)), turn == ClockWatch::Turn::differs);
}

void CoordinatorHost::note(const CoordinatorActions& actions, Clock::time_point since) {
  for (const auto& stops : actions.stops) log_of_changes_.stops(since, stops.shard, stops.cause);
  if (actions.goes_on.empty()) return;
  const ClusterLog::Now now{Clock::now(), Timestamp::now()};
  const auto& shards = coordinator_.stored().shards;
  for (const auto shard : actions.goes_on) log_of_changes_.goes_on(now, shard, shards[shard.value].node);
}

void CoordinatorHost::carry_out(CoordinatorActions actions, std::optional<Clock::time_point> stopped_since) {
  note(actions, stopped_since.value_or(Clock::now()));
  for (const auto& warning : actions.warnings)
    if (options_.warn) options_.warn(warning);
  if (actions.ended) {
    put_.reset();
    if (options_.warn) options_.warn(*actions.ended);
    const std::lock_guard lock(mutex_);
    ended_ = *actions.ended;
    return;
  }
  say_moved(actions.moved);
  for (const auto& outgoing : actions.send) send(outgoing.to, outgoing.message);
  for (const auto& asked : actions.read) {
    auto found = log_.cuts_after(asked.after, options_.cuts_bytes_max);
    if (found)
      send(asked.by, coordinator_.cuts_message(asked, std::move(*found)));
    else if (options_.warn)
      options_.warn(found.error());
  }
  if (actions.fold) {
    auto folded = log_.fold(coordinator_.stored().epoch, *actions.fold);
    if (folded)
      coordinator_.folded(log_.state());
    else if (options_.warn)
      options_.warn(folded.error());
  }
  if (actions.put) put_ = std::move(actions.put);
}

void CoordinatorHost::say_moved(const std::vector<CoordinatorActions::Moved>& moved) {
  if (!options_.moved) return;
  std::map<std::pair<std::uint32_t, bool>, CoordinatorHostOptions::Moved> told;
  for (const auto& of : moved) {
    auto& one = told[{of.from, of.handed_over}];
    one.from = of.from;
    one.handed_over = of.handed_over;
    one.shards.push_back(of.shard);
    one.cause = log_of_changes_.why(of.shard).value_or(one.cause);
    const auto from = coordinator_.members().find(of.from);
    const bool is_gone = from != coordinator_.members().end() && !from->second.here;
    if (const auto lost = lost_at_.find(of.from); lost != lost_at_.end() && is_gone)
      one.after = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - lost->second);
  }
  for (const auto& [of, one] : told) options_.moved(one);
}

void CoordinatorHost::tell_members(std::optional<NodeProcess> asking) {
  if (coordinator_.ended()) return;
  auto told = coordinator_.membership();
  const auto now = Timestamp::now();
  for (auto& node : told.nodes) {
    const auto before = std::ranges::find(members_.nodes, node.node, &ClusterView::Node::node);
    const bool known = before != members_.nodes.end();
    if (known && before->up == node.up)
      node.since = before->since;
    else if (node.up || known)
      node.since = now;
  }
  const bool changed = told != members_;
  members_ = std::move(told);
  for (const auto& [number, member] : coordinator_.members())
    if (member.here && (changed || member.process == asking)) network_.members(member.process, members_);
}

void CoordinatorHost::send(const std::optional<NodeProcess>& to, const ToNode& message) {
  if (to) return network_.to_node(*to, message);
  for (const auto& [node, member] : coordinator_.members())
    if (member.here) network_.to_node(member.process, message);
}

}  // namespace evershard::cluster
