// PrepareDesk: where the commands of a node's aggregates ask what they ask outside: so many questions of a kind at a
// time.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/actors/aggregate/cell_inbox.hpp"
#include "evershard/actors/entity/entity_actions.hpp"
#include "evershard/actors/model/prepare_handlers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// Any thread. What is answered goes to the inbox that asked. A question whose time is over is not asked any more, and
/// takes nobody's place.
class PrepareDesk : public std::enable_shared_from_this<PrepareDesk> {
 public:
  /// `fork`: for prepare_key().
  explicit PrepareDesk(std::string fork) : fork_(std::move(fork)) {}

  /// Errors: invalid_argument  a question has no handler, or one that may ask nothing at a time
  [[nodiscard]] Result<void> host(const AggregateKind& kind, const PrepareHandlers& handlers);
  void ask(std::shared_ptr<CellInbox> inbox, EntityActions::Prepare question, SteadyTime now);
  /// Ends what nobody waits for any more, and begins what waited for its place.
  void tick(SteadyTime now);

 private:
  struct Waiting {
    std::shared_ptr<CellInbox> inbox;
    EntityActions::Prepare question;
  };
  struct Kind {
    PrepareHandler handler;
    std::uint64_t number = 0;
    std::map<std::uint64_t, SteadyTime> under_way;  ///< and until when it counts
    std::deque<Waiting> waiting;
  };
  using Kinds = std::map<std::pair<std::string, std::string>, Kind>;

  void begin(const Kinds::value_type& kind, std::uint64_t number, Waiting one);
  void ended(const std::pair<std::string, std::string>& kind, std::uint64_t number);
  /// Takes the questions of this kind that may begin now; the lock is held.
  void take(Kind& kind, SteadyTime now, std::deque<std::pair<std::uint64_t, Waiting>>& out);
  void begin_all(const std::pair<std::string, std::string>& kind, SteadyTime now);

  const std::string fork_;
  std::mutex mutex_;
  Kinds kinds_;  ///< by the aggregate's type and the question's name. None ever goes
  SteadyTime now_ = SteadyTime::min();
};

}  // namespace evershard::actors
