// The kinds of projections that a process knows: indexes, value indexes, tables.

#pragma once

#include <filesystem>
#include <memory>

#include "evershard/api/event_store.hpp"
#include "evershard/services/engine/projection_engine.hpp"
#include "evershard/services/tables/host/table_handlers.hpp"

namespace evershard::cluster {

/// Protobuf payloads are read by what is registered in `data_dir`; empty: nothing is. Owner: the events outlive them.
[[nodiscard]] ProcessorKinds projection_kinds(EventStore& events, const std::filesystem::path& data_dir,
                                              std::shared_ptr<const TableHandlers> handlers);

}  // namespace evershard::cluster
