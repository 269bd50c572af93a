// What the events of retention say, as JSON.
//
// Source: docs/removal.md, "The log".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/api/retention.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/journal/record_rewrite.hpp"

namespace evershard::cluster {

/// An event of the log, or of a policy's definition.
[[nodiscard]] Event retention_event(AggregateId aggregate, std::string_view type, std::string json);
[[nodiscard]] AggregateId retention_log();
/// `entry`: of the log, first of its operation. Errors: too_large: that, or what follows it there, is more than an
/// event may be
[[nodiscard]] Result<void> check_fits(const std::string& entry, const Limits& limits);
void add(RetentionResult& to, const storage::RewriteFigures& figures);

/// Member after member; texts are escaped.
class RetentionPayload {
 public:
  RetentionPayload(std::string_view operation, const RetentionOrder& order);
  RetentionPayload& text(std::string_view name, std::string_view value);
  RetentionPayload& number(std::string_view name, std::uint64_t value);
  RetentionPayload& flag(std::string_view name, bool value);
  RetentionPayload& figures(const storage::RewriteFigures& figures);
  /// [first, last] each.
  RetentionPayload& ranges(std::string_view name, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges);
  [[nodiscard]] std::string take();

 private:
  void key(std::string_view name);
  std::string json_ = "{";
};

/// Which operation an event of the log is about. Empty: it says none.
[[nodiscard]] std::string operation_of(std::string_view json);
[[nodiscard]] std::string policy_payload(const RetentionPolicy& policy, const RetentionOrder& order);
/// Absent: it is no policy this program knows.
[[nodiscard]] std::optional<RetentionPolicy> policy_of(const std::string& name, std::string_view json);

}  // namespace evershard::cluster
