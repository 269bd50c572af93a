// Remote: the store of a server, as if it were here.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/api/documents.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/api/hosted_kinds.hpp"
#include "evershard/api/processes.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/api/retention.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/api/tables.hpp"

namespace evershard {

struct RemoteOptions {
  std::string server = "127.0.0.1:7420";  ///< HOST:PORT, without a port 7420, or unix:PATH; several nodes of one store:
                                          ///< HOST:PORT,HOST:PORT
  std::vector<std::string> servers{};     ///< the same as a list; not empty: instead of `server`
  std::string token{};                    ///< empty: none is sent
  bool tls = false;                       ///< implied by each of the following
  std::filesystem::path tls_ca{};         ///< who signed the server's certificate; empty: whom this machine trusts
  std::filesystem::path tls_certificate{};  ///< this client's own, where the server asks for one
  std::filesystem::path tls_key{};
  std::chrono::milliseconds timeout =
      std::chrono::seconds(30);  ///< of each call, with all its tries; reads: of each wait for a page
  /// How long, from the first time on, a call is tried again that a server answers as `unavailable`, `wrong_shard` or
  /// `fenced`; then it ends with that.
  std::chrono::milliseconds unavailable_timeout = std::chrono::seconds(5);
  bool compression =
      false;  ///< gzip of appends and of the pages of reads and follows: for slow networks, it costs both sides time
  std::size_t appends_in_flight_max = 4'096;  ///< towards one node; then `overloaded`
  std::size_t bytes_in_flight_max = 64u << 20;
  bool follow_shards = true;    ///< of a cluster: learns its members and sends each append to the node that decides it.
                                ///< Off: behind a load balancer
  bool read_own_writes = true;  ///< every read waits for what this client has seen, on whatever node, unless it says
                                ///< itself what it waits for
  GlobalPosition seen{};        ///< what it has seen already: another client's seen()
  /// Asks a silent server whether it is there. Absent: 20 s; where there are several 1 s, and 1.5 s later it is gone.
  std::optional<std::chrono::milliseconds> keepalive{};
};

/// The same words and errors as Local. What breaks on the way is tried again where that is safe: an append has its ids
/// before it is sent first, so that the server stores it once; reads and follows go on behind what they gave. Once a
/// byte of an append may have arrived, its outcome is unknown (`timeout`) until a server answers by looking at it;
/// where it was never sent, it is `unavailable`. What will never work, as an address where nobody listens, is told at
/// once.
///
/// Of several addresses it keeps to one that works, the first before the others, and goes on to another when that is
/// gone or says that it cannot: in the middle of appends, reads and follows. A server of another store is never used.
/// append() tries again what is `overloaded`, until the time-out. Of several nodes it tries again for
/// `unavailable_timeout` what a node cannot take: the shard's node is away, the shard is being opened. What a node
/// answers to append_async() is the answer: trying again would store the append behind later ones.
/// All of Administration is about one node, the one it is connected to; a backup goes into a directory of its machine.
///
/// Order: of one server all appends of a thread are decided in the order they are sent. Of a cluster those whose first
/// events lie on one shard are, but for what another node must be asked about first (a condition, other shards), and
/// while owners change: expect versions, or wait for the answer, where that counts.
///
/// Connects when it is first used, and again whenever a connection that was there is lost.
class Remote final : public ForwardedEvents, public ForwardedAdministration {
 public:
  /// Errors: invalid_argument (files that cannot be read)
  [[nodiscard]] static Result<Remote> connect(RemoteOptions options = {});
  Remote(Remote&&) noexcept;
  Remote& operator=(Remote&&) noexcept;
  /// What is in flight ends with `unavailable`, or `timeout` where it may have been stored. Streams and feeds made of
  /// it go on.
  ~Remote() override;

  /// The greatest position that any answer told: reads there see all that was written and read by this client.
  [[nodiscard]] GlobalPosition seen() const;
  /// Reads of this client see at least this from now on.
  void see(GlobalPosition position);

  /// What is asked of the cluster that the server is a node of. Errors of each: invalid_argument: it is none. As long
  /// as this Remote.
  [[nodiscard]] ClusterOrders& cluster();
  [[nodiscard]] Result<ClusterStatus> cluster_status() { return cluster().status(); }
  [[nodiscard]] Result<ShardsAssigned> cluster_assign(const ShardAssignment& wanted) {
    return cluster().assign(wanted);
  }

  /// Lives as long as this.
  [[nodiscard]] Documents& documents();
  /// Appends that the server makes at a later time. As long as this Remote.
  [[nodiscard]] ScheduledAppends& scheduled();
  /// Processes and timers, whoever runs them. As long as this Remote.
  [[nodiscard]] Processes& processes();
  /// Asks an aggregate that the server's application hosts, with the command's logical name and its bytes, as its codec
  /// writes them; an Answer<Reply> reads what comes. With a command id it is asked again where a connection breaks, and
  /// its effect is there once; without one it is `timeout` where nobody knows whether it arrived.
  /// Time: options.timeout with all tries; without one each try has the type's own, all of them RemoteOptions::timeout.
  /// Errors: those of AggregateDoor::ask_bytes; unauthenticated, permission_denied
  [[nodiscard]] AnyAnswer ask(const AggregateId& aggregate, std::string command_type, std::string command,
                              AskOptions options = {});
  /// What the server's application hosts. Nothing hosted: an empty list.
  [[nodiscard]] Result<HostedKinds> kinds();

  /// The tables of projections. As long as this Remote.
  [[nodiscard]] Tables& tables();

  /// The server's. A read of values sees what this client has seen. As long as this Remote.
  [[nodiscard]] Projections& projections();

  /// What `evershard types` registered, as its file has it; empty: nothing.
  [[nodiscard]] Result<std::string> types();

  /// Named subscriptions that keep how far they came, shared by workers. As long as this Remote.
  [[nodiscard]] Groups& groups();

  /// What is removed from the server's history, for good. What it cannot say the end of is `timeout`: the same again
  /// tells. As long as this Remote.
  [[nodiscard]] HistoryRetention& retention();

 private:
  struct Impl;
  explicit Remote(std::unique_ptr<Impl> impl);
  [[nodiscard]] EventStore& events() const override;
  [[nodiscard]] Administration& administration() const override;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
