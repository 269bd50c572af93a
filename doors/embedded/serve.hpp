// serve: the doors of a store that a program has opened itself: gRPC, and HTTP with the page.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard {

class Cluster;
class Local;

/// As of the settings of the same names: docs/configuration.md.
struct ServeOptions {
  std::vector<std::string> listen{"127.0.0.1:7420"};  ///< gRPC: HOST:PORT, port 0 takes a free one; or unix:PATH
  std::string http_listen{};              ///< JSON, metrics and the page: HOST:PORT, port 0 as well; empty: nowhere
  std::vector<std::string> http_hosts{};  ///< names by which browsers may call the page, where it has no tokens
  std::filesystem::path tokens{};         ///< a file of NAME SCOPES TOKEN lines; empty: everybody may do everything
  std::filesystem::path tls_certificate{}, tls_key{};  ///< PEM; both or none
  std::filesystem::path tls_client_ca{};               ///< clients must show a certificate of it; empty: they need none
  bool insecure = false;                               ///< listens beyond this machine even without TLS and tokens
  std::filesystem::path log_file{};                    ///< empty: nothing is logged

  // What `evershard serve` does by itself, and a program that embeds a store has done here. 0: never.
  std::chrono::milliseconds vacuum_every{0};
  std::chrono::milliseconds retention_every{0};
  std::chrono::milliseconds schedule_keep{0};  ///< of those that are settled; 0: for good
};

/// Doors that are open. Any thread; not two at a time.
class Doors {
 public:
  Doors(Doors&&) noexcept;
  Doors& operator=(Doors&&) noexcept;
  /// stop(0)
  ~Doors();

  /// Where gRPC listens, in the order asked for, with the ports that were taken.
  [[nodiscard]] std::vector<std::string> addresses() const;
  /// Empty: HTTP is not served.
  [[nodiscard]] std::string http_address() const;
  /// Reads tokens and certificates anew. Errors: what could not be read stays in force as it was
  [[nodiscard]] Result<void> reload();
  /// Takes no new calls; calls under way have `drain` to end. The store stays open. May be called any number of times.
  void stop(std::chrono::milliseconds drain = std::chrono::milliseconds(0));

 private:
  struct Impl;
  friend Result<Doors> serve(Local& store, ServeOptions options);
  friend Result<Doors> serve(Cluster& node, ServeOptions options);
  explicit Doors(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Clients in any language, `evershard --server` and browsers reach the store, the aggregates that it hosts by now, and
/// its processes. Nothing is done with signals.
///
/// Shape:  behind Local::host and Local::run. Owner: the store outlives the doors, and stays where it is (no move).
/// Errors: invalid_argument (no address, one that is none, one beyond this machine without TLS and tokens, a file of
///         tokens or TLS that is none), unavailable (an address that is in use, or not ours), not_found, io (a file)
[[nodiscard]] Result<Doors> serve(Local& store, ServeOptions options = {});
/// The whole cluster, seen from this node; clients and `cluster status` are told where it listens. What is done by
/// itself is done for the shards that are this node's.
[[nodiscard]] Result<Doors> serve(Cluster& node, ServeOptions options = {});

}  // namespace evershard
