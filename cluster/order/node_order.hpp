// NodeOrder: the node's side of the order: which cuts it applies, which shards it writes, how far it may be read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/cluster/order/messages.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::cluster {

/// What a node's disk says of the order.
struct NodeStart {
  NodeProcess self;
  std::string address;
  CutNumber cut;  ///< the last one applied
  GlobalPosition watermark;
  struct Shard {
    Epoch epoch;             ///< the newest one it was opened under here
    ShardOffset covered{1};  ///< the first offset no applied cut covers
    ShardOffset tail{1};     ///< the first offset never used
    bool damaged = false;    ///< cuts that name it were missed, or cover what is not there
    Epoch followed{};        ///< the newest one whose writer is followed here; 0: none
  };
  std::map<ShardId, Shard> shards;
  std::string door{};     ///< where clients reach it; empty: not open yet
  std::string version{};  ///< of its program
  bool gateway = false;   ///< it wants no shards
  std::string zone{};
  sharding::Leadership led{};  ///< whose cuts were applied last; epoch 0: not known
};

/// To be carried out in sequence.
struct NodeStep {
  /// Writes, without a sync, what the cut does to this node's shards; then applied().
  struct Apply {
    CutNumber number;          ///< n, once this is applied
    GlobalPosition watermark;  ///< w
    struct Own {
      sharding::Segment segment;
      GlobalPosition first_position;  ///< of the first of its events that is not refused
    };
    std::vector<Own> own;                     ///< in sequence
    std::vector<sharding::Opening> openings;  ///< taken by this process: the shard's epoch goes to the disk with this
    std::vector<ShardId>
        damaged;  ///< do not join on to what is here: this goes to the disk too, until an opening that loses
    std::vector<ShardId> holes;  ///< of those: cuts before this one were missed, and nobody knows which
    std::optional<sharding::Leadership>
        led{};  ///< who made it, if that is another one than made those before: goes to the disk before this
    std::vector<sharding::Opening> followed{};  ///< for others, of shards that this node keeps: as `openings`
    sharding::Cut cut{};  ///< as it is known here; of one that was folded, an empty one behind its last position
  };
  /// The shard's writer stops, answers `fenced`, shows and acknowledges nothing any more (rule 12).
  struct Fence {
    ShardId shard;
    Epoch epoch;  ///< the newer one, or its own where the shard is damaged
  };
  /// The shard has another writer, and this node keeps it: what its journal has from this offset on goes, and the epoch
  /// is followed; both in one synced write, before anything else is said or taken of the shard (rule 21). If its writer
  /// was here, Fence comes first.
  struct Follow {
    ShardId shard;
    Epoch epoch;
    std::uint32_t writer = 0;  ///< its node
    ShardOffset from;
  };
  /// The shard's next writer is this process, once it has applied the cut that opens it: its journal is shipped to the
  /// other replicas from now on, under this epoch. They may need it to come to that cut, and this node needs what
  /// others ship to come to it.
  struct Ships {
    ShardId shard;
    Epoch epoch;
  };
  /// All that was applied is to be synced, soon; then synced().
  struct Sync {};
  /// The writer begins, under this epoch, at this offset or behind its own tail; what the opening names as lost is
  /// gone.
  struct Opened {
    sharding::Opening opening;
  };
  /// The writer reports from this offset on, all that is durable (rule 9).
  struct ReportAgain {
    ShardId shard;
    Epoch epoch;
    ShardOffset first;
  };
  std::variant<Apply, Fence, Follow, Ships, Sync, Opened, ReportAgain> what;
};

struct NodeActions {
  std::vector<NodeStep> steps;
  bool say_hello = false;  ///< send hello()
  std::vector<std::variant<CutsAfter, Held>> send;
  /// Cuts were folded while this node was away: ask a node that keeps `history.shards` for what it applied behind this
  /// position; then history().
  struct History {
    GlobalPosition after;
    std::vector<ShardId> shards;
  };
  std::optional<History> history{};
  std::vector<Error> warnings;               ///< for the log, loud
  std::optional<Error> coordinator_refused;  ///< end the session this came by: nothing of it is followed
};

/// Owner:  one thread.
/// Source: docs/internals/ordering.md, rules 9 to 13.
class NodeOrder {
 public:
  using Actions = NodeActions;
  using Step = NodeStep;

  explicit NodeOrder(NodeStart start);

  // -- sessions

  /// A session with a coordinator begins; there is one at a time.
  Actions connected();
  Actions disconnected();
  /// Clients reach this node there; said in every hello from now on.
  Actions serves_at(std::string door);
  /// The same of KurrentDB's clients.
  Actions serves_kurrent_at(std::string door);
  /// `tails`: per shard of this disk, the first offset never used.
  [[nodiscard]] Hello hello(const std::map<ShardId, ShardOffset>& tails) const;
  /// From time to time, about every second: asks again for whatever has not come. Sooner where hurries().
  Actions again();
  /// A session has begun, and nobody has answered yet: a coordinator that is about to lead may not have heard the
  /// hello.
  [[nodiscard]] bool hurries() const { return connected_ && !welcomed_ && hellos_left_ != 0; }

  // -- what the coordinator says

  Actions welcome(const Welcome& welcome);
  Actions hello_refused(const HelloRefused& refused);
  Actions opens(const Opens& opens);
  Actions announce(const Announce& announce);
  Actions cuts(const Cuts& cuts);
  Actions report_from(const ReportFrom& from);
  Actions tell_again(const TellAgain& again);

  // -- what another replica has applied

  /// The cuts, for history(): what was refused in between, and behind the last of them, is named in them.
  [[nodiscard]] std::vector<sharding::Cut> whole(NodeHistory history) const;
  /// In order. `complete`: that replica has applied no more, and how far it covers each shard is in them: then, if that
  /// is all that was folded, the coordinator's cuts go on. None: that replica had none.
  Actions history(GlobalPosition after, const std::vector<sharding::Cut>& cuts, bool complete);

  // -- what the node has done

  /// The step Apply with this number is carried out.
  Actions applied(CutNumber number);
  /// Everything applied up to this number survives loss of power.
  Actions synced(CutNumber number);
  /// Of a shard that another node writes: its journal ends here now, synced.
  Actions shipped(ShardId shard, ShardOffset tail);

  // -- what is asked

  [[nodiscard]] CutNumber cut() const { return applied_; }
  /// What is synced; while it learns no more than when it began: the order that it will have then may end there, and
  /// cuts of which it counts as a holder are folded.
  [[nodiscard]] Held held() const { return {self_, held_max_.value_or(synced_), applied_}; }
  /// Everything up to here may be read, as far as this node's shards are concerned.
  [[nodiscard]] GlobalPosition watermark() const { return watermark_; }
  enum class Page : std::uint8_t {
    answer,
    not_yet,   ///< the cuts up to w are not applied (rule 13)
    not_here,  ///< no shard of this process: another node's, or not opened
  };
  [[nodiscard]] Page page(ShardId shard, GlobalPosition w) const;
  /// Whether the shard's writer may take appends, and under which epoch.
  [[nodiscard]] std::optional<Epoch> writes(ShardId shard) const;
  /// Whether a coordinator has been taken.
  [[nodiscard]] bool welcomed() const { return welcomed_; }
  /// Whether reports go out: its history, as far as it told of it, has joined on to this node's. Before that it may be
  /// refused.
  [[nodiscard]] bool reports() const { return welcomed_ && known_ >= told_; }
  /// All that the coordinator told of when this node came last is applied.
  [[nodiscard]] bool caught_up() const { return welcomed_ && applied_ >= told_; }
  /// Who keeps the shard, as far as cuts are known here.
  [[nodiscard]] const sharding::ReplicaSet& replicas(ShardId shard) const;
  /// The newest epoch that it was opened under in cuts that are applied.
  [[nodiscard]] Epoch epoch(ShardId shard) const {
    const auto found = shards_.find(shard);
    return found == shards_.end() ? Epoch{} : found->second.epoch;
  }
  /// Whether this node keeps the shard, whoever writes it: what it has to learn first only once that is on its disk.
  [[nodiscard]] bool keeps(ShardId shard) const;
  /// Whether what cuts cover of it up to cut() is all here.
  [[nodiscard]] bool has_whole(ShardId shard) const;
  /// What it is to keep and has to learn, all of it, before it does.
  [[nodiscard]] std::vector<ShardId> to_learn() const { return {learning_.begin(), learning_.end()}; }
  [[nodiscard]] Epoch coordinator() const { return coordinator_; }
  /// The epoch whose writer is followed: what is shipped under it joins on. Absent: this node does not follow.
  [[nodiscard]] std::optional<Epoch> follows(ShardId shard) const;
  /// What was folded while this node was away comes from other replicas.
  [[nodiscard]] bool catches_up() const { return history_.has_value(); }
  /// A cut waits for what was not shipped yet: so many are known and not applied.
  [[nodiscard]] std::uint64_t waits() const { return known_ - handed_; }
  [[nodiscard]] const sharding::ShardMap& map() const { return map_; }
  /// Hints (rules 7 and 16): late or wrong ones cost a second try.
  [[nodiscard]] GlobalPosition window_from() const { return window_from_; }
  [[nodiscard]] bool digests_wanted() const { return digests_wanted_; }
  /// Whether an append may build on an undecided one. No hint: the coordinator would place what has to be refused.
  [[nodiscard]] bool builds() const { return builds_; }
  /// Who led, as the newest welcome has it; before that, whose cuts were applied here.
  [[nodiscard]] const sharding::Leaderships& leaderships() const { return leaderships_; }
  /// Whether a message of this identity is of the coordinator that was taken. One that does not say is.
  [[nodiscard]] bool is_of_leader(const EventId& identity) const {
    return !welcomed_ || !identity.given() || !leader_.given() || identity == leader_;
  }
  /// Why a shard of this node is not opened; as of the last welcome.
  [[nodiscard]] const std::vector<ShardRefused>& refused() const { return refused_; }

 private:
  struct Shard {
    Epoch epoch;
    ShardOffset covered{1};
    ShardOffset tail{1};  ///< while it is not open
    enum class State : std::uint8_t { closed, taken, open } state = State::closed;
    sharding::Opening opening;  ///< taken: to be given out once it is synced
    CutNumber opened_by;
    bool damaged = false;  ///< a cut did not join on to what was applied here
    bool learned = false;  ///< all of it is here, as far as cuts are applied
    bool late = false;     ///< cuts were applied here before the disk had anything of it: they may have covered it
    Epoch followed{};      ///< as Follow says, and Opened
    Epoch newest{};        ///< that was heard of, in no sequence
    std::uint32_t newest_writer = 0;
    CutNumber newest_cut{};     ///< that opened it, or a later one
    Epoch own{};                ///< of an opening for this process that is known, and shipped under since then
    Epoch opening_known{};      ///< the newest one that is known
    Epoch opening_by{};         ///< the coordinator that made it
    Epoch known{};              ///< under which the newest of what known cuts cover was written
    ShardOffset known_next{1};  ///< the first offset that no known cut covers; not before `covered`
  };
  struct Promise {
    Epoch coordinator;
    Epoch epoch;
    EventId leader{};
  };
  struct Handed {
    CutNumber number;
    GlobalPosition watermark;
  };

  /// Whether the cut's positions join on to what was handed out, or come behind what was folded in between. If not, its
  /// coordinator is refused.
  [[nodiscard]] bool joins_on(const sharding::Cut& cut, Actions& actions);
  void refuse_history(const std::string& why, Actions& actions);
  [[nodiscard]] GlobalPosition handed_watermark() const;
  /// With which position the cut ends; absent: it is not known here, or not any more.
  [[nodiscard]] std::optional<GlobalPosition> watermark_of(CutNumber cut) const;
  void take(sharding::Cut cut, const sharding::CutLogState* reached, Actions& actions);
  void note_missed(const sharding::CutLogState& reached, NodeStep::Apply& apply, Actions& actions);
  /// Takes notice of what came next, and takes what can be taken.
  void advance(Actions& actions);
  void fill(sharding::Cut& cut);
  void know(const sharding::Cut& cut, Actions& actions);
  void know(const sharding::NewReplicas& replicas, Actions& actions);
  /// Where the node keeps it, and did not: from the beginning of the order on.
  void keep(ShardId shard);
  /// Nothing of it is here, and cuts of before may have covered it: what comes first is to begin where the shard does.
  [[nodiscard]] static bool may_lack_its_beginning(const Shard& shard) {
    return shard.late && shard.known_next == ShardOffset{1};
  }
  /// Of those: what was given positions that went by here is no shard that begins.
  void look_for_lost_beginnings(const std::vector<GlobalPosition>& last_positions, Actions& actions);
  void lose_beginning(ShardId shard, Actions& actions);
  /// Where it is kept no longer: cuts that cover it go by, and what is here of it is no copy of it any more.
  void leave(ShardId shard, Actions& actions);
  void note_learning(ShardId shard);
  void know(const sharding::Segment& segment, Actions& actions);
  /// Whether everything is here that the cut covers of shards that others write.
  [[nodiscard]] bool is_here(const sharding::Cut& cut) const;
  [[nodiscard]] std::vector<ShardId> kept_whole() const;
  /// Whether cuts were folded that cover what this node keeps, and are not known here.
  [[nodiscard]] bool lacks(const sharding::CutLogState& folded) const;
  void begin_history(const sharding::CutLogState& folded, Actions& actions);
  /// While cuts come from other replicas: the newest writers are followed, where nothing goes by that.
  void follow_newest(Actions& actions);
  /// 0: not known.
  [[nodiscard]] std::uint32_t writer_under(ShardId shard, Epoch epoch) const;
  /// `cut`: that opens it, or a later one.
  void hear_of(ShardId shard, Epoch epoch, std::uint32_t writer, CutNumber cut);
  void hear_of_what_was_learned();
  /// All up to `known_` is known: whose openings were among that, though no cut that came names them.
  void follow_heard_of(Actions& actions);
  void follow(ShardId shard, Epoch epoch, std::uint32_t writer, Actions& actions);
  /// All that it covers is known.
  void follow_folded(const sharding::CutLogState& folded, Actions& actions);
  void know_folded(const sharding::CutLogState& folded, Actions& actions);
  void know_sets(CutNumber as_of, const std::vector<sharding::NewReplicas>& sets, Actions& actions);
  void know_sets(const sharding::CutLogState& folded, Actions& actions);
  void ask_history(Actions& actions);
  void forget_buffered();
  void skip_to(const sharding::CutLogState& folded, Actions& actions);
  void fence(ShardId shard, Epoch epoch, Actions& actions);
  [[nodiscard]] bool is_for_this_process(const sharding::Opening& opening, Epoch coordinator) const;
  /// The newest epoch of a shard that a welcome of this session, or a checkpoint, told of.
  [[nodiscard]] Epoch known_epoch(ShardId shard) const;
  void knows_epoch(ShardId shard, Epoch epoch);
  void hints(GlobalPosition window_from, bool digests_wanted);
  void ask(Actions& actions);
  void report_again(Actions& actions) const;

  NodeProcess self_;
  std::string address_;
  std::string door_, kurrent_door_;
  std::string version_;
  bool gateway_;
  std::string zone_;
  std::map<ShardId, Shard> shards_;
  std::map<ShardId, Promise> promises_;
  std::map<ShardId, Epoch> known_epochs_;
  bool reopen_ = false;  ///< an opening for this node went by that was not for this process

  CutNumber handed_;  ///< the last one given out to be applied
  std::deque<Handed> applying_;
  CutNumber applied_;
  GlobalPosition watermark_;
  CutNumber synced_;
  CutNumber applied_said_;
  CutNumber held_said_;
  std::set<ShardId> learning_;                          ///< is to keep them, and has them not
  std::optional<CutNumber> held_max_;                   ///< while there are such
  std::map<CutNumber, sharding::Cut> buffered_;         ///< known, not handed out; and behind a hole
  std::map<CutNumber, sharding::CutLogState> reached_;  ///< the checkpoint that lies at one of them
  CutNumber known_;  ///< all cuts up to here were taken notice of; not before `handed_`
  GlobalPosition known_watermark_;
  std::optional<sharding::CutLogState> history_;  ///< the checkpoint up to which cuts come from other replicas
  bool history_asked_ = false;
  std::vector<ShardId> history_shards_;         ///< of which it was asked
  CutNumber heard_of_up_to_;                    ///< when this cut is known, whoever was heard of and is new is followed
  std::set<ShardId> left_;                      ///< kept no longer, or no copy: the disk is to know it
  bool passed_over_ = false;                    ///< positions, of cuts that were folded and name nothing of this node's
  std::vector<sharding::ReplicaSet> replicas_;  ///< per shard, as of `sets_of_`
  CutNumber sets_of_;                           ///< no cut that is known since changes them

  bool connected_ = false;
  std::uint64_t session_ = 0;
  std::uint32_t hellos_left_ = 0;  ///< that may be said in a hurry; none once one was refused
  bool welcomed_ = false;
  CutNumber told_;  ///< the newest cut as of the last welcome
  Epoch coordinator_;
  sharding::Leaderships leaderships_;
  EventId leader_;                  ///< of the coordinator of the last welcome; not given: it did not say
  sharding::Leadership led_;        ///< whose cuts were handed out last
  std::optional<CutNumber> asked_;  ///< asked for the cuts after this one
  sharding::ShardMap map_{0};
  std::vector<ShardRefused> refused_;
  GlobalPosition window_from_;
  bool digests_wanted_ = false;
  bool builds_ = false;
};

}  // namespace evershard::cluster
