// LinkHub: all peers of a process, between those who ask and the connections. One thread's; no socket.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evershard/cluster/link/link_board.hpp"
#include "evershard/cluster/link/link_command.hpp"
#include "evershard/cluster/link/session/link_peer.hpp"

namespace evershard::cluster {

using ConnectionNumber = std::int64_t;

/// What carries bytes. Of the hub's thread; calls none of the hub's functions from within.
class LinkTransport {
 public:
  virtual ~LinkTransport() = default;
  [[nodiscard]] virtual ConnectionNumber adopt(LinkSocket socket) = 0;
  /// In sequence, later; the hub is told what is still unsent.
  virtual void write(ConnectionNumber connection, std::string_view bytes) = 0;
  /// Closes the connection at once, whatever is unsent. `last_words` are sent only if they can go out without waiting.
  /// The hub is told nothing more of the connection.
  virtual void end(ConnectionNumber connection, std::string_view last_words) = 0;
};

struct LinkHubParts {
  const LinkOptions& options;
  const LinkHandlers& handlers;
  LinkTransport& transport;
  LinkBoard& board;
  std::shared_ptr<LinkReturns> returns;
  /// A session ended that this side dialled.
  std::function<void(NodeNumber, SessionNumber, bool lasted)> gone;
};

class LinkHub {
 public:
  explicit LinkHub(LinkHubParts parts) : parts_(std::move(parts)) {}
  LinkHub(const LinkHub&) = delete;

  void run(std::vector<LinkCommand>& commands, LinkTime now);
  void received(ConnectionNumber connection, std::string_view bytes, LinkTime now);
  /// So much of what was written to it has not left the process.
  void unsent(ConnectionNumber connection, std::size_t bytes, LinkTime now);
  void closed(ConnectionNumber connection, LinkTime now);
  /// Shape: several times a heartbeat
  void tick(LinkTime now);
  /// The end of everything.
  void close(LinkTime now);

 private:
  struct Peer {
    Peer(NodeNumber node, const LinkLimits& limits, LinkTime now) : number(node), link(node, limits, now) {}
    const NodeNumber number;
    LinkPeer link;
    std::optional<ConnectionNumber> connection;
    std::size_t unsent = 0;
    LinkSessionInfo info;
    LinkTime since{};
    std::uint64_t sessions = 0;
    bool has_work = false;
  };

  void take(AskCommand& command, LinkTime now);
  void take(TellCommand& command, LinkTime now);
  void take(AnswerCommand& command, LinkTime now);
  void take(ReleaseCommand& command, LinkTime now);
  void take(Greeted& greeted, LinkTime now);
  void take(MissedCommand& command, LinkTime now);
  void take(ForgetCommand& command, LinkTime now);

  Peer* find(NodeNumber node);
  Result<Peer*> find_or_make(NodeNumber node, LinkTime now);
  Peer* of(ConnectionNumber connection);
  void work_for(Peer& peer);
  void do_work(LinkTime now);
  void deliver(Peer& peer);
  void answer_callers(Peer& peer);
  void pump(Peer& peer, LinkTime now);
  void end_session(Peer& peer, const Error& why, bool say_goodbye, LinkTime now);
  void show(LinkTime now);

  const LinkHubParts parts_;
  std::map<NodeNumber, std::unique_ptr<Peer>> peers_;
  std::unordered_map<ConnectionNumber, Peer*> by_connection_;
  std::vector<Peer*> working_;
  std::unordered_map<CallTicket, Links::Done> waiting_;
  CallTicket last_ticket_{};
  std::string out_;
  LinkTime shown_{};
};

}  // namespace evershard::cluster
