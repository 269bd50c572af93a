// PostgresTarget: a sink's rows and checkpoint in PostgreSQL, in one transaction.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <evershard/sink.hpp>

struct pg_conn;

namespace example {

/// What a handler may do inside of the transaction.
class Transaction {
 public:
  explicit Transaction(pg_conn& connection) : connection_(connection) {}
  /// One statement with its parameters as text. Returns: rows affected. Errors: as PostgresTarget::write
  [[nodiscard]] evershard::Result<std::uint64_t> execute(const std::string& sql,
                                                         const std::vector<std::string>& parameters = {});

 private:
  pg_conn& connection_;
};

/// What the application makes of an event. An error, or anything thrown, undoes the whole page.
using Handler = std::function<evershard::Result<void>(Transaction&, const evershard::RecordedEvent&)>;

/// The checkpoint lies in table `evershard_sinks`, a row a sink. Updating that row, under the condition that it is the
/// expected one, is the first statement of every transaction: PostgreSQL locks it, so that of two writers the second
/// waits, looks again and finds that it is too late.
class PostgresTarget final : public evershard::SinkTarget {
 public:
  /// `connection`: as libpq takes it, "host=/run/postgresql dbname=shop". Makes the table where it is missing.
  /// Errors: unavailable
  [[nodiscard]] static evershard::Result<std::unique_ptr<PostgresTarget>> connect(const std::string& connection,
                                                                                  std::string sink, Handler handler);

  /// Errors: unavailable: no connection; invalid_argument: what PostgreSQL or the handler refused
  evershard::Result<std::optional<evershard::SinkCheckpoint>> checkpoint() override;
  evershard::Result<void> write(std::span<const evershard::RecordedEvent> events,
                                const std::optional<evershard::SinkCheckpoint>& expected,
                                const evershard::SinkCheckpoint& next) override;

  /// For applications that make their tables, and for tests.
  [[nodiscard]] evershard::Result<void> run(const std::string& sql);

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  PostgresTarget(std::string sink, Handler handler) : sink_(std::move(sink)), handler_(std::move(handler)) {}
  evershard::Result<void> connected();
  evershard::Result<void> replace_checkpoint(Transaction& transaction,
                                             const std::optional<evershard::SinkCheckpoint>& expected,
                                             const evershard::SinkCheckpoint& next);

  std::string sink_;
  Handler handler_;
  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace example
