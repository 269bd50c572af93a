// RemoteAdministration: what an operator asks of a server, and of the cluster it is a node of.

#pragma once

#include <memory>

#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteAdministration : public Administration, public ClusterOrders {};

[[nodiscard]] std::unique_ptr<RemoteAdministration> remote_administration(std::shared_ptr<Connection> connection);

}  // namespace evershard::remote
