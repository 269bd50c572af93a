// Recent: what was decided lately, complete back to a floor: heads of streams, ids that somebody may send again.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/actors/core/open_table.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/reader.hpp"

namespace evershard::actors {

/// Two generations, the older dropped whole. What was looked up in a view at or above floor() and is not found here
/// has not changed since.
///
/// Cost: two look-ups in flat tables an aggregate; about 72 bytes an entry.
class Recent {
 public:
  /// `key`: so that nobody can craft ids that fall together.
  Recent(GlobalPosition from, std::size_t entries_max, std::uint64_t key);

  [[nodiscard]] GlobalPosition floor() const { return older().from; }

  struct DecidedHead {
    storage::StreamHead head;
    std::uint64_t writer = 0;  ///< of the last append's chain; 0: none
  };
  [[nodiscard]] std::optional<DecidedHead> head(sharding::Term stream, std::string_view text);
  void set_head(sharding::Term stream, std::string_view text, const DecidedHead& head);

  /// The last position of the append that has this id.
  [[nodiscard]] std::optional<GlobalPosition> find(const EventId& id, ShardId shard);
  /// The same, on whatever shard.
  [[nodiscard]] std::optional<GlobalPosition> find(const EventId& id);
  void add(const EventId& id, ShardId shard, GlobalPosition append_ends);

  /// Drops the older generation when the newer is full, but nothing that readers do not see yet.
  void forget(GlobalPosition decided, GlobalPosition shown);

 private:
  struct Head {
    sharding::Term stream = 0;
    std::uint32_t text_begin = 0;
    std::uint32_t text_size = 0;
    DecidedHead head;
    [[nodiscard]] bool empty() const { return text_size == 0; }
    [[nodiscard]] std::uint64_t hash() const { return stream; }
  };
  struct Id {
    EventId id;
    std::uint64_t hashed = 0;
    ShardId shard;
    GlobalPosition append_ends;
    [[nodiscard]] bool empty() const { return append_ends.value == 0; }
    [[nodiscard]] std::uint64_t hash() const { return hashed; }
  };
  struct Generation {
    GlobalPosition from;
    OpenTable<Head> heads;
    OpenTable<Id> ids;
    std::string texts;

    [[nodiscard]] Head* find_head(sharding::Term stream, std::string_view text);
    [[nodiscard]] std::size_t entries() const { return heads.size() + ids.size(); }
  };

  template <class Is>
  [[nodiscard]] std::optional<GlobalPosition> find_id(const EventId& id, Is is);
  [[nodiscard]] std::uint64_t hash_of(const EventId& id) const;
  [[nodiscard]] Generation& newer() { return generations_[newer_]; }
  [[nodiscard]] const Generation& older() const { return generations_[1 - newer_]; }

  std::size_t entries_max_;
  std::uint64_t key_;
  std::array<Generation, 2> generations_;
  std::size_t newer_ = 0;
};

}  // namespace evershard::actors
