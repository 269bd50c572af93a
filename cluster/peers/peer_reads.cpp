#include "evershard/cluster/peers/peer_reads.hpp"

#include <algorithm>
#include <vector>

namespace evershard::cluster {

using storage::ReadWork;

std::shared_ptr<ReadWork> PeerReads::begin(std::uint32_t node, std::uint64_t number,
                                           ReadWork::Clock::time_point deadline) {
  auto read = long_reads_.begin(deadline);
  if (number == 0) return read;
  const Name name{node, number};
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(reads_, [](const auto& one) { return one.second.expired(); });
    reads_[name] = read;
    gone = std::erase(early_, name) != 0;
  }
  if (gone) read->cancel();
  return read;
}

void PeerReads::given_up(std::uint32_t node, std::uint64_t number) {
  std::shared_ptr<ReadWork> read;
  {
    const std::lock_guard lock(mutex_);
    const Name name{node, number};
    if (const auto found = reads_.find(name); found != reads_.end()) {
      read = found->second.lock();
      reads_.erase(found);
    } else {
      early_.push_back(name);
      if (early_.size() > early_max) early_.pop_front();
    }
  }
  if (read) read->cancel();
}

void PeerReads::gone(std::uint32_t node) {
  std::vector<std::shared_ptr<ReadWork>> gone;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(early_, [&](const Name& name) { return name.first == node; });
    const auto first = reads_.lower_bound({node, 0}), last = reads_.upper_bound({node, ~std::uint64_t{0}});
    for (auto read = first; read != last; ++read) {
      if (auto alive = read->second.lock()) gone.push_back(std::move(alive));
    }
    reads_.erase(first, last);
  }
  for (const auto& read : gone) read->cancel();
}

std::size_t PeerReads::under_way() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(reads_, [](const auto& one) { return !one.second.expired(); }));
}

}  // namespace evershard::cluster
