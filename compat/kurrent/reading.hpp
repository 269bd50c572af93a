// Reading: one Read of a client as steps: what is sent next, or what is waited for. What is read is in sub-classes.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/api/event_stream.hpp"
#include "evershard/compat/kurrent/event_filter.hpp"
#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/event_messages.hpp"
#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/virtual_streams.hpp"

namespace evershard::kurrent {

/// What a client asks for.
struct ReadPlan {
  enum class From : std::uint8_t { start, end, at };

  std::string stream{};                    ///< empty: `$all`
  std::optional<AggregateId> aggregate{};  ///< of a stream that is one
  std::optional<Derived> derived{};        ///< of a stream that is derived
  From from = From::start;
  std::uint64_t at = 0;  ///< a revision, in `$all` a position
  bool backwards = false;
  bool subscription = false;
  std::uint64_t count = 0;  ///< of a read
  bool links = false;
  bool structured_ids = false;
  bool ends_told = false;  ///< a read says where its stream begins and ends: older clients know no such answer
  bool settled = false;  ///< of a kept place: it is of this store, and is waited for where it lies beyond what is there
  std::optional<EventFilter> filter{};
  std::uint64_t checkpoint_every = 0;  ///< of a subscription with a filter: events looked at; 0: never

  /// Errors: invalid_argument, too_large
  [[nodiscard]] static Result<ReadPlan> of(const esp::ReadReq& request);
};

/// One thread at a time, but for cancel().
class Reading {
 public:
  struct Step {
    enum class Kind : std::uint8_t { more, idle, done };
    Kind kind = Kind::more;
    GlobalPosition seen{};  ///< of idle: nothing up to here is news
  };
  static std::unique_ptr<Reading> make(Kurrent& kurrent, ReadPlan plan);
  explicit Reading(Kurrent& kurrent, ReadPlan plan) : kurrent_(kurrent), plan_(std::move(plan)) {}
  virtual ~Reading() = default;

  /// In a thread that may wait for the disk. `out`: what is to be sent; perhaps nothing.
  [[nodiscard]] std::variant<Step, Refusal> step(std::vector<esp::ReadResp>& out);
  /// The same, encoded.
  [[nodiscard]] std::variant<Step, Refusal> step(EventMessages& out);
  /// What may be news to it.
  [[nodiscard]] virtual Query interest() const = 0;
  /// Of a subscription, after a step: every event up to here was looked at and, where it is to be, given. Absent: the
  /// subscription is not read by positions.
  [[nodiscard]] virtual std::optional<GlobalPosition> looked_to() const { return std::nullopt; }
  [[nodiscard]] const ReadPlan& plan() const { return plan_; }
  [[nodiscard]] std::size_t events() const { return events_; }
  void cancel();

 protected:
  using Stepped = std::variant<Step, Refusal>;
  virtual std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) = 0;
  virtual Stepped go_on(std::vector<esp::ReadResp>& out) = 0;

  /// The part of a stream that clients see now.
  struct Shown {
    bool tombstoned = false;  ///< then the rest says nothing
    SeqNr version{};
    Visible visible{};
    bool absent = false;  ///< it has never been, or was deleted and not written again
  };
  [[nodiscard]] Result<Shown> shown_of(const AggregateId& aggregate) const;

  [[nodiscard]] static Refusal failed(Error error);
  /// Opens what is read next; cancel() reaches it.
  void open(EventStream stream);
  [[nodiscard]] Result<Page> next_page() { return stream_->next_page(); }
  [[nodiscard]] Result<VisitedPage> visit(const RecordedVisitor& visitor) { return stream_->visit(visitor); }
  [[nodiscard]] bool is_open() const { return stream_.has_value(); }
  void close_stream();

  void give_event(const RecordedView& event, std::vector<esp::ReadResp>& out);
  /// A link to it, of a derived stream.
  void give_link(const RecordedEvent& event, std::vector<esp::ReadResp>& out);
  /// Whether a subscription may begin behind a position: one that the store does not have is of another history.
  [[nodiscard]] std::optional<Refusal> refused_beyond(GlobalPosition after) const;
  /// The reading has given every event that there is: it tells the client so once, until it has fallen behind.
  void caught_up(std::optional<std::int64_t> revision, std::optional<GlobalPosition> position,
                 std::vector<esp::ReadResp>& out);
  void fell_behind(std::optional<std::int64_t> revision, std::optional<GlobalPosition> position,
                   std::vector<esp::ReadResp>& out);
  [[nodiscard]] bool is_live() const { return live_; }
  [[nodiscard]] bool has_enough() const { return !plan_.subscription && given_ >= plan_.count; }

  Kurrent& kurrent_;
  const ReadPlan plan_;
  std::uint64_t given_ = 0;

 private:
  Stepped first_step(std::vector<esp::ReadResp>& out);
  /// The event that the link leads to. Absent: no event that clients see. Errors: the event could not be looked up
  [[nodiscard]] Result<std::optional<RecordedEvent>> linked(const RecordedEvent& link);
  /// Whether a link leads to the event: no link leads to an event that its stream does not show. Errors: the stream
  /// could not be looked up
  [[nodiscard]] Result<bool> is_shown(const RecordedEvent& event);
  void move_to_encoded(std::vector<esp::ReadResp>& out);

  bool begun_ = false;
  bool live_ = false;
  std::size_t events_ = 0;                         ///< of the last step
  std::unordered_map<AggregateId, Shown> linked_;  ///< streams that links of this step lead to
  std::optional<Error> broken_;                    ///< where a link leads is not known: the reading ends before it
  EventMessages* encoded_ = nullptr;               ///< where the messages of this step go
  std::mutex mutex_;
  std::optional<EventStream> stream_;
  bool cancelled_ = false;
};

}  // namespace evershard::kurrent
