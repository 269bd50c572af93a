// The door that speaks KurrentDB's protocol: its clients, unchanged, over a store of ours.

#pragma once

#include <memory>

#include "evershard/doors/grpc/door.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

class PersistentHome;

struct KurrentOptions {
  Limits limits{};                         ///< the store's, as clients are told of them
  std::shared_ptr<PersistentHome> home{};  ///< this node's; absent: the store is one process
  /// Others end streams in the same store and are not asked: doors of other nodes, of other programs.
  bool others_write = false;
};

/// The persistent subscriptions of a cluster that are at home on this node, for the doors of all nodes: also where this
/// one has none. While nobody asks, nothing of it runs.
///
/// Returns: null: the store is one process. Shape: before the node joins. Owner: `served` outlives it
[[nodiscard]] std::shared_ptr<PersistentHome> start_home(serving::Served& served);
/// Behind the doors' stop(): all is kept, and other nodes' consumers go on elsewhere. Any number of times.
void stop_home(PersistentHome& home);

/// The size of the longest message of a KurrentDB client; KurrentDB's servers take as much.
inline constexpr std::size_t message_bytes_most = 17u << 20;

/// Serves until it is stopped. `options`: where, with which certificates and bounds.
///
/// Errors: those of door::Door::start
[[nodiscard]] Result<std::unique_ptr<door::Door>> start_door(serving::Served& served, door::DoorOptions options,
                                                             KurrentOptions kurrent);

}  // namespace evershard::kurrent
