// The simulation's processes on links: the product's sessions between them, over connections that break, and clocks
// that jump.

#include <algorithm>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::NodeNumber;

namespace {

constexpr Network::Microseconds tick_every = 200 * Network::millisecond;

cluster::LinkIdentity identity_of(std::uint32_t node, std::uint64_t process, std::uint32_t shards) {
  return {
      "simulated", shards, 1, NodeNumber{node}, node == 0 ? cluster::NodeRole::coordinator : cluster::NodeRole::node,
      process};
}

/// Little of everything, so that it runs out.
cluster::LinkLimits scarce(Network& network) {
  cluster::LinkLimits limits;
  limits.payload_bytes_max = 4'096;
  limits.queue_calls_max = 200;
  limits.queue_bytes_max = 256 * 1'024;
  limits.requests_max = static_cast<std::uint32_t>(2 + network.pick(30));
  limits.request_bytes_max = 4'096 * (1 + network.pick(8));
  limits.message_bytes_max = 4'096 * (1 + network.pick(8)) + cluster::message_bytes_extra;
  limits.answer_bytes_max = 64 * 1'024;
  limits.frame_bytes_max = 1'024 + network.pick(4'000);
  limits.frame_items_max = 1 + network.pick(20);
  limits.unsent_bytes_max = 8'192;
  return limits;
}

}  // namespace

std::shared_ptr<LinkEnd> Simulation::open_link(cluster::LinkIdentity who, std::size_t owner, Network::Endpoint endpoint,
                                               LinkEnd::Setup setup) {
  setup.who = std::move(who);
  setup.owner = owner;
  setup.endpoint = endpoint;
  setup.limits = scarce(network_);
  setup.off = options_.off;
  setup.find = [this](NodeNumber number) { return link_of(number); };
  setup.tell = [this](const std::string& line) { tell(line); };
  auto end = std::make_shared<LinkEnd>(network_, letters_, std::move(setup));
  tick(end);
  return end;
}

void Simulation::tick(const std::shared_ptr<LinkEnd>& end) {
  if (!end->alive()) return;
  end->tick();
  network_.after(tick_every / 2 + network_.pick(tick_every), [this, end] { tick(end); });
}

/// Who answers there now: of coordinators now and then an older one.
std::shared_ptr<LinkEnd> Simulation::link_of(NodeNumber number) {
  if (number.value != 0) {
    const auto& process = nodes_[number.value - 1]->process;
    return process ? process->link : nullptr;
  }
  std::vector<std::shared_ptr<LinkEnd>> alive;
  for (const auto& leader : leaders_)
    if (leader->alive && leader->link) alive.push_back(leader->link);
  if (alive.empty()) return nullptr;
  return network_.one_in(4) ? alive[network_.pick(alive.size())] : alive.back();
}

void Simulation::link(Process& process) {
  Node& node = process.node;
  const auto incarnation = process.self.incarnation;
  node.clock = static_cast<std::int64_t>(
      network_.pick(1'000 * Network::second));  // another machine's, or that of one started again
  LinkEnd::Setup setup;
  setup.clock = [this, &node] {
    return static_cast<Network::Microseconds>(static_cast<std::int64_t>(network_.now()) + node.clock);
  };
  setup.up = [this, &node, incarnation](NodeNumber peer, LinkEnd& with) {
    if (peer.value == 0) return session_with_leader(node, incarnation, with.owner());
    if (replicated() && node.process && node.process->self.incarnation == incarnation && !node.process->failed)
      this->peer(*node.process, peer.value, true);
  };
  setup.down = [this, &node, incarnation](NodeNumber peer) {
    if (peer.value == 0) return session_with_leader(node, incarnation, std::nullopt);
    if (replicated() && node.process && node.process->self.incarnation == incarnation && !node.process->failed)
      this->peer(*node.process, peer.value, false);
  };
  process.link =
      open_link(identity_of(node.number, incarnation, options_.shards), node.number - 1, node.number, std::move(setup));
  // Of two, the higher number dials; the coordinator's is 0.
  for (std::uint32_t lower = 0; lower != node.number; ++lower) process.link->dial(NodeNumber{lower});
}

void Simulation::session_with_leader(Node& node, std::uint64_t incarnation, std::optional<std::size_t> leader) {
  if (!node.process || node.process->self.incarnation != incarnation || node.process->failed) return;
  Process& process = *node.process;
  process.leader = leader;
  if (leader) return perform(process, process.order.connected());
  if (process.real) process.real->writers.session_lost();
  perform(process, process.order.disconnected());
}

void Simulation::link(Leader& leader) {
  LinkEnd::Setup setup;
  setup.clock = [this] { return network_.now(); };
  setup.down = [this, number = leader.number](NodeNumber peer) {
    Leader& here = *leaders_[number];
    const auto said = here.said_hello.extract(peer.value);
    if (here.alive && !said.empty()) perform(here, here.coordinator.lost(said.mapped()));
  };
  leader.link = open_link(identity_of(0, 1'000'000 + leader.number, options_.shards), leader.number, leader.endpoint(),
                          std::move(setup));
}

void Simulation::to_node(Leader& leader, std::uint32_t node, std::function<void(Process&)> what) {
  const auto received = [this, what = std::move(what)](std::uint32_t there) {
    if (auto& process = nodes_[there - 1]->process; process && !process->failed) what(*process);
  };
  if (options_.links) {
    leader.link->message(NodeNumber{node},
                         [received](LinkEnd& at) { received(static_cast<std::uint32_t>(at.owner() + 1)); });
    return;
  }
  network_.send(leader.endpoint(), node, [received, node] { received(node); });
}

void Simulation::forward(Process& process, std::uint32_t owner, AppendId id) {
  process.link->request(
      NodeNumber{owner}, std::chrono::seconds(2),
      [this, id](LinkEnd& at, Letters::Answer answer) {
        submit_real(*nodes_[at.owner()]->process, id, std::move(answer));
      },
      [](const Result<Letters::Told>&) {});
}

/// Forward, as of a process that is stopped and goes on; and back, which a steady clock never does.
void Simulation::jump(Node& node) {
  if (!node.process) return;
  const auto by =
      static_cast<std::int64_t>(network_.pick(network_.one_in(3) ? 20 * Network::second : 2 * Network::second));
  const bool back = network_.one_in(3);
  node.clock = std::max<std::int64_t>(0, back ? node.clock - by : node.clock + by);
  tell("the clock of node", node.number, "jumps", back ? "back" : "forward", "by", by / 1'000, "ms");
  ++outcome_.clocks;
}

}  // namespace evershard::simulation
