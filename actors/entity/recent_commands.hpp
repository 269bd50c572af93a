// RecentCommands: which command ids a shard's aggregates sent lately.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace evershard::actors {

/// Hashes only, in two generations, the older dropped whole: what is found may be stored and is worth a look; what is
/// not found tells nothing.
///
/// Cost: 16 bytes an id, nothing per aggregate; survives passivation.
class RecentCommands {
 public:
  /// Shape: `ids_max` of each generation, at least 1.
  explicit RecentCommands(std::size_t ids_max);

  [[nodiscard]] static std::uint64_t hash(std::uint64_t aggregate_hash, std::string_view command_id);
  void add(std::uint64_t hash);
  [[nodiscard]] bool contains(std::uint64_t hash) const {
    return generations_[0].contains(hash) || generations_[1].contains(hash);
  }

 private:
  /// Open addressing, at most half full; 0 is empty.
  struct Generation {
    std::vector<std::uint64_t> slots;
    std::size_t used = 0;
    [[nodiscard]] bool contains(std::uint64_t hash) const;
    void put(std::uint64_t hash);
    void add(std::uint64_t hash);
  };

  const std::size_t ids_max_;
  std::array<Generation, 2> generations_;
  std::size_t newer_ = 0;
};

}  // namespace evershard::actors
