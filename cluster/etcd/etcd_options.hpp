// The addresses of an etcd, and the credentials for it.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

struct EtcdOptions {
  std::vector<std::string> members;   ///< HOST:PORT each; any of them will do
  std::string prefix = "evershard/";  ///< before every key: several clusters may share an etcd
  bool tls = false;
  std::filesystem::path tls_ca{};           ///< PEM; empty: the system's
  std::filesystem::path tls_certificate{};  ///< PEM, with tls_key: who we are
  std::filesystem::path tls_key{};
  std::string user{};  ///< empty: etcd asks for none
  std::string password{};
  /// How long one member of etcd has to answer before the next member is asked.
  std::chrono::milliseconds try_timeout = std::chrono::milliseconds(700);
  /// All tries of one request together.
  std::chrono::milliseconds timeout = std::chrono::seconds(4);
};

/// `etcd://h1:2379,h2:2379,h3:2379/prefix`, or `etcds://...` with TLS; without a prefix the usual one.
/// Errors: invalid_argument
[[nodiscard]] Result<EtcdOptions> etcd_options_of(std::string_view address);

}  // namespace evershard::cluster
