// PostgresLedger: entries in a table of PostgreSQL, each once a key, written by threads that may wait for it.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <evershard/local.hpp>

namespace example {

struct LedgerEntry {
  std::string key;  ///< of whoever wants it: the table's primary key
  std::string account;
  std::int64_t cents = 0;
};

/// libpq waits for its server, and a handler of an effect must not: so it does in threads of its own, with a connection
/// each.
class PostgresLedger {
 public:
  using Done = std::function<void(evershard::Result<std::int64_t> number)>;
  static constexpr const char* table =
      "CREATE TABLE IF NOT EXISTS ledger (key text PRIMARY KEY, number bigserial NOT NULL, account text NOT NULL, "
      "cents bigint NOT NULL CHECK (cents > 0))";

  /// `connection`: as libpq takes it, "host=/run/postgresql dbname=shop". Connects when there is something to do.
  /// How long a thread waits for a server that has gone silent is said there: `connect_timeout`, `tcp_user_timeout`.
  PostgresLedger(std::string connection, std::size_t threads);
  /// What is under way is finished; what waits is told nothing more.
  ~PostgresLedger();
  PostgresLedger(const PostgresLedger&) = delete;
  PostgresLedger& operator=(const PostgresLedger&) = delete;

  /// Any thread; returns at once. The entry's number, also where it was there already: `done` comes from another
  /// thread. Errors: invalid_argument: no such entry can be; unavailable: everything else. The entry may be there
  void enter(LedgerEntry entry, Done done);

 private:
  struct Wanted {
    LedgerEntry entry;
    Done done;
  };
  void work();

  const std::string connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<Wanted> wanted_;
  std::vector<std::thread> threads_;
};

}  // namespace example
