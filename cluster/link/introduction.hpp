// Introduction: one connection until both sides know each other: found, connected, TLS, greeting. Never waits.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evershard/cluster/link/greeted.hpp"
#include "evershard/cluster/link/link_options.hpp"
#include "evershard/cluster/link/resolving.hpp"
#include "evershard/cluster/link/session/greeting.hpp"
#include "evershard/cluster/link/tls_context.hpp"

namespace evershard::cluster {

/// Bounded in time as a whole: who is silent, or sends byte by byte, is gone when it is over.
class Introduction {
 public:
  /// Dials.
  Introduction(const PeerAddress& to, const LinkOptions& options, std::shared_ptr<const TlsContext> tls,
               GreetingSetup setup, const std::shared_ptr<WakeUp>& wake, LinkTime now);
  /// Was dialled.
  Introduction(LinkSocket socket, const LinkOptions& options, std::shared_ptr<const TlsContext> tls,
               GreetingSetup setup, LinkTime now);

  /// Takes the introduction as far as the socket allows by now. Returns: nothing: the introduction is not done yet
  [[nodiscard]] std::optional<Result<Greeted>> step(LinkTime now);

  /// What poll() should wait for: the socket, if there is one yet, and its events.
  [[nodiscard]] int socket() const { return socket_.number(); }
  [[nodiscard]] short events() const;
  [[nodiscard]] LinkTime until() const { return until_; }
  /// The address that the connection goes to or comes from, for messages.
  [[nodiscard]] const std::string& whom() const { return whom_; }
  /// If this side dials.
  [[nodiscard]] std::optional<NodeNumber> dialled() const { return dialled_; }
  [[nodiscard]] SessionNumber session() const { return session_; }

 private:
  enum class State { resolving, connecting, shaking_hands, talking };

  Result<bool> resolve();
  Result<bool> connect_next(const std::string& last_why);
  Result<bool> connecting(LinkTime now);
  Result<bool> shake_hands();
  Result<bool> talk();
  Result<bool> flush();
  void connected(LinkTime now);

  const LinkOptions& options_;
  const std::shared_ptr<const TlsContext> tls_;
  GreetingSetup setup_;
  const std::string whom_;
  const std::string peer_name_;
  const std::optional<NodeNumber> dialled_;
  const SessionNumber session_;
  LinkTime until_;
  State state_;
  std::optional<Resolving> resolving_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  LinkSocket socket_;
  bool wants_write_ = false;
  std::optional<Greeting> greeting_;
  std::string out_;
  std::string in_;
};

}  // namespace evershard::cluster
