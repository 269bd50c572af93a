// Scenario: given events, a command, what came of it; the test kit's work on bytes, with every check a kit can make.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/actors/model/kind.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {

/// How a test shows bytes of one type, and sends them through its codec once more.
struct Shape {
  std::string name;
  std::string (*show)(std::string_view bytes) = nullptr;
  Result<std::string> (*recode)(std::string_view bytes) = nullptr;
};

/// What came of one command.
struct Told {
  std::optional<Error> error;  ///< as the caller would get it; the other fields say nothing then
  Decision::Kind kind = Decision::Kind::nothing;
  std::vector<DecidedEvent> events;
  TimersChanged timers;  ///< set and cancelled
  std::vector<AppendCondition> conditions;
  std::optional<CommandBytes> asked;  ///< what it was prepared with
  std::vector<Query> views;           ///< the query of the decision model; none or one
  bool snapshot = false;
  std::string rejection;
  std::string reply;
  std::string state;  ///< after the events
};

/// One test of one aggregate. Runs the kind as the runtime does (bytes in, bytes out), and checks beside the outcome:
/// replaying gives the provisional state, twice the same; a state restored from its bytes decides and goes on the same;
/// deciding changes nothing and is the same the second time; every command, event, state and reply survives its codec;
/// what is decided can be stored (names, tags, sizes); a view takes in all that its query asks for.
class Scenario {
 public:
  using Report = std::function<void(const std::string& failure)>;

  Scenario(std::shared_ptr<const AggregateKind> kind, AggregateId id, std::vector<Shape> events, Shape state,
           Report report)
      : kind_(std::move(kind)),
        id_(std::move(id)),
        shapes_(std::move(events)),
        state_(std::move(state)),
        report_(std::move(report)) {}

  [[nodiscard]] const AggregateId& id() const { return id_; }

  /// Forgets all events.
  void clear();
  /// One more event before the command, of this or another aggregate or of none.
  void given(DecidedEvent event, std::optional<AggregateId> aggregate, const Shape& shape);
  /// Decides; what is decided is given to the next command.
  /// `view_events`: the event types that the command's view is made of. `answer`: to what the command asks before.
  [[nodiscard]] Told when(const CommandBytes& command, const Shape& command_shape, const Shape& reply_shape,
                          const std::vector<std::string>& view_events, std::optional<std::string> answer = {});
  /// The command of the timer of that name: time passes until it is due. `command_shape`: what the timer is to be sent.
  [[nodiscard]] Told when_due(const std::string& timer, const Shape& command_shape,
                              const std::vector<std::string>& view_events, std::optional<std::string> answer = {});
  /// When each of the aggregate's timers is due, from now.
  [[nodiscard]] std::map<std::string, std::chrono::microseconds> pending() const;
  [[nodiscard]] Timestamp now() const { return now_; }
  void pass(std::chrono::microseconds time) { now_.micros += time.count(); }

  /// A failure of the test: what, and what was given, done and told.
  void fail(const std::string& what, const std::string& expected = {}, const std::string& actual = {}) const;

  /// Expectations; each that does not hold is a failure.
  void expect_events(const Told& told, const std::vector<DecidedEvent>& expected) const;
  void expect_reply(const Told& told, const Shape& shape, const Result<std::string>& expected) const;
  void expect_rejection(const Told& told, std::string_view text) const;
  void expect_error(const Told& told, ErrorCode code, std::string_view text) const;
  void expect_state(const Told& told, const Result<std::string>& expected) const;
  void expect_tags(const Told& told, std::size_t event, const std::vector<Tag>& tags) const;
  void expect_view(const Told& told, const Query& query) const;
  void expect_snapshot(const Told& told) const;
  void expect_asked(const Told& told, const Shape& shape, const Result<std::string>& question) const;
  /// `command`: its bytes, of this shape.
  void expect_timer(const Told& told, const TimerSet& timer, const Shape& shape) const;
  void expect_cancelled(const Told& told, const std::string& timer) const;
  /// Whether there are bytes; where encoding them failed, the test fails.
  [[nodiscard]] bool encoded(const Shape& shape, const Result<std::string>& bytes) const;
  [[nodiscard]] std::string text_of(const Told& told) const;
  [[nodiscard]] std::string text_of(const std::vector<DecidedEvent>& events) const;

 private:
  struct Decided;
  struct Pending {
    TimerSet timer;
    GlobalPosition set_at;
    Timestamp due;
  };

  [[nodiscard]] std::map<std::string, Pending> timers() const;
  [[nodiscard]] Told run(const CommandBytes& command, const Shape* reply_shape,
                         const std::vector<std::string>& view_events);
  [[nodiscard]] std::string text_of(const TimersChanged& timers) const;
  [[nodiscard]] Result<StatePtr> replay() const;
  [[nodiscard]] std::string bytes_of(const AnyState& state) const;
  [[nodiscard]] Result<Decided> decide(const AnyState& state, const CommandBytes& command) const;
  [[nodiscard]] Result<StatePtr> restored(const AnyState& state) const;
  [[nodiscard]] std::optional<Error> refused_by(const std::vector<AppendCondition>& conditions) const;
  void check_events(const std::vector<DecidedEvent>& events) const;
  void check_view(const Query& query, const std::vector<std::string>& view_events) const;
  void check_codec(const Shape& shape, std::string_view bytes) const;
  void expect_same_state(const std::string& expected, const std::string& actual, const std::string& what) const;
  void record(DecidedEvent event, std::optional<AggregateId> aggregate);
  [[nodiscard]] const Shape* shape_of(std::string_view event_type) const;
  [[nodiscard]] std::string text_of(std::string_view type, std::string_view payload) const;

  std::shared_ptr<const AggregateKind> kind_;
  AggregateId id_;
  std::vector<Shape> shapes_;
  Shape state_;
  Report report_;
  Limits limits_;
  std::vector<RecordedEvent> history_;
  std::string given_text_, when_text_;
  std::optional<std::string> answer_;     ///< of the command that is run
  Timestamp now_{1'767'225'600'000'000};  ///< 2026-01-01
};

}  // namespace evershard
