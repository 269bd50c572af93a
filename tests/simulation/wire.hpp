// Wire: a connection between two simulated processes: bytes in sequence, as late and in such pieces as the network
// likes.

#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/greeting.hpp"
#include "tests/simulation/link_end.hpp"

namespace evershard::simulation {

struct Wire : std::enable_shared_from_this<Wire> {
  struct Side {
    std::weak_ptr<LinkEnd> end;
    Network::Endpoint endpoint = 0;
    bool open = true;
    std::optional<cluster::Greeting> greeting{};  ///< until it is over
    std::string read{};                           ///< and not taken by the greeting yet
    bool in_session = false;
    std::string sent{};  ///< and not arrived
    bool arriving = false;
  };

  Wire(Network& network, const std::shared_ptr<LinkEnd>& dialler, const std::shared_ptr<LinkEnd>& acceptor,
       cluster::NodeNumber to)
      : dialled(to), network_(network) {
    sides[0].end = dialler, sides[0].endpoint = dialler->endpoint();
    sides[1].end = acceptor, sides[1].endpoint = acceptor->endpoint();
  }

  void write(std::size_t side, std::string_view bytes) {
    if (!sides[side].open) return;
    sides[side].sent += bytes;
    arrive_soon(side);
  }
  /// `silently`: the other side hears nothing of it, whatever it says.
  void close(std::size_t side, std::string_view last_words, bool silently) {
    if (!sides[side].open) return;
    sides[side].open = false;
    silent_ |= silently;
    if (silently) return;
    sides[side].sent += last_words;
    if (network_.one_in(3)) sides[side].sent.clear();  // a reset
    arrive_soon(side);
  }

  std::array<Side, 2> sides;  ///< the first one dialled
  const cluster::NodeNumber dialled;

 private:
  void arrive_soon(std::size_t from) {
    if (std::exchange(sides[from].arriving, true)) return;
    network_.after(Network::millisecond / 5 +
                       network_.pick(network_.one_in(8) ? 40 * Network::millisecond : 2 * Network::millisecond),
                   [wire = shared_from_this(), from] { wire->arrive(from); });
  }
  void arrive(std::size_t from) {
    Side& sender = sides[from];
    Side& receiver = sides[1 - from];
    sender.arriving = false;
    if (!network_.reaches(sender.endpoint, receiver.endpoint)) {  // sent again, until it gets there
      if (sender.open || receiver.open) arrive_soon(from);
      return;
    }
    const auto end = receiver.end.lock();
    if (!receiver.open || !end || !end->alive()) {
      sender.sent.clear();
      if (!silent_ && sender.open) hang_up(from);
      return;
    }
    const auto part =
        sender.sent.substr(0, network_.one_in(4) ? network_.pick(sender.sent.size() + 1) : sender.sent.size());
    sender.sent.erase(0, part.size());
    const auto wire = shared_from_this();
    if (!part.empty()) end->received(wire, 1 - from, part);
    if (const auto writer = sender.end.lock(); writer && sender.open) writer->room(wire);
    if (!sender.sent.empty()) return arrive_soon(from);
    if (!sender.open && !silent_) hang_up(1 - from);
  }
  void hang_up(std::size_t side) {
    if (!std::exchange(sides[side].open, false)) return;
    if (const auto end = sides[side].end.lock(); end && end->alive()) end->closed(shared_from_this());
  }

  Network& network_;
  bool silent_ = false;
};

}  // namespace evershard::simulation
