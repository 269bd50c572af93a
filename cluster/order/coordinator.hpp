// Coordinator: who is there, who owns what, which cut comes next. Input in, actions out.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "evershard/cluster/order/messages.hpp"
#include "evershard/cluster/order/placement.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut_log_state.hpp"
#include "evershard/sharding/ordering.hpp"

namespace evershard::cluster {

/// Offsets [from, until) of a shard that cuts cover and a disk has not, or not as they were ordered. With them goes
/// what the disk has behind them: it was never ordered, and may have come about beside what was lost.
struct Loss {
  ShardOffset from;
  ShardOffset until;
  std::uint64_t unordered = 0;  ///< so many offsets, from `until` on
  friend bool operator==(const Loss&, const Loss&) = default;
};

struct CoordinatorOptions {
  std::uint32_t nodes_expected =
      1;                       ///< shards nobody owns are given out once so many nodes are there, gateways not counted
  std::uint32_t replicas = 1;  ///< so many nodes keep a shard that is given out; at most as many as are expected
  sharding::Ordering::Options ordering{};
  std::uint64_t waiting_events_max =
      1'000'000;                      ///< reported and not yet cut; what comes above is asked for again later
  std::uint64_t digest_cuts = 1'000;  ///< digests are wanted for so many cuts after the last conditional append
  std::uint64_t fold_cuts = 1'000;    ///< the log is folded after so many cuts
};

struct CoordinatorActions {
  struct Outgoing {
    std::optional<NodeProcess> to;  ///< absent: to all members
    ToNode message;
  };
  /// Read CutLog::cuts_after() and send what cuts_message() makes of it (rule 8).
  struct Asked {
    NodeProcess by;
    CutNumber after;
  };

  std::optional<sharding::Cut> put;  ///< into the log; then put_returned(). Nothing else is put meanwhile.
  std::optional<std::vector<sharding::HeldBy>> fold;  ///< the log, before the next input; then folded()
  std::vector<Outgoing> send;
  std::vector<Asked> read;
  /// A shard gets another writer, by the next cut.
  struct Moved {
    ShardId shard;
    std::uint32_t from = 0, to = 0;
    bool handed_over = false;  ///< else the writer is gone, or lacks what cuts cover
  };
  std::vector<Moved> moved{};  ///< for the log
  /// Nobody writes the shard from now on, or what its writer reports is not taken.
  struct Stops {
    ShardId shard;
    ClusterChange::Cause cause{};
  };
  std::vector<Stops> stops{};
  /// Its writer goes on with it.
  std::vector<ShardId> goes_on{};
  std::vector<Error> warnings;  ///< for the log, loud
  std::optional<Error>
      ended;  ///< it has stepped down: it does nothing any more. Whoever wants to lead begins with CutLog::lead().
};

/// Shards given by an operator: what is to be done, if it is, and what would be lost.
struct AssignOutcome {
  ShardsAssigned answer;
  CoordinatorActions actions;
  CutNumber stands_with{};  ///< it is done once this cut is stored; 0: nothing of it is in a cut yet
};

/// Owner:  one thread, which also has the cut log.
/// Source: docs/internals/ordering.md, rules 2 to 8.
class Coordinator {
 public:
  using Actions = CoordinatorActions;

  /// `led`: what CutLog::lead() returned (rule 2).
  Coordinator(const sharding::CutLogState& led, CoordinatorOptions options);

  // -- what comes in

  /// A node is there. Its shards are opened, or refused by name (rule 3). A second process of a node that is there is
  /// refused.
  Actions hello(const Hello& hello);
  /// The session with this process has ended. `cause`: node_lost, or node_silent
  Actions lost(NodeProcess process, ClusterChange::Cause cause = ClusterChange::Cause::node_lost);
  /// A report is judged by its shard's epoch, whoever sends it (rule 4); from somebody who never joined it is dropped,
  /// loudly.
  /// `naming`: up to where the writer knew who the processes of the nodes are when it counted replicas (Members); 0: of
  /// an earlier release. Where one of the shard's replicas is another process since, it counts again first.
  Actions report(NodeProcess from, Report report, std::uint64_t naming = 0);
  Actions held(const Held& held);
  /// It has led for long enough that a node which is there would have said so: shards whose writers are not here get
  /// new ones from now on. Again and again, it does no harm.
  Actions nodes_had_time();
  /// Rule 25: the shard gets another writer while its present one is well. What that one reports is not taken from now
  /// on, until this replica has said how far its disk is, or hand_overs_took_too_long().
  ///
  /// Errors: not_found (no such shard, no such node here), invalid_argument (the node keeps it not, or writes it
  ///         already), unavailable (its writer is not here, or is being replaced; it has stepped down)
  Result<Actions> hand_over(ShardId shard, std::uint32_t node);
  /// As many as may be under way at a time, from nodes that write more than others to those that write less.
  Actions balance();
  /// What was asked of replicas a while ago: who has not answered gets nothing, the writers report again.
  Actions hand_overs_took_too_long();
  /// Sets are brought to what they are to be, a step further: again and again. Nobody else's word starts it.
  Actions tend_sets();
  /// The writer's answer to Narrow.
  Actions narrowed(const Narrowed& narrowed);
  /// Whether that node has been away for so long that others are to keep what it kept.
  void gone(std::uint32_t node, bool is_gone);
  /// Whether that node is here and applies nothing: it does not reach another node that writes, say. What it writes
  /// itself waits with it, so others are to write that.
  void stands_still(std::uint32_t node, bool does);
  Actions cuts_after(const CutsAfter& asked);
  /// A put that was refused, or failed, ends the coordinator.
  Actions put_returned(const Result<void>& result);
  void folded(const sharding::CutLogState& log);

  /// An operator gives a shard to a node that is there, because its own is gone for good, or has come back with less.
  ///
  /// `accepted`: what may be lost; it must be exactly what is.
  /// Errors: not_found (no such node here, no such shard), invalid_argument (the shard's node is there and has it),
  ///         corruption (something would be lost: what; or another loss was accepted), unavailable (it has stepped
  ///         down)
  Result<Actions> assign(ShardId shard, std::uint32_t node, std::optional<Loss> accepted);
  /// The same of several: all of them, or none. What is lost and was not accepted exactly so is the answer, and nothing
  /// is done. Of a shard whose writer is well, to another replica: it is handed over. Or: a node is drained, or all is
  /// balanced.
  Result<AssignOutcome> assign(const ShardAssignment& wanted);

  // -- what is asked

  struct Member {
    NodeProcess process;
    std::uint64_t named = 0;  ///< when this process took the place of another, as `naming_` counts; 0: none was here
    std::string address;
    std::string door;
    std::string kurrent_door;
    std::string version;
    bool gateway = false;  ///< it wants no shards
    bool builds = false;   ///< it knows of appends that build on undecided ones
    bool here = false;
    CutNumber cut;             ///< the last one applied when it said hello
    CutNumber held;            ///< said since then
    CutNumber applied;         ///< said since then: for people
    std::uint64_t behind = 0;  ///< cuts that were stored and not applied when it said so
    std::map<ShardId, ShardTold> told;
    std::map<ShardId, Epoch> promised;  ///< openings for this very process
    std::map<ShardId, Error> refused;
    std::uint64_t told_at = 0;  ///< when it said hello, as `now_` counts
    bool asked = false;         ///< to say hello, since then
    bool drained = false;       ///< an operator wants it to write nothing
    bool leaves = false;        ///< an operator wants it to keep nothing
    bool gone = false;          ///< away for long
    bool full = false;          ///< its disk: it is to write nothing, and takes nothing
    bool still = false;         ///< it is here and applies nothing, unlike others: it is to write nothing
    std::string zone;
    std::uint64_t learned = 0;  ///< events, as it said: for people
  };
  [[nodiscard]] const std::map<std::uint32_t, Member>& members() const { return members_; }
  [[nodiscard]] const sharding::CutLogState& stored() const { return stored_; }
  [[nodiscard]] sharding::ShardMap map() const;
  /// Nodes that said hello, or own a shard. `since`: left to whoever has a clock.
  [[nodiscard]] Members membership() const;
  /// All but what needs a clock.
  [[nodiscard]] ClusterStatus status() const;
  [[nodiscard]] Cuts cuts_message(const Actions::Asked& asked, sharding::CutsFound found) const;
  /// The first offset of the shard that was not reported.
  [[nodiscard]] ShardOffset reported_until(ShardId shard) const { return ordering_.known_end(shard); }
  [[nodiscard]] GlobalPosition window_from() const { return ordering_.window_from(); }
  [[nodiscard]] bool digests_wanted() const { return made_.last_cut < digests_until_; }
  /// Whether all nodes that are here know of appends that build on undecided ones: any of them may have to recover one.
  [[nodiscard]] bool builds() const;
  /// Of this leadership.
  [[nodiscard]] EventId identity() const { return sharding::leader_of(stored_.leaderships, stored_.epoch); }
  [[nodiscard]] bool putting() const { return putting_.has_value(); }
  /// Whether quorums are here of at least half of the shards that have replicas. Where none has: yes.
  [[nodiscard]] bool has_quorums() const;
  [[nodiscard]] bool hands_over() const { return !handing_over_.empty(); }
  [[nodiscard]] const std::optional<Error>& ended() const { return ended_; }
  /// What would be lost if the shard went on with this disk; nothing: it has all that cuts cover.
  [[nodiscard]] std::optional<Loss> loss(ShardId shard, const ShardTold& told) const;
  /// For who looks for what is missing: which of it is not on the disk, and what is wrong with the rest.
  [[nodiscard]] std::string why_refused(const Member& member, const ShardTold& told, const Loss& lost) const;

 private:
  struct Owner {
    std::uint32_t node = 0;
    Epoch epoch;
  };
  struct Narrowing {
    Epoch epoch;
    std::uint32_t without = 0;
    std::uint64_t number = 0;
  };

  void end(Error error, Actions& actions);
  /// Opens the shard for the node, losing what is named.
  [[nodiscard]] Result<void> give(ShardId shard, std::uint32_t node, const std::optional<Loss>& lost, Actions& actions);
  /// Whether an operator may give the shard to the node. Errors: as assign() says
  [[nodiscard]] Result<void> may_assign(ShardId shard, std::uint32_t node) const;
  /// Errors: corruption: the shard has replicas, and a loss of it cannot be accepted
  [[nodiscard]] Result<void> may_lose(ShardId shard, std::uint32_t node, const Loss& lost) const;
  [[nodiscard]] std::optional<Error> objection(const Hello& hello) const;
  /// Its cuts are no later than this log's, and were made by somebody else.
  [[nodiscard]] std::optional<Error> of_another_leadership(const Hello& hello) const;
  void open_own(Member& member, ShardId shard, Actions& actions);
  void opened(Member& member, ShardId shard, Epoch epoch, Actions& actions);
  void place_unowned(Actions& actions);
  /// Rule 22: shards whose writers are gone, or lack what is covered, are opened for other replicas.
  void replace_writers(Actions& actions);
  [[nodiscard]] bool writer_is_fit(ShardId shard) const;
  /// Why a shard has no quorum, and what to do; empty: it has one.
  [[nodiscard]] std::string without_quorum(ShardId shard) const;
  void begin_hand_over(ShardId shard, std::uint32_t node, ClusterChange::Cause cause, Actions& actions);
  /// Those that this node was asked for, by its hello.
  void finish_hand_overs(Member& member, Actions& actions);
  void give_up_hand_over(ShardId shard, Actions& actions);
  /// Which of the shard's replicas it would be handed over to, if that makes it more even; 0: none.
  [[nodiscard]] std::uint32_t lighter_replica(ShardId shard) const;
  /// Why a writer that is well is to write no more, where it is not for the shard itself.
  [[nodiscard]] ClusterChange::Cause why_it_gives(std::uint32_t writer) const;
  /// How many shards each node that is here writes, gateways not counted.
  [[nodiscard]] std::map<std::uint32_t, std::size_t> load() const;
  void begin_hand_overs(Actions& actions);
  /// Shape: drain or balance is wanted. Errors: not_found (the node is not here), invalid_argument (both, or shards
  /// too; a shard that it writes has no other replica)
  [[nodiscard]] Result<AssignOutcome> spread(const ShardAssignment& wanted);
  // Sets that change.
  [[nodiscard]] Placement placement() const;
  void set_replicas(ShardId shard, sharding::ReplicaSet set);
  /// Whether the node's disk has the shard whole, as far as it has applied cuts: by its last hello.
  [[nodiscard]] static bool keeps(const Member& member, ShardId shard);
  /// Of the set: without members that are here, and whose disks have it no more.
  [[nodiscard]] sharding::ReplicaSet counting(ShardId shard, const sharding::ReplicaSet& set) const;
  void end_learning(Actions& actions);
  void begin_learning(const Placement& placement);
  void give_up_surplus(const Placement& placement, Actions& actions);
  /// Shape: surplus.
  void narrow(ShardId shard, const Narrowing& asked, Actions& actions);
  [[nodiscard]] Result<AssignOutcome> place(const ShardAssignment& wanted);
  [[nodiscard]] Result<void> may_place(const ShardAssignment& wanted) const;
  void make_cut(Actions& actions);
  void fold_if_due(Actions& actions);
  [[nodiscard]] ShardTold told(const Member& member, ShardId shard) const;
  /// Whether a replica beside the writer is another process since that naming.
  [[nodiscard]] bool counted_before(ShardId shard, std::uint64_t naming) const;
  [[nodiscard]] std::uint64_t waiting_events() const;

  CoordinatorOptions options_;
  sharding::CutLogState stored_;  ///< as of the last put that returned
  sharding::CutLogState made_;    ///< as of the last cut made
  sharding::Ordering ordering_;
  std::vector<Owner> owners_;         ///< with openings that are not in a cut yet
  std::vector<CutNumber> opened_in_;  ///< per shard, the cut with its last opening, as far as this coordinator put it
  std::map<std::uint32_t, Member> members_;
  std::vector<sharding::NewReplicas> new_replicas_;  ///< for the next cut
  std::uint64_t now_ = 0;                            ///< counts hellos, and writers that went
  /// Counts processes that took a node's place, behind all that earlier coordinators counted.
  std::uint64_t naming_;
  std::vector<std::uint64_t> writer_lost_at_;  ///< per shard; 0: it is there, or has not been missed yet
  bool nodes_had_time_ = false;
  struct HandOver {
    std::uint32_t node = 0;
    std::uint64_t asked_at = 0;  ///< as `now_` counts
  };
  std::map<ShardId, HandOver> handing_over_;
  std::map<ShardId, Narrowing> narrowing_;  ///< asked of writers
  std::uint64_t narrowings_ = 0;            ///< so many were begun
  /// In which cut a node was told to learn a shard, as far as this coordinator put it: what it said before that it has
  /// may be of another time.
  std::map<std::pair<ShardId, std::uint32_t>, CutNumber> learns_since_;
  const CutNumber led_from_;
  std::vector<ReplicaMove> moves_;  ///< that an operator wants
  bool even_ = false;               ///< an operator wants all nodes to keep about as many
  bool without_candidate_ = false;  ///< a shard needs a writer, and nobody who is there has all that cuts cover
  std::optional<sharding::Cut> putting_;
  std::uint64_t waiting_ = 0;
  std::set<ShardId> ask_again_;
  CutNumber digests_until_;
  CutNumber folded_at_;
  std::optional<Error> ended_;
};

}  // namespace evershard::cluster
