#include "evershard/cluster/peers/coordinator_links.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/cluster_messages.hpp"

namespace evershard::cluster {
namespace {

MessageKind as_kind(PeerKind kind) { return MessageKind{static_cast<std::uint16_t>(kind)}; }

template <class Message, class Value>
std::string encoded(const Value& value) {
  Message message;
  messages::put(value, message);
  return message.SerializeAsString();
}

/// Nodes speak for themselves only.
NodeProcess speaker(const ToCoordinator& message, const NodeProcess& known) {
  if (const auto* hello = std::get_if<Hello>(&message)) return hello->from;
  if (const auto* asked = std::get_if<CutsAfter>(&message)) return asked->from;
  if (const auto* held = std::get_if<Held>(&message)) return held->from;
  if (const auto* narrowed = std::get_if<Narrowed>(&message)) return narrowed->from;
  return known;
}

}  // namespace

Result<std::unique_ptr<CoordinatorLinks>> CoordinatorLinks::open(CoordinatorLinksOptions options) {
  std::unique_ptr<CoordinatorLinks> coordinator(new CoordinatorLinks(std::move(options)));
  LinkHandlers handlers;
  auto* self = coordinator.get();
  handlers.on_message = [self](const LinkMessage& message) { self->on_message(message); };
  handlers.on_request = [self](LinkRequest request) { self->on_request(std::move(request)); };
  handlers.on_session_down = [self](const LinkSessionInfo& session, const Error&) { self->on_down(session); };
  handlers.on_refused = coordinator->options_.refused;
  auto links = Links::open(coordinator->options_.link, std::move(handlers));
  if (!links) return refuse(std::move(links).error());
  coordinator->links_ = std::move(*links);
  auto port = coordinator->links_->listen(coordinator->options_.listen_host, coordinator->options_.listen_port);
  if (!port) return refuse(std::move(port).error());
  coordinator->port_ = *port;
  return coordinator;
}

CoordinatorLinks::~CoordinatorLinks() {
  detach();
  if (links_) links_->stop();
}

void CoordinatorLinks::attach(CoordinatorHost& host) {
  const std::lock_guard lock(mutex_);
  host_ = &host;
}

void CoordinatorLinks::detach() {
  const std::lock_guard lock(mutex_);
  host_ = nullptr;
  servants_.clear();
}

std::size_t CoordinatorLinks::nodes() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

bool CoordinatorLinks::somebody_stands_by() const {
  return std::ranges::any_of(
      links_->status(), [](const auto& peer) { return peer.connected && peer.node.value >= standby_numbers_from; });
}

void CoordinatorLinks::serve(PeerKind kind, std::function<void(LinkRequest)> answer) {
  const std::lock_guard lock(mutex_);
  servants_[kind] = std::move(answer);
}

void CoordinatorLinks::request(std::uint32_t node, PeerKind kind, std::string bytes, std::chrono::milliseconds time,
                               Links::Done done) {
  links_->request(on_links(node), as_kind(kind), std::move(bytes), time, std::move(done));
}

void CoordinatorLinks::on_message(const LinkMessage& message) {
  auto said = decode_to_coordinator(static_cast<PeerKind>(message.kind.value), message.bytes);
  const auto whom = [&] { return "node " + std::to_string(node_of(message.from)); };
  if (!said) {
    if (options_.refused) options_.refused(whom(), said.error());
    return;
  }
  const std::lock_guard lock(mutex_);
  if (host_ == nullptr) return;
  const auto known = members_.find(message.from);
  const auto from = speaker(*said, known == members_.end() ? NodeProcess{node_of(message.from), 0} : known->second);
  if (from.node != node_of(message.from)) {
    if (options_.refused)
      options_.refused(whom(), Error(ErrorCode::invalid_argument, "it speaks as node " + std::to_string(from.node)));
    return;
  }
  if (auto* hello = std::get_if<Hello>(&*said)) {
    members_[message.from] = hello->from;
    return host_->hello(std::move(*hello));
  }
  if (const auto* asked = std::get_if<CutsAfter>(&*said)) return host_->cuts_after(*asked);
  if (const auto* held = std::get_if<Held>(&*said)) return host_->held(*held);
  if (const auto* narrowed = std::get_if<Narrowed>(&*said)) return host_->narrowed(*narrowed);
  auto& report = std::get<actors::WriterReport>(*said);
  host_->report(from, std::move(report.report), report.ask, report.naming);
}

void CoordinatorLinks::on_request(LinkRequest request) {
  const auto kind = static_cast<PeerKind>(request.kind.value);
  if (kind == PeerKind::identity) return request.reply(storage::encode(options_.identity));
  if (kind == PeerKind::cluster_status || kind == PeerKind::cluster_assign) {
    const std::lock_guard lock(mutex_);
    if (host_ == nullptr)
      return request.reply(refuse(ErrorCode::unavailable, "the coordinator is starting or stopping"));
    auto asked = std::make_shared<LinkRequest>(std::move(request));
    if (kind == PeerKind::cluster_status)
      return host_->status(
          [asked](const ClusterStatus& status) { asked->reply(encoded<v1::ClusterStatusResponse>(status)); });
    v1::ClusterAssignRequest wanted_message;
    ShardAssignment wanted;
    if (!wanted_message.ParseFromString(asked->bytes) || !messages::get(wanted_message, wanted))
      return asked->reply(refuse(ErrorCode::corruption, "a node's request is malformed"));
    return host_->assign(std::move(wanted), [asked](const Result<ShardsAssigned>& assigned) {
      assigned ? asked->reply(encoded<v1::ClusterAssignResponse>(*assigned)) : asked->reply(refuse(assigned.error()));
    });
  }
  if (kind == PeerKind::keys) {
    const std::lock_guard lock(mutex_);
    const auto servant = servants_.find(kind);
    if (servant == servants_.end())
      return request.reply(refuse(ErrorCode::unavailable, "the coordinator is starting or stopping"));
    return servant->second(std::move(request));
  }
  request.reply(refuse(ErrorCode::invalid_argument,
                       "a coordinator does not answer requests of kind " + std::to_string(request.kind.value)));
}

void CoordinatorLinks::on_down(const LinkSessionInfo& session) {
  const std::lock_guard lock(mutex_);
  const auto member = members_.find(session.peer.node);
  if (member == members_.end()) return;
  // Who was silent for as long as that was given up for its silence.
  const bool silent = session.silence >= options_.link.limits.dead_after;
  if (host_ != nullptr) host_->lost(member->second, silent ? std::optional(session.silence) : std::nullopt);
  members_.erase(member);
}

void CoordinatorLinks::members(NodeProcess node, const Members& members) {
  auto sent = encode(members);
  // A node that misses it asks again in its next session.
  (void)links_->send(on_links(node.node), as_kind(sent.kind), std::move(sent.bytes));
}

void CoordinatorLinks::to_node(NodeProcess node, ToNode message) {
  auto sent = encode(message);
  // A node that misses it asks again in its next session.
  (void)links_->send(on_links(node.node), as_kind(sent.kind), std::move(sent.bytes));
}

void CoordinatorLinks::promise(NodeProcess node, ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
                               const sharding::Leadership& coordinator) {
  auto sent = encode(CutPromised{shard, epoch, ask, cut, coordinator});
  // A node that misses it asks again in its next session.
  (void)links_->send(on_links(node.node), as_kind(sent.kind), std::move(sent.bytes));
}

}  // namespace evershard::cluster
