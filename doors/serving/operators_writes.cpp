#include "evershard/doors/serving/operators_writes.hpp"

#include <string>

#include "evershard/protocol/copy_names.hpp"

namespace evershard::serving {
namespace {

Result<void> check_writes_of_copy(const Caller& caller) {
  auto may = caller.check(Scope::admin);
  if (may) return may;
  return refuse(may.error().code, may.error().what + ": how far a copy is (aggregates $copy-NAME) is an operator's");
}

}  // namespace

Result<void> check_operators_writes(const Caller& caller, const Append& append) {
  if (append.from_export) EVERSHARD_TRY(caller.check(Scope::admin));
  return writes_of_copy(append) ? check_writes_of_copy(caller) : Result<void>();
}

Result<void> check_operators_writes(const Caller& caller, const Snapshot& snapshot) {
  return is_of_copy(snapshot.aggregate) ? check_writes_of_copy(caller) : Result<void>();
}

}  // namespace evershard::serving
