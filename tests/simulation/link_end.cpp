#include "tests/simulation/link_end.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/simulation/history.hpp"
#include "tests/simulation/wire.hpp"

namespace evershard::simulation {

using cluster::ArrivedMessage;
using cluster::ArrivedRequest;
using cluster::CallTicket;
using cluster::Greeting;
using cluster::GreetingSetup;
using cluster::LinkAgreement;
using cluster::LinkSide;
using cluster::LinkTime;
using cluster::MessageKind;
using cluster::NodeNumber;
using cluster::SessionNumber;

namespace {

constexpr MessageKind any_kind{7};
constexpr std::size_t filler_max = 1'500;

[[noreturn]] void broken(const std::string& what) { throw Broken("I-Link", what); }

std::string name(NodeNumber number) {
  return number.value == 0 ? "the coordinator" : "node " + std::to_string(number.value);
}

std::uint64_t letter_of(std::string_view bytes) {
  std::uint64_t letter = 0;
  if (bytes.size() < sizeof letter) broken("what arrives was never sent");
  std::memcpy(&letter, bytes.data(), sizeof letter);
  return letter;
}

Network::Microseconds virtual_time(std::chrono::microseconds time) {
  return static_cast<Network::Microseconds>(time.count());
}

}  // namespace

// -- what the process wants

void LinkEnd::dial(NodeNumber number) {
  dials_.insert(number);
  connect(number);
}

bool LinkEnd::message(NodeNumber to, Letters::Told told) {
  if (!alive_) return false;
  const auto letter = ++letters_.last;
  letters_.all[letter].told = std::move(told);
  const bool taken = peer(to).link.calls().message(any_kind, payload(letter), now()).has_value();
  pump_soon(to);
  return taken;
}

void LinkEnd::request(NodeNumber to, std::chrono::microseconds time, Letters::Asked asked, Letters::Answer done) {
  if (!alive_) return;
  const auto letter = ++letters_.last;
  letters_.all[letter].asked = std::move(asked);
  ask(to, letter, now() + time, std::move(done));
}

void LinkEnd::ask(NodeNumber to, std::uint64_t letter, LinkTime deadline, Letters::Answer done) {
  const auto ticket = ++tickets_;
  if (auto taken = peer(to).link.calls().request(CallTicket{ticket}, any_kind, payload(letter), deadline, now());
      !taken) {
    letters_.all[letter].never_sent = true;
    ++letters_.counts.not_sent;
    network_.after(0, [self = shared_from_this(), done = std::move(done), why = taken.error()] {
      if (self->alive_) done(refuse(why));
    });
    return;
  }
  waiting_.emplace(ticket, Waiting{letter, to, deadline, std::move(done)});
  pump_soon(to);
}

void LinkEnd::cut(NodeNumber number) {
  const auto found = peers_.find(number);
  if (found == peers_.end() || !found->second->wire) return;
  end_session(number, {ErrorCode::unavailable, "the connection broke"}, false);
}

void LinkEnd::end(bool silently) {
  if (!std::exchange(alive_, false)) return;
  letters_.counts.silent += silently;
  for (auto& [number, peer] : peers_)
    if (peer->wire) peer->wire->close(peer->side, {}, silently);
  waiting_.clear();
}

void LinkEnd::tick() {
  if (!alive_) return;
  std::vector<NodeNumber> numbers;
  for (const auto& [number, peer] : peers_) numbers.push_back(number);
  for (const NodeNumber number : numbers) {
    Peer& peer = *peers_.at(number);
    if (setup_.off != Off::link_expiry) peer.link.calls().expire(now());
    if (auto* const session = peer.link.session(); session != nullptr && setup_.off != Off::link_silence) {
      if (auto heard = session->check_alive(now()); !heard) end_session(number, heard.error(), true);
    }
    deliver(number);
    if (!alive_) return;
    pump(number);
  }
  for (const auto& [ticket, waiting] : waiting_)
    if (now() > waiting.deadline + std::chrono::seconds(2))
      broken("request " + std::to_string(waiting.letter) + " of " + name(setup_.who.node) + " to " + name(waiting.to) +
             " has had no answer for two seconds longer than it had time");
  for (const NodeNumber number : dials_)
    if (network_.now() >= peer(number).next_dial) connect(number);
}

// -- connections

LinkEnd::Peer& LinkEnd::peer(NodeNumber number) {
  auto& made = peers_[number];
  if (!made) made = std::make_unique<Peer>(number, setup_.limits, now());
  return *made;
}

void LinkEnd::connect(NodeNumber number) {
  Peer& to = peer(number);
  if (to.wire || to.dialling) return;
  const auto there = setup_.find(number);
  if (!there || !network_.reaches(setup_.endpoint, there->endpoint())) return missed(number);
  to.dialling = true;
  const auto wire = std::make_shared<Wire>(network_, shared_from_this(), there, number);
  GreetingSetup own;
  own.side = LinkSide::dialler;
  own.own = cluster::make_hello(setup_.who, setup_.limits, SessionNumber{1 + network_.pick(~0ull - 1)}, number);
  own.heartbeat = setup_.limits.heartbeat;
  GreetingSetup theirs;
  theirs.side = LinkSide::acceptor;
  theirs.own = cluster::make_hello(there->setup_.who, there->setup_.limits, SessionNumber{}, NodeNumber{});
  theirs.heartbeat = there->setup_.limits.heartbeat;
  // As the product's board: two processes must not have one number.
  theirs.admit = [at = std::weak_ptr(there)](const LinkAgreement& agreement) -> Result<void> {
    const auto acceptor = at.lock();
    if (!acceptor || !acceptor->alive_) return refuse(ErrorCode::unavailable, "it is gone");
    const Peer& known = acceptor->peer(agreement.peer.node);
    if (known.wire && known.process != agreement.peer.process)
      return refuse(ErrorCode::unavailable, "another process is connected under this number");
    return {};
  };
  wire->sides[0].greeting.emplace(std::move(own));
  wire->sides[1].greeting.emplace(std::move(theirs));
  wire->write(0, wire->sides[0].greeting->take_output());
  network_.after(virtual_time(setup_.limits.greeting_time_max), [self = shared_from_this(), wire] {
    if (wire->sides[0].in_session || !wire->sides[0].open) return;
    wire->close(0, {}, false);
    if (self->alive_) self->closed(wire);
  });
}

void LinkEnd::missed(NodeNumber number) {
  Peer& to = peer(number);
  to.dialling = false;
  to.next_dial = network_.now() + virtual_time(to.backoff.failed(network_.pick(~0ull)));
  if (!to.wire) to.link.end("it cannot be reached", now());
  answer_callers(number);
}

void LinkEnd::received(const std::shared_ptr<Wire>& wire, std::size_t side, std::string_view bytes) {
  auto& own = wire->sides[side];
  if (!own.in_session) {
    own.read += bytes;
    while (own.greeting && own.greeting->wants() != 0 && own.read.size() >= own.greeting->wants()) {
      const auto part = own.read.substr(0, own.greeting->wants());
      own.read.erase(0, part.size());
      own.greeting->received(part);
      wire->write(side, own.greeting->take_output());
    }
    if (own.greeting && own.greeting->outcome()) greeted(wire, side);
    if (!own.in_session || !own.open) return;
    return received(wire, side, std::exchange(own.read, {}));
  }
  for (auto& [number, known] : peers_) {
    if (known->wire != wire) continue;
    const auto from = number;
    auto done = known->link.session()->received(bytes, now());
    if (!done && done.error().code == ErrorCode::corruption)
      broken(name(setup_.who.node) + " and " + name(from) + ": " + done.error().what);
    deliver(from);
    if (!alive_) return;
    if (!done) return end_session(from, done.error(), false);
    return pump(from);
  }
}

void LinkEnd::greeted(const std::shared_ptr<Wire>& wire, std::size_t side) {
  auto& own = wire->sides[side];
  const auto outcome = *own.greeting->outcome();
  own.greeting.reset();
  if (outcome) return begin(wire, side, *outcome);
  ++letters_.counts.refused;
  wire->close(side, {}, false);
  if (side == 0) closed(wire);
}

void LinkEnd::begin(const std::shared_ptr<Wire>& wire, std::size_t side, const LinkAgreement& agreement) {
  const auto number = agreement.peer.node;
  const auto other = wire->sides[1 - side].end.lock();
  if (!other) return wire->close(side, {}, false);
  if (peer(number).wire) end_session(number, {ErrorCode::cancelled, "a newer session takes its place"}, true);
  if (!alive_) return;
  Peer& with = peer(number);
  with.wire = wire;
  with.side = side;
  with.process = agreement.peer.process;
  with.dialled = side == 0;
  with.dialling = false;
  with.backoff.succeeded();
  wire->sides[side].in_session = true;
  with.link.begin(agreement, now());
  ++letters_.counts.sessions;
  if (setup_.up) setup_.up(number, *other);
  pump_soon(number);
}

void LinkEnd::closed(const std::shared_ptr<Wire>& wire) {
  for (auto& [number, known] : peers_) {
    if (known->wire != wire) continue;
    return end_session(number, {ErrorCode::unavailable, "the connection was lost"}, false);
  }
  if (wire->sides[0].end.lock().get() == this && peer(wire->dialled).dialling) missed(wire->dialled);
}

void LinkEnd::room(const std::shared_ptr<Wire>& wire) {
  for (const auto& [number, known] : peers_)
    if (known->wire == wire) return pump_soon(number);
}

void LinkEnd::end_session(NodeNumber number, const Error& why, bool says_so) {
  Peer& with = peer(number);
  std::string last_words;
  if (says_so) with.link.session()->write_goodbye(last_words, why);
  const auto wire = std::exchange(with.wire, nullptr);
  wire->close(with.side, last_words, false);
  if (setup_.tell) setup_.tell(name(setup_.who.node) + "'s session with " + name(number) + " ends: " + why.what);
  with.link.end(why.what, now());
  if (with.dialled) with.next_dial = network_.now() + virtual_time(with.backoff.failed(network_.pick(~0ull)));
  answer_callers(number);
  if (alive_ && setup_.down) setup_.down(number);
}

// -- what travels

std::string LinkEnd::payload(std::uint64_t letter) {
  std::string bytes(sizeof letter + (network_.one_in(6) ? network_.pick(filler_max) : 0), 'x');
  std::memcpy(bytes.data(), &letter, sizeof letter);
  return bytes;
}

void LinkEnd::deliver(NodeNumber number) {
  Peer& from = peer(number);
  if (auto* const session = from.link.session()) {
    if (session->open_requests() > setup_.limits.requests_max)
      broken(name(number) + " has more requests open at " + name(setup_.who.node) + " than it was granted");
    if (from.process != from.came_from) from.last_message = from.last_request = 0;
    from.came_from = from.process;
    const auto requests = session->take_requests();
    const auto messages = session->take_messages();
    for (const auto& message : messages) {
      handle(number, message);
      if (!alive_) return;
    }
    for (const auto& request : requests) {
      handle(number, request);
      if (!alive_) return;
    }
  }
  answer_callers(number);
}

void LinkEnd::overtakes(std::uint64_t& last, std::uint64_t letter) const {
  if (letter <= last && setup_.off != Off::link_again)
    broken("letter " + std::to_string(letter) + " comes behind letter " + std::to_string(last) + ", to " +
           name(setup_.who.node));
  last = letter;
}

void LinkEnd::handle(NodeNumber number, const ArrivedMessage& message) {
  const auto letter = letter_of(message.bytes);
  overtakes(peer(number).last_message, letter);
  auto& found = letters_.all.at(letter);
  if (std::exchange(found.handled, true))
    broken("message " + std::to_string(letter) + " is taken twice by " + name(setup_.who.node));
  ++letters_.counts.handled;
  if (const auto told = std::move(found.told)) told(*this);
  if (alive_ && setup_.off != Off::link_credit) peer(number).link.release(message.session, message.cost);
}

void LinkEnd::handle(NodeNumber number, const ArrivedRequest& request) {
  const auto letter = letter_of(request.bytes);
  overtakes(peer(number).last_request, letter);
  auto& found = letters_.all.at(letter);
  if (found.never_sent)
    broken("request " + std::to_string(letter) + " is done by " + name(setup_.who.node) +
           ", and who sent it was told that it was never sent");
  if (std::exchange(found.handled, true))
    broken("request " + std::to_string(letter) + " is done twice by " + name(setup_.who.node));
  ++letters_.counts.handled;
  auto answer = [self = shared_from_this(), number, session = request.session,
                 call = request.number](Result<Letters::Told> told) {
    if (!self->alive_) return;
    const auto back = ++self->letters_.last;
    if (told) self->letters_.all[back].told = std::move(*told);
    self->peer(number).link.answer(session, call, self->payload(back));
    self->pump_soon(number);
  };
  found.asked(*this, std::move(answer));
}

void LinkEnd::answer_callers(NodeNumber number) {
  for (auto& answer : peer(number).link.calls().take_answers()) {
    auto waiting = waiting_.extract(answer.ticket.value);
    if (waiting.empty()) broken("a request of " + name(setup_.who.node) + " is answered twice");
    auto& asked = waiting.mapped();
    auto& letter = letters_.all.at(asked.letter);
    if (answer.outcome) {
      if (!letter.handled) broken("request " + std::to_string(asked.letter) + " is answered, and nobody took it");
      auto& back = letters_.all.at(letter_of(*answer.outcome));
      network_.after(0, [self = shared_from_this(), done = std::move(asked.done), told = std::move(back.told)] {
        if (self->alive_) done(told);
      });
      continue;
    }
    Error why = answer.outcome.error();
    if (why.code == ErrorCode::timeout && setup_.off == Off::link_again && asked.deadline > now()) {
      ask(number, asked.letter, asked.deadline, std::move(asked.done));
      continue;
    }
    const bool known = why.code != ErrorCode::timeout || setup_.off == Off::link_unknown;
    ++(known ? letters_.counts.not_sent : letters_.counts.unknown);
    if (known && letter.handled)
      broken("request " + std::to_string(asked.letter) + " of " + name(setup_.who.node) +
             " is said not to have been sent, and " + name(number) + " has taken it");
    letter.never_sent |= known;
    network_.after(0, [self = shared_from_this(), done = std::move(asked.done), why] {
      if (self->alive_) done(refuse(why));
    });
  }
}

void LinkEnd::pump_soon(NodeNumber number) {
  if (!alive_ || std::exchange(peer(number).pumping, true)) return;
  network_.after(0, [self = shared_from_this(), number] {
    self->peer(number).pumping = false;
    if (self->alive_) self->pump(number);
  });
}

void LinkEnd::pump(NodeNumber number) {
  Peer& to = peer(number);
  while (to.wire) {
    const auto unsent = to.wire->sides[to.side].sent.size();
    if (unsent >= setup_.limits.unsent_bytes_max) break;
    std::string out;
    to.link.session()->write(out, setup_.limits.unsent_bytes_max - unsent, now());
    if (out.empty()) break;
    to.wire->write(to.side, out);
  }
  letters_.counts.waited += to.link.calls().waiting() > 0 && to.wire;
  if (to.link.calls().waiting() > setup_.limits.queue_calls_max)
    broken(name(setup_.who.node) + " keeps more for " + name(number) + " than it may");
}

}  // namespace evershard::simulation
