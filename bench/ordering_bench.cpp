// The ordering layer alone: a coordinator on one thread, its cut log on disk, reports of 64 shards; then simulated
// nodes in virtual time.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <queue>

#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/cluster/order/node_order.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"

namespace evershard::bench {
namespace {

using namespace cluster;
using OrderReport = sharding::Report;

constexpr std::uint32_t ordered_shards = 64;

OrderReport report_of(ShardId shard, Epoch epoch, ShardOffset first, std::size_t events) {
  OrderReport report{shard, epoch, first, {}};
  report.appends.resize(events);
  return report;
}

/// A coordinator that put its openings: every shard is of one of the nodes 1 to `nodes`, in turn.
template <class Put>
Result<std::unique_ptr<Coordinator>> leading(const sharding::CutLogState& led, std::uint32_t nodes, const Put& put,
                                             const std::function<void(CoordinatorActions)>& and_then = {}) {
  CoordinatorOptions options;
  options.nodes_expected = nodes;
  options.waiting_events_max = 8'000'000;
  auto coordinator = std::make_unique<Coordinator>(led, options);
  for (std::uint32_t n = 1; n <= nodes; ++n) {
    for (auto actions = coordinator->hello({{n, n}, 1, "", CutNumber{0}, {}});;) {
      auto next = std::move(actions.put);
      if (and_then) and_then(std::move(actions));
      if (!next) break;
      EVERSHARD_TRY(put(*next));
      actions = coordinator->put_returned({});
    }
  }
  return coordinator;
}

/// What every shard reports between two puts is ordered by the cut after it. `as_messages`: the reports are decoded,
/// the cut is encoded for the nodes.
Result<Figure> ordered_alone(const BenchOptions& options, std::size_t events_each, bool as_messages) {
  auto log = storage::open_cut_log({.data_dir = fresh(options, "cuts"), .shards = ordered_shards});
  if (!log) return refuse(std::move(log).error());
  auto led = (*log)->lead();
  if (!led) return refuse(std::move(led).error());
  auto made = leading(*led, 1, [&](const sharding::Cut& cut) { return (*log)->put(cut); });
  if (!made) return refuse(std::move(made).error());
  Coordinator& coordinator = **made;

  Latencies puts;
  std::vector<ShardOffset> next(ordered_shards, ShardOffset{1});
  std::uint64_t events = 0, cuts = 0, bytes = 0;
  double cpu = 0, making = 0;
  std::optional<sharding::Cut> put;  // the one that what was reported since the last one returned is in
  const double began = now_seconds();
  while (now_seconds() - began - making < options.seconds) {
    const double making_began = now_seconds();
    std::vector<OrderReport> reports;
    std::vector<std::string> encoded;
    for (std::uint16_t s = 0; s != ordered_shards; ++s) {
      auto report = report_of(ShardId{s}, coordinator.stored().shards[s].epoch, next[s], events_each);
      next[s] = next[s] + events_each;
      if (as_messages)
        encoded.push_back(encode(ToCoordinator(actors::WriterReport{std::move(report), 0})).bytes);
      else
        reports.push_back(std::move(report));
    }
    making += now_seconds() - making_began;

    double at = thread_cpu_seconds();
    const auto carry_out = [&](CoordinatorActions actions) {
      if (actions.put) put = std::move(actions.put);
      if (actions.fold && (*log)->fold(coordinator.stored().epoch, *actions.fold)) coordinator.folded((*log)->state());
      if (!as_messages) return;
      for (const auto& outgoing : actions.send) bytes += encode(outgoing.message).bytes.size();
    };
    for (const auto& text : encoded) {
      auto report = decode_to_coordinator(PeerKind::report, text);
      if (!report) return refuse(std::move(report).error());
      carry_out(coordinator.report({1, 1}, std::move(std::get<actors::WriterReport>(*report).report)));
    }
    for (auto& report : reports) carry_out(coordinator.report({1, 1}, std::move(report)));
    // What came while this one was put is in the cut after it.
    if (put) {
      const auto cut = *std::exchange(put, std::nullopt);
      cpu += thread_cpu_seconds() - at;
      events += cut.events();
      ++cuts;
      if (!as_messages) bytes += sharding::encode(cut).size();
      at = thread_cpu_seconds();
      const double sent = now_seconds();
      const auto done = (*log)->put(cut);
      puts.add((now_seconds() - sent) * 1e6);
      if (!done) return refuse(done.error());
      carry_out(coordinator.put_returned(done));
    }
    carry_out(coordinator.held({{1, 1}, coordinator.stored().last_cut}));
    cpu += thread_cpu_seconds() - at;
  }
  const double seconds = now_seconds() - began - making;
  const auto name = "ordering alone, 64 shards, " + std::to_string(events_each) + " events a report" +
                    (as_messages ? ", as messages" : "");
  Figure f{name, static_cast<double>(events) / seconds, "events/s"};
  const auto each = static_cast<double>(std::max<std::uint64_t>(1, cuts));
  f.more = {{"cuts_per_s", each / seconds},
            {"events_a_cut", static_cast<double>(events) / each},
            {"bytes_a_cut", static_cast<double>(bytes) / each},
            {"cpu_ns_per_event", cpu * 1e9 / static_cast<double>(std::max<std::uint64_t>(1, events))},
            {"cpu_us_a_cut", cpu * 1e6 / each},
            {"events_per_cpu_s", static_cast<double>(events) / cpu},
            {"put_p50_us", puts.percentile(0.5)},
            {"put_p99_us", puts.percentile(0.99)}};
  return f;
}

double more_of(const Figure& figure, std::string_view name) {
  for (const auto& [key, value] : figure.more)
    if (key == name) return value;
  return 0;
}

Result<void> ordering_by_load(const BenchOptions& options, Report& report) {
  std::vector<Contestant> loads;
  for (const std::size_t events : {1u, 16u, 64u, 256u, 1'024u})
    loads.push_back({[&options, events] { return ordered_alone(options, events, false); }, {}});
  loads.push_back({[&options] { return ordered_alone(options, 256, true); }, {}});
  auto figures = in_turn(options, loads);
  if (!figures) return refuse(std::move(figures).error());
  auto& large = (*figures)[3];
  large.target = "at least 2 M events/s ordered on one core";
  large.reached = large.value >= 2e6;
  auto& first = figures->front();
  auto& last = (*figures)[4];
  const double falls = more_of(last, "cpu_ns_per_event") / more_of(first, "cpu_ns_per_event");
  last.comparisons.push_back({first.workload + ", cpu_ns_per_event", falls, falls, falls,
                              "less than 1.00: the cost of an event falls with load", falls < 1});
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  return {};
}

// -- simulated nodes

/// Time is virtual, in seconds; what the classes compute takes the time that this thread took for it.
struct VirtualLoad {
  double events_per_s = 25'000;  ///< of a node
  double tick_s = 0.001;         ///< between a node's syncs
  double hop_s = 100e-6;
  double put_s = 0.0015;  ///< of a synced put
  double seconds = 1.0;
};

class VirtualCluster {
 public:
  VirtualCluster(std::uint32_t nodes, const VirtualLoad& load) : load_(load), log_(ordered_shards) {
    for (std::uint32_t n = 1; n <= nodes; ++n) nodes_.push_back(std::make_unique<Node>(n));
  }

  Result<Figure> run() {
    EVERSHARD_TRY(begin());
    for (std::size_t n = 0; n != nodes_.size(); ++n)
      at(load_.tick_s * static_cast<double>(n) / static_cast<double>(nodes_.size()), [this, n] { tick(n); });
    while (!queue_.empty() && queue_.top().at <= load_.seconds) {
      auto next = queue_.top();
      queue_.pop();
      now_ = next.at;
      (*next.what)();
    }
    double node_busy = 0;
    for (const auto& node : nodes_) node_busy = std::max(node_busy, node->busy);
    Figure f{"simulated nodes: " + std::to_string(nodes_.size()), static_cast<double>(ordered_) / load_.seconds,
             "events/s"};
    f.more = {{"coordinator_cpu_share", busy_ / load_.seconds},
              {"coordinator_cpu_ns_per_event", busy_ * 1e9 / static_cast<double>(std::max<std::uint64_t>(1, ordered_))},
              {"cuts_per_s", static_cast<double>(cuts_) / load_.seconds},
              {"node_cpu_share", node_busy / load_.seconds},
              {"ordered_p50_us", latencies_.percentile(0.5)},
              {"ordered_p99_us", latencies_.percentile(0.99)}};
    return f;
  }

 private:
  struct Node {
    explicit Node(std::uint32_t n) : self{n, n}, order(NodeStart{self, "", CutNumber{0}, GlobalPosition{0}, {}}) {}
    NodeProcess self;
    NodeOrder order;
    struct Shard {
      ShardOffset next{1};
      std::deque<std::pair<ShardOffset, double>> written{};  ///< up to here, and when
    };
    std::map<ShardId, Shard> shards;
    double owed = 0;
    double busy = 0;
    double free_at = 0;
    std::uint64_t waiting = 0;
  };
  struct Event {
    double at;
    std::uint64_t sequence;
    std::shared_ptr<std::function<void()>> what;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : sequence > other.sequence; }
  };

  void at(double when, std::function<void()> what) {
    queue_.push({when, sequence_++, std::make_shared<std::function<void()>>(std::move(what))});
  }
  /// Runs it on somebody's core: from when that is free, as long as it takes. Returns: when it is over.
  template <class What>
  double on_core(double& free_at, double& busy, const What& what) {
    const double began = thread_cpu_seconds();
    what();
    const double took = thread_cpu_seconds() - began;
    busy += took;
    return free_at = std::max(now_, free_at) + took;
  }

  Result<void> begin() {
    auto led = log_.lead();
    if (!led) return refuse(std::move(led).error());
    const auto deliver = [this](const CoordinatorActions& actions) {
      for (const auto& outgoing : actions.send) early_.push_back(outgoing);
    };
    for (auto& node : nodes_) (void)node->order.connected();
    for (auto& node : nodes_) (void)node->order.hello({});
    auto made = leading(
        *led, static_cast<std::uint32_t>(nodes_.size()), [this](const sharding::Cut& cut) { return log_.put(cut); },
        deliver);
    if (!made) return refuse(std::move(made).error());
    coordinator_ = std::move(*made);
    for (const auto& outgoing : early_)
      for (auto& node : nodes_)
        if (!outgoing.to || *outgoing.to == node->self) perform(*node, heard(*node, outgoing.message));
    for (auto& node : nodes_) {
      perform(*node, node->order.synced(node->order.cut()));
      for (std::uint16_t s = 0; s != ordered_shards; ++s)
        if (node->order.writes(ShardId{s})) node->shards[ShardId{s}];
      if (node->shards.empty()) return refuse(ErrorCode::io, "a simulated node was given no shard");
    }
    return {};
  }

  static NodeActions heard(Node& node, const ToNode& message) {
    if (const auto* welcome = std::get_if<Welcome>(&message)) return node.order.welcome(*welcome);
    if (const auto* opens = std::get_if<Opens>(&message)) return node.order.opens(*opens);
    if (const auto* announce = std::get_if<Announce>(&message)) return node.order.announce(*announce);
    return {};
  }

  void perform(Node& node, NodeActions actions) {
    for (const auto& step : actions.steps) {
      const auto* apply = std::get_if<NodeStep::Apply>(&step.what);
      if (!apply) continue;
      for (const auto& own : apply->own) {
        auto& shard = node.shards[own.segment.shard];
        while (!shard.written.empty() && shard.written.front().first <= own.segment.end) {
          latencies_.add((std::max(now_, node.free_at) - shard.written.front().second) * 1e6);
          shard.written.pop_front();
        }
        node.waiting -= own.segment.events();
        ordered_ += own.segment.events();
      }
      perform(node, node.order.applied(apply->number));
    }
  }

  /// What a node wrote since the last one is synced: reported.
  void tick(std::size_t n) {
    Node& node = *nodes_[n];
    at(now_ + load_.tick_s, [this, n] { tick(n); });
    // So much waits for its order at most: clients wait for their answers.
    const auto waiting_max = static_cast<std::uint64_t>(load_.events_per_s * load_.tick_s * 32);
    node.owed = std::min(node.owed + load_.events_per_s * load_.tick_s, static_cast<double>(waiting_max));
    auto left = static_cast<std::uint64_t>(node.owed);
    left = node.waiting >= waiting_max ? 0 : std::min(left, waiting_max - node.waiting);
    node.owed -= static_cast<double>(left);
    auto shards = node.shards.size();
    for (auto& [id, shard] : node.shards) {
      const auto events = left / shards--;
      left -= events;
      if (events == 0) continue;
      auto report = std::make_shared<OrderReport>(report_of(id, *node.order.writes(id), shard.next, events));
      shard.next = shard.next + events;
      shard.written.emplace_back(shard.next, now_);
      node.waiting += events;
      at(now_ + load_.hop_s, [this, report, from = node.self] {
        inbox_.push_back({from, report});
        if (!put_) take();
      });
    }
  }

  /// The coordinator's thread: everything that came, then a put, then everything that came meanwhile.
  void take() {
    const double over = on_core(free_at_, busy_, [&] {
      for (auto& [from, report] : std::exchange(inbox_, {})) carry_out(coordinator_->report(from, std::move(*report)));
    });
    if (put_) put(over);
  }
  void put(double from) {
    at(from + load_.put_s, [this] {
      free_at_ = now_;
      const auto cut = *std::exchange(put_, std::nullopt);
      const double over = on_core(free_at_, busy_, [&] {
        (void)log_.put(cut);
        for (auto& [who, report] : std::exchange(inbox_, {})) carry_out(coordinator_->report(who, std::move(*report)));
        carry_out(coordinator_->put_returned({}));
      });
      ++cuts_;
      if (put_) put(over);
    });
  }
  void carry_out(CoordinatorActions actions) {
    if (actions.put) put_ = std::move(actions.put);
    if (actions.fold && log_.fold(coordinator_->stored().epoch, *actions.fold)) coordinator_->folded(log_.state());
    for (auto& outgoing : actions.send) {
      auto message = std::make_shared<ToNode>(std::move(outgoing.message));
      for (auto& node : nodes_) {
        if (outgoing.to && *outgoing.to != node->self) continue;
        at(std::max(now_, free_at_) + load_.hop_s, [this, message, &hearing = *node] {
          NodeActions heard_actions;
          on_core(hearing.free_at, hearing.busy, [&] { heard_actions = heard(hearing, *message); });
          perform(hearing, std::move(heard_actions));
        });
      }
    }
  }

  const VirtualLoad load_;
  sharding::MemoryCutLog log_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<CoordinatorActions::Outgoing> early_;
  std::priority_queue<Event> queue_;
  std::uint64_t sequence_ = 0;
  double now_ = 0;
  double free_at_ = 0, busy_ = 0;
  std::vector<std::pair<NodeProcess, std::shared_ptr<OrderReport>>> inbox_;
  std::optional<sharding::Cut> put_;
  std::uint64_t ordered_ = 0, cuts_ = 0;
  Latencies latencies_;
};

Result<void> simulated_nodes(const BenchOptions& options, Report& report) {
  VirtualLoad load;
  load.seconds = std::min(1.0, options.seconds);
  std::vector<Contestant> counts;
  for (const std::uint32_t nodes : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
    counts.push_back({[load, nodes] { return VirtualCluster(nodes, load).run(); }, {}});
  auto figures = in_turn(options, counts);
  if (!figures) return refuse(std::move(figures).error());
  const double one = figures->front().value;
  for (std::size_t i = 0; i != figures->size(); ++i) {
    auto& figure = (*figures)[i];
    const double linear = figure.value / (one * static_cast<double>(1u << i));
    const double share = more_of(figure, "coordinator_cpu_share");
    if (i != 0)
      figure.comparisons.push_back({"linear", linear, linear, linear,
                                    "at least 0.90 until the coordinator's core is full",
                                    linear >= 0.9 || share >= 0.9});
    EVERSHARD_TRY(add(options, report, std::move(figure)));
  }
  return {};
}

}  // namespace

Result<void> measure_ordering(const BenchOptions& options, Report& report) {
  report.heading("The ordering layer alone: a coordinator on one thread, 64 shards, every cut synced to the log");
  EVERSHARD_TRY(ordering_by_load(options, report));
  report.heading(
      "Simulated nodes of 25,000 events/s each: the same classes, virtual network (100 us a hop, 1.5 ms a put), "
      "computing at its real cost");
  return simulated_nodes(options, report);
}

}  // namespace evershard::bench
