// UmaDB's protocol, as a door offers it.

#pragma once

#include "evershard/doors/grpc/door.hpp"

namespace evershard::umadb {

[[nodiscard]] door::DoorServices services();

}  // namespace evershard::umadb
