#include "evershard/services/engine/any_removed.hpp"

#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {

Result<bool> AnyRemoved::operator()() {
  if (any_) return true;
  const auto head = events_.head();
  if (!head) return refuse(head.error());
  if (none_at_ == head->value + 1) return false;
  const auto log = events_.aggregate({std::string(retention::log_type), std::string(retention::log_value)});
  if (!log && log.error().code != ErrorCode::not_found) return refuse(log.error());
  if (log)
    any_ = true;
  else
    none_at_ = head->value + 1;
  return log.has_value();
}

}  // namespace evershard::cluster
