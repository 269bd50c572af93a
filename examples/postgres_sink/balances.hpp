// Balances of accounts as rows of PostgreSQL: what the example keeps. Adding is no idempotent effect: done twice, or
// not at all, it is seen.

#pragma once

#include "examples/postgres_sink/postgres_target.hpp"

namespace example {

inline constexpr const char* balances_table =
    "CREATE TABLE IF NOT EXISTS balances (account text PRIMARY KEY, balance bigint NOT NULL, events bigint NOT NULL, "
    "last_position bigint NOT NULL)";

/// `Deposited` and `Withdrawn` of aggregates `account-...`, with payloads {"amount":17}.
inline evershard::Result<void> keep_balance(Transaction& transaction, const evershard::RecordedEvent& event) {
  if (!event.aggregate || event.aggregate->type != "account") return {};
  if (event.type != "Deposited" && event.type != "Withdrawn") return {};
  const std::string sign = event.type == "Deposited" ? "" : "-";
  auto done = transaction.execute("INSERT INTO balances VALUES ($1, " + sign +
                                      "(($2::jsonb->>'amount')::bigint), 1, $3) ON CONFLICT (account) DO UPDATE SET "
                                      "balance = balances.balance + excluded.balance, "
                                      "events = balances.events + 1, last_position = excluded.last_position",
                                  {event.aggregate->value, event.payload, std::to_string(event.position.value)});
  if (!done) return evershard::refuse(std::move(done).error());
  return {};
}

}  // namespace example
