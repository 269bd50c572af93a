#include "evershard/api/retention.hpp"

#include <utility>

#include "evershard/protocol/utf8.hpp"

namespace evershard {

Result<void> check(const RetentionOrder& order) {
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"who wants it (by)", order.by},
                                   {"why it is wanted (reason)", order.reason}}) {
    if (!is_utf8(text))
      return refuse(ErrorCode::invalid_argument, std::string(name) + " is not UTF-8: the log of retention is JSON");
    if (text.size() > RetentionOrder::text_bytes_max)
      return refuse(ErrorCode::invalid_argument, std::string(name) + " has " + std::to_string(text.size()) +
                                                     " bytes: the log of retention keeps up to " +
                                                     std::to_string(RetentionOrder::text_bytes_max));
  }
  return {};
}

std::string_view name_of(RetentionPolicy::Kind kind) {
  switch (kind) {
    case RetentionPolicy::Kind::events:
      return "events";
    case RetentionPolicy::Kind::truncate:
      return "truncate";
    case RetentionPolicy::Kind::remove:
      return "remove";
  }
  return "unknown";
}

std::optional<RetentionPolicy::Kind> policy_kind_of(std::string_view name) {
  for (const auto kind :
       {RetentionPolicy::Kind::events, RetentionPolicy::Kind::truncate, RetentionPolicy::Kind::remove})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

}  // namespace evershard
