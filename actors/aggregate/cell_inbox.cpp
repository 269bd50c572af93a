#include "evershard/actors/aggregate/cell_inbox.hpp"

#include <utility>

namespace evershard::actors {

void CellInbox::put(CellInput input) {
  std::function<void(CellInput &&)> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (wake_) {
      inputs_.push_back(std::move(input));
      if (!std::exchange(awake_, true)) wake_();
      return;
    }
    dropped = dropped_;
  }
  if (dropped) dropped(std::move(input));
}

void CellInbox::take(std::vector<CellInput>& out) {
  out.clear();
  const std::lock_guard lock(mutex_);
  out.swap(inputs_);
  if (out.empty()) awake_ = false;
}

void CellInbox::close(std::function<void(CellInput&&)> dropped) {
  std::vector<CellInput> left;
  {
    const std::lock_guard lock(mutex_);
    dropped_ = dropped;
    wake_ = nullptr;
    left.swap(inputs_);
  }
  for (auto& input : left) dropped(std::move(input));
}

}  // namespace evershard::actors
