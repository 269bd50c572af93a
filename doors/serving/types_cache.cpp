#include "evershard/doors/serving/types_cache.hpp"

#include <utility>

namespace evershard::serving {

Result<TypesCache::Lease> TypesCache::lease() {
  RegisteredTypes now;
  if (registered_) {
    auto read = registered_();
    if (!read) return refuse(std::move(read).error());
    now = *std::move(read);
  }
  std::unique_ptr<PayloadTypes> types;
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    if (now != known_) {
      known_ = now;
      free_.clear();
      ++generation_;
    }
    generation = generation_;
    if (!free_.empty()) {
      types = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!types && now.empty()) types = std::make_unique<PayloadTypes>();
  if (!types) {
    auto made = PayloadTypes::of(now);
    if (!made) return refuse(std::move(made).error());
    types = std::make_unique<PayloadTypes>(*std::move(made));
  }
  return Lease(types.release(), [this, generation](const PayloadTypes* used) {
    std::unique_ptr<PayloadTypes> back(const_cast<PayloadTypes*>(used));
    const std::lock_guard lock(mutex_);
    if (generation == generation_) free_.push_back(std::move(back));
  });
}

}  // namespace evershard::serving
