// Samples of every message between the processes of a cluster: what the golden files hold.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/cluster/peers/peer_messages.hpp"

namespace evershard::cluster {

struct PeerSample {
  std::string name;              ///< the message's, and behind a '-' what is special about it
  std::string bytes;             ///< as encoded now
  std::optional<PeerKind> kind;  ///< in front of it on the link; absent: it is an answer
  std::function<Result<std::string>(std::string_view)> again;  ///< read, and written
};

[[nodiscard]] std::vector<PeerSample> peer_samples();

}  // namespace evershard::cluster
