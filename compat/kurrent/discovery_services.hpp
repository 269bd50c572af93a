// What clients ask first, and before they have shown who they are: what this server can do, and which nodes there are.

#pragma once

#include <memory>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/gossip.grpc.pb.h"
#include "evershard/kurrent/server_features.grpc.pb.h"

namespace evershard::kurrent {

/// Only what is there is named, so that clients do not ask for more.
class ServerFeaturesService final : public door::ServiceOf<::event_store::client::server_features::ServerFeatures> {
 public:
  explicit ServerFeaturesService(std::shared_ptr<Kurrent> kurrent);

 private:
  const std::shared_ptr<Kurrent> kurrent_;
};

/// One process is its only member, at the address its caller asked. The nodes of a cluster are where each of them told
/// the others that it is reached by these clients; one that has no such door is none of their members.
class GossipService final : public door::ServiceOf<::event_store::client::gossip::Gossip> {
 public:
  explicit GossipService(std::shared_ptr<Kurrent> kurrent);

 private:
  const std::shared_ptr<Kurrent> kurrent_;
};

/// The members, as the node that tells them and its caller have it. A plain decision.
///
/// Shape: `asked`: HOST:PORT as the caller has it. `cluster`: absent: one process
[[nodiscard]] ::event_store::client::gossip::ClusterInfo members_of(const std::string& asked,
                                                                    const ClusterView* cluster, Timestamp now);

}  // namespace evershard::kurrent
