// LearnedFiles: what lies in the folder `learned` of a node's directory.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/storage/learned/learned_shards.hpp"

namespace evershard::storage::learned_files {

struct Journal {
  ShardId shard;
  ShardOffset first, end;
};

[[nodiscard]] std::filesystem::path folder(const std::filesystem::path& data_dir);
/// `shard-3-1-900.sst`
[[nodiscard]] std::string name_of(const Journal& journal);
/// Nothing: no such name.
[[nodiscard]] std::optional<Journal> journal_named(const std::string& name);
/// `order-1.sst`, ascending from 1.
[[nodiscard]] std::string order_name(std::size_t number);
/// All is here.
inline constexpr const char* whole_name = "WHOLE";
inline constexpr const char* unfinished_name = "unfinished.sst";

[[nodiscard]] std::string encode(const LearnedOrder& order);
/// Errors: corruption
[[nodiscard]] Result<LearnedOrder> decode(std::string_view bytes);

}  // namespace evershard::storage::learned_files
