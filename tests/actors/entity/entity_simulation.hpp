// EntitySimulation: a shard's entities, a journal with delays and faults, crashes and callers, from one seed.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/entity/entity_table.hpp"
#include "tests/actors/entity/counter_kind.hpp"
#include "tests/actors/entity/small_journal.hpp"

namespace evershard::actors {

/// Decides who is in: aggregates of one shard, and the seats they share by a decision model.
inline constexpr std::uint64_t simulated_aggregates = 4;
inline constexpr std::int64_t simulated_seats = 5;

/// What is checked: every ticket is answered once (but for those of a crashed process); what is acknowledged is in the
/// journal once, what is refused for certain is not; a command id has at most one effect and always the same reply;
/// every reply and rejection is what the stream says at its version, which is durable when it is given; nobody sees
/// less than was answered before he asked; no prefix of a stream breaks a rule its commands were decided by; a new
/// process sees the same.
class EntitySimulation {
 public:
  explicit EntitySimulation(std::uint64_t seed);

  /// Returns: what is wrong first; empty: nothing.
  std::string run(int steps);

  /// Over all processes of the run.
  EntityCounters total{};
  std::uint64_t crashes = 0;
  std::uint64_t ghosts_landed = 0;

 private:
  struct Command {
    AggregateId aggregate;
    std::string text;
    std::string id;
    std::string token;
    std::size_t events = 0;  ///< it writes, if it writes
  };
  struct Caller {
    std::size_t command = 0;
    std::uint64_t process = 0;
    SeqNr seen;                 ///< answered to anybody before he asked
    bool acknowledged = false;  ///< the command was, to somebody, before he asked
    bool answered = false;
  };
  /// Done in two steps, with time between: carried out, then told.
  struct Pending {
    std::uint64_t process = 0;
    AggregateId aggregate;  ///< of a send
    bool send = false;
    bool done = false;
    std::function<std::function<void()>()> carry_out;
    std::function<void()> tell;
  };
  struct Ghost {
    Append append;
    AppendChain chain;
  };

  std::uint64_t up_to(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return up_to(100) < percent; }
  void wrong(const std::string& what);

  void start();
  void crash();
  void step();
  void ask();
  std::size_t new_command();
  void outside();
  void pass(std::chrono::milliseconds time);
  void advance_pending();
  void absorb();
  std::function<void()> write(const EntityActions::Send& send);
  void finish();

  void check_answer(Caller& caller, const AnyAnswer& answer);
  void check_end();
  /// Of the stream's first `version` events.
  [[nodiscard]] std::string state_text(const AggregateId& aggregate, SeqNr version) const;
  [[nodiscard]] std::size_t events_of(const std::string& token) const;
  [[nodiscard]] std::int64_t sum_of(const AggregateId& aggregate) const;

  std::mt19937_64 random_;
  const bool faults_;
  const bool outsiders_;
  bool ending_ = false;
  std::string wrong_;
  SmallJournal journal_;
  std::shared_ptr<CounterKind> kind_;
  std::unique_ptr<EntityTable> table_;
  EntityActions actions_;
  SteadyTime now_{std::chrono::hours(1)};
  std::uint64_t process_ = 0;
  std::uint32_t permits_ = 0;
  std::vector<Pending> pending_;
  std::vector<Ghost> ghosts_;
  std::vector<Command> commands_;
  std::vector<std::size_t> with_id_;
  std::map<std::uint64_t, Caller> callers_;
  std::map<AggregateId, SeqNr> answered_;
  std::map<std::string, AnyAnswer> reply_of_id_;
  std::set<std::size_t> acknowledged_;
  std::set<std::size_t> refused_;
  std::uint64_t tickets_ = 0;
};

}  // namespace evershard::actors
