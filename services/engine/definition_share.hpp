// DefinitionShare: which definitions are this process's, where a store has many processes.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// A definition is its aggregate: `$projection-NAME`. Any thread.
class DefinitionShare {
 public:
  virtual ~DefinitionShare() = default;
  /// This process is to keep the rows of the definition, now.
  [[nodiscard]] virtual bool is_here(const AggregateId& definition) const = 0;
  /// Another process is known to keep the rows of the definition. Neither is_here nor is_elsewhere: no process keeps
  /// them just now, or this one will again in a moment.
  [[nodiscard]] virtual bool is_elsewhere(const AggregateId& definition) const = 0;
  /// Behind it everything that was written to the definition can be read, if it is here. Errors: unavailable,
  /// wrong_shard
  [[nodiscard]] virtual Result<void> settle(const AggregateId& definition) = 0;
  struct Here {
    std::vector<AggregateInfo> definitions{};
    /// Whether `definitions` would list this definition, if it existed. Shards may have come here since.
    std::function<bool(const AggregateId&)> covers{};
  };
  /// Those that are here, with the versions that can be read. Errors: of reading
  [[nodiscard]] virtual Result<Here> here(const std::string& type) = 0;
};

}  // namespace evershard::cluster
