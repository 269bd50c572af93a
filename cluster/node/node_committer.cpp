// Its thread: begun from the store, fed, ended.

#include "evershard/cluster/node/node_committer.hpp"

#include <algorithm>
#include <utility>

#include "evershard/actors/core/group_commit.hpp"
#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/storage/order/leadership_row.hpp"
#include "evershard/storage/order/recovered_order.hpp"

namespace evershard::cluster {
namespace {

using actors::Attempt;
using actors::WriterActions;

constexpr std::size_t work_threads = 2;
constexpr std::chrono::milliseconds hurried_every(100);
constexpr std::size_t asking_threads = 16;  ///< each waits for other nodes, or for cuts

NodeStart start_of(const storage::NodeStore& store, const std::map<ShardId, storage::Covered>& covered,
                   const std::vector<storage::UnorderedAppend>& unordered, const NodeCommitterOptions& options) {
  const auto order = store.recovered();
  NodeStart start;
  start.self = options.self;
  start.address = options.address;
  start.door = options.door;
  start.version = options.version;
  start.gateway = options.gateway;
  start.zone = options.zone;
  start.cut = order.last_cut;
  start.watermark = order.watermark;
  const auto hold = [&](ShardId shard) {
    const auto& at = order.shards[shard.value];
    start.shards[shard] = {at.epoch, at.next};
    if (const auto row = covered.find(shard); row != covered.end()) {
      start.shards[shard].damaged = row->second.damaged;
      start.shards[shard].followed = row->second.followed;
    }
  };
  for (std::size_t s = 0; s != order.shards.size(); ++s)
    if (order.shards[s].next != ShardOffset{1}) hold(ShardId{static_cast<std::uint16_t>(s)});
  for (const auto& append : unordered) hold(append.place.shard);
  for (const auto& [shard, row] : covered)
    if (row.damaged || row.followed.value != 0) hold(shard);
  return start;
}

actors::ShardWriters::Start writers_of(const NodeStart& node) {
  actors::ShardWriters::Start start;
  start.last_cut = node.cut;
  start.watermark = node.watermark;
  for (const auto& [id, shard] : node.shards) start.shards.push_back({id, shard.epoch, shard.covered});
  return start;
}

}  // namespace

NodeCommitter::NodeCommitter(storage::NodeStore& store, NodeNetwork& network, NodeCommitterOptions options)
    : store_(store),
      network_(network),
      options_(std::move(options)),
      view_{options_.self.node, {}, {}, std::vector<ClusterView::Shard>(store.identity().shards)},
      preparer_(
          store, options_.limits, options_.takes_sealed, [this](ShardId shard) { return is_elsewhere(shard); },
          [this] { return reader_.owns_all(); }),
      load_(store.identity().shards, options_.limits),
      watch_(store.view().watermark),
      reader_(store, watch_, options_.wait_max),
      order_(NodeStart{}),
      gate_(options_.self.node),
      owner_of_(store.identity().shards) {
  auto unordered = store.take_unordered();
  auto covered = storage::covered_rows(store.rows(), store.identity().shards);
  auto start = start_of(store, covered ? *covered : std::map<ShardId, storage::Covered>{}, unordered, options_);
  actors::ShardWriters::Options writers;
  writers.node = options_.self.node;
  writers.key = store.identity().term_key;
  std::map<ShardId, ShardOffset> ends;
  for (const auto& [shard, at] : start.shards) ends[shard] = at.covered;
  for (const auto& append : unordered) ends[append.place.shard] = append.place.end();
  writers_ = std::make_unique<actors::ShardWriters>(writers_of(start), writers);
  for (auto& [shard, at] : start.shards) at.tail = ends.at(shard);
  const auto led = storage::applied_leadership(store.rows(), store.recovered().coordinator);
  if (led && *led) start.led = **led;
  order_ = NodeOrder(start);
  network_.led_by(order_.leaderships());
  std::map<ShardId, std::vector<storage::UnorderedAppend>> behind;
  for (auto& append : unordered) behind[append.place.shard].push_back(std::move(append));
  for (const auto& [shard, at] : start.shards) {
    WriterActions none;  // nobody waits yet
    if (at.damaged) {
      writers_->fence(shard, none);
      continue;
    }
    static_cast<void>(writers_->follow(shard, none));  // nothing: it begins when it is opened
    followed_.hold(shard, at.covered, at.tail, std::move(behind[shard]));
  }
  auto logs = read_row_log_ends();
  if (!covered)
    fail(covered.error());
  else if (!logs)
    fail(logs.error());
  else if (!led)
    fail(led.error());
  else if (auto looked = look_at_losses(); !looked)
    fail(looked.error());
  work_ = std::make_unique<WorkPool>(work_threads);
  asking_ = std::make_unique<WorkPool>(asking_threads);
  thread_ = std::thread([this] { loop(); });
}

NodeCommitter::~NodeCommitter() {
  stop();
  work_.reset();  // what is still to be looked up finds a node that is dead; some of it asks
  asking_.reset();
}

void NodeCommitter::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  more_.notify_all();
  watch_.close(Error(ErrorCode::unavailable, "the node is stopping"));
  thread_.join();
}

void NodeCommitter::post(std::function<void()> input) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      inbox_.push_back(std::move(input));
      more_.notify_one();
      return;
    }
  }
  input();  // sees `dead_`: answers, and does nothing else
}

std::optional<Error> NodeCommitter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

// A disk is its node's alone: who is told so goes on at another one.
Error NodeCommitter::gone() const {
  auto error = failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"));
  if (error.code != ErrorCode::io) return error;
  return {ErrorCode::unavailable, "node " + std::to_string(options_.self.node) + ": " + error.what};
}

Result<void> NodeCommitter::caught_up(std::chrono::milliseconds wait) const {
  for (const auto until = Clock::now() + wait;
       !caught_up_.load(std::memory_order_relaxed) && Clock::now() < until && !failed();)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (caught_up_.load(std::memory_order_relaxed)) return {};
  if (const auto failure = failed()) return refuse(gone());
  return refuse(ErrorCode::unavailable,
                "node " + std::to_string(options_.self.node) +
                    " has not yet come to where the cluster is since it was started: ask another node, or wait");
}

void NodeCommitter::loop() {
  auto asked = Clock::now();
  for (;;) {
    const auto again =
        asked + (order_.hurries() ? std::min(hurried_every, options_.again_every) : options_.again_every);
    std::vector<std::function<void()>> inputs;
    {
      std::unique_lock lock(mutex_);
      auto until = dead_ ? Clock::now() + options_.again_every : again;  // dead, nothing moves `again` on
      if (!expiring_.empty()) until = std::min(until, expiring_.begin()->first);
      for (const auto& early : early_) until = std::min(until, early.until);
      if (!later_.empty()) until = std::min(until, later_.begin()->first);
      for (const auto& waiting : rows_waiting_) until = std::min(until, waiting.looked_at_again());
      more_.wait_until(lock, until, [this] { return stopping_ || !inbox_.empty(); });
      inputs.swap(inbox_);
      if (stopping_ && inputs.empty()) break;
    }
    for (const auto& input : inputs) input();
    if (order_.caught_up()) caught_up_.store(true, std::memory_order_relaxed);
    while (!later_.empty() && later_.begin()->first <= Clock::now())
      work_->run(std::move(later_.extract(later_.begin()).mapped()));
    if (!early_.empty()) take_early();
    if (!settling_.empty()) take_settling();
    if (!unconfirmed_.empty()) take_unconfirmed();
    if (!rows_waiting_.empty()) take_rows_waiting();
    tell_shards();
    tell_tails();
    while (!dead_ && (writers_->any() || !shipped_.empty())) {
      write();
      tell_tails();
    }
    if (dead_) continue;
    read_behind();
    look_at_row_logs();
    look_at_narrowed();
    expire();
    if (Clock::now() < again) continue;
    asked = Clock::now();
    asked_again_.clear();
    row_logs_.again();
    narrowed_.again();
    if (order_.reports()) narrowed_.led_by(order_.coordinator());
    look_at_disk();
    look_for_unlogged();
    if (!unlogged_.empty()) log_snapshots();
    if (dead_) continue;
    carry_out(order_.again());
    say_followed(std::nullopt, std::nullopt, false);
  }
  dead_ = true;
  for (auto& [due, call] : std::exchange(later_, {})) call();
  take_early();
  take_settling();
  take_rows_waiting();
  while (!clients_.empty()) {
    const auto id = clients_.begin()->first;
    const auto& client = clients_.begin()->second;
    const bool written = client.placed || client.attempt->state == Attempt::State::written;
    answer(id, refuse(unanswered(written)));
  }
  lose_parts({ErrorCode::unavailable, "the node is stopping"});
  std::vector<std::function<void()>> late;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    late.swap(inbox_);
  }
  for (const auto& input : late) input();
}

void NodeCommitter::write() {
  constexpr std::uint32_t delay_us_max = 50'000;
  if (const auto admission = store_.admission(); admission.kind == storage::Admission::Kind::slow)
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(admission.delay_us, delay_us_max)));
  actors::WriterBatch batch;
  if (writers_->any()) batch = writers_->close();
  auto shipped = std::exchange(shipped_, {});
  for (const auto& of : shipped) batch.journal.shipped.push_back(&of.read);
  std::vector<storage::ShippedRows> made;
  const bool ships = replicated_.load(std::memory_order_relaxed) && !batch.written.empty();
  auto staged = store_.stage_journal(batch.journal, ships ? &made : nullptr);
  // Beside the sync here; should that fail, a follower has what nobody orders.
  for (const auto& outgoing : shipping_.made(std::move(made))) send(outgoing);
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  WriterActions actions;
  writers_->synced(batch, actions);
  if (ships)
    for (const auto& written : batch.written) shipping_.durable(written->place.shard, written->place.end());
  if (!shipped.empty()) shipped_is_synced(std::move(shipped));
  carry_out(std::move(actions));
  carry_out(order_.synced(order_.cut()));  // its sync covers the cuts written before it
}

void NodeCommitter::sync() {
  auto staged = store_.stage_journal({});
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  carry_out(order_.synced(order_.cut()));
}

void NodeCommitter::fail(const Error& error) {
  if (dead_) return;
  {
    const std::lock_guard lock(mutex_);
    failed_ = error;
  }
  WriterActions actions;
  writers_->failed(error, actions);
  carry_out(std::move(actions));
  dead_ = shards_changed_ = true;
  // Of what a cut concludes that could not be written here, the writers know no more.
  while (!clients_.empty()) answer(clients_.begin()->first, refuse(actors::GroupCommit::outcome_unknown(error)));
  lose_parts(error);
  watch_.close(gone());
  if (options_.warn) options_.warn(error);
}

}  // namespace evershard::cluster
