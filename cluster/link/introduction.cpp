#include "evershard/cluster/link/introduction.hpp"

#include <poll.h>

#include <cerrno>
#include <cstring>

namespace evershard::cluster {
namespace {

std::string place_text(const PeerAddress& to) {
  return "node " + std::to_string(to.node.value) + " at " + to.host + ":" + std::to_string(to.port);
}

}  // namespace

Introduction::Introduction(const PeerAddress& to, const LinkOptions& options, std::shared_ptr<const TlsContext> tls,
                           GreetingSetup setup, const std::shared_ptr<WakeUp>& wake, LinkTime now)
    : options_(options),
      tls_(std::move(tls)),
      setup_(std::move(setup)),
      whom_(place_text(to)),
      peer_name_(to.name.empty() ? to.host : to.name),
      dialled_(to.node),
      session_(setup_.own.session),
      until_(now + options.limits.dial_time_max),
      state_(State::resolving) {
  resolving_.emplace(to.host, to.port, wake);
}

Introduction::Introduction(LinkSocket socket, const LinkOptions& options, std::shared_ptr<const TlsContext> tls,
                           GreetingSetup setup, LinkTime now)
    : options_(options),
      tls_(std::move(tls)),
      setup_(std::move(setup)),
      whom_(peer_text(socket.number())),
      session_(setup_.own.session),
      until_(now),
      state_(State::connecting),
      socket_(std::move(socket)) {
  connected(now);
}

short Introduction::events() const {
  if (state_ == State::connecting || wants_write_ || (state_ == State::talking && !out_.empty())) return POLLOUT;
  return POLLIN;
}

std::optional<Result<Greeted>> Introduction::step(LinkTime now) {
  while (true) {
    const auto state = state_;
    const auto done = state == State::resolving       ? resolve()
                      : state == State::connecting    ? connecting(now)
                      : state == State::shaking_hands ? shake_hands()
                                                      : talk();
    if (!done) return refuse(done.error());
    if (*done) return Greeted{std::move(socket_), **greeting_->outcome(), dialled_.has_value()};
    if (state_ != state) continue;
    if (now < until_) return std::nullopt;
    return refuse(ErrorCode::unavailable, state_ == State::resolving ? "its name was not found in time"
                                          : state_ == State::connecting
                                              ? "it does not answer"
                                              : "it was silent, or too slow, while it should have shown who it is");
  }
}

Result<bool> Introduction::resolve() {
  const auto found = resolving_->result();
  if (!found) return false;
  if (!*found) return refuse(found->error());
  addresses_ = **found;
  state_ = State::connecting;
  return connect_next("it has no address");
}

Result<bool> Introduction::connect_next(const std::string& last_why) {
  while (next_address_ < addresses_.size()) {
    const auto& address = addresses_[next_address_++];
    socket_ = LinkSocket(Descriptor(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    if (socket_.number() < 0) continue;
    if (::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0 ||
        errno == EINPROGRESS)
      return false;
  }
  return refuse(ErrorCode::unavailable, last_why);
}

Result<bool> Introduction::connecting(LinkTime now) {
  pollfd look{socket_.number(), POLLOUT, 0};
  if (::poll(&look, 1, 0) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return connect_next(std::strerror(error));
  connected(now);
  return false;
}

void Introduction::connected(LinkTime now) {
  until_ = now + options_.limits.greeting_time_max;
  tune(socket_.number(), static_cast<unsigned>((options_.limits.dead_after + options_.limits.heartbeat).count()));
  if (tls_) socket_.secure(dialled_ ? tls_->dialling(socket_.number(), peer_name_) : tls_->dialled(socket_.number()));
  state_ = State::shaking_hands;
}

Result<bool> Introduction::shake_hands() {
  const auto step = socket_.shake_hands();
  if (step.failed) return refuse(ErrorCode::unauthenticated, socket_.why());
  wants_write_ = step.wants_write;
  if (step.bytes == 0) return false;
  if (tls_ && dialled_) {
    auto meant = options_.who;
    meant.node = *dialled_;
    EVERSHARD_TRY(tls_->check_member(socket_.tls().get(), meant));
  } else if (tls_) {
    // Who it says it is comes with its hello: the greeting tells it why it is refused.
    setup_.admit = [tls = tls_, connection = socket_.tls(),
                    admit = std::move(setup_.admit)](const LinkAgreement& agreement) -> Result<void> {
      EVERSHARD_TRY(tls->check_member(connection.get(), agreement.peer));
      return admit ? admit(agreement) : Result<void>{};
    };
  }
  greeting_.emplace(std::move(setup_));
  out_ = greeting_->take_output();
  state_ = State::talking;
  return false;
}

Result<bool> Introduction::flush() {
  while (!out_.empty()) {
    const auto step = socket_.write(out_);
    if (step.failed) return refuse(ErrorCode::unavailable, socket_.why());
    if (step.bytes == 0) return false;
    out_.erase(0, step.bytes);
  }
  return true;
}

Result<bool> Introduction::talk() {
  while (true) {
    const auto flushed = flush();
    if (!flushed) return refuse(flushed.error());
    if (!*flushed) return false;
    if (const auto& outcome = greeting_->outcome()) {
      if (!*outcome) return refuse(outcome->error());
      return true;
    }
    char bytes[4'096];
    const auto step = socket_.read(bytes, std::min(sizeof bytes, greeting_->wants() - in_.size()));
    if (step.failed)
      return refuse(tls_ ? ErrorCode::unauthenticated : ErrorCode::unavailable,
                    socket_.why() + ", before it had shown who it is");
    wants_write_ = step.wants_write;
    if (step.bytes == 0) return false;
    in_.append(bytes, step.bytes);
    if (in_.size() < greeting_->wants()) continue;
    greeting_->received(std::exchange(in_, {}));
    out_ = greeting_->take_output();
  }
}

}  // namespace evershard::cluster
