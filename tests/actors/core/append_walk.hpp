// AppendWalk: the path of an append as a seeded walk in one thread, every step judged by a naive model.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "evershard/actors/core/group_commit.hpp"
#include "evershard/actors/core/prepare.hpp"
#include "tests/actors/core/steered_store.hpp"

namespace evershard::actors {

/// Callers, prepare, decide, stage, commit, show and answer happen in any order that the committer's threads could
/// take; commits fail, the process dies and opens again, requests are sent again while other attempts are under way.
class AppendWalk {
 public:
  struct World {
    std::uint64_t seed = 0;
    std::uint64_t term_mask = ~std::uint64_t{0};
    std::size_t recent_entries_max = 6;  ///< so small that memory forgets all the time
    std::size_t window_events_max = 8;
    int steps = 400;
    bool faults = true;
  };
  explicit AppendWalk(World world);

  void run();

  std::map<std::string, int> seen;  ///< what the walk met, so that a test can tell it met everything

 private:
  /// What a client wants; sent as one or several attempts.
  struct Wanted {
    Append append;  ///< events with the ids they get, where it is named
    bool named = false;
    int sent = 0, open = 0;
    bool refused = false;  ///< for good: no other attempt was under way
    std::optional<Appended> told;
    GlobalPosition not_before;               ///< shown when it was first sent
    std::optional<std::size_t> same_ids_as;  ///< other content, or only some of the ids, of another one
    bool imitated = false;                   ///< by such a one
  };
  struct Attempt : Ticket {
    std::size_t wanted = 0;
    bool answered = false;
  };
  struct InFlight {
    Batch batch;
    std::unique_ptr<storage::StagedCommit> staged;
  };

  std::size_t roll(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void open(std::unique_ptr<SteeredStore> store);
  Append any_append();
  Query any_query();
  void send();
  void send(std::size_t wanted);
  void take();
  void look_up_again();
  void close_and_stage();
  void commit();
  void answer_one();
  void crash();
  void act(Actions& actions);
  void drain();

  void answered(Attempt& attempt, Result<Appended> result);
  void judge(const Attempt& attempt, Wanted& wanted, const Appended& appended);
  void judge(const Attempt& attempt, Wanted& wanted, const Error& error);
  void judge_order();
  [[nodiscard]] std::vector<RecordedEvent> everything() const;
  [[nodiscard]] bool decided(const Wanted& wanted) const;
  [[nodiscard]] std::string name(const Attempt& attempt) const;

  const World world_;
  std::mt19937_64 random_;
  std::unique_ptr<SteeredStore> store_;
  std::unique_ptr<Preparer> preparer_;
  std::unique_ptr<GroupCommit> group_;
  std::deque<Wanted> wanted_;
  std::deque<std::unique_ptr<Attempt>> attempts_;
  std::vector<Attempt*> ready_;  ///< prepared
  std::vector<Attempt*> again_;  ///< to be looked up again
  std::deque<InFlight> staged_;  ///< closed, not committed
  std::deque<Batch> committed_;  ///< committed, not answered
  std::optional<Error> failed_;
};

}  // namespace evershard::actors
