#include "evershard/cluster/peers/node_links.hpp"

#include <future>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "evershard/api/messages/cluster_messages.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/sharding/heard_leaderships.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t leaderships_sent = 8;    ///< with every request: nodes are rarely further apart
constexpr std::size_t answering_threads = 16;  ///< a read may wait here for a cut
constexpr std::chrono::milliseconds status_timeout{3'000};

MessageKind on_wire(PeerKind kind) { return MessageKind{static_cast<std::uint16_t>(kind)}; }
PeerKind kind_of(MessageKind kind) { return static_cast<PeerKind>(kind.value); }

/// Not from 1: what a node gave up before it was started again is none of its reads now.
std::uint64_t first_read() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

/// What of an event, or of what follows from one, is acknowledged by its answer: by the coordinator that the asker
/// follows, too.
bool changes(PeerKind kind) {
  return kind == PeerKind::forward || kind == PeerKind::part || kind == PeerKind::put_snapshot ||
         kind == PeerKind::ship_snapshot || kind == PeerKind::aggregate || kind == PeerKind::home;
}

Error gone() { return {ErrorCode::unavailable, "the node is not there, or is stopping"}; }

}  // namespace

NodeLinks::NodeLinks(NodeLinksOptions options)
    : options_(std::move(options)),
      reads_(options_.long_reads),
      next_read_(first_read()),
      work_(std::make_unique<WorkPool>(answering_threads)) {
  forwarded_ = std::make_unique<InTurn>(*work_);
}

Result<std::unique_ptr<NodeLinks>> NodeLinks::open(NodeLinksOptions options) {
  std::unique_ptr<NodeLinks> node(new NodeLinks(std::move(options)));
  LinkHandlers handlers;
  auto* self = node.get();
  handlers.on_message = [self](LinkMessage message) { self->on_message(std::move(message)); };
  handlers.on_request = [self](LinkRequest request) { self->on_request(std::move(request)); };
  handlers.on_session_up = [self](const LinkSessionInfo& session) { self->on_session(session.peer.node, true); };
  handlers.on_session_down = [self](const LinkSessionInfo& session, const Error&) {
    self->on_session(session.peer.node, false);
  };
  handlers.on_refused = node->options_.refused;
  auto links = Links::open(node->options_.link, std::move(handlers));
  if (!links) return refuse(std::move(links).error());
  node->links_ = std::move(*links);
  auto port = node->links_->listen(node->options_.listen_host, node->options_.listen_port);
  if (!port) return refuse(std::move(port).error());
  node->port_ = *port;
  const auto& coordinators = node->options_.coordinators;
  if (coordinators.empty()) return refuse(ErrorCode::invalid_argument, "a node needs the address of a coordinator");
  PeerAddress coordinator{coordinator_on_links, coordinators.front().host, coordinators.front().port};
  coordinator.elsewhere.assign(coordinators.begin() + 1, coordinators.end());
  EVERSHARD_TRY(node->links_->dial(std::move(coordinator)));
  return node;
}

NodeLinks::~NodeLinks() {
  detach();
  if (links_) links_->stop();
  work_.reset();
}

Result<storage::Identity> NodeLinks::identity(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    auto bytes = ask_coordinator(PeerKind::identity, {}, std::chrono::seconds(2));
    if (bytes) return storage::decode_identity(*bytes);
    const bool may_come = bytes.error().code == ErrorCode::unavailable || bytes.error().code == ErrorCode::timeout ||
                          bytes.error().code == ErrorCode::overloaded;
    if (!may_come || std::chrono::steady_clock::now() >= until) return refuse(std::move(bytes).error());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<std::string> NodeLinks::ask_coordinator(PeerKind kind, std::string bytes, std::chrono::milliseconds timeout) {
  auto promise = std::make_shared<std::promise<Result<std::string>>>();
  auto answer = promise->get_future();
  links_->request(coordinator_on_links, on_wire(kind), std::move(bytes), timeout,
                  [promise](Result<std::string> got) { promise->set_value(std::move(got)); });
  return answer.get();
}

Result<ClusterStatus> NodeLinks::cluster_status() {
  auto bytes = ask_coordinator(PeerKind::cluster_status, {}, status_timeout);
  if (!bytes) return refuse(std::move(bytes).error());
  v1::ClusterStatusResponse message;
  ClusterStatus status;
  if (!message.ParseFromString(*bytes)) return refuse(ErrorCode::corruption, "the coordinator's status is malformed");
  EVERSHARD_TRY(messages::get(message, status));
  return status;
}

Result<ShardsAssigned> NodeLinks::cluster_assign(const ShardAssignment& wanted) {
  v1::ClusterAssignRequest request;
  messages::put(wanted, request);
  auto bytes = ask_coordinator(PeerKind::cluster_assign, request.SerializeAsString(), options_.timeout);
  if (!bytes) return refuse(std::move(bytes).error());
  v1::ClusterAssignResponse message;
  ShardsAssigned assigned;
  if (!message.ParseFromString(*bytes)) return refuse(ErrorCode::corruption, "the coordinator's answer is malformed");
  EVERSHARD_TRY(messages::get(message, assigned));
  return assigned;
}

void NodeLinks::attach(ClusterNode& node) {
  bool up = false;
  {
    const std::lock_guard lock(mutex_);
    node_ = std::make_shared<ClusterNode*>(&node);
    up = coordinator_up_;
  }
  if (up) node.committer().connected();
}

void NodeLinks::detach() {
  reads_.close();
  std::weak_ptr<ClusterNode*> under_way;
  std::weak_ptr<std::function<void()>> told;
  std::vector<std::weak_ptr<Servant>> serving;
  {
    const std::lock_guard lock(mutex_);
    under_way = std::exchange(node_, nullptr);
    told = std::exchange(coordinator_is_there_, nullptr);
    for (auto& [kind, servant] : std::exchange(servants_, {})) serving.push_back(servant);
  }
  while (!under_way.expired() || !told.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (const auto& servant : serving)
    while (!servant.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void NodeLinks::serve(PeerKind kind, std::function<void(LinkRequest)> answer) {
  const std::lock_guard lock(mutex_);
  servants_[kind] = std::make_shared<Servant>(std::move(answer));
}

void NodeLinks::when_coordinator_is_there(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  coordinator_is_there_ = std::make_shared<std::function<void()>>(std::move(call));
}

void NodeLinks::request(std::uint32_t node, PeerKind kind, std::string bytes, std::chrono::milliseconds time,
                        Links::Done done) {
  if (on_links(node) != coordinator_on_links) bytes += led()->asked_under;
  links_->request(on_links(node), on_wire(kind), std::move(bytes), time, std::move(done));
}

void NodeLinks::led_by(const sharding::Leaderships& leaderships) {
  auto led = std::make_shared<const Led>(
      Led{leaderships, encode_asked_under(sharding::newest_of(leaderships, leaderships_sent)),
          sharding::text_of(sharding::newest_of(leaderships, sharding::leaderships_told))});
  const std::lock_guard lock(mutex_);
  led_ = std::move(led);
}

std::shared_ptr<const NodeLinks::Led> NodeLinks::led() const {
  const std::lock_guard lock(mutex_);
  return led_;
}

std::shared_ptr<const std::string> NodeLinks::led_text() const {
  const auto now = led();
  return {now, &now->text};
}

// Two nodes that follow two coordinators on copies of one log would acknowledge one position twice.
Result<void> NodeLinks::check_asked_under(const LinkRequest& request) {
  if (request.from == coordinator_on_links) return {};
  const auto asked = decode_asked_under(request.bytes);
  if (!asked) return refuse(asked.error());
  const auto known = led();
  auto agreed = sharding::check_one_history(known->leaderships, *asked);
  if (agreed && changes(kind_of(request.kind))) agreed = sharding::check_one_leader(known->leaderships, *asked);
  if (agreed) return {};
  const auto here = "node " + std::to_string(node_of(options_.link.who.node)),
             there = "node " + std::to_string(node_of(request.from));
  Error error(agreed.error().code, here + " answers nothing of " + there + ": " + agreed.error().what);
  if (options_.refused && error.code == ErrorCode::fenced) {
    const std::lock_guard lock(mutex_);
    if (!said_apart_.insert(request.from.value).second) return refuse(std::move(error));
  }
  if (options_.refused && error.code == ErrorCode::fenced) options_.refused(there, error);
  return refuse(std::move(error));
}

std::shared_ptr<ClusterNode*> NodeLinks::attached() const {
  const std::lock_guard lock(mutex_);
  return node_;
}

void NodeLinks::on_session(NodeNumber peer, bool up) {
  if (peer != coordinator_on_links) {
    if (!up) reads_.gone(node_of(peer));
    if (const auto attached_node = attached()) (*attached_node)->committer().peer(node_of(peer), up);
    return;
  }
  std::shared_ptr<ClusterNode*> node;
  std::shared_ptr<std::function<void()>> there;
  {
    const std::lock_guard lock(mutex_);
    coordinator_up_ = up;
    node = node_;
    there = coordinator_is_there_;
  }
  if (up && there != nullptr) (*there)();
  there.reset();
  if (node == nullptr) return;
  up ? (*node)->committer().connected() : (*node)->committer().disconnected();
}

void NodeLinks::on_message(LinkMessage message) {
  if (message.from != coordinator_on_links) {
    const auto kind = kind_of(message.kind);
    if (kind == PeerKind::ship || kind == PeerKind::followed || kind == PeerKind::ship_row_log)
      return on_replica(message);
    const auto read =
        kind_of(message.kind) == PeerKind::given_up ? decode_given_up(message.bytes) : Result<std::uint64_t>(0);
    if (read && *read != 0) reads_.given_up(node_of(message.from), *read);
    return;
  }
  auto said = decode_from_coordinator(kind_of(message.kind), message.bytes);
  if (!said) {
    if (options_.refused) options_.refused("the coordinator", said.error());
    return;
  }
  const auto* members = std::get_if<Members>(&*said);
  if (members != nullptr) meet(members->nodes);
  const auto node = attached();
  if (node == nullptr) return;
  auto& committer = (*node)->committer();
  if (members != nullptr) return committer.members(std::move(std::get<Members>(*said)));
  if (auto* promised = std::get_if<CutPromised>(&*said))
    return committer.cut_promised(promised->shard, promised->epoch, promised->ask, promised->cut,
                                  promised->coordinator);
  committer.receive(std::move(std::get<ToNode>(*said)));
}

void NodeLinks::on_replica(const LinkMessage& message) {
  const auto refused = [&](const Error& error) {
    if (options_.refused) options_.refused("node " + std::to_string(node_of(message.from)), error);
  };
  const auto node = attached();
  if (node == nullptr) return;
  const auto asked = decode_asked_under(message.bytes);
  if (!asked) return refused(asked.error());
  if (auto agreed = sharding::check_one_history(led()->leaderships, *asked); !agreed) return refused(agreed.error());
  auto& committer = (*node)->committer();
  if (kind_of(message.kind) == PeerKind::ship) {
    auto ship = decode_ship(message.bytes);
    ship ? committer.receive(node_of(message.from), std::move(*ship)) : refused(ship.error());
  } else if (kind_of(message.kind) == PeerKind::ship_row_log) {
    auto part = decode_row_log_part(message.bytes);
    part ? committer.receive(node_of(message.from), std::move(*part)) : refused(part.error());
  } else {
    auto followed = decode_followed(message.bytes);
    followed ? committer.receive(node_of(message.from), std::move(*followed)) : refused(followed.error());
  }
}

/// Of two nodes, the one with the higher number dials.
void NodeLinks::meet(const std::vector<ClusterView::Node>& members) {
  for (const auto& place : members) {
    const auto number = on_links(place.node);
    if (number >= options_.link.who.node || !place.up) continue;
    const auto at = host_and_port(place.address);
    auto dialled = at && at->port != 0
                       ? links_->dial({number, at->host, at->port})
                       : Result<void>(refuse(ErrorCode::invalid_argument, "\"" + place.address + "\" is no address"));
    if (!dialled && options_.refused) options_.refused("node " + std::to_string(place.node), dialled.error());
  }
}

void NodeLinks::on_request(LinkRequest request) {
  if (auto agreed = check_asked_under(request); !agreed) return request.reply(refuse(std::move(agreed).error()));
  std::shared_ptr<Servant> servant;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = servants_.find(kind_of(request.kind)); found != servants_.end()) servant = found->second;
  }
  if (servant != nullptr) return (*servant)(std::move(request));
  auto asked = std::make_shared<LinkRequest>(std::move(request));
  const auto answer = [this, asked] {
    const auto node = attached();
    if (node == nullptr) return asked->reply(refuse(gone()));
    auto& committer = (*node)->committer();
    const auto refused = [&](const Error& error) { asked->reply(refuse(error)); };
    switch (kind_of(asked->kind)) {
      case PeerKind::read: {
        auto read = decode_read(asked->bytes);
        if (!read) return refused(read.error());
        const auto work = reads_.begin(node_of(asked->from), read->read, asked->deadline);
        const storage::ReadWork::Scope at_work(*work);
        auto page = committer.reader().read(*read);
        return page ? asked->reply(encode(*page)) : refused(page.error());
      }
      case PeerKind::read_stream: {
        auto read = decode_read_stream(asked->bytes);
        if (!read) return refused(read.error());
        auto page = committer.reader().read_stream(*read);
        return page ? asked->reply(encode(*page)) : refused(page.error());
      }
      case PeerKind::head: {
        auto head = decode_head_asked(asked->bytes);
        if (!head) return refused(head.error());
        auto info = committer.reader().head(*head);
        return info ? asked->reply(encode_head(*info)) : refused(info.error());
      }
      case PeerKind::forward: {
        auto append = decode_forward(asked->bytes);
        if (!append) return refused(append.error());
        return committer.append_async(std::move(*append), [asked](const Result<Appended>& result) {
          result ? asked->reply(encode(*result)) : asked->reply(refuse(result.error()));
        });
      }
      case PeerKind::part: {
        auto part = decode_part(asked->bytes, committer.store().identity().shards, committer.store().hasher());
        if (!part) return refused(part.error());
        return committer.take_part(part->of, part->part, [asked](const actors::PartAnswer& part_answer) {
          asked->reply(encode(part_answer));
        });
      }
      case PeerKind::snapshots: {
        auto wanted = decode_snapshots_asked(asked->bytes);
        if (!wanted) return refused(wanted.error());
        auto found = committer.reader().snapshots(*wanted);
        return found ? asked->reply(encode(*found)) : refused(found.error());
      }
      case PeerKind::put_snapshot: {
        auto snapshot = decode_put_snapshot(asked->bytes);
        if (!snapshot) return refused(snapshot.error());
        return committer.put_snapshot(std::move(snapshot->first), snapshot->second, [asked](const Result<void>& done) {
          done ? asked->reply(std::string()) : asked->reply(refuse(done.error()));
        });
      }
      case PeerKind::aggregates: {
        auto wanted = decode_aggregates_asked(asked->bytes);
        if (!wanted) return refused(wanted.error());
        const auto work = reads_.begin(node_of(asked->from), wanted->read, asked->deadline);
        const storage::ReadWork::Scope at_work(*work);
        auto found = committer.reader().aggregates(*wanted);
        return found ? asked->reply(encode(*found)) : refused(found.error());
      }
      case PeerKind::ship_snapshot: {
        auto shipped = decode_shipped_snapshot(asked->bytes);
        if (!shipped) return refused(shipped.error());
        return committer.take_snapshot(std::move(shipped->first), shipped->second, [asked](const Result<void>& done) {
          done ? asked->reply(std::string()) : asked->reply(refuse(done.error()));
        });
      }
      case PeerKind::row_log: {
        auto wanted = decode_row_log_asked(asked->bytes);
        if (!wanted) return refused(wanted.error());
        auto part = committer.row_log(*wanted);
        return part ? asked->reply(encode(*part)) : refused(part.error());
      }
      case PeerKind::journal: {
        auto wanted = decode_journal_asked(asked->bytes);
        if (!wanted) return refused(wanted.error());
        auto rows = committer.journal(*wanted);
        return rows ? asked->reply(encode_journal(std::move(*rows))) : refused(rows.error());
      }
      case PeerKind::journal_sum: {
        auto wanted = decode_journal_sum_asked(asked->bytes);
        if (!wanted) return refused(wanted.error());
        auto sum = committer.journal_sum(*wanted);
        return sum ? asked->reply(encode(*sum)) : refused(sum.error());
      }
      case PeerKind::history: {
        auto after = decode_history_asked(asked->bytes);
        if (!after) return refused(after.error());
        return committer.history(*after, [asked](const Result<NodeHistory>& history) {
          history ? asked->reply(encode(*history)) : asked->reply(refuse(history.error()));
        });
      }
      case PeerKind::aggregate:
        return refused(Error(ErrorCode::invalid_argument,
                             "node " + std::to_string(node_of(options_.link.who.node)) + " hosts no aggregates"));
      case PeerKind::home:
        return refused(Error(ErrorCode::unavailable,
                             "node " + std::to_string(node_of(options_.link.who.node)) + " is no home of anything"));
      default:
        return refused(Error(ErrorCode::invalid_argument,
                             "a node does not answer requests of kind " + std::to_string(asked->kind.value)));
    }
  };
  // A node's appends are taken in the order in which it sent them.
  if (kind_of(asked->kind) == PeerKind::forward)
    forwarded_->run(asked->from.value, answer);
  else
    work_->run(answer);
}

// -- what the node asks

void NodeLinks::to_coordinator(ToCoordinator message) {
  auto sent = encode(message);
  // What is lost is asked for again, or reported again in the next session.
  (void)links_->send(coordinator_on_links, on_wire(sent.kind), std::move(sent.bytes));
}

void NodeLinks::ask(std::uint32_t node, PeerKind kind, std::string bytes, Links::Done done) {
  request(node, kind, std::move(bytes), options_.timeout, std::move(done));
}

void NodeLinks::request_read(std::uint32_t node, PeerKind kind,
                             const std::function<std::string(std::uint64_t read)>& encoded,
                             std::chrono::milliseconds time, Links::Done done) {
  const auto* const reading = storage::ReadWork::current();
  if (reading == nullptr) return request(node, kind, encoded(0), time, std::move(done));
  if (auto wanted = reading->wanted(); !wanted) return done(refuse(std::move(wanted).error()));
  const auto number = next_read_.fetch_add(1);
  using OnGone = std::stop_callback<std::function<void()>>;
  // It may be gone already, or go while the request is on its way: PeerReads takes either order.
  auto on_gone = std::make_shared<OnGone>(reading->token(), [this, node, number] {
    // A node that does not get this message asks again, and is told then.
    (void)links_->send(on_links(node), on_wire(PeerKind::given_up), encode_given_up(number));
  });
  request(node, kind, encoded(number), time,
          [on_gone = std::move(on_gone), done = std::move(done)](Result<std::string> bytes) mutable {
            on_gone.reset();
            done(std::move(bytes));
          });
}

std::vector<std::uint32_t> NodeLinks::ship(const std::vector<std::uint32_t>& nodes, const Ship& ship) {
  const auto bytes = encode(ship) + led()->asked_under;
  std::vector<std::uint32_t> not_sent;
  for (const auto node : nodes)
    if (!links_->send(on_links(node), on_wire(PeerKind::ship), bytes)) not_sent.push_back(node);
  return not_sent;
}

void NodeLinks::followed(std::uint32_t node, const FollowerTold& followed) {
  // A writer that misses it ships again, and is told how far this one has followed.
  (void)links_->send(on_links(node), on_wire(PeerKind::followed), encode(followed) + led()->asked_under);
}

void NodeLinks::ship_row_log(std::uint32_t node, const RowLogPart& part) {
  // A part is shipped again until the follower says that it has the part.
  (void)links_->send(on_links(node), on_wire(PeerKind::ship_row_log), encode(part) + led()->asked_under);
}

void NodeLinks::row_log(std::uint32_t node, const RowLogAsked& asked, NodeDone<RowLogPart> done) {
  ask(node, PeerKind::row_log, encode(asked), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_row_log_part(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::journal(std::uint32_t node, const JournalAsked& asked, NodeDone<storage::ShippedRows> done) {
  ask(node, PeerKind::journal, encode(asked), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_journal(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::journal_sum(std::uint32_t node, const JournalSumAsked& asked, NodeDone<storage::JournalSum> done) {
  ask(node, PeerKind::journal_sum, encode(asked), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_journal_sum(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::history(std::uint32_t node, GlobalPosition after, NodeDone<NodeHistory> done) {
  ask(node, PeerKind::history, encode_history_asked(after), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_history(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::forward(std::uint32_t node, Append append, NodeDone<Appended> done) {
  ask(node, PeerKind::forward, encode_forward(append), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_appended(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::ask_part(std::uint32_t node, std::shared_ptr<const actors::Attempt> of, actors::PartAsked part,
                         std::function<void(actors::PartAnswer)> done) {
  ask(node, PeerKind::part, encode_part(*of, part), [part, done = std::move(done)](Result<std::string> bytes) {
    auto answer = bytes ? decode_part_answer(*bytes) : Result<actors::PartAnswer>(refuse(std::move(bytes).error()));
    if (answer) return done(std::move(*answer));
    actors::PartAnswer lost;
    lost.attempt = part.attempt;
    lost.try_number = part.try_number;
    lost.shard = part.shard;
    lost.kind = actors::PartAnswer::Kind::lost;
    lost.error = std::move(answer).error();
    done(std::move(lost));
  });
}

void NodeLinks::read(std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done) {
  const auto encoded = [&asked](std::uint64_t read) { return asked.read = read, encode(asked); };
  request_read(node, PeerKind::read, encoded, options_.timeout, [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_page(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::read_stream(std::uint32_t node, NodeStreamAsked asked, NodeDone<NodePage> done) {
  ask(node, PeerKind::read_stream, encode(asked), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_page(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::head(std::uint32_t node, NodeHeadAsked asked, NodeDone<AggregateInfo> done) {
  const auto aggregate = asked.aggregate;
  const auto node_ref = attached();
  const auto shard = node_ref == nullptr ? ShardId{} : (*node_ref)->shard_of(aggregate);
  ask(node, PeerKind::head, encode(asked), [done = std::move(done), aggregate, shard](Result<std::string> bytes) {
    done(bytes ? decode_head(*bytes, aggregate, shard) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::snapshots(std::uint32_t node, NodeSnapshotsAsked asked, NodeDone<std::vector<RecordedSnapshot>> done) {
  ask(node, PeerKind::snapshots, encode(asked), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? decode_snapshots(*bytes) : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::put_snapshot(std::uint32_t node, Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done) {
  ask(node, PeerKind::put_snapshot, encode(snapshot, up_to), [done = std::move(done)](Result<std::string> bytes) {
    done(bytes ? Result<void>() : refuse(std::move(bytes).error()));
  });
}

void NodeLinks::aggregates(std::uint32_t node, NodeAggregatesAsked asked, NodeDone<std::vector<AggregateInfo>> done) {
  const auto encoded = [&asked](std::uint64_t read) { return asked.read = read, encode(asked); };
  request_read(node, PeerKind::aggregates, encoded, options_.timeout,
               [done = std::move(done)](Result<std::string> bytes) {
                 done(bytes ? decode_aggregates(*bytes) : refuse(std::move(bytes).error()));
               });
}

}  // namespace evershard::cluster
