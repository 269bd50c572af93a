// Greeted: a connection whose both ends know each other, on its way from who greeted to who carries frames.

#pragma once

#include "evershard/cluster/link/link_socket.hpp"
#include "evershard/cluster/link/session/hello.hpp"

namespace evershard::cluster {

struct Greeted {
  LinkSocket socket;
  LinkAgreement agreement{};
  bool dialled = false;
};

}  // namespace evershard::cluster
