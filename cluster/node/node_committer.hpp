// NodeCommitter: the one thread of a node that decides, writes and applies cuts.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "evershard/actors/core/prepare.hpp"
#include "evershard/actors/core/shard_load.hpp"
#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/actors/core/watermark_watch.hpp"
#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/cluster/node/node_network.hpp"
#include "evershard/cluster/node/node_reader.hpp"
#include "evershard/cluster/order/history_merge.hpp"
#include "evershard/cluster/order/history_sources.hpp"
#include "evershard/cluster/order/node_order.hpp"
#include "evershard/cluster/replication/followed_shards.hpp"
#include "evershard/cluster/replication/named_processes.hpp"
#include "evershard/cluster/replication/narrowed_sets.hpp"
#include "evershard/cluster/replication/quorum_gate.hpp"
#include "evershard/cluster/replication/row_logs.hpp"
#include "evershard/cluster/replication/shipping.hpp"
#include "evershard/cluster/replication/taken_snapshots.hpp"
#include "evershard/protocol/append_chain.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/node_store.hpp"

namespace evershard::cluster {

struct NodeCommitterOptions {
  NodeProcess self{};
  std::string address{};
  std::string door{};         ///< where clients reach this node, if that is known at the start
  std::string version{};      ///< of this program
  bool gateway = false;       ///< it wants no shards: it serves what the other nodes have
  std::string zone{};         ///< what may fail together with it: replicas of a shard are in as many as there are
  bool takes_sealed = false;  ///< as of Preparer: what comes here was sealed by a node that has the keys
  bool skip_lost = false;     ///< reads pass over what an operator gave up, instead of being refused
  Limits limits{};
  std::chrono::milliseconds append_timeout =
      std::chrono::seconds(8);  ///< then an append is answered, whatever became of it, before clients give up (10 s);
                                ///< while the disk hangs in a sync, nothing is
  std::chrono::milliseconds wait_max = std::chrono::seconds(5);     ///< for other nodes, and for cuts to be applied
  std::chrono::milliseconds again_every = std::chrono::seconds(1);  ///< whatever has not come is asked for again
  std::function<void(const Error&)> warn{};                         ///< for the log; any thread
};

/// Prepares in the caller's thread, looks up beside its own, decides and writes in one: what comes while a write is
/// under way makes the next batch.
///
/// Every append is answered exactly once. Any thread.
/// Durable: as Ack says. Owner: writes the store alone, which outlives it, as the network does.
/// Source:  docs/internals/ordering.md, rules 9 to 19.
class NodeCommitter {
 public:
  NodeCommitter(storage::NodeStore& store, NodeNetwork& network, NodeCommitterOptions options);
  ~NodeCommitter();  ///< stop()
  NodeCommitter(const NodeCommitter&) = delete;

  /// Of an append whose first event lies in a shard of this node.
  /// Errors: what Preparer::prepare says; version_conflict, condition_failed; wrong_shard, unavailable, fenced;
  /// overloaded; io; timeout
  void append_async(Append append, NodeDone<Appended> done) {
    append_async(std::move(append), AppendChain{}, std::move(done));
  }
  /// On top of earlier ones of the same writer. Order: what one thread sends is decided in that order, but for what has
  /// to be looked up.
  void append_async(Append append, AppendChain chain, NodeDone<Appended> done);
  /// Another node's append has a part here.
  void take_part(const std::shared_ptr<const actors::Attempt>& of, actors::PartAsked part,
                 std::function<void(actors::PartAnswer)> done);

  /// Alone, at a version that exists. Errors: as Preparer::place_of; io
  void put_snapshot(Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done);
  /// At a version that is here, only while its shard is open here under that epoch. Those of one thread are written in
  /// its order. Where the shard has replicas, every later writer has it once this is done. Errors: wrong_shard too
  void put_snapshot_here(Snapshot snapshot, Epoch held, NodeDone<void> done);

  /// State rows, records of shown events that are written anew, snapshots that go: all or none, only while these shards
  /// are open here under these epochs. `logged`: what followers are to write of it, where a shard has some; then it is
  /// done when a quorum has it. Errors: wrong_shard: one is not; unavailable: it is not known here yet what a quorum
  /// had; timeout: its outcome is unknown
  void write_rows_here(storage::RowWrites rows, std::map<ShardId, storage::RowLogEntry> logged,
                       std::map<ShardId, Epoch> held, NodeDone<void> done);

  /// Waits until everything that was written to an aggregate of this node before has its place, or is known to have
  /// none: appends of this process whose outcome nobody heard, and of an earlier one, that the journal still holds.
  /// What is read afterwards has them. Errors: wrong_shard: it is not open here; unavailable: no cut came in time; what
  /// the node failed with. Not from its thread.
  [[nodiscard]] Result<void> wait_settled(const AggregateId& aggregate);

  /// The shards that are open here, and under which epochs; those with replicas once it is known what earlier writers
  /// wrote beside the journal, see write_rows_here() and put_snapshot_here().
  using OpenShards = std::map<ShardId, Epoch>;
  /// Called now, and whenever that has changed, in the node's thread, until stop(): must be quick, and must not wait.
  /// One a `who`: the next one takes its place; an empty one ends it.
  void watch_shards(const void* who, std::function<void(const OpenShards&)> watch);

  // -- from the coordinator
  void connected();
  void disconnected();
  void receive(ToNode message);
  void members(Members members);
  void cut_promised(ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
                    const sharding::Leadership& coordinator);

  // -- from other replicas
  /// A session with this node begins, or ends.
  void peer(std::uint32_t node, bool up);
  void receive(std::uint32_t from, Ship ship);
  void receive(std::uint32_t from, FollowerTold followed);
  void receive(std::uint32_t from, RowLogPart part);
  /// Some of what the shard's row log has here. Any thread. Errors: invalid_argument, corruption, io
  [[nodiscard]] Result<RowLogPart> row_log(const RowLogAsked& asked) const;
  /// A snapshot of a shard that is followed here, from its writer under that epoch. Errors: unavailable: it is not
  void take_snapshot(storage::PlacedSnapshot snapshot, Epoch epoch, NodeDone<void> done);
  /// What the journal here has of a shard, as far as cuts cover it. Any thread. Errors: invalid_argument, corruption,
  /// io
  [[nodiscard]] Result<storage::JournalSum> journal_sum(const JournalSumAsked& asked) const;
  /// A range of a shard's journal here. Any thread. Errors: invalid_argument, corruption, io; unavailable: events of it
  /// were given up, and their positions are not told
  [[nodiscard]] Result<storage::ShippedRows> journal(const JournalAsked& asked) const;
  /// What was applied here behind that position, which a cut ends with; some of it.
  /// Errors: not_found: no cut that was applied here begins there; corruption, io
  void history(GlobalPosition after, NodeDone<NodeHistory> done);

  [[nodiscard]] actors::WatermarkWatch& watch() { return watch_; }
  /// Whether this process has applied, at some time, all that a coordinator told it of when it came: before that it may
  /// have the disk of a new node, or an old copy, and what it has says nothing of what there is.
  /// `wait`: at a start it is a matter of milliseconds. Errors: unavailable: it has not; another node may have
  [[nodiscard]] Result<void> caught_up(std::chrono::milliseconds wait) const;
  [[nodiscard]] NodeReader& reader() { return reader_; }
  [[nodiscard]] const NodeReader& reader() const { return reader_; }
  [[nodiscard]] const storage::NodeStore& store() const { return store_; }
  /// The owner of each shard as this node knows it; 0: nobody.
  [[nodiscard]] std::vector<std::uint32_t> owners() const;
  /// The nodes as the coordinator told of them, the owners as the cuts that were applied say.
  [[nodiscard]] ClusterView view() const;
  /// Clients reach this node there.
  void serves_at(std::string door);
  /// The same of KurrentDB's clients.
  void serves_kurrent_at(std::string door);
  /// Of one shard; 0: nobody.
  [[nodiscard]] std::uint32_t owner(ShardId shard) const;
  /// Who keeps each shard, as far as cuts are known here.
  [[nodiscard]] std::vector<sharding::ReplicaSet> replica_sets() const;
  struct Keeping {
    std::vector<ShardId> kept{};      ///< ascending: all of it is here
    std::vector<ShardId> to_learn{};  ///< ascending: it is to be kept, and is not here yet
    CutNumber as_of{};
    std::optional<ShardId> without_set{};  ///< a shard that is here, and has no replicas
  };
  [[nodiscard]] Keeping keeping() const;
  /// For people: so many events of what is to be learned are here.
  void learned_so_far(std::uint64_t events) { learned_events_ = events; }
  [[nodiscard]] std::uint64_t learned_events() const { return learned_events_; }
  /// The node does nothing any more, and says why: it has to be started again.
  void end_with(Error why);
  /// Whether other nodes keep the shard too.
  [[nodiscard]] bool has_replicas(ShardId shard) const;
  /// Called when shards have got other owners, in the node's thread: must be quick. Before the first of them comes.
  void watch_owners(std::function<void(const std::vector<ShardId>&)> watch) { owners_watch_ = std::move(watch); }
  /// Calls this after a while, in one of its threads, or when it is stopping. Returns: whether it will; false: it is
  /// stopping already.
  [[nodiscard]] bool later(std::chrono::steady_clock::duration time, std::function<void()> call);
  /// Why the node does nothing any more: its store has failed, or lost data.
  [[nodiscard]] std::optional<Error> failed() const;
  /// What is answered by a node that has failed, or is stopping: nothing was done here.
  [[nodiscard]] Error gone() const;

  /// Answers what is under way (`unavailable`, or `timeout`), ends the threads. Any number of times.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  using AttemptPtr = std::shared_ptr<actors::Attempt>;
  /// Came from a shard's writer, and joins on to what is here.
  struct Shipped {
    std::uint32_t from = 0;
    Epoch epoch;
    storage::ReadRows read;
  };

  [[nodiscard]] Result<void> admit() const;
  void post(std::function<void()> input);
  void loop();
  void write();
  void carry_out(actors::WriterActions actions);
  void carry_out(NodeActions actions);
  void apply(NodeStep::Apply step);
  /// The writers of shards that this cut damages, or that go on behind a loss, begin anew.
  void close_writers(const NodeStep::Apply& step);
  /// Of what was recovered with a shard that opens: see ShardWriters::join_versions().
  [[nodiscard]] Result<void> join_versions(ShardId shard);
  [[nodiscard]] Result<void> look_at_losses();
  void sync();
  void say_hello();
  // Replicas.
  void fence(ShardId shard);
  void follow(const NodeStep::Follow& step);
  void begin_shipping(ShardId shard, Epoch epoch);
  /// Where this disk ends, synced, whoever writes the shard. Absent: it has nothing of it.
  [[nodiscard]] std::optional<ShardOffset> tail(ShardId shard) const;
  void take_shipped(std::uint32_t from, Ship ship);
  [[nodiscard]] ShardOffset end_with_shipped(ShardId shard) const;
  void shipped_is_synced(std::vector<Shipped> shipped);
  void send(const Shipping::Outgoing& outgoing);
  void send(std::vector<actors::WriterReport> reports);
  void tell(std::uint32_t writer, FollowerTold told);
  void count(std::uint32_t follower, const FollowerTold& told);
  /// Nothing that was known of the node counts any more.
  void forget_follower(std::uint32_t node);
  void say_followed(std::optional<std::uint32_t> to, std::optional<ShardId> of, bool again);
  void read_behind();
  void tell_tails();
  void ask_history(const NodeActions::History& wanted);
  void take_history(GlobalPosition after, const std::vector<HistoryPart>& parts);
  [[nodiscard]] Result<NodeHistory> read_history(GlobalPosition after, NodeHistory history) const;
  void note_replicas();
  /// The set whose quorum is to have what is answered: smaller where one is about to leave.
  [[nodiscard]] const sharding::ReplicaSet& counted(ShardId shard);
  void take(const Narrow& narrow);
  void look_at_narrowed();
  /// What the coordinator is to know of the disk.
  void add_disk(Held& held) const;
  void look_at_disk();
  // Row logs.
  [[nodiscard]] bool has_followers(ShardId shard) const;
  [[nodiscard]] Result<void> write_rows(storage::RowWrites rows, std::vector<storage::PlacedSnapshot> snapshots = {});
  void put_logged(ShardId shard, const storage::PlacedSnapshot& snapshot, const NodeDone<void>& done);
  /// Snapshots that came with appends, or from before the shard had replicas, come into its row log: soon.
  void log_snapshots();
  void look_for_unlogged();
  [[nodiscard]] std::vector<AggregateId> unlogged_of(const std::map<ShardId, Epoch>& shards) const;
  /// Whose newest entry that is known of is not the last one that names them. Errors: corruption, io
  [[nodiscard]] Result<std::vector<AggregateId>> logged_under_older(ShardId shard) const;
  /// Whether the snapshot goes to nobody with that entry.
  [[nodiscard]] bool passes_over(const storage::RowLogEntry& entry, const AggregateId& aggregate,
                                 std::string_view snapshot) const;
  /// `bases`: what snapshots in two rows may be told from; absent: they are sent in one.
  [[nodiscard]] Result<RowLogPart> part_of_row_log(
      ShardId shard, storage::RowLogAt after, ShardOffset until,
      const std::optional<std::set<std::uint64_t>>& bases = std::nullopt) const;
  void take_rows_waiting();
  void look_at_row_logs();
  /// Something was written to it.
  void look_at_row_log(ShardId shard);
  void take_asked_row_log(const RowLogs::Wanted& wanted, const Result<RowLogPart>& part);
  void take_row_log(std::uint32_t from, const RowLogPart& part);
  /// Returns: up to which entry it was taken.
  [[nodiscard]] Result<storage::RowLogAt> write_row_log(const RowLogPart& part, RowLogBy by);
  /// Nothing: there is none, or one that is damaged.
  [[nodiscard]] std::optional<SeqNr> version_here(const AggregateId& aggregate) const;
  /// Their latest snapshots, as they are with these rows, come into the row log: an entry each.
  [[nodiscard]] Result<void> log_latest(ShardId shard, const std::set<AggregateId>& aggregates,
                                        storage::RowWrites& rows);
  /// Whoever waits for the aggregate's earlier entry waits for this one, which takes its place.
  void wait_for_newer(const AggregateId& aggregate, ShardId shard, storage::RowLogAt at);
  [[nodiscard]] Result<void> stub_again(ShardId shard, const storage::RowLogEntry& entry,
                                        storage::RowWrites& rows) const;
  [[nodiscard]] storage::RowLogEnds row_log_ends(ShardId shard) const;
  [[nodiscard]] Result<void> read_row_log_ends();
  void mark_whole(const std::vector<std::pair<ShardId, Epoch>>& shards);
  [[nodiscard]] FollowedShard as_followed(ShardId shard, Epoch epoch) const;
  void fail(const Error& error);
  void take(const AttemptPtr& attempt, NodeDone<Appended> done, Clock::time_point deadline);
  void expire();
  /// Does it now if the shard is open, else when it is, or soon all the same.
  void when_open(ShardId shard, std::function<void()> take);
  [[nodiscard]] OpenShards open_shards() const;
  void put_placed(const storage::PlacedSnapshot& snapshot, std::optional<Epoch> held, const NodeDone<void>& done);
  [[nodiscard]] Result<void> write_snapshot(const storage::PlacedSnapshot& snapshot);
  void take_settling();
  void tell_shards();
  void take_early();
  void answer(std::uint64_t client, Result<Appended> result);
  /// Answers, or waits for a quorum of the processes that are there now.
  void answer_with_quorum(std::uint64_t client, Result<Appended> result);
  [[nodiscard]] bool has_quorum(const actors::Attempt& attempt);
  void take_unconfirmed();
  void lose_parts(const Error& why);
  [[nodiscard]] std::optional<Error> closed_shard(ShardId shard) const;
  void learn_owner(ShardId shard, std::uint32_t node, Epoch epoch);
  void publish_owners();

  // In a work thread; what needs other nodes in one of those that ask.
  void look_up(const AttemptPtr& attempt, bool confirm);
  [[nodiscard]] Result<std::optional<Appended>> placed(const actors::Prepared& prepared, GlobalPosition first);
  [[nodiscard]] Result<void> look_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from);
  [[nodiscard]] Result<void> match_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from);
  [[nodiscard]] Result<void> names_elsewhere(const actors::Prepared& prepared);
  [[nodiscard]] Result<std::optional<RecordedEvent>> first_elsewhere(const NodePageAsked& asked);
  [[nodiscard]] Result<void> heads_elsewhere(actors::Prepared& prepared);
  struct HeadWanted {
    const storage::EncodedAggregate* aggregate;
    GlobalPosition up_to;
  };
  [[nodiscard]] Result<std::vector<AggregateInfo>> heads_of(const std::vector<HeadWanted>& wanted);
  void answer_stored(const AttemptPtr& attempt, Appended stored, NodeDone<Appended> done);
  [[nodiscard]] Result<Appended> versions_elsewhere(const actors::Prepared& prepared, Appended stored);
  [[nodiscard]] bool is_elsewhere(ShardId shard) const;
  [[nodiscard]] bool needs_others(const actors::Prepared& prepared, const std::vector<GlobalPosition>& from) const;

  storage::NodeStore& store_;
  NodeNetwork& network_;
  const NodeCommitterOptions options_;
  mutable std::mutex mutex_;
  ClusterView view_;
  actors::Preparer preparer_;
  actors::ShardLoad load_;
  actors::WatermarkWatch watch_;
  NodeReader reader_;

  // Of the thread.
  NodeOrder order_;
  std::unique_ptr<actors::ShardWriters> writers_;
  NamedProcesses named_;
  QuorumGate gate_;
  Shipping shipping_;
  RowLogs row_logs_;
  NarrowedSets narrowed_;
  std::map<ShardId, storage::RowLogEnds> row_log_ends_;  ///< on this disk
  /// Which bases its followed shards' snapshots lie on, as they came since this process began.
  std::map<ShardId, std::map<AggregateId, std::uint64_t>> bases_here_;
  std::map<ShardId, Epoch> stubbed_late_;  ///< under which opening an entry of a late replica stubbed events
  std::set<ShardId> whole_row_logs_;       ///< this disk's was at some time, see storage::row_log_whole
  struct RowsWaiting {
    struct Needed {
      Epoch epoch;
      storage::RowLogAt at;
    };
    std::map<ShardId, Needed> needed;
    Clock::time_point since;
    bool for_all;  ///< who are there, for a while
    NodeDone<void> done;
    std::optional<AggregateId> state{};  ///< whose latest snapshot is all that is waited for
    /// When it is over at the latest, or a quorum is enough.
    [[nodiscard]] Clock::time_point looked_at_again() const;
  };
  std::vector<RowsWaiting> rows_waiting_;              ///< for a quorum
  std::map<ShardId, std::set<AggregateId>> unlogged_;  ///< whose latest snapshots are to come into the row log
  std::map<ShardId, Epoch> looked_for_unlogged_;       ///< under which opening last
  bool looking_for_unlogged_ = false;
  FollowedShards followed_;          ///< what the writers do not have
  std::vector<Shipped> shipped_;     ///< to be written
  std::set<ShardId> asked_again_;    ///< to be shipped from their tails, since the last tick
  std::set<ShardId> tails_changed_;  ///< the order is to be told
  std::set<ShardId> held_back_;      ///< more waits here for cuts than may
  bool said_no_history_ = false;     ///< once
  HistorySources history_from_;
  std::set<std::uint32_t> reading_for_;  ///< followers: the journal is being read
  std::atomic<std::uint64_t> learned_events_{0};
  std::atomic<bool> caught_up_{false};   ///< see caught_up()
  std::atomic<bool> replicated_{false};  ///< some shard has replicas: set once
  struct Client {
    AttemptPtr attempt;
    NodeDone<Appended> done;
    std::multimap<Clock::time_point, std::uint64_t>::iterator expires;
    std::optional<Appended> placed{};  ///< what it is answered once a quorum has it (again)
  };
  std::unordered_map<std::uint64_t, Client> clients_;
  std::set<std::uint64_t> unconfirmed_;  ///< clients whose appends have their places
  std::multimap<Clock::time_point, std::uint64_t> expiring_;
  struct Part {
    actors::PartAsked asked;
    std::function<void(actors::PartAnswer)> done;
  };
  std::unordered_map<std::uint64_t, Part> parts_;
  /// Came a moment before the cut that opens their shard here: who sent them has applied it.
  struct Early {
    ShardId shard;
    Clock::time_point until;
    std::function<void()> take;
  };
  std::vector<Early> early_;
  struct Settling {
    ShardId shard;
    ShardOffset at;
    Clock::time_point until;
    NodeDone<void> done;
  };
  std::vector<Settling> settling_;
  std::map<const void*, std::function<void(const OpenShards&)>> shards_watches_;
  OpenShards shards_told_;
  bool shards_changed_ = false;  ///< perhaps, since they were told
  std::uint64_t last_client_ = 0;
  std::vector<ClusterView::Shard> owner_of_;
  std::function<void(const std::vector<ShardId>&)> owners_watch_;
  std::multimap<Clock::time_point, std::function<void()>> later_;
  std::map<ShardId, std::string> refused_said_;  ///< why shards of this node are not opened, as the log has it
  bool disk_full_ = false;                       ///< as of the last tick
  bool dead_ = false;

  std::condition_variable more_;  ///< these under mutex_
  std::vector<std::function<void()>> inbox_;
  std::optional<Error> failed_;
  std::vector<sharding::ReplicaSet> replica_sets_;  ///< per shard
  Keeping keeping_;
  bool stopping_ = false;
  bool ended_ = false;

  std::unique_ptr<WorkPool> work_;    ///< for the store
  std::unique_ptr<WorkPool> asking_;  ///< for other nodes: one that is frozen keeps nobody from the store
  std::thread thread_;
};

}  // namespace evershard::cluster
