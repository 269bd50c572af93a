// HomeNetwork: what a node asks of a definition's home on another node, whoever carries it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

struct HomeAsked {
  std::string method{};     ///< which handler: "projections.read_index"
  AggregateId aggregate{};  ///< the node that owns its shard is the home: `$projection-NAME`, `$group-NAME`, ...
  std::string request{};    ///< the handler's
  std::chrono::milliseconds time{};  ///< left until nobody listens any more
  std::uint64_t read = 0;            ///< the asker's number of it, by which he may give it up; 0: he does not

  friend bool operator==(const HomeAsked&, const HomeAsked&) = default;
};

struct HomeAnswered {
  enum class Kind : std::uint8_t {
    answered,
    failed,    ///< the handler's error, as it said it
    not_here,  ///< no handler was asked: the shard is not open on that node
  };
  Kind kind = Kind::answered;
  std::string response{};
  Error error{ErrorCode::unavailable, {}};  ///< of the other two

  friend bool operator==(const HomeAnswered&, const HomeAnswered&) = default;
};

/// Errors: `unavailable`, `overloaded`, `too_large`, `cancelled`: it was not asked; `timeout`: nobody knows
using HomeDone = std::function<void(Result<HomeAnswered>)>;

class HomeNetwork {
 public:
  virtual ~HomeNetwork() = default;
  /// Does not block. `done`: once, from any thread, at the latest a moment after the time asked with is over.
  virtual void ask(std::uint32_t node, HomeAsked asked, HomeDone done) = 0;
};

}  // namespace evershard::cluster
