// PeerReads: what other nodes read here for somebody, until it is done or he has gone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "evershard/actors/threads/long_reads.hpp"

namespace evershard::cluster {

/// A node names each read that it may give up by a number of its own. It gives it up by a message, which may overtake
/// the request. Any thread.
class PeerReads {
 public:
  explicit PeerReads(LongReadOptions options) : long_reads_(options) {}

  /// Of one request. `number` 0: nobody gives it up.
  [[nodiscard]] std::shared_ptr<storage::ReadWork> begin(std::uint32_t node, std::uint64_t number,
                                                         storage::ReadWork::Clock::time_point deadline);
  void given_up(std::uint32_t node, std::uint64_t number);
  /// Its session ended: nothing of what it asked for can arrive there.
  void gone(std::uint32_t node);
  void close() { long_reads_.close(); }

  /// How many reads are under way that their askers may give up.
  [[nodiscard]] std::size_t under_way() const;

 private:
  using Name = std::pair<std::uint32_t, std::uint64_t>;
  static constexpr std::size_t early_max = 1'000;

  LongReads long_reads_;
  mutable std::mutex mutex_;  ///< of the next
  std::map<Name, std::weak_ptr<storage::ReadWork>> reads_;
  std::deque<Name> early_;  ///< reads that were given up before they came; the newest last
};

}  // namespace evershard::cluster
