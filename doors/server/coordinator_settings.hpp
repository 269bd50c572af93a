// The settings of a cluster's coordinator.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/doors/server/peer_settings.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::server {

struct CoordinatorSettings {
  std::filesystem::path data{};
  std::string cut_log{};                        ///< empty: in `data`; or an etcd's address
  std::filesystem::path cut_log_ca{};           ///< of an etcd, as what follows; PEM; empty: the system's
  std::filesystem::path cut_log_certificate{};  ///< PEM, with its key
  std::filesystem::path cut_log_key{};
  std::string cut_log_user{};                     ///< empty: it asks for none
  std::filesystem::path cut_log_password_file{};  ///< one line
  std::filesystem::path keys{};                   ///< empty: none, unless key_file says so
  std::filesystem::path key_file{};               ///< with an etcd: keys lie there, sealed with what is in it
  std::string listen = "127.0.0.1:7430";
  cluster::HostAndPort place{};                     ///< of `listen`
  std::string advertise{};                          ///< empty: where it listens
  std::uint32_t nodes = 1;                          ///< a new cluster's shards are given out once so many are there
  std::uint32_t replicas = 1;                       ///< so many nodes keep each of them
  std::chrono::milliseconds balance_after{30'000};  ///< the same nodes are here
  std::chrono::milliseconds gone_after{std::chrono::minutes(30)};  ///< a node is away; 0: never
  std::uint32_t shards = 0;                                        ///< of a new cluster; 0: 16, or what the log has
  PeerSettings peers{};
  serving::LogOptions log{};
};

[[nodiscard]] const settings::Table& coordinator_settings();

/// Reads no file. Errors: invalid_argument: what is missing, or no address
[[nodiscard]] Result<CoordinatorSettings> coordinator_options_of(const settings::Settings& settings);

/// Where the other coordinators find it, when it listens at that port: HOST:PORT.
[[nodiscard]] std::string advertised_address(const CoordinatorSettings& settings, std::uint16_t port);

[[nodiscard]] std::string coordinator_configuration_sample();

}  // namespace evershard::server
