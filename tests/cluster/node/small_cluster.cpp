#include "tests/cluster/node/small_cluster.hpp"

#include <future>
#include <stdexcept>
#include <utility>

#include "evershard/cluster/peers/peer_messages.hpp"

namespace evershard::cluster {

/// What one node says, to the others' threads.
class SmallCluster::Network final : public NodeNetwork {
 public:
  Network(SmallCluster& cluster, NodeProcess self) : cluster_(cluster), self_(self) {}

  void to_coordinator(ToCoordinator message) override {
    cluster_.deliver_in_order([this_cluster = &cluster_, self = self_, sent = encode(message)] {
      this_cluster->heard(self, decode_to_coordinator(sent.kind, sent.bytes).value());
    });
  }
  void forward(std::uint32_t node, Append append, NodeDone<Appended> done) override {
    at(node, std::move(done), [bytes = encode_forward(append)](ClusterNode& there, NodeDone<Appended> then) {
      there.committer().append_async(decode_forward(bytes).value(), [then = std::move(then)](Result<Appended> result) {
        then(result ? decode_appended(encode(*result)) : std::move(result));
      });
    });
  }
  void ask_part(std::uint32_t node, std::shared_ptr<const actors::Attempt> of, actors::PartAsked part,
                std::function<void(actors::PartAnswer)> done) override {
    cluster_.deliver([this_cluster = &cluster_, node, bytes = encode_part(*of, part), part, done = std::move(done)] {
      if (const auto there = this_cluster->reach(node)) {
        auto asked = decode_part(bytes, there->store->identity().shards, there->store->hasher()).value();
        return there->node->committer().take_part(asked.of, asked.part, [done](const actors::PartAnswer& answer) {
          done(decode_part_answer(encode(answer)).value());
        });
      }
      actors::PartAnswer lost;
      lost.attempt = part.attempt;
      lost.try_number = part.try_number;
      lost.shard = part.shard;
      lost.kind = actors::PartAnswer::Kind::lost;
      lost.error = Error(ErrorCode::unavailable, "node " + std::to_string(node) + " is not there");
      done(std::move(lost));
    });
  }
  void read(std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<NodePage>& then) {
      then(carried(there.committer().reader().read(decode_read(bytes).value())));
    });
  }
  void read_stream(std::uint32_t node, NodeStreamAsked asked, NodeDone<NodePage> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<NodePage>& then) {
      then(carried(there.committer().reader().read_stream(decode_read_stream(bytes).value())));
    });
  }
  void head(std::uint32_t node, NodeHeadAsked asked, NodeDone<AggregateInfo> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<AggregateInfo>& then) {
      const auto question = decode_head_asked(bytes).value();
      auto head = there.committer().reader().head(question);
      then(head ? decode_head(encode_head(*head), question.aggregate, head->shard) : std::move(head));
    });
  }

  void snapshots(std::uint32_t node, NodeSnapshotsAsked asked, NodeDone<std::vector<RecordedSnapshot>> done) override {
    at(node, std::move(done),
       [bytes = encode(asked)](ClusterNode& there, const NodeDone<std::vector<RecordedSnapshot>>& then) {
         auto found = there.committer().reader().snapshots(decode_snapshots_asked(bytes).value());
         then(found ? decode_snapshots(encode(*found)) : std::move(found));
       });
  }
  void put_snapshot(std::uint32_t node, Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done) override {
    at(node, std::move(done), [bytes = encode(snapshot, up_to)](ClusterNode& there, NodeDone<void> then) {
      auto put = decode_put_snapshot(bytes).value();
      there.committer().put_snapshot(std::move(put.first), put.second, std::move(then));
    });
  }
  void aggregates(std::uint32_t node, NodeAggregatesAsked asked, NodeDone<std::vector<AggregateInfo>> done) override {
    at(node, std::move(done),
       [bytes = encode(asked)](ClusterNode& there, const NodeDone<std::vector<AggregateInfo>>& then) {
         auto found = there.committer().reader().aggregates(decode_aggregates_asked(bytes).value());
         then(found ? decode_aggregates(encode(*found)) : std::move(found));
       });
  }

  std::vector<std::uint32_t> ship(const std::vector<std::uint32_t>& nodes, const Ship& ship) override {
    std::vector<std::uint32_t> not_sent;
    for (const auto node : nodes)
      if (!tell(node, [from = self_.node, bytes = encode(ship)](NodeCommitter& there) {
            there.receive(from, decode_ship(bytes).value());
          }))
        not_sent.push_back(node);
    return not_sent;
  }
  void followed(std::uint32_t node, const FollowerTold& followed) override {
    auto said = followed;
    if (cluster_.earlier_release_)
      for (auto& shard : said.shards) shard.bases.reset();
    tell(node, [from = self_.node, bytes = encode(said)](NodeCommitter& there) {
      there.receive(from, decode_followed(bytes).value());
    });
  }
  void ship_row_log(std::uint32_t node, const RowLogPart& part) override {
    if (cluster_.no_row_logs_to_ == node || cluster_.no_row_logs_to_ == everybody) return;
    auto bytes = encode(part);
    cluster_.row_log_bytes_ += bytes.size();
    tell(node, [from = self_.node, bytes = std::move(bytes)](NodeCommitter& there) {
      there.receive(from, decode_row_log_part(bytes).value());
    });
  }
  void row_log(std::uint32_t node, const RowLogAsked& asked, NodeDone<RowLogPart> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<RowLogPart>& then) {
      auto part = there.committer().row_log(decode_row_log_asked(bytes).value());
      then(part ? decode_row_log_part(encode(*part)) : std::move(part));
    });
  }
  void journal(std::uint32_t node, const JournalAsked& asked, NodeDone<storage::ShippedRows> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<storage::ShippedRows>& then) {
      auto rows = there.committer().journal(decode_journal_asked(bytes).value());
      then(rows ? decode_journal(encode_journal(std::move(*rows))) : std::move(rows));
    });
  }
  void journal_sum(std::uint32_t node, const JournalSumAsked& asked, NodeDone<storage::JournalSum> done) override {
    at(node, std::move(done), [bytes = encode(asked)](ClusterNode& there, const NodeDone<storage::JournalSum>& then) {
      auto sum = there.committer().journal_sum(decode_journal_sum_asked(bytes).value());
      then(sum ? decode_journal_sum(encode(*sum)) : std::move(sum));
    });
  }
  void history(std::uint32_t node, GlobalPosition after, NodeDone<NodeHistory> done) override {
    at(node, std::move(done), [after](ClusterNode& there, NodeDone<NodeHistory> then) {
      there.committer().history(after, [then = std::move(then)](Result<NodeHistory> history) {
        then(history ? decode_history(encode(*history)) : std::move(history));
      });
    });
  }

 private:
  /// In the order in which it is said. Returns: whether somebody is there to hear it.
  template <class Do>
  bool tell(std::uint32_t node, Do what) {
    if (cluster_.reach(node) == nullptr) return false;
    cluster_.deliver_in_order([this_cluster = &cluster_, node, what = std::move(what)] {
      if (const auto there = this_cluster->reach(node)) what(there->node->committer());
    });
    return true;
  }
  static Result<NodePage> carried(Result<NodePage> page) { return page ? decode_page(encode(*page)) : std::move(page); }

  template <class T, class Do>
  void at(std::uint32_t node, NodeDone<T> done, Do act) {
    cluster_.deliver([this_cluster = &cluster_, node, done = std::move(done), act = std::move(act)]() mutable {
      const auto there = this_cluster->reach(node);
      if (there == nullptr)
        return done(refuse(ErrorCode::unavailable, "node " + std::to_string(node) + " is not there"));
      act(*there->node, std::move(done));
    });
  }

  SmallCluster& cluster_;
  const NodeProcess self_;
};

SmallCluster::SmallCluster(Options options)
    : options_(std::move(options)),
      log_(options_.shards),
      carriers_(std::make_unique<WorkPool>(8)),
      in_order_(std::make_unique<WorkPool>(1)) {
  member_.store = EventId::random();
  member_.fork = member_.store;
  member_.term_key = 4711;
  member_.created_at = Timestamp::now();
  replace_coordinator();
  for (std::uint32_t n = 1; n <= options_.nodes + options_.gateways; ++n) start(n);
}

SmallCluster::~SmallCluster() {
  for (std::uint32_t n = 1; n <= all(); ++n) stop(n);
  std::unique_ptr<WorkPool> carriers, in_order;
  {
    const std::lock_guard lock(carriers_mutex_);
    carriers = std::move(carriers_);
    in_order = std::move(in_order_);
  }
  carriers.reset();
  in_order.reset();
  coordinators_.clear();
}

void SmallCluster::start(std::uint32_t number) { start_together({number}); }

void SmallCluster::start_together(const std::vector<std::uint32_t>& numbers) {
  for (const auto number : numbers) prepare(number);
  for (const auto number : numbers) {
    reach(number)->node->committer().connected();
    meet(number, true);
  }
}

void SmallCluster::prepare(std::uint32_t number) {
  auto part = std::make_shared<Part>();
  storage::StoreOptions store;
  if (!options_.data_dir.empty()) store.data_dir = options_.data_dir / std::to_string(number);
  store.shards = options_.shards;
  store.member = member_;
  store.member->node = number;
  store.tail_events = 1'000;
  store.memtable_bytes = 1u << 20;
  store.block_cache_bytes = 8u << 20;
  store.disk_reserve_bytes = full_[number] ? std::uint64_t{1} << 60 : 0;
  part->store = storage::open_node_store(store).value();
  part->process = {number, ++incarnations_};
  part->network = std::make_unique<Network>(*this, part->process);
  ClusterNodeOptions node;
  node.timeout = options_.timeout;
  node.store = store;
  node.page_events_max = 50;
  node.committer.self = part->process;
  node.committer.address = "node " + std::to_string(number);
  node.committer.door = "door " + std::to_string(number);
  node.committer.gateway = number > options_.nodes && number <= options_.nodes + options_.gateways;
  node.committer.zone = zones_[number];
  node.committer.limits = options_.limits;
  node.committer.takes_sealed = options_.takes_sealed;
  node.committer.append_timeout = options_.timeout;
  node.committer.skip_lost = skip_lost_;
  node.committer.wait_max = options_.timeout;
  node.committer.again_every = std::chrono::milliseconds(100);
  part->node = std::make_unique<ClusterNode>(*part->store, *part->network, node);
  const std::lock_guard lock(mutex_);
  parts_[number] = std::move(part);
}

void SmallCluster::meet(std::uint32_t number, bool up) {
  if (options_.replicas == 1) return;
  const auto here = reach(number);
  for (std::uint32_t n = 1; n <= all(); ++n) {
    const auto other = n == number ? nullptr : reach(n);
    if (other == nullptr) continue;
    other->node->committer().peer(number, up);
    if (here != nullptr) here->node->committer().peer(n, up);
  }
}

void SmallCluster::stop(std::uint32_t number) {
  std::shared_ptr<Part> part;
  {
    const std::lock_guard lock(mutex_);
    part = std::exchange(parts_[number], nullptr);
  }
  if (part == nullptr) return;
  coordinators_.back()->lost(part->process);
  meet(number, false);
  part->node->committer().stop();
  while (part.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void SmallCluster::replace_coordinator() {
  CoordinatorHostOptions options;
  options.coordinator.nodes_expected = options_.nodes;
  options.coordinator.replicas = options_.replicas;
  options.coordinator.ordering.cuts_held_max = 100;
  options.gone_after = options_.gone_after;
  options.tend_every = std::chrono::milliseconds(50);
  options.coordinator.fold_cuts = 3;  // a node that was away finds a log with holes
  auto& log = *logs_.emplace_back(std::make_unique<SharedCutLog>(log_mutex_, log_));
  auto led = CoordinatorHost::lead(log, *this, options);
  std::vector<std::shared_ptr<Part>> there;
  {
    const std::lock_guard lock(mutex_);
    coordinators_.push_back(std::move(led.value()));
    for (const auto& [number, part] : parts_)
      if (part != nullptr) there.push_back(part);
  }
  for (const auto& part : there) {
    part->node->committer().disconnected();
    part->node->committer().connected();
  }
}

void SmallCluster::move(ShardId shard, std::uint32_t to) {
  SharedCutLog log(log_mutex_, log_);
  const auto state = log.lead().value();  // whoever led before puts nothing any more
  const auto& at = state.shards[shard.value];
  sharding::Cut cut;
  cut.number = state.last_cut + 1;
  cut.coordinator = state.epoch;
  cut.first_position = state.watermark + 1;
  cut.openings.push_back({shard, at.epoch + 1, to, at.next});
  if (const auto put = log.put(cut); !put) throw std::runtime_error(put.error().what);
  replace_coordinator();
}

Result<ShardsAssigned> SmallCluster::assign(const ShardAssignment& wanted) {
  std::promise<Result<ShardsAssigned>> promise;
  coordinators_.back()->assign(wanted,
                               [&](Result<ShardsAssigned> assigned) { promise.set_value(std::move(assigned)); });
  return promise.get_future().get();
}

ClusterStatus SmallCluster::status() {
  std::promise<ClusterStatus> promise;
  coordinators_.back()->status([&](ClusterStatus status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

bool SmallCluster::wait_until_open() {
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    bool open = true;
    for (std::uint32_t n = 1; n <= options_.nodes + options_.gateways; ++n) {
      const auto part = reach(n);
      if (part == nullptr) continue;
      for (const auto owner : part->node->committer().owners()) open &= owner != 0;
      open &= part->node->head().has_value();
    }
    if (open) return true;
  }
  return false;
}

std::shared_ptr<SmallCluster::Part> SmallCluster::reach(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(number);
  return found == parts_.end() ? nullptr : found->second;
}

void SmallCluster::to_node(NodeProcess node, ToNode message) {
  deliver_in_order([this, node, sent = encode(message)] {
    const auto part = reach(node.node);
    if (part == nullptr || part->process != node) return;
    part->node->committer().receive(std::get<ToNode>(decode_from_coordinator(sent.kind, sent.bytes).value()));
  });
}

void SmallCluster::members(NodeProcess node, const Members& members) {
  deliver_in_order([this, node, sent = encode(members)] {
    const auto part = reach(node.node);
    if (part == nullptr || part->process != node) return;
    part->node->committer().members(std::get<Members>(decode_from_coordinator(sent.kind, sent.bytes).value()));
  });
}

void SmallCluster::promise(NodeProcess node, ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
                           const sharding::Leadership& coordinator) {
  deliver_in_order([=, this] {
    if (const auto part = reach(node.node); part != nullptr && part->process == node)
      part->node->committer().cut_promised(shard, epoch, ask, cut, coordinator);
  });
}

void SmallCluster::heard(NodeProcess from, ToCoordinator message) {
  const std::lock_guard lock(mutex_);
  if (hellos_held_ && std::holds_alternative<Hello>(message)) {
    held_hellos_.emplace_back(from, std::move(message));
    return;
  }
  // As links have it: of a session that is over nothing is heard any more.
  const auto part = parts_.find(from.node);
  if (part == parts_.end() || part->second == nullptr || part->second->process != from) return;
  CoordinatorHost& coordinator = *coordinators_.back();
  std::visit(
      [&](auto& said) {
        using Said = std::decay_t<decltype(said)>;
        if constexpr (std::is_same_v<Said, Hello>)
          coordinator.hello(std::move(said));
        else if constexpr (std::is_same_v<Said, CutsAfter>)
          coordinator.cuts_after(said);
        else if constexpr (std::is_same_v<Said, Held>)
          coordinator.held(said);
        else if constexpr (std::is_same_v<Said, Narrowed>)
          coordinator.narrowed(said);
        else
          coordinator.report(from, std::move(said.report), said.ask, said.naming);
      },
      message);
}

void SmallCluster::hold_hellos() {
  const std::lock_guard lock(mutex_);
  hellos_held_ = true;
}

std::size_t SmallCluster::hellos_held() {
  const std::lock_guard lock(mutex_);
  return held_hellos_.size();
}

void SmallCluster::let_hellos_go() {
  std::vector<std::pair<NodeProcess, ToCoordinator>> held;
  {
    const std::lock_guard lock(mutex_);
    hellos_held_ = false;
    held.swap(held_hellos_);
  }
  for (auto& [from, message] : held) heard(from, std::move(message));
}

}  // namespace evershard::cluster
