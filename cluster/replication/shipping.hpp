// Shipping: what a writer sends to its followers, and from where on.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "evershard/cluster/replication/shipment.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Who is in step is sent what is written, as it is written. All others are sent the journal from their tails on, until
/// they are in step. So much is under way to a node, then it waits for that node's word: a slow one costs no memory.
///
/// Owner:  one thread.
/// Source: docs/internals/replication.md.
class Shipping {
 public:
  struct Options {
    std::size_t under_way_max = 16u << 20;  ///< bytes to one node that it has not said to have
  };
  struct Outgoing {
    std::vector<std::uint32_t> nodes;
    Ship ship;
  };
  /// To be read from the journal.
  struct Wanted {
    std::uint32_t node = 0;
    ShardId shard;
    ShardOffset from{1};
    Epoch epoch{};  ///< what is read may be gone, and others in its place, by the time the shard has another one
  };

  Shipping() : Shipping(Options{}) {}
  explicit Shipping(Options options) : options_(options) {}

  /// This node writes the shard from now on. `durable`: where its journal ends. Nothing is sent before a follower said
  /// how far it is. Under the same epoch again: to these followers from now on.
  void begin(ShardId shard, Epoch epoch, const std::vector<std::uint32_t>& followers, ShardOffset durable);
  void end(ShardId shard);
  [[nodiscard]] bool ships(ShardId shard) const { return shards_.contains(shard); }

  /// What is being written to shards of this node now; sent before it is synced here.
  [[nodiscard]] std::vector<Outgoing> made(std::vector<storage::ShippedRows> rows);
  /// The journal can be read up to here.
  void durable(ShardId shard, ShardOffset end);
  /// A follower's word. Returns: whether it follows under this epoch.
  bool followed(std::uint32_t node, const FollowedShard& told, bool again);
  /// What was sent to the node may not have come: it is sent nothing before its next word.
  void lost(std::uint32_t node);
  /// To be read and sent, one a node; then read().
  [[nodiscard]] std::vector<Wanted> wanted() const;
  /// What the journal has from there on. Returns: what is to be sent; nothing, if that is nothing.
  [[nodiscard]] std::optional<Outgoing> read(const Wanted& wanted, storage::ShippedRows rows);

  /// How far behind a follower is, as far as it said: for people.
  struct Lag {
    ShardId shard;
    std::uint32_t node = 0;
    bool heard = false;  ///< under the present epoch
    std::uint64_t events = 0;
  };
  [[nodiscard]] std::vector<Lag> lags() const;

 private:
  struct Follower {
    std::optional<ShardOffset> next{};  ///< to be sent; absent: it has not said where it is
    ShardOffset told{1};
    std::uint32_t still = 0;  ///< so many words in succession told of nothing new, while something was under way
    struct Sent {
      ShardOffset end;
      std::size_t bytes;
    };
    std::deque<Sent> under_way{};
  };
  struct Shard {
    Epoch epoch;
    ShardOffset durable{1};
    std::map<std::uint32_t, Follower> followers{};
  };
  void sent(std::uint32_t node, Follower& follower, ShardOffset end, std::size_t bytes);
  void forget_under_way(std::uint32_t node, Follower& follower);
  [[nodiscard]] bool has_room(std::uint32_t node) const;

  const Options options_;
  std::map<ShardId, Shard> shards_;
  std::map<std::uint32_t, std::size_t> under_way_;  ///< bytes, by node
};

}  // namespace evershard::cluster
