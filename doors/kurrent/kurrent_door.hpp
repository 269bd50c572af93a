// The door that speaks KurrentDB's protocol: its clients, unchanged, over a store of ours.

#pragma once

#include <memory>

#include "evershard/doors/grpc/door.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

struct KurrentOptions {
  Limits limits{};  ///< the store's, as clients are told of them
  /// Others end streams in the same store and are not asked: doors of other nodes, of other programs.
  bool others_write = false;
};

/// What a message of theirs may have at most; theirs take as much.
inline constexpr std::size_t message_bytes_most = 17u << 20;

/// Serves until it is stopped. `options`: where, with which certificates and bounds.
///
/// Errors: those of door::Door::start
[[nodiscard]] Result<std::unique_ptr<door::Door>> start_door(serving::Served& served, door::DoorOptions options,
                                                             KurrentOptions kurrent);

}  // namespace evershard::kurrent
