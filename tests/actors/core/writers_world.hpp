// WritersWorld: the writers of several nodes, the coordinator's Ordering, disks and a network, in one thread; every
// step is checked.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/sharding/ordering.hpp"
#include "tests/actors/core/ordered_model.hpp"

namespace evershard::actors {

class WritersWorld {
 public:
  struct Options {
    std::uint32_t shards = 2;
    std::uint32_t nodes = 1;  ///< shard s is node s % nodes'
    std::uint64_t term_mask = ~std::uint64_t{0};
    std::size_t window_events_max = 100'000;
    ShardWriters::Options writers{};
  };
  struct Record {
    storage::EncodedAppend append;
    storage::JournalPlace place;
    bool synced = false;
  };
  struct Node {
    std::unique_ptr<ShardWriters> writers;
    std::uint64_t life = 1;
    bool session = false;
    Epoch coordinator;  ///< with whom
    std::map<ShardId, std::deque<Record>> disk;
    CutNumber persisted;  ///< a restart begins at this cut, or a later one it had applied
    std::deque<WriterBatch> writing;
    std::vector<LookUp> look_ups;
  };
  struct Client {
    RequestId request;
    std::uint32_t node = 0;
    std::shared_ptr<Attempt> attempt;
    GlobalPosition acknowledged;  ///< the last position acknowledged to anybody when the first of its request's
                                  ///< attempts under way was sent
    bool was_stored = false;      ///< its request had been acknowledged then
    std::optional<Result<Appended>> answer;
    bool durable = false;
    bool lost = false;  ///< with its node
  };
  struct Report {
    std::uint32_t node;
    std::uint64_t life;
    Epoch coordinator;  ///< with whom its session was
    WriterReport report;
  };
  struct Promise {
    std::uint32_t node;
    std::uint64_t life;
    ShardId shard;
    Epoch epoch;
    std::uint64_t ask;
    CutNumber cut;
    Epoch coordinator;
  };
  struct Part {
    std::uint32_t from;
    std::uint64_t life;
    std::shared_ptr<const Attempt> of;
    PartAsked asked;
  };
  struct Reply {
    std::uint32_t to;
    std::uint64_t life;
    PartAnswer answer;
  };

  explicit WritersWorld(Options options);

  // -- steps by hand
  /// To the owner of its first event's shard. Returns: the client.
  std::uint64_t send(Append append, bool named = true) { return send(std::nullopt, std::move(append), named); }
  std::uint64_t send(std::optional<std::uint32_t> node, Append append, bool named = true, AppendChain chain = {});
  /// Writes and syncs what was decided.
  void write(std::uint32_t node);
  bool close(std::uint32_t node);
  bool sync(std::uint32_t node);
  bool look_up(std::uint32_t node, std::size_t which = 0);
  bool deliver_report(std::size_t which = 0, bool again = false, bool to_replaced = false);
  bool deliver_promise(std::size_t which = 0);
  bool deliver_part(std::size_t which = 0, bool again = false);
  bool deliver_reply(std::size_t which = 0);
  /// The link lost it, or what became of it: it may be delivered all the same.
  void lose_part(std::size_t which, bool arrives);
  bool make_cut();
  bool apply(std::uint32_t node);
  /// Its unsynced writes are lost, and what it had applied since `persisted` may be.
  void crash(std::uint32_t node, CutNumber persisted);
  void begin_session(std::uint32_t node);
  void lose_session(std::uint32_t node);
  void replace_coordinator();
  bool open(ShardId shard, std::uint32_t node);
  /// Another node goes on from a copy of what is durable of the shard.
  bool move(ShardId shard, std::uint32_t to);
  void fail(std::uint32_t node);
  void give_up(std::uint64_t client);
  /// Everything that can happen happens, but for faults and clients' sending; then everybody waits for nothing.
  void rest();
  /// The same, but no cut is made.
  void exchange();

  [[nodiscard]] const std::optional<Result<Appended>>& answer(std::uint64_t client) const {
    return clients.at(client).answer;
  }
  [[nodiscard]] const Append& original(std::uint64_t client) const {
    return model.original(clients.at(client).request);
  }
  [[nodiscard]] std::uint64_t outstanding(const RequestId& request) const;
  [[nodiscard]] sharding::OrderState state_at(CutNumber cut) const;

  const Options options;
  OrderedModel model;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> owners;  ///< by shard, as clients know it
  std::map<std::uint64_t, Client> clients;
  std::vector<sharding::Cut> log;
  std::vector<GlobalPosition> window_from;  ///< announced with each
  bool digests_wanted = true;
  bool builds = true;
  std::uint64_t view_lag = 0;  ///< how old the view is as of which requests are looked up before they are taken
  sharding::Ordering ordering;
  std::optional<sharding::Ordering> replaced;  ///< leads no more, and does not know
  std::vector<Report> reports;
  std::vector<Promise> promises;
  std::vector<Part> parts;
  std::vector<Reply> replies;
  std::set<RequestId> durable;  ///< acknowledged as durable
  std::map<RequestId, Appended> acknowledged;
  std::map<std::string, int> seen;  ///< what happened, by kind

 private:
  void start(std::uint32_t node, CutNumber at);
  [[nodiscard]] std::vector<storage::UnorderedAppend> unordered(std::uint32_t node, ShardId shard,
                                                                ShardOffset from) const;
  void carry_out(std::uint32_t node, WriterActions actions);
  void place(const sharding::Cut& cut);
  struct Asking {
    std::uint32_t from;
    std::uint64_t life;
    std::uint32_t to;
    PartAsked asked;
    bool replied = false;
  };
  void lose_part(const Asking& asking);
  void check_effects(const CutEffects& effects);
  void check_answer(Client& client, const WriterAnswer& answer);
  void check_refusal(const Client& client, const Error& error);

  std::uint64_t clients_ = 0;
  std::uint64_t parts_asked_ = 0;
  std::map<std::uint64_t, Asking> asking_;  ///< by the part's client
  GlobalPosition acknowledged_;
  std::map<std::pair<ShardId, Epoch>, std::uint32_t> owned_;   ///< who was given a shard under an epoch
  std::vector<std::set<ShardId>> holds_;                       ///< what a node's store holds as its own
  std::map<std::pair<std::uint32_t, ShardId>, Epoch> copied_;  ///< under which epoch a node's copy of a shard was made
  std::set<ShardId> opening_;                                  ///< in the next cut
  std::map<RequestId, GlobalPosition> sent_after_;             ///< what was acknowledged when a request was sent first
  std::set<RequestId> refused_;                                ///< for good
};

}  // namespace evershard::actors
