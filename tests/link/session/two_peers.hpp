// TwoPeers: two LinkPeers and the bytes between them, which the test carries.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "evershard/cluster/link/session/link_peer.hpp"

namespace evershard::cluster {

inline const LinkTime time_zero{std::chrono::hours(1)};
inline LinkTime at(int ms) { return time_zero + std::chrono::milliseconds(ms); }

inline LinkIdentity identity(std::uint32_t node) {
  return {"cluster-1", 16, 1, NodeNumber(node), NodeRole::node, 1'000 + node};
}

inline LinkAgreement agreement(std::uint32_t peer, std::uint64_t session, const LinkLimits& granted = {},
                               const LinkLimits& own = {}) {
  const auto hello = make_hello(identity(peer), granted, SessionNumber(session), NodeNumber(0));
  return {link_version, SessionNumber(session), hello.who, hello.credit, own.heartbeat};
}

inline ErrorDetails at_position(std::uint64_t position) {
  ErrorDetails details;
  details.position = GlobalPosition(position);
  return details;
}

/// One side: what it was asked, what it was answered.
struct TestSide {
  TestSide(std::uint32_t own, std::uint32_t other, const LinkLimits& l)
      : node(own), limits(l), peer(NodeNumber(other), l, time_zero), other_node(other) {}

  Result<void> request(std::uint64_t ticket, std::string bytes, LinkTime now, int time_ms = 10'000) {
    return peer.calls().request(CallTicket(ticket), MessageKind(7), std::move(bytes),
                                now + std::chrono::milliseconds(time_ms), now);
  }
  std::string written(LinkTime now, std::size_t bytes_max = 1u << 30) {
    std::string out;
    if (peer.session()) peer.session()->write(out, bytes_max, now);
    return out;
  }
  /// Takes bytes and notes what came of them.
  Result<void> receive(std::string_view bytes, LinkTime now) {
    if (!peer.session()) return {};
    auto done = peer.session()->received(bytes, now);
    collect();
    return done;
  }
  void collect() {
    if (peer.session()) {
      for (auto& request : peer.session()->take_requests()) requests.push_back(std::move(request));
      for (auto& message : peer.session()->take_messages()) messages.push_back(std::move(message));
    }
    for (auto& answer : peer.calls().take_answers()) {
      ++answer_counts[answer.ticket.value];
      answers.insert_or_assign(answer.ticket.value, std::move(answer.outcome));
    }
  }
  void answer_all(LinkTime) {
    for (auto& request : requests) peer.answer(request.session, request.number, "answer to " + request.bytes);
    requests.clear();
  }
  ErrorCode code(std::uint64_t ticket) {
    collect();
    const auto found = answers.find(ticket);
    return found == answers.end() || found->second ? ErrorCode{} : found->second.error().code;
  }

  std::uint32_t node;
  LinkLimits limits;
  LinkPeer peer;
  std::uint32_t other_node;
  std::vector<ArrivedRequest> requests;
  std::vector<ArrivedMessage> messages;
  std::map<std::uint64_t, Result<std::string>> answers;
  std::map<std::uint64_t, int> answer_counts;
};

struct TwoPeers {
  explicit TwoPeers(const LinkLimits& limits_a = {}, const LinkLimits& limits_b = {})
      : a(1, 2, limits_a), b(2, 1, limits_b) {}

  void connect(std::uint64_t session, LinkTime now) {
    a.peer.begin(agreement(2, session, b.limits, a.limits), now);
    b.peer.begin(agreement(1, session, a.limits, b.limits), now);
    a.collect();
    b.collect();
  }
  /// Carries everything, back and forth, until nobody has anything to say.
  Result<void> carry(LinkTime now) {
    while (true) {
      const auto to_b = a.written(now), to_a = b.written(now);
      if (to_b.empty() && to_a.empty()) return {};
      EVERSHARD_TRY(b.receive(to_b, now));
      EVERSHARD_TRY(a.receive(to_a, now));
    }
  }

  TestSide a, b;
};

}  // namespace evershard::cluster
