// MemberStore: a cluster's store, served by one of its nodes.

#pragma once

#include <cstdint>
#include <string>

#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/doors/server/store_in_service.hpp"

namespace evershard::server {

struct MemberOptions {
  std::uint32_t node = 0;  ///< from 1; for good
  cluster::NodeLinksOptions links{};
  std::string door{};          ///< HOST:PORT at which clients reach its gRPC door; empty: where that listens
  std::string kurrent_door{};  ///< the same of KurrentDB's clients
  std::string version{};       ///< of this program
  bool gateway = false;        ///< see NodeCommitterOptions
  std::string zone{};          ///< the same
  std::uint64_t learn_bytes_per_second = 64u << 20;  ///< 0: as fast as it comes
  bool skip_lost = false;                            ///< see NodeCommitterOptions
  std::string address{};  ///< HOST:PORT at which the other nodes reach this one; empty: where it listens
  std::chrono::milliseconds coordinator_timeout = std::chrono::seconds(60);  ///< at the start
};

/// Opens this node's part of the store in ServerOptions::store.data_dir, and joins.
///
/// Errors: invalid_argument (another shard count, cluster or node than the disk's; unsafe links), unavailable (no
///         coordinator; the directory is open), corruption, io
[[nodiscard]] OpenStore open_member(MemberOptions options);

}  // namespace evershard::server
