// LoadQueue: aggregates that wait to be loaded; who reads takes several, and reads their events together.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/actors/aggregate/cell_inbox.hpp"
#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/entity_actions.hpp"

namespace evershard::actors {

/// Any thread. For each one that was added somebody calls load(): the first may find many, the last none.
class LoadQueue {
 public:
  static constexpr std::size_t together_max = 64;

  /// `readers`: how many threads call load(): each leaves the others their part.
  LoadQueue(AggregateJournal& journal, std::size_t readers) : journal_(journal), readers_(readers) {}

  void add(std::shared_ptr<CellInbox> inbox, EntityActions::Load load);
  /// Some of those that wait, to their end. Blocks on the disk.
  void load();

 private:
  struct Waiting {
    std::shared_ptr<CellInbox> inbox;
    EntityActions::Load load;
  };
  [[nodiscard]] std::vector<Waiting> take();

  AggregateJournal& journal_;
  const std::size_t readers_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  ///< in order of arrival
};

}  // namespace evershard::actors
