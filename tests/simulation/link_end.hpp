// LinkEnd: the links of one simulated process, of the product's sessions; what the hub around them does, in virtual
// time.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "evershard/cluster/link/session/backoff.hpp"
#include "evershard/cluster/link/session/greeting.hpp"
#include "evershard/cluster/link/session/link_peer.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/rules.hpp"

namespace evershard::simulation {

class LinkEnd;
struct Wire;

/// What travels is a number; what it stands for lies here.
struct Letters {
  using Told = std::function<void(LinkEnd& at)>;
  /// Answered once. An answer that is an error comes from the link.
  using Answer = std::function<void(Result<Told>)>;
  using Asked = std::function<void(LinkEnd& at, Answer answer)>;

  struct Letter {
    Told told{};
    Asked asked{};
    bool handled = false;
    bool never_sent = false;  ///< whoever sent it was told so
  };
  std::map<std::uint64_t, Letter> all;
  std::uint64_t last = 0;
  /// Not vacuous: what happened.
  struct Counts {
    std::size_t sessions = 0, refused = 0, silent = 0, unknown = 0, not_sent = 0, waited = 0, handled = 0;
  } counts;
};

/// Checks besides that requests are handled once and answered once and in time, that none is told more than is known,
/// that nothing overtakes, and that nobody has more open than he was granted (I-Link).
class LinkEnd : public std::enable_shared_from_this<LinkEnd> {
 public:
  struct Setup {
    cluster::LinkIdentity who;
    std::size_t owner = 0;           ///< which node or coordinator it is
    Network::Endpoint endpoint = 0;  ///< by what it is cut off
    cluster::LinkLimits limits;
    Off off = Off::nothing;
    std::function<Network::Microseconds()> clock;                       ///< steady, for what that is worth
    std::function<std::shared_ptr<LinkEnd>(cluster::NodeNumber)> find;  ///< who answers there now; none: nobody
    std::function<void(cluster::NodeNumber, LinkEnd& peer)> up;
    std::function<void(cluster::NodeNumber)> down;
    std::function<void(const std::string&)> tell;
  };
  LinkEnd(Network& network, Letters& letters, Setup setup)
      : network_(network), letters_(letters), setup_(std::move(setup)) {}

  [[nodiscard]] std::size_t owner() const { return setup_.owner; }
  [[nodiscard]] Network::Endpoint endpoint() const { return setup_.endpoint; }
  [[nodiscard]] cluster::NodeNumber number() const { return setup_.who.node; }
  [[nodiscard]] bool alive() const { return alive_; }

  /// From here on it keeps a session with it, whenever there can be one.
  void dial(cluster::NodeNumber peer);
  /// Returns: whether it is on its way.
  bool message(cluster::NodeNumber to, Letters::Told told);
  void request(cluster::NodeNumber to, std::chrono::microseconds time, Letters::Asked asked, Letters::Answer done);
  /// A connection breaks, for both.
  void cut(cluster::NodeNumber peer);
  /// The process is no more. `silently`: its peers hear nothing of that.
  void end(bool silently);
  /// Shape: several times a heartbeat
  void tick();

  // -- of its connections
  void received(const std::shared_ptr<Wire>& wire, std::size_t side, std::string_view bytes);
  void closed(const std::shared_ptr<Wire>& wire);
  void room(const std::shared_ptr<Wire>& wire);

 private:
  struct Peer {
    Peer(cluster::NodeNumber number, const cluster::LinkLimits& limits, cluster::LinkTime now)
        : link(number, limits, now), backoff(limits.redial_min, limits.redial_max) {}
    cluster::LinkPeer link;
    cluster::Backoff backoff;
    std::shared_ptr<Wire> wire;  ///< of the session
    std::size_t side = 0;
    std::uint64_t process = 0;
    bool dialled = false, dialling = false;
    bool pumping = false;
    Network::Microseconds next_dial = 0;               ///< virtual time
    std::uint64_t last_message = 0, last_request = 0;  ///< that came, of which process
    std::uint64_t came_from = 0;
  };
  struct Waiting {
    std::uint64_t letter = 0;
    cluster::NodeNumber to;
    cluster::LinkTime deadline;
    Letters::Answer done;
  };

  [[nodiscard]] cluster::LinkTime now() const {
    return cluster::LinkTime(std::chrono::hours(1)) + std::chrono::microseconds(setup_.clock());
  }
  Peer& peer(cluster::NodeNumber number);
  [[nodiscard]] std::string payload(std::uint64_t letter);
  void ask(cluster::NodeNumber to, std::uint64_t letter, cluster::LinkTime deadline, Letters::Answer done);
  void connect(cluster::NodeNumber number);
  void missed(cluster::NodeNumber number);
  void greeted(const std::shared_ptr<Wire>& wire, std::size_t side);
  void begin(const std::shared_ptr<Wire>& wire, std::size_t side, const cluster::LinkAgreement& agreement);
  void end_session(cluster::NodeNumber number, const Error& why, bool says_so);
  void deliver(cluster::NodeNumber number);
  void handle(cluster::NodeNumber number, const cluster::ArrivedRequest& request);
  void handle(cluster::NodeNumber number, const cluster::ArrivedMessage& message);
  void overtakes(std::uint64_t& last, std::uint64_t letter) const;
  void answer_callers(cluster::NodeNumber number);
  void pump_soon(cluster::NodeNumber number);
  void pump(cluster::NodeNumber number);

  Network& network_;
  Letters& letters_;
  const Setup setup_;
  bool alive_ = true;
  std::map<cluster::NodeNumber, std::unique_ptr<Peer>> peers_;
  std::set<cluster::NodeNumber> dials_;
  std::map<std::uint64_t, Waiting> waiting_;  ///< by ticket
  std::uint64_t tickets_ = 0;
};

}  // namespace evershard::simulation
