// Peer: another product, or our own server, as a process on loopback with clients of the same make.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers/peer_process.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard::bench {

/// A connection of its own, for one thread: each call waits for its answer.
class PeerClient {
 public:
  virtual ~PeerClient() = default;
  PeerClient() = default;
  PeerClient(const PeerClient&) = delete;

  /// All of them or none, on disk when it returns. Returns: the last one's position
  virtual Result<std::uint64_t> append(const Append& append) = 0;
  /// The same, if no event of the first one's type and tags came behind `after`. Errors: condition_failed
  virtual Result<std::uint64_t> append_if(const Append& append, std::uint64_t after) = 0;
  /// Every event with that tag, in order, decoded. Returns: how many
  virtual Result<std::uint64_t> read(const std::string& tag) = 0;
  /// The first of them: what a call costs.
  virtual Result<std::uint64_t> read_one(const std::string& tag) = 0;
  virtual Result<std::uint64_t> read_all() = 0;
};

/// What it takes to start one: `folder` is its own, and empty.
struct PeerSetup {
  std::filesystem::path folder;
  std::filesystem::path program;
  std::uint64_t cache_bytes =
      0;  ///< of its own, where it has such a setting; 0: its default, or what its guide advises
};

class Peer {
 public:
  explicit Peer(PeerSetup setup) : setup_(std::move(setup)) {}
  virtual ~Peer() = default;
  Peer(const Peer&) = delete;

  [[nodiscard]] virtual Result<std::unique_ptr<PeerClient>> connect() = 0;
  [[nodiscard]] const PeerProcess& process() const { return *process_; }
  Result<void> start();
  /// Ends it and starts it again on the same files, which the system's cache has no more of.
  Result<void> restart_cold();
  /// The same, with the files in the system's cache, and a cache of its own of so many bytes, where it has one.
  virtual Result<void> restart_with_cache(std::uint64_t bytes);

 protected:
  /// Of the command line that makes it listen on port().
  [[nodiscard]] virtual std::vector<std::string> words() const = 0;
  [[nodiscard]] const PeerSetup& setup() const { return setup_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  PeerSetup setup_;
  std::unique_ptr<PeerProcess> process_;
  std::uint16_t port_ = 0;
};

[[nodiscard]] Result<std::unique_ptr<Peer>> start_evershard(const PeerSetup& setup);
/// Our program, asked in UmaDB's protocol.
[[nodiscard]] Result<std::unique_ptr<Peer>> start_evershard_as_umadb(const PeerSetup& setup);
[[nodiscard]] Result<std::unique_ptr<Peer>> start_umadb(const PeerSetup& setup);
/// `program`: the folder of its programs.
[[nodiscard]] Result<std::unique_ptr<Peer>> start_postgresql(const PeerSetup& setup);
[[nodiscard]] Result<std::unique_ptr<Peer>> start_redis(const PeerSetup& setup);

}  // namespace evershard::bench
