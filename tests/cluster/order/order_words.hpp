// The order's messages in a word, for tests by hand.

#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/cluster/order/node_order.hpp"

namespace evershard::cluster {

inline NodeProcess process(std::uint32_t node, std::uint64_t incarnation = 1) { return {node, incarnation}; }
inline ShardTold told(std::uint16_t shard, std::uint64_t epoch, std::uint64_t covered, std::uint64_t tail,
                      bool taken = false) {
  return {ShardId{shard}, Epoch{epoch}, taken, ShardOffset{covered}, ShardOffset{tail}};
}
inline Hello hello_of(NodeProcess from, std::uint64_t cut = 0, std::vector<ShardTold> shards = {}) {
  return {from, 1, "host-" + std::to_string(from.node), CutNumber{cut}, std::move(shards)};
}
inline Report report_of(std::uint16_t shard, std::uint64_t epoch, std::uint64_t first, std::size_t appends) {
  Report report{ShardId{shard}, Epoch{epoch}, ShardOffset{first}, {}};
  for (; appends != 0; --appends)
    report.appends.push_back({.events = 1, .tentative = false, .conditions = {}, .terms = {{1}}, .part = {}});
  return report;
}
/// The messages of one kind among those to be sent.
template <class Message>
std::vector<Message> sent(const CoordinatorActions& actions) {
  std::vector<Message> found;
  for (const auto& outgoing : actions.send) {
    if (const auto* message = std::get_if<Message>(&outgoing.message)) found.push_back(*message);
  }
  return found;
}
template <class What>
std::vector<What> steps(const NodeActions& actions) {
  std::vector<What> found;
  for (const auto& step : actions.steps) {
    if (const auto* what = std::get_if<What>(&step.what)) found.push_back(*what);
  }
  return found;
}

}  // namespace evershard::cluster
