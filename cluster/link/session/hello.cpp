#include "evershard/cluster/link/session/hello.hpp"

#include <algorithm>

#include "evershard/cluster/link/session/bytes.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t cluster_bytes_max = 64;

Refused differs(const std::string& what, const std::string& here, const std::string& there) {
  return refuse(ErrorCode::invalid_argument, what + " differs: " + here + " here, " + there + " at the peer");
}

std::string node_text(NodeNumber node) { return "node " + std::to_string(node.value); }

std::string versions_text(const LinkHello& hello) {
  return std::to_string(hello.version_oldest) + " to " + std::to_string(hello.version);
}

Refused no_hello(const char* why) {
  return refuse(ErrorCode::invalid_argument, std::string("the peer's greeting is malformed: ") + why);
}

}  // namespace

std::string_view name_of(NodeRole role) {
  switch (role) {
    case NodeRole::node:
      return "node";
    case NodeRole::coordinator:
      return "coordinator";
    case NodeRole::both:
      return "both";
  }
  return "unknown";
}

LinkHello make_hello(const LinkIdentity& who, const LinkLimits& limits, SessionNumber session, NodeNumber to) {
  LinkHello hello;
  hello.who = who;
  hello.session = session;
  hello.to = to;
  hello.credit = {limits.requests_max, limits.request_bytes_max, limits.message_bytes_max, limits.payload_bytes_max};
  hello.dead_after = limits.dead_after;
  return hello;
}

// The versions come first, and stay there in every version to come.
std::string encode(const LinkHello& hello) {
  std::string out;
  ByteWriter(out)
      .number(hello.version)
      .number(hello.version_oldest)
      .text(hello.who.cluster)
      .number(hello.who.shards)
      .number(hello.who.hash)
      .number(hello.who.node.value)
      .number(static_cast<std::uint8_t>(hello.who.role))
      .number(hello.who.process)
      .number(hello.session.value)
      .number(hello.to.value)
      .number(hello.credit.requests_max)
      .number(hello.credit.request_bytes_max)
      .number(hello.credit.message_bytes_max)
      .number(hello.credit.payload_bytes_max)
      .number(static_cast<std::uint32_t>(hello.dead_after.count()));
  return out;
}

Result<LinkHello> decode_hello(std::string_view bytes) {
  ByteReader in(bytes);
  LinkHello hello;
  hello.version = in.number<std::uint16_t>();
  hello.version_oldest = in.number<std::uint16_t>();
  if (in.ran_short() || hello.version_oldest == 0 || hello.version_oldest > hello.version)
    return no_hello("no versions");
  // A version from before or after may have put anything behind: agree() refuses it by its numbers.
  if (hello.version < link_version_oldest || hello.version_oldest > link_version) return hello;
  hello.who.cluster = in.text();
  hello.who.shards = in.number<std::uint32_t>();
  hello.who.hash = in.number<std::uint32_t>();
  hello.who.node = NodeNumber(in.number<std::uint32_t>());
  const auto role = in.number<std::uint8_t>();
  hello.who.role = static_cast<NodeRole>(role);
  hello.who.process = in.number<std::uint64_t>();
  hello.session = SessionNumber(in.number<std::uint64_t>());
  hello.to = NodeNumber(in.number<std::uint32_t>());
  hello.credit.requests_max = in.number<std::uint32_t>();
  hello.credit.request_bytes_max = in.number<std::uint64_t>();
  hello.credit.message_bytes_max = in.number<std::uint64_t>();
  hello.credit.payload_bytes_max = in.number<std::uint32_t>();
  hello.dead_after = std::chrono::milliseconds(in.number<std::uint32_t>());
  if (in.ran_short()) return no_hello("it ends early");
  if (hello.who.cluster.empty() || hello.who.cluster.size() > cluster_bytes_max)
    return no_hello("a cluster id of no or too many bytes");
  if (role < 1 || role > 3) return no_hello("an unknown role");
  if (hello.session.value == 0) return no_hello("session 0");
  if (hello.credit.requests_max == 0 || hello.credit.payload_bytes_max == 0) return no_hello("no credit");
  if (hello.dead_after.count() == 0) return no_hello("no time to be silent");
  return hello;
}

bool may_ask_shards(const LinkIdentity& who) {
  return who.role == NodeRole::node || who.node.value >= standby_numbers_from;
}

Result<LinkAgreement> agree(const LinkHello& own, const LinkHello& theirs, LinkSide own_side,
                            std::chrono::milliseconds own_heartbeat) {
  const auto version = std::min(own.version, theirs.version);
  if (version < own.version_oldest || version < theirs.version_oldest)
    return differs("the protocol version", versions_text(own), versions_text(theirs));
  if (own.who.cluster != theirs.who.cluster)
    return differs("the cluster id", in_quotes(own.who.cluster), in_quotes(theirs.who.cluster));
  const auto& dialler = own_side == LinkSide::dialler ? own : theirs;
  const auto& acceptor = own_side == LinkSide::dialler ? theirs : own;
  const bool asks = dialler.who.shards == 0 && may_ask_shards(dialler.who) && acceptor.who.role != NodeRole::node;
  if (own.who.shards != theirs.who.shards && !asks)
    return differs("the shard count", std::to_string(own.who.shards), std::to_string(theirs.who.shards));
  if (own.who.hash != theirs.who.hash)
    return differs("the hash of shards", std::to_string(own.who.hash), std::to_string(theirs.who.hash));
  if (own.who.node == theirs.who.node) {
    return refuse(ErrorCode::invalid_argument, own.who.process == theirs.who.process
                                                   ? node_text(own.who.node) + " was dialled by itself"
                                                   : "two processes call themselves " + node_text(own.who.node));
  }
  if (dialler.to != acceptor.who.node) {
    return refuse(ErrorCode::invalid_argument, node_text(dialler.who.node) + " dialled " + node_text(dialler.to) +
                                                   " and reached " + node_text(acceptor.who.node));
  }
  if (dialler.who.node < acceptor.who.node) {
    return refuse(ErrorCode::invalid_argument, node_text(dialler.who.node) + " dialled " +
                                                   node_text(acceptor.who.node) + ": the higher number dials");
  }
  if (acceptor.session != dialler.session) {
    return differs("the session", std::to_string(own.session.value), std::to_string(theirs.session.value));
  }
  const auto least = std::max(std::chrono::milliseconds(1), theirs.dead_after / 4);
  return LinkAgreement{version, dialler.session, theirs.who, theirs.credit, std::min(own_heartbeat, least)};
}

}  // namespace evershard::cluster
