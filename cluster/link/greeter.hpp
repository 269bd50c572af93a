// Greeter: listens, dials, and finds out who is there. A thread of its own; no connection waits for another.

#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "evershard/cluster/link/introduction.hpp"
#include "evershard/cluster/link/session/backoff.hpp"

namespace evershard::cluster {

/// All called from the greeter's thread.
struct GreeterEvents {
  std::function<void(Greeted)> greeted;
  std::function<void(const std::string& whom, std::optional<NodeNumber> dialled, const Error& why)> refused;
  std::function<Result<void>(const LinkAgreement&)> admit;
};

/// All functions from any thread.
class Greeter {
 public:
  /// `options`: outlives it. `tls`: null: none
  Greeter(const LinkOptions& options, std::shared_ptr<const TlsContext> tls, GreeterEvents events);
  ~Greeter() { stop(); }

  /// Shape: a socket that listens, without waiting
  void listen(Descriptor socket);
  void dial(PeerAddress address);
  void forget(NodeNumber node);
  /// A session that came of a dial has ended. `lasted`: long enough for the next dial to come soon
  void gone(NodeNumber node, SessionNumber session, bool lasted);
  void use(std::shared_ptr<const TlsContext> tls);
  /// Nothing is called afterwards.
  void stop();

 private:
  struct Dialled {
    PeerAddress address;
    Backoff backoff;
    std::size_t at = 0;                    ///< which of its places is tried next; 0: the address itself
    std::size_t tried = 0;                 ///< places that were tried since the last pause
    LinkTime next{};                       ///< when nothing is under way
    std::optional<SessionNumber> session;  ///< greeted, or being greeted
  };

  void run();
  void run_orders();
  void accept_some(LinkTime now);
  void dial_due(LinkTime now);
  void dial_again_later(Dialled& dialled, LinkTime now);
  void step_all(LinkTime now);
  void finish(Introduction& introduction, Result<Greeted> outcome, LinkTime now);
  int wait_ms(LinkTime now) const;
  void order(std::function<void()> what);
  GreetingSetup setup_for(LinkSide side, NodeNumber to);

  const LinkOptions& options_;
  const GreeterEvents events_;
  const std::shared_ptr<WakeUp> wake_ = std::make_shared<WakeUp>();

  std::mutex mutex_;
  std::vector<std::function<void()>> orders_;
  bool stopping_ = false;

  // Of its thread.
  std::shared_ptr<const TlsContext> tls_;
  Descriptor listening_;
  LinkTime accept_again_{};
  std::map<NodeNumber, Dialled> dialled_;
  std::list<Introduction> introductions_;

  std::once_flag stopped_;
  std::thread thread_;
};

/// A socket that is bound, and its port: another one of this process may listen there. Errors: as listening_socket()
[[nodiscard]] Result<std::pair<Descriptor, std::uint16_t>> bound_socket(const std::string& host, std::uint16_t port);
/// A socket that listens, and its port. Errors: invalid_argument: no address; unavailable: it is in use
[[nodiscard]] Result<std::pair<Descriptor, std::uint16_t>> listening_socket(const std::string& host,
                                                                            std::uint16_t port);

}  // namespace evershard::cluster
