// AskRoute: one thing asked of an aggregate, from node to node until it is answered: what is asked again, when, and
// what is told in the end.

#pragma once

#include <optional>

#include "evershard/actors/entity/ask.hpp"
#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/model/answer.hpp"

namespace evershard::cluster {

/// Where nothing was done because its shard has no node just now, or has moved, it is asked again until its time is
/// over. Where nobody knows what was done, only if asking twice does what asking once does: it has a command id, or
/// changes nothing.
///
/// An earlier try whose outcome nobody knows is forgotten by a reply or a rejection alone, which come from behind it:
/// whatever else fails then, the outcome is unknown.
class AskRoute {
 public:
  AskRoute(actors::SteadyTime deadline, bool repeatable) : deadline_(deadline), repeatable_(repeatable) {}

  [[nodiscard]] actors::SteadyTime deadline() const { return deadline_; }
  /// A try came back. Returns: when to try again; nothing: `answer` is to be told.
  [[nodiscard]] std::optional<actors::SteadyTime> came_back(AnyAnswer& answer, actors::SteadyTime now,
                                                            actors::Jitter& jitter);
  /// The answer that the caller gets when no further try is made.
  [[nodiscard]] AnyAnswer given_up(Error why) const;

 private:
  const actors::SteadyTime deadline_;
  const bool repeatable_;
  bool unknown_ = false;  ///< of an earlier try
  unsigned tries_ = 0;
};

}  // namespace evershard::cluster
