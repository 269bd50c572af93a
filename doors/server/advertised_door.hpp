// Where clients are told to reach a node, from where its door listens.

#pragma once

#include <string>
#include <vector>

namespace evershard::server {

/// The first listening address that is one of a network. One that stands for all of a machine's addresses (0.0.0.0,
/// [::]) is no place to go to: `host` is put in its place. Returns: HOST:PORT; empty: there is none.
[[nodiscard]] std::string advertised_door(const std::vector<std::string>& listening, const std::string& host);
/// HOST of HOST:PORT; as it is, where there is none.
[[nodiscard]] std::string host_of(const std::string& address);

}  // namespace evershard::server
