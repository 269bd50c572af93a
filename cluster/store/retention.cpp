#include "evershard/cluster/store/retention.hpp"

namespace evershard {

std::string_view name_of(RetentionPolicy::Kind kind) {
  switch (kind) {
    case RetentionPolicy::Kind::events: return "events";
    case RetentionPolicy::Kind::truncate: return "truncate";
    case RetentionPolicy::Kind::remove: return "remove";
  }
  return "unknown";
}

std::optional<RetentionPolicy::Kind> policy_kind_of(std::string_view name) {
  for (const auto kind : {RetentionPolicy::Kind::events, RetentionPolicy::Kind::truncate, RetentionPolicy::Kind::remove})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

}  // namespace evershard
