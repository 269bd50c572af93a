// StreamWrites: appends to streams and their ends, over what is known of streams that were deleted.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "evershard/compat/kurrent/followed_states.hpp"
#include "evershard/compat/kurrent/refusals.hpp"
#include "evershard/doors/grpc/calls.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard::kurrent {

/// What is expected of a stream, whether it is written to or not.
struct StreamExpected {
  std::string name{};
  AggregateId aggregate{};
  ExpectedVersion expected{};
  bool written = true;
};

/// One atomic write to one stream or several.
struct StreamWrite {
  std::vector<StreamExpected> streams{};  ///< each once
  std::vector<Event> events{};            ///< none: only the expectations are checked
};

struct StreamsWritten {
  std::vector<SeqNr> versions{};  ///< of StreamWrite::streams; of those that are not written to 0
  GlobalPosition position{};      ///< of its last event; 0: there was none
};

using WriteOutcome = std::variant<StreamsWritten, Refusal>;
using WriteDone = std::function<void(const WriteOutcome&)>;

/// Owner: the door's calls outlive it; what is under way keeps them.
class StreamWrites {
 public:
  /// `others_write`: other doors end streams too; what is not known of that yet is asked of the store with each append.
  StreamWrites(door::Calls& calls, EventStore& events, FollowedStates& states, bool others_write)
      : calls_(calls), events_(events), states_(states), others_write_(others_write) {}

  /// Writes to streams without metadata are decided in the order in which they are asked for. `done` is called once,
  /// from any thread.
  void write(StreamWrite write, WriteDone done);
  /// The stream's events are gone; it may be written to again, and its revisions go on.
  void remove(StreamExpected stream, WriteDone done);
  /// The stream is gone for good.
  void end(StreamExpected stream, WriteDone done);
  /// The versions that clients see now; 0: there is no such stream. In a thread that may wait for the disk.
  [[nodiscard]] Result<std::vector<SeqNr>> seen_now(const std::vector<StreamExpected>& streams);

 private:
  struct Attempt;
  using AttemptPtr = std::shared_ptr<Attempt>;

  void begin(const AttemptPtr& attempt);
  void look_first(const AttemptPtr& attempt);
  void send(const AttemptPtr& attempt, Append append);
  void answered(const AttemptPtr& attempt, const Result<Appended>& result);
  void ended_elsewhere(const AttemptPtr& attempt, const Error& error);
  [[nodiscard]] bool knows_enough() const;
  void conflicting(const AttemptPtr& attempt, const Error& error);
  void known_already(const AttemptPtr& attempt, const Error& error);
  [[nodiscard]] bool is_ordinary(const StreamWrite& write) const;
  /// Also of one that was removed, as `state` says.
  [[nodiscard]] Result<SeqNr> version_of(const AggregateId& aggregate, const std::optional<StreamState>& state,
                                         std::optional<GlobalPosition> up_to = {}) const;

  door::Calls& calls_;
  EventStore& events_;
  FollowedStates& states_;
  const bool others_write_;
};

/// What of a stream decides, where it has a state.
struct LookedAt {
  std::optional<StreamState> state{};
  SeqNr version{};
  SeqNr version_at_delete{};
  [[nodiscard]] bool is_deleted() const { return version_at_delete.value != 0 && version == version_at_delete; }
};

/// The append, with the expectations that the store is to check. Shape: `looked`: as write.streams. A plain decision.
[[nodiscard]] std::variant<Append, Refusal> plan_of(const StreamWrite& write, const std::vector<LookedAt>& looked);

}  // namespace evershard::kurrent
