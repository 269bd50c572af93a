#include "evershard/cluster/link/greeter.hpp"

#include <netinet/in.h>
#include <openssl/rand.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

using Clock = std::chrono::steady_clock;

std::string place_of(const std::string& host, std::uint16_t port) {
  return in_quotes(host, 200) + " port " + std::to_string(port);
}

Refused cannot_listen(const std::string& host, std::uint16_t port) {
  return refuse(ErrorCode::unavailable, "cannot listen at " + place_of(host, port) + ": " + std::strerror(errno));
}

template <class T>
T random_of() {
  T value;
  EVERSHARD_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(&value), sizeof value) == 1, "there are random numbers");
  return value;
}

}  // namespace

Result<std::pair<Descriptor, std::uint16_t>> bound_socket(const std::string& host, std::uint16_t port) {
  const auto addresses = numeric_addresses(host, port);
  if (!addresses)
    return refuse(ErrorCode::invalid_argument,
                  place_of(host, port) + " is no address of this machine to listen at: " + addresses.error().what);
  sockaddr_storage bytes = addresses->front().bytes;
  socklen_t size = addresses->front().size;
  Descriptor socket(::socket(bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto* const address = reinterpret_cast<sockaddr*>(&bytes);
  if (socket.number() < 0 || ::bind(socket.number(), address, size) != 0 ||
      ::getsockname(socket.number(), address, &size) != 0)
    return cannot_listen(host, port);
  const auto bound = bytes.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bytes)->sin6_port
                                                 : reinterpret_cast<sockaddr_in*>(&bytes)->sin_port;
  return std::pair(std::move(socket), ntohs(bound));
}

Result<std::pair<Descriptor, std::uint16_t>> listening_socket(const std::string& host, std::uint16_t port) {
  auto bound = bound_socket(host, port);
  if (bound && ::listen(bound->first.number(), 256) != 0) return cannot_listen(host, port);
  return bound;
}

Greeter::Greeter(const LinkOptions& options, std::shared_ptr<const TlsContext> tls, GreeterEvents events)
    : options_(options), events_(std::move(events)), tls_(std::move(tls)), thread_([this] { run(); }) {}

void Greeter::order(std::function<void()> what) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(what));
  }
  wake_->wake();
}

void Greeter::listen(Descriptor socket) {
  order([this, held = std::make_shared<Descriptor>(std::move(socket))] { listening_ = std::move(*held); });
}

void Greeter::dial(PeerAddress address) {
  order([this, address = std::move(address)] {
    // A peer that may come up in another place is dialled more often.
    const auto most = address.elsewhere.empty() ? options_.limits.redial_max
                                                : std::min(options_.limits.redial_max, options_.limits.search_max);
    const auto [dialled, is_new] = dialled_.try_emplace(
        address.node,
        Dialled{address, Backoff(std::min(options_.limits.redial_min, most), most), 0, 0, Clock::now(), {}});
    if (!is_new) dialled->second.address = address, dialled->second.at = 0;
  });
}

void Greeter::forget(NodeNumber node) {
  order([this, node] {
    dialled_.erase(node);
    introductions_.remove_if([node](const Introduction& one) { return one.dialled() == node; });
  });
}

void Greeter::gone(NodeNumber node, SessionNumber session, bool lasted) {
  order([this, node, session, lasted] {
    const auto found = dialled_.find(node);
    if (found == dialled_.end() || found->second.session != session) return;
    auto& dialled = found->second;
    if (lasted) dialled.backoff.succeeded(), dialled.tried = 0;
    dial_again_later(dialled, Clock::now());
  });
}

void Greeter::use(std::shared_ptr<const TlsContext> tls) {
  order([this, tls = std::move(tls)] { tls_ = tls; });
}

void Greeter::stop() {
  std::call_once(stopped_, [this] {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_->wake();
    thread_.join();
  });
}

void Greeter::run() {
  std::vector<pollfd> polled;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    run_orders();
    const auto now = Clock::now();
    dial_due(now);
    step_all(now);
    polled.assign({{wake_->number(), POLLIN, 0}});
    if (listening_.number() >= 0 && accept_again_ <= now) polled.push_back({listening_.number(), POLLIN, 0});
    for (const auto& one : introductions_) {
      if (one.socket() >= 0) polled.push_back({one.socket(), one.events(), 0});
    }
    // What is ready is looked at, whatever it says; a signal has it look again.
    (void)::poll(polled.data(), polled.size(), wait_ms(now));
    wake_->clear();
    accept_some(Clock::now());
  }
  introductions_.clear();
  listening_.reset();
}

void Greeter::run_orders() {
  std::vector<std::function<void()>> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  for (const auto& what : orders) what();
}

int Greeter::wait_ms(LinkTime now) const {
  auto next = now + std::chrono::seconds(1);
  for (const auto& one : introductions_) next = std::min(next, one.until());
  for (const auto& [node, dialled] : dialled_) {
    if (!dialled.session) next = std::min(next, dialled.next);
  }
  if (accept_again_ > now) next = std::min(next, accept_again_);
  return static_cast<int>(std::max<std::int64_t>(0, in_ms(next - now).count() + 1));
}

void Greeter::accept_some(LinkTime now) {
  if (listening_.number() < 0 || now < accept_again_) return;
  for (int i = 0; i < 64; ++i) {
    LinkSocket socket(Descriptor(::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
    if (socket.number() < 0) {
      // Out of descriptors or memory: it would be asked again at once, for nothing.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        accept_again_ = now + std::chrono::milliseconds(100);
      return;
    }
    const auto strangers = static_cast<std::size_t>(std::count_if(
        introductions_.begin(), introductions_.end(), [](const Introduction& one) { return !one.dialled(); }));
    if (strangers >= options_.greetings_max) {
      // The oldest: who means well is done in milliseconds.
      const auto oldest = std::find_if(introductions_.begin(), introductions_.end(),
                                       [](const Introduction& one) { return !one.dialled(); });
      events_.refused(oldest->whom(), std::nullopt,
                      {ErrorCode::overloaded, "too many connected that have not shown who they are"});
      introductions_.erase(oldest);
    }
    introductions_.emplace_back(std::move(socket), options_, tls_, setup_for(LinkSide::acceptor, {}), now);
  }
}

void Greeter::dial_due(LinkTime now) {
  for (auto& [node, dialled] : dialled_) {
    if (dialled.session || dialled.next > now) continue;
    auto setup = setup_for(LinkSide::dialler, node);
    dialled.session = setup.own.session;
    auto to = dialled.address;
    if (dialled.at != 0) {
      const auto& place = dialled.address.elsewhere[dialled.at - 1];
      to.host = place.host, to.port = place.port;
    }
    introductions_.emplace_back(to, options_, tls_, std::move(setup), wake_, now);
  }
}

/// Dials the peer's next place at once; after all places were tried, waits for a while.
void Greeter::dial_again_later(Dialled& dialled, LinkTime now) {
  dialled.session.reset();
  const auto places = dialled.address.elsewhere.size() + 1;
  dialled.at = (dialled.at + 1) % places;
  dialled.next = now;
  if (++dialled.tried < places) return;
  dialled.tried = 0;
  dialled.next += dialled.backoff.failed(random_of<std::uint64_t>());
}

GreetingSetup Greeter::setup_for(LinkSide side, NodeNumber to) {
  GreetingSetup setup;
  setup.side = side;
  setup.own = make_hello(options_.who, options_.limits, SessionNumber(random_of<std::uint64_t>() | 1), to);
  setup.own.version = options_.versions.newest;
  setup.own.version_oldest = options_.versions.oldest;
  setup.heartbeat = options_.limits.heartbeat;
  if (!options_.secret.empty()) setup.secret = options_.secret;
  setup.nonce = random_of<LinkNonce>();
  if (side == LinkSide::acceptor) setup.admit = events_.admit;
  return setup;
}

void Greeter::step_all(LinkTime now) {
  for (auto one = introductions_.begin(); one != introductions_.end();) {
    auto outcome = one->step(now);
    if (!outcome) {
      ++one;
      continue;
    }
    finish(*one, *std::move(outcome), now);
    one = introductions_.erase(one);
  }
}

void Greeter::finish(Introduction& introduction, Result<Greeted> outcome, LinkTime now) {
  if (outcome) return events_.greeted(*std::move(outcome));
  if (const auto node = introduction.dialled()) {
    if (const auto found = dialled_.find(*node);
        found != dialled_.end() && found->second.session == introduction.session()) {
      dial_again_later(found->second, now);
    }
  }
  events_.refused(introduction.whom(), introduction.dialled(), outcome.error());
}

}  // namespace evershard::cluster
