// What one node of a cluster of processes says of its shards: which answer, how those are named that do not, what is in
// them.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "tests/process/cluster_processes.hpp"

namespace evershard::testing {

/// No aggregate has it.
inline constexpr std::uint64_t no_version = 1'000'000'000;

/// Asks for what cannot be: who has the shard says so, once a cut was made since.
[[nodiscard]] Append probe(const ClusterProcesses& cluster, std::uint32_t shard);

struct Reached {
  std::set<std::uint32_t> answered;
  std::set<std::uint32_t> missing;  ///< `unavailable`, and named
  std::set<std::uint32_t> silent;   ///< nothing in time
  std::string course;               ///< each question, how long it took, and what was said
};

/// Each shard, or those that are named, asked of this node, so often. Whoever has not answered by his deadline and
/// 30 s fails the test.
[[nodiscard]] Reached reach(const ClusterProcesses& cluster, std::uint32_t node,
                            std::chrono::milliseconds timeout = std::chrono::seconds(5), int tries_max = 20,
                            const std::set<std::uint32_t>& shards = {});

/// Asks until exactly these shards are missing and none is silent, for a minute: where a machine stands still, others
/// may be for a moment. Returns: the last answers.
[[nodiscard]] Reached reach_missing(const ClusterProcesses& cluster, std::uint32_t node,
                                    const std::set<std::uint32_t>& missing,
                                    std::chrono::milliseconds timeout = std::chrono::seconds(5));

/// Whose `shards` these are is silent from now on: whoever asks `node` for one of them hears within his deadline and 3
/// s that the outcome is unknown, and, from when its silence can be noticed, `unavailable` with the shard's name.
void expect_named_in_time(const ClusterProcesses& cluster, std::uint32_t node, const std::set<std::uint32_t>& shards);

/// An event in each shard, asked of this node. Returns: the last of their positions
GlobalPosition fill(const ClusterProcesses& cluster, std::uint32_t node);

/// Reads to the end. Returns: why that came before the end; nothing: it did not
template <class Stream>
[[nodiscard]] std::optional<Error> error_of(Stream stream) {
  while (stream.next().value_or(std::nullopt)) {
  }
  return stream.error();
}

/// How many events this node reads whose positions are 1, 2, 3; as of a moment when it knows `at_least`.
[[nodiscard]] std::size_t count_at(const ClusterProcesses& cluster, std::uint32_t node, GlobalPosition at_least);

/// Whose each shard is, as this node hears it from the coordinator.
[[nodiscard]] std::set<std::uint32_t> shards_of(const ClusterProcesses& cluster, std::uint32_t node,
                                                std::uint32_t asked = 1);

/// Shards without an event, whose node is gone or about to be missed, go on at another one; done on return.
void give(const ClusterProcesses& cluster, const std::set<std::uint32_t>& shards, std::uint32_t to,
          std::uint32_t asked);

}  // namespace evershard::testing
