// Ask: one thing asked of an aggregate, from its arrival to its answer.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::actors {

using SteadyTime = std::chrono::steady_clock::time_point;
inline constexpr SteadyTime never = SteadyTime::max();

/// Names the caller who waits; the host's, unique while he waits.
using AskTicket = Number<struct AskTicketTag, std::uint64_t>;

enum class AskKind : std::uint8_t {
  command,
  state,     ///< the encoded state, behind everything asked before it, once that is durable
  snapshot,  ///< take a snapshot, behind everything asked before it
};

/// What a caller asks.
struct Asked {
  AskTicket ticket;
  AskKind kind = AskKind::command;
  CommandBytes command{};
  std::string command_id{};                  ///< empty: none
  std::optional<AppendCondition> fail_if{};  ///< of what it writes
  std::uint32_t chain = 0;                   ///< AskOptions::chain
  std::optional<SteadyTime> deadline{};      ///< absent: after EntityOptions::command_timeout
};

/// What the entity keeps of a question, until the question is answered and none of its operations is under way. Order:
/// AskList.
struct Ask {
  enum class Stage : std::uint8_t {
    waiting,    ///< not decided, or to be decided again
    checking,   ///< its id may be stored: looked up before anything else; nothing behind it is decided
    reading,    ///< its decision model is being read; nothing behind it is decided
    preparing,  ///< what it asks outside is under way, or, where it joins, what a command of the same id asks; those
                ///< behind it are decided meanwhile
    sent,       ///< its append is under way
    stored,     ///< its append is written; answered in order
    held,       ///< `answer` is ready, and waits until what it saw is durable
    finding,    ///< it is stored: its reply is being looked up
    writing,    ///< a snapshot alone is being written
  };

  Ask* next = nullptr;
  Ask* previous = nullptr;
  AskTicket ticket;
  AskKind kind = AskKind::command;
  Stage stage = Stage::waiting;
  bool answered =
      false;  ///< the caller was told already (its time was over, it went away): only the outcome is waited for
  bool checked = false;         ///< its id was looked up: not stored
  bool looking = false;         ///< held, and its id is being looked up meanwhile
  bool joins = false;           ///< its id is one of a command before it that is not done: held, one whose append is
                                ///< under way; preparing, one that is not decided
  bool prepared_known = false;  ///< `prepared` says whether it asked something
  bool model_known = false;     ///< `model` says whether there is one
  bool model_read = false;
  std::uint8_t conflicts = 0;   ///< how often somebody else's append was in the way
  std::uint8_t conditions = 0;  ///< how often its decision model's condition failed
  std::uint32_t chain = 0;      ///< AskOptions::chain
  std::uint64_t order = 0;      ///< of arrival
  std::uint64_t number = 0;     ///< of the operation under way; 0: none
  SteadyTime deadline;
  SteadyTime sent_at{};
  std::size_t bytes = 0;  ///< counts against the bound
  std::uint64_t id_hash = 0;
  SeqNr version;            ///< as its decision left the aggregate
  GlobalPosition position;  ///< stored: of its last event
  GlobalPosition model_position;
  CommandBytes command;
  std::string command_id;
  std::unique_ptr<DecisionModel> model;
  std::unique_ptr<PreparedAnswer> prepared;  ///< asked once, however often it is decided
  std::unique_ptr<AppendCondition> fail_if;  ///< of what it writes; null: none
  std::unique_ptr<Snapshot> snapshot;        ///< to be written alone
  AnyAnswer answer;
};

}  // namespace evershard::actors
