// ShardWriters: the writers of a node's shards in a cluster: durable first, the place later, by a cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/actors/core/lanes.hpp"
#include "evershard/actors/core/recent.hpp"
#include "evershard/actors/core/shard_log.hpp"
#include "evershard/actors/core/writer_actions.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/journal_append.hpp"

namespace evershard::actors {

/// Rules 14 to 19 for all shards of one node. Knows no thread, clock, disk or network: input in, actions out.
///
/// Every attempt is answered exactly once; an attempt without a client, and a part, never as one.
/// Owner:  one thread at a time.
/// Source: docs/internals/ordering.md, "The rules" and "At the shard writer".
class ShardWriters {
 public:
  struct Options {
    std::uint32_t node = 0;
    std::size_t recent_entries_max = 65'536;  ///< of each of two generations
    std::uint64_t key = 0;
    std::size_t batch_events_max = 16'384;
    std::size_t batch_bytes_max = 8u << 20;
    std::size_t report_events_max = 4'096;  ///< in one report, but for an append that has more
    /// Written and covered by no cut, then `overloaded`: without a coordinator everything written stays in memory.
    std::size_t unordered_bytes_max = 512u << 20;
    std::uint32_t tries_max = 16;     ///< look-ups and second tries of an attempt before it is `overloaded`
    std::size_t waiting_max = 1'024;  ///< attempts that wait for one aggregate, then `overloaded`
  };
  /// A shard as the node's store holds it.
  struct OwnShard {
    ShardId shard;
    Epoch epoch;          ///< whose writer's data it continues: this node's, or that of the node it was copied from
    ShardOffset ordered;  ///< the first offset no applied cut covers
  };
  struct Start {
    CutNumber last_cut;  ///< applied
    GlobalPosition watermark;
    std::vector<OwnShard> shards;
    std::vector<storage::UnorderedAppend> unordered;  ///< of those shards, in offset order within each
  };
  ShardWriters(Start start, Options options);

  // -- requests

  /// A request that was looked up and is not stored, or a part that another node asks for.
  void take(const std::shared_ptr<Attempt>& attempt, WriterActions& actions);
  /// What a look-up found: the stored answer, an error, or nothing; then `prepared` is as of its view.
  void looked_up(const std::shared_ptr<Attempt>& attempt, Result<std::optional<Appended>> found,
                 WriterActions& actions);
  /// Its time is over: answered now, if it was not; forgotten, if nothing of it was written and nobody joined it.
  void give_up(const std::shared_ptr<Attempt>& attempt, WriterActions& actions);
  void part_answered(PartAnswer answer, WriterActions& actions);

  // -- the journal

  [[nodiscard]] bool any() const { return !batch_.written.empty(); }
  /// The batch being made has enough.
  [[nodiscard]] bool full() const;
  /// Shape: any().
  [[nodiscard]] WriterBatch close();
  /// Shape: in the order of closing.
  void synced(const WriterBatch& batch, WriterActions& actions);
  /// A write has failed: everything written and not ordered is answered as outcome unknown, all else and all that comes
  /// with `io`.
  void failed(const Error& cause, WriterActions& actions);

  // -- the order

  /// Shape: in the order of their numbers, each whole, with other nodes' segments; one that was applied is ignored.
  ///        Numbers are missing where the log has folded cuts that name no shard held here: the next one joins on to
  ///        the positions all the same.
  void apply(const sharding::Cut& cut, WriterActions& actions);
  /// What the coordinator says of its window, as of a cut. `builds`: whether an append may build on undecided ones.
  void announce(GlobalPosition window_from, bool digests_wanted, bool builds);
  /// With the coordinator: everything no cut covers is reported, what was asked is asked again. Any number of times.
  void session_begun(WriterActions& actions);
  void session_lost() { session_ = false; }
  /// The coordinator has nothing of the shard from here on.
  void report_from(ShardId shard, ShardOffset first, WriterActions& actions);
  /// A coordinator says: the cut of this number, if it is the one who makes it, is made after the asking.
  void cut_promised(ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut, Epoch coordinator,
                    WriterActions& actions);

  /// Another shard that the store holds, or one that was fenced and begins anew. Opened by a cut, as all are.
  void adopt(OwnShard shard, std::vector<storage::UnorderedAppend> unordered);
  using VersionOf = std::function<SeqNr(const storage::EncodedAggregate& aggregate)>;
  /// Of what was adopted with the shard, what does not join on to the versions that are ordered is to be refused.
  /// `ordered`: as of the cuts applied. Before it is opened.
  void join_versions(ShardId shard, const VersionOf& ordered);
  /// The shard was given to this node under an epoch: what its cut says, if the cut itself is not applied.
  void open(ShardId shard, Epoch epoch, WriterActions& actions);
  /// A newer writer owns the shard: for good, as far as this object goes (rule 12).
  void fence(ShardId shard, WriterActions& actions);
  /// The same, or nobody is known to write it, and this node keeps it: cuts go on to cover it, which is not this
  /// object's business, until it is adopted.
  ///
  /// Returns: what was written and is durable, and no applied cut covers.
  [[nodiscard]] std::vector<storage::UnorderedAppend> follow(ShardId shard, WriterActions& actions);

  [[nodiscard]] CutNumber last_cut() const { return last_cut_; }
  [[nodiscard]] GlobalPosition watermark() const { return watermark_; }
  [[nodiscard]] bool is_open(ShardId shard) const;
  /// Another node had it: it does not open again unless it is adopted again.
  [[nodiscard]] bool is_fenced(ShardId shard) const;
  /// Whether something of it, written here and without a place, was left behind when it was fenced: who begins anew
  /// from the disk has it again.
  [[nodiscard]] bool left_behind(ShardId shard) const;
  /// Whether it knows the shard, open or not.
  [[nodiscard]] bool holds(ShardId shard) const { return shards_.contains(shard); }
  /// The end of what is durable of the shard: what the coordinator is told when the node asks for it.
  [[nodiscard]] ShardOffset tail(ShardId shard) const;
  /// The epoch under which it is open. Shape: is_open().
  [[nodiscard]] Epoch epoch(ShardId shard) const { return shards_.at(shard).epoch; }
  /// The first offset that no applied cut covers. Shape: holds().
  [[nodiscard]] ShardOffset ordered(ShardId shard) const { return shards_.at(shard).log.ordered(); }
  /// Where nothing that is written to the aggregate is undecided or without its place: once cuts cover the shard up to
  /// here. Nothing: so it is now. Shape: holds().
  [[nodiscard]] std::optional<ShardOffset> settled_at(ShardId shard, sharding::Term stream,
                                                      std::string_view text) const;
  /// Whether nothing is under way.
  [[nodiscard]] bool idle() const { return live_.empty(); }

 private:
  using AttemptPtr = std::shared_ptr<Attempt>;
  using WrittenPtr = std::shared_ptr<Written>;
  struct Shard {
    ShardLog log;
    Epoch epoch;
    enum class State : std::uint8_t { closed, open, followed, fenced, lost } state = State::closed;
    GlobalPosition since{};  ///< a view before it may lack what the writer before wrote
    bool left_behind = false;
    // Rule 19: who waits for a cut made since.
    struct Awaiting {
      AttemptPtr attempt;
      std::uint64_t ask = 0;  ///< 0: not asked yet
      CutNumber promised{};   ///< 0: not yet
      Epoch coordinator{};    ///< who promised
    };
    std::vector<Awaiting> awaiting{};
  };
  struct Heads {
    std::vector<storage::StreamHead> heads;
    std::vector<std::uint8_t> elsewhere;
    std::vector<Lane*> rests_on;  ///< absent: ordered
    std::uint64_t last_writer = 0;
  };

  // Requests: in, decided, out.
  [[nodiscard]] std::optional<Error> find_shards(Attempt& attempt) const;
  [[nodiscard]] std::optional<Error> refusal_of(ShardId shard) const;
  void admit(const AttemptPtr& attempt, WriterActions& actions);
  void proceed(const AttemptPtr& attempt, WriterActions& actions);
  [[nodiscard]] AttemptPtr first_attempt(const Attempt& attempt) const;
  void join(const AttemptPtr& first, const AttemptPtr& attempt, WriterActions& actions);
  void remember(const AttemptPtr& attempt);
  void forget(Attempt& attempt);
  void line_up(const AttemptPtr& attempt, WriterActions& actions);
  void run(WriterActions& actions);
  void decide(const AttemptPtr& attempt, WriterActions& actions);
  [[nodiscard]] bool placed_lately(const Attempt& attempt);
  [[nodiscard]] bool view_is_old(const Attempt& attempt) const;
  [[nodiscard]] bool needs_query(const Attempt& attempt) const;
  [[nodiscard]] std::vector<sharding::TermCondition> conditions_of(const Attempt& attempt) const;
  [[nodiscard]] std::optional<sharding::TermCondition> names_condition(const Attempt& attempt) const;
  /// Where its ids are to be new from, by the order; nothing: they are nobody's concern but its shards'.
  [[nodiscard]] std::optional<GlobalPosition> names_from(const Attempt& attempt) const;
  [[nodiscard]] bool may_build(const Attempt& attempt) const;
  void find_heads(const Attempt& attempt);
  [[nodiscard]] bool rests_on_undecided(std::uint32_t aggregate) const;
  void refuse(const AttemptPtr& attempt, std::uint32_t aggregate, bool missing, Error error, WriterActions& actions);
  void write(const AttemptPtr& attempt, WriterActions& actions);
  void write_on(const AttemptPtr& attempt, ShardId shard, std::vector<sharding::TermCondition> conditions);
  static void build_on_undecided(const std::shared_ptr<Written>& written);
  void look_up(const AttemptPtr& attempt, bool confirm, WriterActions& actions);
  void leave_lanes(Attempt& attempt);
  void end(const AttemptPtr& attempt, Result<Appended> result, WriterActions& actions);
  void abandon(const AttemptPtr& attempt, WriterActions& actions);
  void answer(Attempt& attempt, Result<Appended> result, WriterActions& actions);
  void let_joined_go(Attempt& attempt, const Result<Appended>& result, WriterActions& actions);
  [[nodiscard]] std::vector<AttemptPtr> live_by_arrival() const;
  void recover(storage::UnorderedAppend&& unordered);

  // Durable, ordered.
  void acknowledge_durable(Attempt& attempt, WriterActions& actions);
  void report(ShardId id, Shard& shard, WriterActions& actions);
  void ask(ShardId id, Shard& shard, WriterActions& actions);
  void await_cut(const AttemptPtr& attempt, ShardId shard, WriterActions& actions);
  void cut_made(ShardId id, Shard& shard, WriterActions& actions);
  void settle(const WrittenPtr& written, WriterActions& actions);
  [[nodiscard]] Appended appended(const Attempt& attempt) const;
  void place(Written& written);
  void set_free(Written& written);
  void decided(Attempt& attempt);
  void placed(const AttemptPtr& attempt, const sharding::Cut& cut, WriterActions& actions);
  void refused(const AttemptPtr& attempt, WriterActions& actions);
  void try_again(const AttemptPtr& attempt, WriterActions& actions);
  void opened(ShardId id, Shard& shard, Epoch epoch, GlobalPosition since, WriterActions& actions);
  void lose(ShardId id, Shard& shard, Shard::State state, const Error& error, WriterActions& actions);

  // Over several shards.
  void ask_for_parts(const AttemptPtr& attempt, WriterActions& actions);
  void reply(Attempt& attempt, PartAnswer answer, WriterActions& actions) const;
  void proceed_part(const AttemptPtr& attempt, WriterActions& actions);
  void end_part(const AttemptPtr& attempt, PartAnswer::Kind kind, WriterActions& actions);
  void reply_written(const Attempt& first, Attempt& attempt, WriterActions& actions) const;
  [[nodiscard]] bool parts_stand(const Attempt& attempt, const sharding::Cut& cut) const;

  const Options options_;
  const sharding::TermHasher hasher_;
  std::map<ShardId, Shard> shards_;
  Recent recent_;
  Lanes lanes_;
  std::unordered_map<std::uint64_t, AttemptPtr> live_;  ///< by number
  /// Of a part, its append's name and its shard; of events, requests and commands, whatever shard they lie on.
  struct Id {
    EventId id;
    ShardId shard;
    friend bool operator==(const Id&, const Id&) = default;
  };
  struct IdHash {
    std::size_t operator()(const Id& id) const noexcept { return std::hash<EventId>{}(id.id) ^ id.shard.value; }
  };
  static constexpr ShardId any_shard{0xffff};  // no store has as many
  std::unordered_map<Id, AttemptPtr, IdHash> known_;
  std::vector<AttemptPtr> next_;       ///< may be decided
  std::vector<AttemptPtr> behind_;     ///< refused elsewhere, on the strength of what this node has not applied yet
  std::vector<AttemptPtr> concluded_;  ///< all their parts were decided by the cut being applied
  std::uint64_t arrivals_ = 0;
  std::size_t unordered_bytes_ = 0;

  WriterBatch batch_;
  std::optional<Error> failed_;

  CutNumber last_cut_;
  Epoch last_coordinator_;  ///< who made it
  GlobalPosition watermark_;
  GlobalPosition window_from_;
  bool digests_wanted_ = true;
  bool builds_ = false;
  bool session_ = false;
  std::uint64_t asks_ = 0;

  Heads heads_;  ///< of the append being decided; kept for its memory
};

}  // namespace evershard::actors
