// ShardDirectory: who writes which shard, put together from what the members of a cluster say. Decisions only.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/membership.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::remote {

class ShardDirectory {
 public:
  /// What one of them said; of each shard the newest epoch counts, whoever said it and whenever.
  ///
  /// Errors: invalid_argument: it is of another store or of a copy, or of another number of shards
  [[nodiscard]] Result<void> learn(const Membership& said);

  /// What was said was of this store, whichever copy of it.
  [[nodiscard]] bool is_of(const std::string& store_id) const { return first_ && first_->store_id == store_id; }
  /// Several nodes serve the store. Only then is there a shard's owner.
  [[nodiscard]] bool is_cluster() const { return !owners_.empty(); }
  [[nodiscard]] std::uint32_t shards() const { return static_cast<std::uint32_t>(owners_.size()); }
  /// Where the first event of the append lies. Nothing: not known, or it has no name before the store gives it one.
  [[nodiscard]] std::optional<ShardId> shard_of(const Append& append) const;
  /// 0: nobody, or not known.
  [[nodiscard]] std::uint32_t owner(ShardId shard) const {
    return shard.value < owners_.size() ? owners_[shard.value].node : 0;
  }
  /// Of nodes that say where their doors are.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& addresses() const { return addresses_; }
  friend bool operator==(const ShardDirectory&, const ShardDirectory&) = default;

 private:
  struct Owner {
    std::uint32_t node = 0;
    Epoch epoch;
    friend bool operator==(const Owner&, const Owner&) = default;
  };
  std::optional<Membership> first_;  ///< which store this is
  std::vector<Owner> owners_;
  std::map<std::uint32_t, std::string> addresses_;
};

}  // namespace evershard::remote
