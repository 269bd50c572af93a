#include "evershard/cluster/link/link_broker.hpp"

#include <sys/socket.h>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "evershard/cluster/link/tls_scribe.hpp"

namespace evershard::cluster {
namespace {

using WakeAtom = caf::atom_constant<caf::atom("linkwake")>;
using TickAtom = caf::atom_constant<caf::atom("linktick")>;
using StopAtom = caf::atom_constant<caf::atom("linkstop")>;
using Clock = std::chrono::steady_clock;

constexpr auto tick_every = std::chrono::milliseconds(20);
constexpr std::size_t read_bytes = 64u << 10;

caf::io::connection_handle handle_of(ConnectionNumber number) { return caf::io::connection_handle::from_int(number); }

/// The transport and the hub on it; the broker's state.
class Carrier final : public LinkTransport {
 public:
  Carrier(caf::io::broker& self, std::shared_ptr<LinkShared> shared)
      : self_(self),
        shared_(std::move(shared)),
        hub_({shared_->options, shared_->handlers, *this, shared_->board, shared_->returns.lock(), shared_->gone}) {}

  ConnectionNumber adopt(LinkSocket socket) override {
    auto& multiplexer = static_cast<caf::io::network::default_multiplexer&>(self_.system().middleman().backend());
    auto tls = socket.tls();
    const int number = socket.release();
    const auto scribe =
        tls ? caf::io::scribe_ptr(new TlsScribe(multiplexer, number, tls), false) : multiplexer.new_scribe(number);
    const auto handle = scribe->hdl();
    self_.add_scribe(scribe);
    self_.configure_read(handle, caf::io::receive_policy::at_most(read_bytes));
    self_.ack_writes(handle, true);
    open_.emplace(handle.id(), Open{number, std::move(tls)});
    return handle.id();
  }

  void write(ConnectionNumber connection, std::string_view bytes) override {
    const auto handle = handle_of(connection);
    if (!self_.valid(handle)) return;  // it was lost just now; its end is on the way
    auto& buffer = self_.wr_buf(handle);
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    auto& open = open_.at(connection);
    open.unsent += bytes.size();
    self_.flush(handle);
  }

  // Not CAF's close(): that waits for the peer, which may be what is frozen. A socket that is shut down both ways ends
  // by itself.
  void end(ConnectionNumber connection, std::string_view last_words) override {
    const auto found = open_.find(connection);
    if (found == open_.end() || !self_.valid(handle_of(connection))) return;
    auto& open = found->second;
    if (open.unsent == 0 && !last_words.empty()) {
      LinkSocket last(Descriptor{open.socket});
      last.secure(open.tls);
      // As a last word: the other side notices the end in any case.
      (void)last.write(last_words);
      // The connection goes with the object: what it says as it does is of no use.
      (void)last.release();
    }
    ::shutdown(open.socket, SHUT_RDWR);
  }

  void received(const caf::io::new_data_msg& message) {
    hub_.received(message.handle.id(), {message.buf.data(), message.buf.size()}, Clock::now());
  }
  void transferred(const caf::io::data_transferred_msg& message) {
    const auto found = open_.find(message.handle.id());
    if (found == open_.end()) return;
    found->second.unsent = message.remaining;
    hub_.unsent(message.handle.id(), message.remaining, Clock::now());
  }
  void closed(const caf::io::connection_closed_msg& message) {
    open_.erase(message.handle.id());
    hub_.closed(message.handle.id(), Clock::now());
    end_if_done();
  }
  void look_into_inbox() {
    shared_->inbox->take(commands_);
    for (const auto& command : commands_) {
      const auto* const ask = std::get_if<AskCommand>(&command);
      const auto* const tell = std::get_if<TellCommand>(&command);
      if (ask == nullptr && tell == nullptr) continue;
      shared_->inbox_calls.fetch_sub(1, std::memory_order_relaxed);
      shared_->inbox_bytes.fetch_sub(ask != nullptr ? ask->bytes.size() : tell->bytes.size(),
                                     std::memory_order_relaxed);
    }
    hub_.run(commands_, Clock::now());
    commands_.clear();
    if (commands_.capacity() > 4'096) std::vector<LinkCommand>().swap(commands_);
  }
  void stop() {
    look_into_inbox();
    hub_.close(Clock::now());
    stopping_ = true;
    end_if_done();
  }
  /// Whether there is a next tick; without one, whoever waits to end may.
  bool tick() {
    if (stopping_) {
      ticks_ = false;
      end_if_done();
      return false;
    }
    hub_.tick(Clock::now());
    return true;
  }

 private:
  struct Open {
    int socket = -1;  ///< CAF's; valid as long as its handle is
    std::shared_ptr<SSL> tls;
    std::size_t unsent = 0;
  };

  // Not before the last tick has come: CAF counts who is told something as in use, and forgets to uncount when its loop
  // ends before it is heard.
  void end_if_done() {
    if (!stopping_ || ticks_ || !open_.empty() || std::exchange(ended_, true)) return;
    self_.quit();
    shared_->ended.set_value();
  }

  caf::io::broker& self_;
  const std::shared_ptr<LinkShared> shared_;
  LinkHub hub_;
  std::unordered_map<ConnectionNumber, Open> open_;
  std::vector<LinkCommand> commands_;
  bool ticks_ = true;
  bool stopping_ = false;
  bool ended_ = false;
};

caf::behavior link_broker(caf::io::broker* self, std::shared_ptr<LinkShared> shared) {
  const auto carrier = std::make_shared<Carrier>(*self, std::move(shared));
  self->delayed_send(self, tick_every, TickAtom::value);
  return {
      [=](const caf::io::new_data_msg& message) { carrier->received(message); },
      [=](const caf::io::data_transferred_msg& message) { carrier->transferred(message); },
      [=](const caf::io::connection_closed_msg& message) { carrier->closed(message); },
      [=](WakeAtom) { carrier->look_into_inbox(); },
      [=](TickAtom) {
        if (carrier->tick()) self->delayed_send(self, tick_every, TickAtom::value);
      },
      [=](StopAtom) { carrier->stop(); },
  };
}

}  // namespace

caf::actor spawn_link_broker(caf::actor_system& system, std::shared_ptr<LinkShared> shared) {
  return system.middleman().spawn_broker(link_broker, std::move(shared));
}
void wake_link_broker(const caf::actor& broker) { caf::anon_send(broker, WakeAtom::value); }
void stop_link_broker(const caf::actor& broker) { caf::anon_send(broker, StopAtom::value); }

}  // namespace evershard::cluster
