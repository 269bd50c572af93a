#include "evershard/cluster/link/link_hub.hpp"

#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {
namespace {

constexpr auto lasting_session = std::chrono::seconds(1);
constexpr auto show_every = std::chrono::milliseconds(100);

std::string node_name(NodeNumber node) { return "node " + std::to_string(node.value); }

}  // namespace

void LinkHub::run(std::vector<LinkCommand>& commands, LinkTime now) {
  for (auto& command : commands) {
    std::visit([&](auto& one) { take(one, now); }, command);
  }
  do_work(now);
}

LinkHub::Peer* LinkHub::find(NodeNumber node) {
  const auto found = peers_.find(node);
  return found == peers_.end() ? nullptr : found->second.get();
}

Result<LinkHub::Peer*> LinkHub::find_or_make(NodeNumber node, LinkTime now) {
  if (auto* const peer = find(node)) return peer;
  if (peers_.size() >= parts_.options.peers_max) {
    return refuse(ErrorCode::overloaded, "there are " + std::to_string(peers_.size()) +
                                             " peers already: " + node_name(node) + " is one too many");
  }
  auto& made = peers_[node];
  made = std::make_unique<Peer>(node, parts_.options.limits, now);
  return made.get();
}

void LinkHub::work_for(Peer& peer) {
  if (std::exchange(peer.has_work, true)) return;
  working_.push_back(&peer);
}

void LinkHub::do_work(LinkTime now) {
  for (auto* const peer : std::exchange(working_, {})) {
    peer->has_work = false;
    deliver(*peer);
    pump(*peer, now);
  }
}

void LinkHub::take(AskCommand& command, LinkTime now) {
  const auto peer = find_or_make(command.to, now);
  if (!peer) return command.done(refuse(peer.error()));
  const auto ticket = ++last_ticket_;
  if (auto taken = (*peer)->link.calls().request(ticket, command.kind, std::move(command.bytes), command.deadline, now);
      !taken) {
    return command.done(refuse(std::move(taken).error()));
  }
  waiting_.emplace(ticket, std::move(command.done));
  work_for(**peer);
}

void LinkHub::take(TellCommand& command, LinkTime now) {
  const auto peer = find_or_make(command.to, now);
  if (!peer) return;  // messages may be lost, as with the line; who waits for an answer is told
  if (!(*peer)->link.calls().message(command.kind, std::move(command.bytes), now))
    return (*peer)->link.calls().count_lost_message();
  work_for(**peer);
}

void LinkHub::take(AnswerCommand& command, LinkTime) {
  auto* const peer = find(command.to);
  if (peer == nullptr) return;
  peer->link.answer(command.session, command.number, std::move(command.outcome));
  work_for(*peer);
}

void LinkHub::take(ReleaseCommand& command, LinkTime) {
  auto* const peer = find(command.to);
  if (peer == nullptr) return;
  peer->link.release(command.session, command.cost);
  work_for(*peer);
}

void LinkHub::take(Greeted& greeted, LinkTime now) {
  const auto& agreement = greeted.agreement;
  const auto made = find_or_make(agreement.peer.node, now);
  // The board was asked before, when the peer greeted; another session may have come in since.
  if (auto admitted = made ? parts_.board.admit(agreement.peer) : Result<void>(refuse(made.error())); !admitted) {
    if (parts_.handlers.on_refused) parts_.handlers.on_refused(node_name(agreement.peer.node), admitted.error());
    if (greeted.dialled) parts_.gone(agreement.peer.node, agreement.session, false);
    return;
  }
  auto& peer = **made;
  if (peer.connection)
    end_session(peer, {ErrorCode::cancelled, "a newer session of the same process takes its place"}, true, now);
  peer.info = {agreement.peer, agreement.session, greeted.dialled, {}};
  peer.since = now;
  peer.unsent = 0;
  ++peer.sessions;
  peer.connection = parts_.transport.adopt(std::move(greeted.socket));
  by_connection_[*peer.connection] = &peer;
  peer.link.begin(agreement, now);
  parts_.board.up(agreement.peer);
  show(now);
  if (parts_.handlers.on_session_up) parts_.handlers.on_session_up(peer.info);
  work_for(peer);
}

void LinkHub::take(MissedCommand& command, LinkTime now) {
  auto* const peer = find(command.node);
  if (peer == nullptr || peer->connection) return;
  peer->link.end(command.why, now);  // requests to the peer from here on are told why
}

void LinkHub::take(ForgetCommand& command, LinkTime now) {
  auto* const peer = find(command.node);
  if (peer == nullptr) return;
  if (peer->connection) end_session(*peer, {ErrorCode::cancelled, "it was told to forget this peer"}, true, now);
  peer->link.close("it was forgotten");
  answer_callers(*peer);
  std::erase(working_, peer);
  peers_.erase(command.node);
  show(now);
}

LinkHub::Peer* LinkHub::of(ConnectionNumber connection) {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : found->second;
}

void LinkHub::received(ConnectionNumber connection, std::string_view bytes, LinkTime now) {
  auto* const peer = of(connection);
  if (peer == nullptr) return;
  auto done = peer->link.session()->received(bytes, now);
  deliver(*peer);
  if (!done) return end_session(*peer, done.error(), done.error().code == ErrorCode::corruption, now);
  pump(*peer, now);
}

void LinkHub::unsent(ConnectionNumber connection, std::size_t bytes, LinkTime now) {
  auto* const peer = of(connection);
  if (peer == nullptr) return;
  peer->unsent = bytes;
  if (bytes <= parts_.options.limits.unsent_bytes_max / 2) pump(*peer, now);
}

void LinkHub::closed(ConnectionNumber connection, LinkTime now) {
  if (auto* const peer = of(connection))
    end_session(*peer, {ErrorCode::unavailable, "the connection was lost"}, false, now);
}

void LinkHub::tick(LinkTime now) {
  for (auto& [node, peer] : peers_) {
    peer->link.calls().expire(now);
    if (peer->connection) {
      if (auto alive = peer->link.session()->check_alive(now); !alive) end_session(*peer, alive.error(), true, now);
    }
    deliver(*peer);
    pump(*peer, now);
  }
  // Who stood by, or only asked, comes back under another number.
  std::vector<NodeNumber> passed;
  for (const auto& [node, peer] : peers_)
    if (node.value >= standby_numbers_from && !peer->connection) passed.push_back(node);
  for (const auto node : passed) {
    ForgetCommand forget{node};
    take(forget, now);
  }
  if (now - shown_ >= show_every) show(now);
}

void LinkHub::close(LinkTime now) {
  for (auto& [node, peer] : peers_) {
    if (peer->connection)
      end_session(*peer, {ErrorCode::cancelled, node_name(parts_.options.who.node) + " stops"}, true, now);
    peer->link.close("this process stops");
    answer_callers(*peer);
  }
  EVERSHARD_CHECK(waiting_.empty(), "every request is answered");
  show(now);
}

void LinkHub::deliver(Peer& peer) {
  if (auto* const session = peer.link.session()) {
    for (auto& request : session->take_requests()) {
      LinkReply reply(parts_.returns, peer.number, request.session, request.number);
      if (parts_.handlers.on_request) {
        parts_.handlers.on_request(
            {peer.number, request.kind, request.deadline, std::move(request.bytes), std::move(reply)});
      } else {
        reply(refuse(ErrorCode::unavailable, node_name(parts_.options.who.node) + " takes no requests"));
      }
    }
    for (auto& message : session->take_messages()) {
      LinkReceipt receipt(parts_.returns, peer.number, message.session, message.cost);
      if (parts_.handlers.on_message)
        parts_.handlers.on_message({peer.number, message.kind, std::move(message.bytes), std::move(receipt)});
    }
  }
  answer_callers(peer);
}

void LinkHub::answer_callers(Peer& peer) {
  for (auto& answer : peer.link.calls().take_answers()) {
    const auto found = waiting_.find(answer.ticket);
    EVERSHARD_CHECK(found != waiting_.end(), "a request is answered once");
    const auto done = std::move(found->second);
    waiting_.erase(found);
    done(std::move(answer.outcome));
  }
}

void LinkHub::pump(Peer& peer, LinkTime now) {
  const auto unsent_max = parts_.options.limits.unsent_bytes_max;
  while (peer.connection && peer.unsent < unsent_max) {
    out_.clear();
    peer.link.session()->write(out_, unsent_max - peer.unsent, now);
    if (out_.empty()) return;
    peer.unsent += out_.size();
    parts_.transport.write(*peer.connection, out_);
  }
}

void LinkHub::end_session(Peer& peer, const Error& why, bool say_goodbye, LinkTime now) {
  std::string last_words;
  if (say_goodbye) peer.link.session()->write_goodbye(last_words, why);
  peer.info.silence = in_ms(peer.link.session()->silence(now));
  const auto connection = *std::exchange(peer.connection, std::nullopt);
  by_connection_.erase(connection);
  parts_.transport.end(connection, last_words);
  peer.link.end(why.what, now);
  parts_.board.down(peer.number);
  answer_callers(peer);
  show(now);
  if (parts_.handlers.on_session_down) parts_.handlers.on_session_down(peer.info, why);
  if (peer.info.dialled) parts_.gone(peer.number, peer.info.session, now - peer.since >= lasting_session);
}

void LinkHub::show(LinkTime now) {
  shown_ = now;
  std::vector<LinkStatus> all;
  for (const auto& [node, peer] : peers_) {
    auto& status = all.emplace_back();
    const auto& calls = peer->link.calls();
    status = {node,
              peer->connection.has_value(),
              peer->info,
              {},
              calls.waiting(),
              calls.waiting_bytes(),
              calls.in_flight(),
              0,
              peer->sessions,
              calls.messages_lost()};
    if (const auto* const session = peer->link.session(); session != nullptr && peer->connection) {
      status.silence = in_ms(session->silence(now));
      status.open_requests = session->open_requests();
    }
  }
  parts_.board.show(std::move(all));
}

}  // namespace evershard::cluster
