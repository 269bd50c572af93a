// Looking at raw rows: the part of maintenance.hpp that knows families and keys.

#include "evershard/local/maintenance.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/inspect.hpp"

namespace evershard {
namespace {

using storage::Family;

std::optional<Family> family_of(std::string_view name) {
  for (std::size_t i = 0; i < storage::family_count; ++i) {
    if (storage::name_of(static_cast<Family>(i)) == name) return static_cast<Family>(i);
  }
  return std::nullopt;
}

/// Where to begin, and what all keys begin with.
Result<std::string> prefix_of(Family family, const InspectOptions& options) {
  if (!options.shard) return options.prefix;
  if (family != Family::journal && family != Family::runs) {
    return refuse(ErrorCode::invalid_argument,
                  "the keys of family " + options.family + " do not begin with a shard; those of journal and runs do");
  }
  if (!options.prefix.empty()) return refuse(ErrorCode::invalid_argument, "either a shard or a prefix of the key");
  return storage::keys::journal(*options.shard, ShardOffset{0}).substr(0, sizeof(ShardId::rep));
}

}  // namespace

std::vector<std::string> raw_families() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < storage::family_count; ++i) names.emplace_back(storage::name_of(static_cast<Family>(i)));
  return names;
}

Result<void> inspect(const std::filesystem::path& data_dir, const InspectOptions& options,
                     const std::function<bool(const RawRow&)>& see) {
  const auto family = family_of(options.family);
  if (!family) return refuse(ErrorCode::invalid_argument, "there is no family " + in_quotes(options.family));
  const auto prefix = prefix_of(*family, options);
  if (!prefix) return refuse(prefix.error());

  storage::StoreOptions open;
  open.data_dir = data_dir;
  open.create = false;
  open.read_only = true;
  auto store = storage::open_store(std::move(open));
  if (!store) return refuse(std::move(store).error());
  const auto cursor = (*store)->rows().cursor(*family, {.scan = true});
  for (cursor->seek(*prefix); cursor->valid() && cursor->key().starts_with(*prefix); cursor->next()) {
    RawRow row;
    row.family = storage::name_of(*family);
    row.key_hex = hex(cursor->key());
    row.key = storage::describe_key(*family, cursor->key());
    row.value = storage::describe_value(*family, cursor->key(), cursor->value());
    row.value_bytes = cursor->value().size();
    if (!see(row)) return {};
  }
  return cursor->status();
}

}  // namespace evershard
