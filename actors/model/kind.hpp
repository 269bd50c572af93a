// AggregateKind: one kind of aggregate as the runtime sees it: names and bytes; the user's types are behind it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace google::protobuf {
class MessageLite;
}

namespace evershard {

/// How a type of the user's is written.
struct WrittenType {
  PayloadFormat format = PayloadFormat::unspecified;
  const google::protobuf::MessageLite* message = nullptr;  ///< an empty one; null: it has a codec of its own
};

/// What a kind is made of, by logical names: for who is not written in its types.
struct KindTypes {
  struct Command {
    std::string name;
    WrittenType type;
    WrittenType reply;
    bool replies = true;  ///< false: the answer only says that the command is done
    bool query = false;   ///< it can only look
  };
  struct Event {
    std::string name;
    WrittenType type;
    bool old = false;  ///< read, and not written any more
  };
  /// An event of another time, and what of today's it may become.
  struct OldName {
    std::string old;
    std::vector<std::string> becomes;
  };
  /// What reads events of any aggregate: a view, a process.
  struct Reader {
    std::string what;
    std::vector<std::string> events;
  };
  WrittenType state;
  std::vector<Command> commands{};  ///< in order of name, as the events
  std::vector<Event> events{};
  std::vector<OldName> old_names{};
  std::vector<Reader> readers{};
};

/// A state, or a decision model, that the runtime holds and never looks into.
class AnyState {
 public:
  AnyState() = default;
  AnyState(const AnyState&) = delete;
  virtual ~AnyState() = default;
};
using StatePtr = std::unique_ptr<AnyState>;

/// A command as it travels: its logical name and its bytes.
struct CommandBytes {
  std::string type;
  std::string bytes;
};

/// What a command was prepared with.
struct PreparedAnswer {
  CommandBytes question;
  std::string answer;
};

/// An event a handler decided on, encoded.
struct DecidedEvent {
  std::string type;  ///< logical name
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::vector<Tag> tags;
  std::vector<AggregateId> also;
  std::string subject{};
  std::vector<std::string> timers{};  ///< their names, of an event that changes them: it has a tag for each
};

/// What a handler decided about one command.
struct Decision {
  enum class Kind : std::uint8_t {
    persist,  ///< `events`, at least one; `reply` after they are durable
    nothing,  ///< no events; `reply` when what it saw is durable
    reject,   ///< no events; `rejection` when what it saw is durable
  };
  Kind kind = Kind::nothing;
  std::vector<DecidedEvent> events;
  std::vector<AppendCondition> conditions;  ///< beside the decision model's own
  bool snapshot = false;                    ///< the handler asks for a snapshot with these events
  std::string rejection;
  /// The encoded reply, from the state after the events. Empty function: an empty reply. Of a timer's command: the text
  /// it was rejected with, if it was.
  std::function<Result<std::string>(const AnyState&)> reply;
};

/// What a command's decision rests on beside the aggregate's own state: the events that match `query`, folded into
/// `model`.
struct DecisionModel {
  Query query;
  StatePtr model;
};

/// How often snapshots are taken, and what is kept of older ones.
struct Retention {
  std::uint32_t snapshot_every = 0;  ///< events; 0: never by count
  std::uint32_t replayed_max =
      250;  ///< after replaying more events than this, the next command's events carry a snapshot; 0: off
  std::optional<std::uint32_t> keep{};        ///< as Snapshot::keep
  std::optional<std::chrono::seconds> ttl{};  ///< as Snapshot::ttl
};

/// Immutable, shared by all aggregates of the kind, used from any thread. A user's handler that throws is an Error
/// (`invalid_argument`, with what()), never an exception here. It outlives what it made.
class AggregateKind {
 public:
  virtual ~AggregateKind() = default;

  /// The stable logical name: the type part of the aggregates' ids.
  [[nodiscard]] virtual std::string_view type() const = 0;
  [[nodiscard]] virtual std::uint32_t schema_revision() const = 0;
  [[nodiscard]] virtual const Retention& retention() const = 0;

  /// As long as the kind.
  [[nodiscard]] virtual const KindTypes& types() const {
    static const KindTypes unknown;
    return unknown;
  }

  [[nodiscard]] virtual StatePtr initial() const = 0;
  [[nodiscard]] virtual Result<StatePtr> copy(const AnyState& state) const = 0;
  [[nodiscard]] virtual Result<std::string> encode(const AnyState& state) const = 0;
  [[nodiscard]] virtual PayloadFormat state_format() const = 0;
  /// Whose data a state is, as Snapshot::subject; may throw no more than encode.
  [[nodiscard]] virtual Result<std::string> subject_of(const AnyState&) const { return std::string(); }
  /// Errors: corruption  the bytes are not a state of this revision
  [[nodiscard]] virtual Result<StatePtr> decode(std::string_view bytes) const = 0;

  /// Upcasts, then applies; an event that upcasts to nothing changes nothing.
  /// Errors: corruption  the type is not known (never skipped), or the bytes are not of it; invalid_argument  `apply`
  ///         threw: the state is unusable afterwards
  [[nodiscard]] virtual Result<void> apply(AnyState& state, std::string_view event_type,
                                           std::string_view payload) const = 0;

  [[nodiscard]] virtual bool knows_command(std::string_view command_type) const = 0;
  /// Whether the command's handler can only look: its answer never waits for a write of its own.
  [[nodiscard]] virtual bool is_query(std::string_view command_type) const = 0;

  /// Whether the command may ask an outside service before the command is decided.
  [[nodiscard]] virtual bool asks(const CommandBytes&) const { return false; }
  /// The question; absent: the command asks nothing in this state.
  [[nodiscard]] virtual Result<std::optional<CommandBytes>> prepare(const AnyState&, const CommandBytes&) const {
    return std::nullopt;
  }
  /// What its commands may ask, by logical name.
  [[nodiscard]] virtual std::vector<std::string> questions() const { return {}; }

  /// Absent: the command is decided on the state alone.
  [[nodiscard]] virtual Result<std::optional<DecisionModel>> decision_model(const CommandBytes& command) const = 0;
  /// Folds one event that matches the query; a type the model does not know is not its business and is passed over.
  [[nodiscard]] virtual Result<void> fold(const CommandBytes& command, AnyState& model,
                                          const RecordedEvent& event) const = 0;
  /// `model`: what decision_model gave, folded; null where it gave none. `prepared`: what prepare() asked, and its
  /// answer; null where it asked nothing. It is recorded before the events.
  /// Errors: invalid_argument  unknown command, bytes that are not of it, a handler that threw
  [[nodiscard]] virtual Result<Decision> decide(const AnyState& state, const CommandBytes& command,
                                                const AnyState* model,
                                                const PreparedAnswer* prepared = nullptr) const = 0;
};

}  // namespace evershard
