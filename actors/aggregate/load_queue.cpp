#include "evershard/actors/aggregate/load_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/actors/entity/replay.hpp"

namespace evershard::actors {

void LoadQueue::add(std::shared_ptr<CellInbox> inbox, EntityActions::Load load) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(inbox), std::move(load)});
}

std::vector<LoadQueue::Waiting> LoadQueue::take() {
  const std::lock_guard lock(mutex_);
  const auto count = std::min((waiting_.size() + readers_ - 1) / readers_, together_max);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Waiting> taken(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return taken;
}

void LoadQueue::load() {
  const auto taken = take();
  if (taken.empty()) return;
  std::vector<ToReplay> aggregates;
  for (const auto& [inbox, load] : taken) aggregates.push_back({load.kind.get(), load.aggregate});
  auto results = replay_all(journal_, aggregates);
  for (std::size_t i = 0; i != taken.size(); ++i)
    taken[i].inbox->put(inputs::Loaded{taken[i].load.op, std::move(results[i])});
}

}  // namespace evershard::actors
