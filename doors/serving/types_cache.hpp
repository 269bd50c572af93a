// TypesCache: registered types ready to use, for one thread at a time, without building them for every request.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/api/json/payload_types.hpp"

namespace evershard::serving {

class TypesCache {
 public:
  explicit TypesCache(std::function<Result<RegisteredTypes>()> registered) : registered_(std::move(registered)) {}

  /// Goes back when it is destroyed, which must be before the cache is. Errors: corruption, io, invalid_argument,
  /// not_found
  using Lease = std::shared_ptr<const PayloadTypes>;
  [[nodiscard]] Result<Lease> lease();

 private:
  const std::function<Result<RegisteredTypes>()> registered_;
  std::mutex mutex_;
  RegisteredTypes known_;
  std::uint64_t generation_ = 0;
  std::vector<std::unique_ptr<PayloadTypes>> free_;
};

}  // namespace evershard::serving
