// AggregateNetwork: what a node asks of aggregates that live on other nodes, whoever carries it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "evershard/actors/model/answer.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// One thing asked of an aggregate.
struct AggregateAsked {
  /// Frozen numbers: they are on the wire.
  enum class What : std::uint8_t {
    command = 1,
    state = 2,         ///< strict: through the aggregate
    stored_state = 3,  ///< as of `position`: read from the store, by a node that hosts the type
    snapshot = 4,
    passivate = 5,
  };
  What what = What::command;
  AggregateId aggregate;
  std::string command_type{};  ///< of a command, and the next two
  std::string command{};
  std::string command_id{};
  std::chrono::milliseconds time{};          ///< left until nobody listens any more
  GlobalPosition position{};                 ///< of a stored state
  std::optional<AppendCondition> fail_if{};  ///< of what a command writes
  std::uint32_t chain = 0;                   ///< AskOptions::chain

  friend bool operator==(const AggregateAsked&, const AggregateAsked&) = default;
};

struct AggregateAnswered {
  AnyAnswer answer;
  PayloadFormat format = PayloadFormat::unspecified;  ///< of a state, which is the answer's reply

  friend bool operator==(const AggregateAnswered&, const AggregateAnswered&) = default;
};

using AggregateDone = std::function<void(AggregateAnswered)>;

class AggregateNetwork {
 public:
  virtual ~AggregateNetwork() = default;
  /// Does not block. `done`: once, from any thread, at the latest a moment after the time asked with is over: what the
  /// node answered; where it did not, failed with `unavailable`, `overloaded`, `too_large`, `cancelled` (it was not
  /// asked) or `timeout` (nobody knows). Order: what is asked of one node by one thread arrives in that order.
  virtual void ask(std::uint32_t node, AggregateAsked asked, AggregateDone done) = 0;
};

}  // namespace evershard::cluster
