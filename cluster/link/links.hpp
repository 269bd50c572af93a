// Links: a process's connections to the others of its cluster. What the rest of the cluster speaks through.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/cluster/link/link_options.hpp"
#include "evershard/cluster/link/link_reply.hpp"

namespace evershard::cluster {

struct LinkRequest {
  NodeNumber from{};
  MessageKind kind{};
  LinkTime deadline{};  ///< after which its caller does not listen any more
  std::string bytes;
  LinkReply reply;
};

struct LinkMessage {
  NodeNumber from{};
  MessageKind kind{};
  std::string bytes;
  LinkReceipt receipt;  ///< kept as long as the message takes memory: its sender is held back by it
};

struct LinkSessionInfo {
  LinkIdentity peer{};
  SessionNumber session{};
  bool dialled = false;                 ///< by this side
  std::chrono::milliseconds silence{};  ///< of one that has ended: for how long nothing had been heard
};

/// All are called from one thread, the link's own: they must be quick, must not throw, and may call everything but
/// stop(). Those that are not set: requests are answered `unavailable`, all else is ignored.
struct LinkHandlers {
  std::function<void(LinkRequest)> on_request{};
  std::function<void(LinkMessage)> on_message{};
  /// A session begins: messages sent from here on may arrive. Each session is also told its end, before the next
  /// session begins.
  std::function<void(const LinkSessionInfo&)> on_session_up{};
  /// What was under way in it has been answered `timeout`.
  std::function<void(const LinkSessionInfo&, const Error& why)> on_session_down{};
  /// Somebody connected, or was dialled, and no session came of it. `whom`: an address, or `node 3 at host:port`. From
  /// a thread of its own, or the link's; it may be called as often as strangers like.
  std::function<void(const std::string& whom, const Error& why)> on_refused{};
};

/// What the operator is shown of a peer.
struct LinkStatus {
  NodeNumber node{};
  bool connected = false;
  LinkSessionInfo session{};  ///< if connected
  std::chrono::milliseconds silence{};
  std::size_t waiting = 0, waiting_bytes = 0, in_flight = 0;  ///< of what goes there
  std::size_t open_requests = 0;                              ///< of what came from there
  std::uint64_t sessions = 0;                                 ///< how often it connected
  std::uint64_t messages_lost = 0;
};

/// One session a peer, whoever dialled; both sides ask, answer and send. All functions from any thread.
class Links {
 public:
  using Done = std::function<void(Result<std::string>)>;

  /// Errors: invalid_argument: check(options); files of TLS that cannot be used
  [[nodiscard]] static Result<std::unique_ptr<Links>> open(LinkOptions options, LinkHandlers handlers);
  /// stop()
  ~Links();
  Links(const Links&) = delete;

  /// Lets peers in. `port` 0: a free one.
  ///
  /// Returns: the port. Errors: invalid_argument: check_host(), an address that is none, a second call; unavailable:
  /// the address is in use
  [[nodiscard]] Result<std::uint16_t> listen(const std::string& host, std::uint16_t port);

  /// Connects to a peer, now and whenever the connection is lost, until forget(). Of two, the higher number dials.
  /// Again, with another address: the next dial goes there.
  ///
  /// Errors: invalid_argument: check_host(); a number that is not below its own
  [[nodiscard]] Result<void> dial(PeerAddress address);
  /// Ends its session and dials it no more. It may still dial.
  void forget(NodeNumber node);

  /// Asks a peer. While it is not connected a request waits as long as LinkLimits::queue_time_max for it to come back.
  ///
  /// `done`: called once, from the link's thread, or from the caller's before this returns.
  /// Errors:  unavailable, overloaded, too_large, cancelled: it was not sent; timeout: nobody knows; all others: the
  /// peer's handler
  void request(NodeNumber to, MessageKind kind, std::string bytes, std::chrono::milliseconds time, Done done);

  /// Tells a peer something. In sequence with the other messages to it; lost when the session ends, and nobody is told.
  ///
  /// Errors: overloaded: too much waits in this process; too_large; cancelled
  [[nodiscard]] Result<void> send(NodeNumber to, MessageKind kind, std::string bytes);

  /// Reads certificate, key and CA again: connections from here on use them, those that are there stay.
  ///
  /// Errors: invalid_argument: the files; those before stay in force
  [[nodiscard]] Result<void> reload_tls();

  [[nodiscard]] std::vector<LinkStatus> status() const;

  /// Says goodbye to all and answers everything: `timeout` what was under way, `cancelled` what was not sent.
  /// Afterwards no handler is called. Not from a handler.
  void stop();

 private:
  struct Impl;
  explicit Links(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::cluster
