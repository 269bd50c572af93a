// Opening a store: on disk or in memory.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// Opens the store in `data_dir`, or creates it.
///
/// Errors: not_found         there is none, and `create` is off
///         invalid_argument  another shard count or hash than the store has; a newer format; a bad size
///         unavailable       another process has it open: named
///         corruption        damaged, or less was recovered than was acknowledged: says which file and what is missing
///         io                the disk refused
/// Cost:   reads back what was not sealed: at most twice `tail_events`, below a second.
Result<std::unique_ptr<Store>> open_rocks_store(StoreOptions options);

/// A new, empty store that lives as long as the object.
Result<std::unique_ptr<Store>> open_memory_store(StoreOptions options);

/// By `data_dir`: empty is in memory.
Result<std::unique_ptr<Store>> open_store(StoreOptions options);

/// Which store lies in `data_dir`, whoever has it open; nothing: none is there. Errors: corruption, io,
/// invalid_argument: a newer format
Result<std::optional<Identity>> identity_in(const std::filesystem::path& data_dir);

/// A node's part of a cluster's store, by `data_dir` and `member`.
///
/// Errors: as above; invalid_argument: no member, or the store is another node's, cluster's or fork's, or a whole one
Result<std::unique_ptr<NodeStore>> open_node_store(StoreOptions options);
Result<std::unique_ptr<NodeStore>> open_rocks_node_store(StoreOptions options);
Result<std::unique_ptr<NodeStore>> open_memory_node_store(StoreOptions options);

/// Looks at once, before the caller waits for anything else. A directory that does not exist is not open.
/// Errors: unavailable: another process has it open: which
[[nodiscard]] Result<void> check_not_open(const std::filesystem::path& data_dir);

/// As long as it is held nobody else opens what lies there, which this process looks at (`read_only`) beside it.
/// Errors: not_found; unavailable: another process has it open: which; io
[[nodiscard]] Result<std::shared_ptr<const void>> keep_others_out(const std::filesystem::path& data_dir);

}  // namespace evershard::storage
