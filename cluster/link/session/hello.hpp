// LinkHello: the first message that two processes send each other, and the reasons for which they part again.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/limits.hpp"
#include "evershard/cluster/link/session/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// The link's protocol: what is spoken, and the oldest that is still understood. Neighbouring releases share one.
inline constexpr std::uint16_t link_version = 1;
inline constexpr std::uint16_t link_version_oldest = 1;

/// What a process speaks. Shape: from 1; the oldest not above the newest.
struct LinkVersions {
  std::uint16_t newest = link_version;
  std::uint16_t oldest = link_version_oldest;
};

enum class NodeRole : std::uint8_t { node = 1, coordinator = 2, both = 3 };
/// `node`, `coordinator`, `both`.
std::string_view name_of(NodeRole role);

/// Coordinators that stand by have numbers from here on, drawn at random. The leader is number 0, and standbys dial the
/// leader. A process that only asks the leader something does the same.
inline constexpr std::uint32_t standby_numbers_from = 0x8000'0000;

enum class LinkSide : std::uint8_t { dialler, acceptor };

/// Who a process is. The same on all its links.
struct LinkIdentity {
  std::string cluster{};     ///< the cluster's id: 1 to 64 bytes
  std::uint32_t shards = 0;  ///< how many the store was made with; 0: it asks the coordinator, see may_ask_shards()
  std::uint32_t hash = 0;    ///< sharding::hash_id
  NodeNumber node{};
  NodeRole role = NodeRole::node;
  std::uint64_t process = 0;  ///< random, at each start: one node number run twice is noticed
};

/// Nodes, and who is numbered as those that stand by are.
[[nodiscard]] bool may_ask_shards(const LinkIdentity& who);

/// What a side grants the other.
struct LinkCredit {
  std::uint32_t requests_max = 0;
  std::uint64_t request_bytes_max = 0;
  std::uint64_t message_bytes_max = 0;
  std::uint32_t payload_bytes_max = 0;

  friend bool operator==(const LinkCredit&, const LinkCredit&) = default;
};

struct LinkHello {
  std::uint16_t version = link_version;
  std::uint16_t version_oldest = link_version_oldest;
  LinkIdentity who{};
  SessionNumber session{};  ///< the dialler's choice; the acceptor repeats it
  NodeNumber to{};          ///< whom this side believes to speak to
  LinkCredit credit{};
  std::chrono::milliseconds dead_after{};
};

/// What both sides hold to when the greeting is over.
struct LinkAgreement {
  std::uint16_t version = 0;  ///< the newest that both speak
  SessionNumber session{};
  LinkIdentity peer{};
  LinkCredit credit{};                    ///< what the peer grants
  std::chrono::milliseconds heartbeat{};  ///< short enough for both
};

/// A side's own hello. `session` and `to`: of the dialler; an acceptor takes both from what it was sent.
[[nodiscard]] LinkHello make_hello(const LinkIdentity& who, const LinkLimits& limits, SessionNumber session,
                                   NodeNumber to);

std::string encode(const LinkHello& hello);
/// Errors: invalid_argument: no hello, or one with values that cannot be. What a newer version wrote behind is skipped.
[[nodiscard]] Result<LinkHello> decode_hello(std::string_view bytes);

/// Whether these two may speak, and how.
///
/// Errors: invalid_argument, naming what differs and both values: protocol version, cluster, shard count, hash, node
/// number, direction
[[nodiscard]] Result<LinkAgreement> agree(const LinkHello& own, const LinkHello& theirs, LinkSide own_side,
                                          std::chrono::milliseconds own_heartbeat);

}  // namespace evershard::cluster
