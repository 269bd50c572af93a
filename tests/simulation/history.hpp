// History: what was asked for, what was written where, what the cuts say; and every invariant, judged from outside.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/append_chain.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_builder.hpp"

namespace evershard::simulation {

/// An invariant does not hold.
class Broken : public std::runtime_error {
 public:
  Broken(std::string invariant, const std::string& what)
      : std::runtime_error(invariant + ": " + what), invariant_(std::move(invariant)) {}
  [[nodiscard]] const std::string& invariant() const { return invariant_; }

 private:
  std::string invariant_;
};

using AppendId = std::size_t;

/// An aggregate's state: every event of its, in sequence, makes another one of it.
struct Fold {
  using State = std::uint64_t;
  SeqNr version;
  State state = 0;
  void take(AppendId append, std::uint32_t event) {
    version = version + 1;
    state = (state ^ (append * 64 + event + 1)) * 0x9E3779B97F4A7C15ull;
    state ^= state >> 29;
  }
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// What a client asks for.
struct Request {
  struct Event {
    ShardId shard;
    std::vector<sharding::Term> terms;
    std::optional<std::uint32_t> aggregate{};  ///< of the shard
  };
  struct Expected {
    ShardId shard;
    std::uint32_t aggregate = 0;
    ExpectedVersion version;
  };
  std::vector<Event> events;
  std::vector<Expected> expected{};                 ///< see expectations()
  std::vector<sharding::TermCondition> conditions;  ///< one term each
  bool digests = true;
  bool durable = false;            ///< answered when it is synced
  std::optional<AppendId> twin{};  ///< its events have the ids of that one's, which is no twin
  GlobalPosition floor;            ///< known to somebody when it was sent: it stands behind (I-RealTime)
  /// Of an aggregate that it writes to, as of the version that it leaves.
  struct Snapshot {
    ShardId shard;
    std::uint32_t aggregate = 0;
    Fold of;                 ///< what its client made of what he had loaded and of its own events
    bool named = false;      ///< it says which version that is
    std::size_t losses = 0;  ///< of the shard when the state was loaded
  };
  std::optional<Snapshot> snapshot{};
  /// What the product's aggregates, timers and processes append, in full.
  struct Content {
    Append append;
    AppendChain chain{};
    Timestamp appended_at{};  ///< by the clock of whoever did
  };
  std::shared_ptr<const Content> content{};
  [[nodiscard]] std::set<ShardId> shards() const;
  /// What it expects, and what follows from the version that its snapshot names.
  [[nodiscard]] std::vector<Expected> expectations() const;
};

/// An event as a disk has it.
struct EventAt {
  AppendId append = 0;
  std::uint32_t event = 0;  ///< which of its request
  friend bool operator==(const EventAt&, const EventAt&) = default;
};

class History {
 public:
  explicit History(std::uint32_t shards) : shards_(shards) {}

  AppendId add(Request request);
  [[nodiscard]] const Request& request(AppendId id) const { return requests_.at(id); }
  [[nodiscard]] std::size_t requests() const { return requests_.size(); }

  // -- what the disks do

  /// A writer put an event there, under this epoch.
  void written(ShardId shard, Epoch epoch, ShardOffset offset, EventAt event);
  /// It was written to be decided by a cut.
  void undecided(AppendId id) { undecided_.insert(id); }
  void synced(ShardId shard, Epoch epoch, ShardOffset offset);

  // -- what must hold

  /// A cut was stored: I-Dense, I-SingleWriter, I-Durable, I-Together, I-Atomic, I-Condition, I-RealTime.
  void stored(const sharding::Cut& cut);
  /// A shard's page up to w was answered: I-NoSkip.
  void page(ShardId shard, GlobalPosition w, const std::map<GlobalPosition, EventAt>& answer, const std::string& by);
  /// A client was told the position: I-Dense, I-SingleWriter.
  void acknowledged(AppendId id, GlobalPosition first, const std::string& by);
  /// The same, with all that it was told: I-Version too.
  void acknowledged(AppendId id, const Appended& answer, const std::string& by);
  /// A client was refused by a node that has applied the cuts up to w: I-Honest.
  void refused(AppendId id, const Error& error, GlobalPosition w, const std::string& by) const;
  void known(GlobalPosition position) { known_ = std::max(known_, position); }

  // -- what is asked

  [[nodiscard]] GlobalPosition known() const { return known_; }
  [[nodiscard]] GlobalPosition watermark() const { return GlobalPosition{sequence_.size()}; }
  [[nodiscard]] CutNumber last_cut() const { return last_cut_; }
  [[nodiscard]] bool placed(AppendId id) const { return first_position_.contains(id); }
  /// Of what was not given up when the watermark was there, which changes nothing of itself.
  [[nodiscard]] SeqNr version(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to) const {
    return version(shard, aggregate, up_to, up_to);
  }
  [[nodiscard]] SeqNr version(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to,
                              GlobalPosition losses_up_to) const;
  [[nodiscard]] std::optional<GlobalPosition> first_match(sharding::Term term, GlobalPosition after,
                                                          GlobalPosition up_to) const;
  /// What acknowledges it, as of there.
  [[nodiscard]] std::optional<Appended> find(AppendId id, GlobalPosition up_to) const;
  /// What cuts cover of the shard, refused or not.
  [[nodiscard]] const std::map<ShardOffset, EventAt>& covered(ShardId shard) const {
    return shards_.at(shard.value).covered;
  }
  [[nodiscard]] bool lost(ShardId shard, ShardOffset offset) const;
  [[nodiscard]] bool any_lost(ShardId shard) const { return losses_of(shard) != 0; }
  [[nodiscard]] std::size_t losses_of(ShardId shard) const { return shards_.at(shard.value).lost.size(); }
  /// Which append of the same ids stands there, up to a position; itself too.
  [[nodiscard]] std::optional<AppendId> of_same_ids(AppendId id, GlobalPosition up_to) const;
  /// Which append is the command of that id, if it stands there.
  [[nodiscard]] std::optional<AppendId> command(const CommandRecord& command, GlobalPosition up_to) const;
  [[nodiscard]] std::optional<GlobalPosition> position_of(AppendId id) const {
    const auto at = first_position_.find(id);
    return at == first_position_.end() ? std::nullopt : std::optional(at->second);
  }
  /// The events of an aggregate that stand there, without those given up when the watermark was there, up to a version.
  [[nodiscard]] Fold folded(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to, GlobalPosition losses_up_to,
                            SeqNr version_max = SeqNr{~std::uint64_t{0}}) const;
  /// The newest version up to there of which somebody's append brought a snapshot; `there`: whether a disk has the
  /// event of that position.
  [[nodiscard]] SeqNr snapshot_version(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to,
                                       const std::function<bool(GlobalPosition)>& there) const;
  /// Of every position: where it lies.
  struct Placed {
    EventAt event;
    ShardId shard;
    ShardOffset offset;
    std::optional<GlobalPosition> lost_at{};  ///< the watermark when it was given up
  };
  [[nodiscard]] const std::vector<Placed>& sequence() const { return sequence_; }

  std::size_t placed_over_several = 0, refused_conditional = 0, placed_conditional = 0, pages = 0, losses = 0,
              snapshots = 0, twins_refused = 0;

 private:
  struct Written {
    EventAt event;
    bool synced = false;
  };
  struct Shard {
    Epoch epoch;
    ShardOffset next{1};
    std::map<Epoch, std::map<ShardOffset, Written>> written;
    std::map<ShardOffset, EventAt> covered;
    std::vector<std::pair<ShardOffset, ShardOffset>> lost;
  };
  void place(const sharding::Segment& segment, ShardOffset offset, CutNumber cut,
             std::map<AppendId, std::size_t>& placed);
  void judge(AppendId id) const;
  /// Whether an operator gave up all of so many events from that position on.
  [[nodiscard]] bool given_up(GlobalPosition first, std::size_t events) const;

  std::vector<Request> requests_;
  std::vector<Shard> shards_;
  std::vector<Placed> sequence_;  ///< by position - 1
  std::map<AppendId, GlobalPosition> first_position_;
  std::map<AppendId, AppendId> of_ids_;  ///< by whose ids they are: the append that stands there
  std::set<AppendId> undecided_;
  std::map<std::pair<AggregateId, std::string>, AppendId> commands_;  ///< placed, the first of each
  CutNumber last_cut_;
  GlobalPosition known_;
};

}  // namespace evershard::simulation
