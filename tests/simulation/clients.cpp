// The simulation's clients: each does one thing after another, and remembers what it was told.

#include <algorithm>
#include <memory>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {
namespace {

constexpr std::uint64_t vocabulary = 5;

}  // namespace

void Simulation::client(std::uint64_t number) {
  if (resting_) return;
  const auto& asked = nodes_[network_.pick(nodes_.size())]->process;
  if (options_.processes && network_.one_in(2)) {
    play();
  } else if (options_.aggregates && network_.one_in(3)) {
    command(number);
  } else if (network_.one_in(4)) {
    read(number);
  } else if (asked && network_.one_in(3)) {
    append(number, asked->order.watermark());  // whoever knows that nothing behind it concerns him
  } else {
    append(number, std::nullopt);
  }
  network_.after(network_.pick(30 * Network::millisecond), [this, number] { client(number); });
}

std::uint32_t Simulation::node_of(ShardId shard) {
  const auto owner = log_.state().shards[shard.value].node;
  return owner == 0 || network_.one_in(6) ? 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size())) : owner;
}

void Simulation::append(std::uint64_t number, std::optional<GlobalPosition> read_up_to) {
  Request request;
  std::vector<ShardId> on;
  for (std::uint64_t n = network_.one_in(3) ? 2 + network_.pick(2) : 1; n != 0; --n)
    on.push_back(ShardId{static_cast<std::uint16_t>(network_.pick(options_.shards))});
  for (std::size_t n = std::max<std::size_t>(on.size(), 1 + network_.pick(3)); n != 0; --n) {
    request.events.push_back({on[n % on.size()], {1 + network_.pick(vocabulary), 1 + network_.pick(vocabulary)}});
  }
  if (read_up_to) {
    for (std::uint64_t n = 1 + network_.pick(2); n != 0; --n)
      request.conditions.push_back({{false, {{{}, {1 + network_.pick(vocabulary)}}}}, *read_up_to});
  }
  request.digests = !network_.one_in(12);
  request.durable = !read_up_to && request.shards().size() == 1 && network_.one_in(4);
  const auto shards = request.shards();
  if (options_.real_writers) expect_versions(request);
  if (options_.real_writers && !request.durable && history_.requests() > 6 && network_.one_in(8)) {
    const auto of = static_cast<AppendId>(history_.requests() - 1 - network_.pick(6));
    const auto& one = history_.request(of);
    if (!one.twin && !one.content && !one.durable && one.events.size() == request.events.size()) request.twin = of;
  }
  const AppendId id = history_.add(std::move(request));
  if (options_.real_writers) return send_whole(number, id, 3);
  for (const ShardId shard : shards) {
    if (shards.size() > 1 && network_.one_in(30)) continue;  // a part that never comes
    const auto node = node_of(shard);
    network_.send(Network::clients + number, node, [this, id, shard, node] {
      if (auto& process = nodes_[node - 1]->process) perform(*process, process->writer->submit(shard, id));
    });
  }
}

// With real writers: aggregates, what is expected of them, of some that are not written to as well.
void Simulation::expect_versions(Request& request) {
  constexpr std::uint32_t aggregates = 3;
  for (auto& event : request.events)
    if (!network_.one_in(5)) event.aggregate = static_cast<std::uint32_t>(network_.pick(aggregates));
  if (network_.one_in(2)) return;
  const auto expect = [&](ShardId shard, std::uint32_t aggregate) {
    const bool there = std::ranges::any_of(
        request.expected, [&](const auto& one) { return one.shard == shard && one.aggregate == aggregate; });
    if (there) return;
    const auto now = history_.version(shard, aggregate, history_.known());
    const auto guess = network_.one_in(6) ? now + network_.pick(3) : now;
    request.expected.push_back(
        {shard, aggregate, network_.one_in(8) ? ExpectedVersion::exists() : ExpectedVersion::exactly(guess)});
  };
  for (const auto& event : request.events)
    if (event.aggregate && network_.one_in(2)) expect(event.shard, *event.aggregate);
  if (network_.one_in(4))
    expect(ShardId{static_cast<std::uint16_t>(network_.pick(options_.shards))},
           static_cast<std::uint32_t>(network_.pick(aggregates)));
  if (!request.expected.empty()) request.durable = false;
}

// To the owner of its first event's shard; now and then again, whatever became of it.
void Simulation::send_whole(std::uint64_t number, AppendId id, int tries) {
  const auto node = node_of(history_.request(id).events.front().shard);
  // Over links any node takes it, and gives it to that one.
  const auto asked = options_.links ? 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size())) : node;
  network_.send(Network::clients + number, asked, [this, id, node, asked] {
    auto& process = nodes_[asked - 1]->process;
    if (!process) return;
    asked == node ? submit_real(*process, id) : forward(*process, node, id);
  });
  if (tries == 0 || !network_.one_in(3)) return;
  network_.after(network_.pick(Network::second), [this, number, id, tries] {
    if (!resting_) send_whole(number, id, tries - 1);
  });
}

// All pages up to one node's watermark, each from whoever has the shard. Whoever read them all may condition on them.
void Simulation::read(std::uint64_t number) {
  const auto asked = 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
  if (!nodes_[asked - 1]->process) return;
  const auto w = nodes_[asked - 1]->process->order.watermark();
  auto missing = std::make_shared<std::uint32_t>(options_.shards);
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    const auto node = node_of(shard);
    network_.send(Network::clients + number, node, [this, number, node, shard, w, missing] {
      auto& process = nodes_[node - 1]->process;
      if (!process) return;
      using Page = cluster::NodeOrder::Page;
      const auto may = process->order.page(shard, w);
      if (may == Page::not_yet && options_.off != Off::page_waits) return;
      if (may == Page::not_here && options_.off != Off::page_of_opened) return;
      std::map<GlobalPosition, EventAt> answer;
      if (const auto at = process->node.disk.state().shards.find(shard); at != process->node.disk.state().shards.end())
        answer = at->second.placed;
      history_.page(shard, w, answer, "node " + std::to_string(node));
      if (--*missing != 0) return;
      ++outcome_.reads;
      if (!resting_) append(number, w);
    });
  }
}

void Simulation::answer(const Process& process, const Writer::Actions::Answer& answer) {
  using Kind = Writer::Actions::Answer::Kind;
  if (answer.kind == Kind::durable) process.node.durable.emplace(answer.append, network_.now());
  if (answer.kind != Kind::placed) return;
  const Request& request = history_.request(answer.append);
  // Of an append over several shards the shard of its first event answers.
  if (request.events.front().shard != request.events[answer.event].shard || answer.event != 0) return;
  tell("node", process.self.node, "acknowledges append", answer.append, "at position", answer.position);
  history_.acknowledged(answer.append, answer.position, "node " + std::to_string(process.self.node));
  ++outcome_.acknowledged;
}

}  // namespace evershard::simulation
