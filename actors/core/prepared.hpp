// Prepared: an append with everything that can be known of it before its turn.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/append_chain.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

namespace evershard::actors {

/// Made in the caller's thread, looked up as of one view; what was decided after that view only the decision knows.
struct Prepared {
  struct Expected {
    std::uint32_t aggregate = 0;  ///< in `heads`
    ExpectedVersion version;
  };
  /// What the look-up found against it, and what that rests on.
  struct Refusal {
    Error error;
    GlobalPosition rests_on;
  };

  storage::EncodedAppend append;
  bool named =
      false;  ///< an event id was given, or follows from what was given, or there is a command: it can be sent twice
  std::vector<storage::EncodedAggregate> guards;  ///< expected, not written
  std::vector<Expected> expected;
  std::vector<AppendCondition> conditions;  ///< as given
  std::optional<CommandRecord> command;     ///< what names it
  AppendChain chain;
  std::size_t bytes = 0;

  GlobalPosition view;      ///< the fields below are as of this position
  bool names_whole = true;  ///< its ids were looked for on all shards of the store
  /// Of the events' shards, those that were another node's: whether the request is stored there was not looked for.
  std::vector<ShardId> elsewhere;
  std::vector<storage::StreamHead> heads;      ///< of append.aggregates, then of guards
  std::vector<sharding::TermCondition> terms;  ///< of `conditions`, in their order; `from` is raised by queries
  std::optional<Refusal> refusal;

  [[nodiscard]] std::size_t events() const { return append.events.size(); }
  /// The aggregate behind an index into `heads`.
  [[nodiscard]] const storage::EncodedAggregate& aggregate(std::size_t index) const {
    return index < append.aggregates.size() ? append.aggregates[index] : guards[index - append.aggregates.size()];
  }
};

}  // namespace evershard::actors
