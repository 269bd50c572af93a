// AggregateDoor: how aggregates are hosted and asked, whatever stands behind: the store in this process, or a node of a
// cluster.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/model/prepare_handlers.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

class AggregateKind;
template <class A>
class AggregateRef;

// What these templates are made of comes with <evershard/aggregate.hpp>.
template <class A>
[[nodiscard]] Result<std::shared_ptr<const AggregateKind>> make_kind();

/// Bounds, time-outs and retries of one kind's aggregates.
struct HostOptions {
  std::size_t stash_limit = 1'024;      ///< commands of one aggregate that are not done with; beyond it: `overloaded`
  std::size_t stash_bytes = 8u << 20;   ///< their bytes
  std::uint32_t in_flight_limit = 512;  ///< appends of one aggregate under way at once
  std::chrono::milliseconds command_timeout = std::chrono::seconds(10);  ///< of a command that names none
  std::uint8_t condition_retries = 4;  ///< of a command whose decision model was outdated
  std::uint8_t conflict_retries = 8;   ///< of a command when others append to the aggregate
  std::chrono::milliseconds retry_delay_min = std::chrono::milliseconds(10);
  std::chrono::milliseconds retry_delay_max = std::chrono::milliseconds(500);
  PrepareHandlers prepare{};  ///< Preparations: a handler for each question that the aggregate's commands may ask
};

/// Live aggregates of a store.
struct AggregateOptions {
  std::size_t live_limit = 100'000;  ///< idle aggregates beyond it leave memory; busy ones never do
  std::chrono::milliseconds idle_after = std::chrono::seconds(60);  ///< then an idle one leaves memory; 0: never
  std::uint32_t recovery_permits = 128;                             ///< aggregates that load at once
  std::size_t reading_threads = 2;                                  ///< for loads, decision models and look-ups
};

struct AskOptions {
  std::string command_id{};                            ///< the same again gives the stored reply; empty: none
  std::optional<std::chrono::milliseconds> timeout{};  ///< absent: HostOptions::command_timeout
  /// Of what the command writes, beside the handler's own: else it is `condition_failed`, and nothing is written.
  std::optional<AppendCondition> fail_if{};
  std::uint32_t chain = 0;  ///< of a process: how many reactions led to it
};

/// How a state is read.
enum class StateRead : std::uint8_t {
  strict,    ///< through the aggregate, after everything asked before, once that is durable
  eventual,  ///< what is stored now; a live aggregate is not disturbed
};

/// An aggregate's state, encoded.
struct StateBytes {
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  SeqNr version;            ///< 0: it has no events
  GlobalPosition position;  ///< of its last event; strict: as far as the aggregate knows
};

/// A command on its way; cancel() says that nobody waits for it any more. Copies are the same command.
class Asking {
 public:
  Asking() = default;
  explicit Asking(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  /// It is answered `cancelled`, if it was not answered yet. What was sent to the store already may be stored all the
  /// same.
  void cancel() const {
    if (cancel_) cancel_();
  }

 private:
  std::function<void()> cancel_;
};

/// Called once, from a thread of the runtime: must not block and must not throw.
using AnswerDone = std::function<void(AnyAnswer)>;

/// Any thread. Nothing throws.
class AggregateDoor {
 public:
  virtual ~AggregateDoor() = default;

  /// Hosts the aggregates of this kind here from now on. To be called before the first of them is asked; not from a
  /// completion.
  /// Errors: invalid_argument: its rules are broken, or its type is hosted already; unavailable: closed
  template <class A>
  [[nodiscard]] Result<void> host(HostOptions options = {}) {
    auto kind = make_kind<A>();
    if (!kind) return tl::unexpected(std::move(kind).error());
    return host_kind(std::move(*kind), options);
  }

  /// One aggregate of a kind, by the second half of its id; it need not have events yet. A handle: cheap to make and to
  /// copy.
  template <class A>
  [[nodiscard]] AggregateRef<A> get(std::string_view value) {
    return AggregateRef<A>(*this, AggregateId{std::string(A::type), std::string(value)});
  }

  [[nodiscard]] virtual Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) = 0;
  /// The command is answered once, whatever happens.
  virtual Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                           AskOptions options, AnswerDone done) = 0;
  /// The same, and waits: at the latest until a moment after its deadline, then `timeout`. Not from a completion, nor
  /// from a handler.
  [[nodiscard]] virtual AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type,
                                               std::string command, AskOptions options) = 0;
  /// Errors: invalid_argument: nobody hosts its type; corruption, timeout, unavailable
  [[nodiscard]] virtual Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                                       std::chrono::milliseconds timeout) = 0;
  /// As of a position. Errors: invalid_argument: nobody hosts its type; corruption, unavailable
  [[nodiscard]] virtual Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) = 0;
  /// Takes a snapshot after everything asked before. Errors: too_large, corruption, timeout, unavailable
  [[nodiscard]] virtual Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) = 0;
  /// The aggregate leaves memory when everything asked before is answered; it comes back when it is asked again.
  virtual void passivate(const AggregateId& aggregate) = 0;
};

}  // namespace evershard
