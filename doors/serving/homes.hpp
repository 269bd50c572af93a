// Homes: what belongs to one aggregate is done by one node of a cluster at a time, and asked for from any.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::serving {

/// The home of an aggregate is the node that owns its shard. A door that keeps something in an aggregate does it there,
/// and asks there; who carries the calls it does not know.
///
/// Any thread. Owner: who serves; it outlives the doors.
class Homes {
 public:
  struct Asked {
    std::string method{};
    AggregateId aggregate{};
    std::string request{};
    std::chrono::milliseconds time{};  ///< then nobody listens any more
  };
  /// Errors: `wrong_shard`: it is not done here, and nothing was done
  using Done = std::function<void(Result<std::string>)>;
  using Handler = std::function<Result<std::string>(const Asked&)>;
  /// `done`: once, from any thread, before the time is over.
  using LateHandler = std::function<void(const Asked&, Done done)>;

  virtual ~Homes() = default;
  /// It must not ask a home: all threads of two nodes could wait for each other.
  ///
  /// Shape: before the node joins. It may be asked until the store is closed.
  virtual void serve(std::string method, Handler handler) = 0;
  /// The same for calls that are answered later, by any thread. The handler does not wait.
  virtual void serve_later(std::string method, LateHandler handler) = 0;

  /// Waits. Asked again, in its time, where nothing was done; where the outcome is not known, only if it `may_repeat`.
  ///
  /// Errors: the handler's; unavailable: nobody could be asked; timeout: the outcome is unknown; overloaded, too_large
  [[nodiscard]] virtual Result<std::string> call(Asked asked, bool may_repeat) = 0;
  /// Of another node, once, without waiting. Errors: the same, and `wrong_shard`: it is not done there now, or there is
  /// nobody, or this node is it
  virtual void ask(Asked asked, Done done) = 0;

  /// In which term this node is the home; another one each time it becomes it. Errors: wrong_shard: it is not
  [[nodiscard]] virtual Result<std::uint64_t> term(const AggregateId& aggregate) = 0;
  /// Waits until what was written to it before can be read. Errors: wrong_shard, unavailable
  [[nodiscard]] virtual Result<void> settled(const AggregateId& aggregate) = 0;
  /// As EventStore::put_snapshot, while this node is the home in that term. Errors: those, wrong_shard, fenced
  [[nodiscard]] virtual Result<void> keep(Snapshot state, std::uint64_t term) = 0;
  /// Called whenever terms begin or end here; it must be quick. One; an empty one ends it.
  virtual void watch(std::function<void()> changed) = 0;
};

}  // namespace evershard::serving
