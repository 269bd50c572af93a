// What a node has learned beside its store becomes the store's.

#pragma once

#include <filesystem>
#include <functional>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// The order is the one that was learned, up to where that ends; the journals that were given are here; of shards that
/// are not kept any more nothing is. Indexes are made anew by who opens the store: their mark is 0 behind it. The file
/// MARK goes.
///
/// Durable: when it returns. Broken off anywhere, it is to be done again. Errors: corruption, io
/// `step`:  called behind each part, see steps::open_learned.
Result<void> take_learned(RocksFamilies& families, const RocksOptions& options, const Rows& rows,
                          const Identity& identity, const std::filesystem::path& data_dir,
                          const std::filesystem::path& mark_path, const std::function<void()>& step);

}  // namespace evershard::storage
