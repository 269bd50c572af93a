#include "examples/postgres_sink/postgres_target.hpp"

#include <libpq-fe.h>

#include <cstring>
#include <exception>
#include <utility>

namespace example {
namespace {

using evershard::ErrorCode;
using evershard::refuse;
using evershard::Result;
using evershard::SinkCheckpoint;

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

std::string one_line(const char* message) {
  std::string text(message);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (auto& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

/// What can pass by itself: the connection, the server's end, other transactions.
bool passes(PGconn& connection, const PGresult* answer) {
  if (PQstatus(&connection) != CONNECTION_OK) return true;
  const char* state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  if (state == nullptr) return true;
  const std::string_view code = state;
  return code.starts_with("40") || code.starts_with("08") || code.starts_with("57") || code.starts_with("53");
}

Result<Answer> answered(PGconn& connection, const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const auto& parameter : parameters) {
    if (parameter.find('\0') != std::string::npos)
      return refuse(ErrorCode::invalid_argument, "PostgreSQL takes no NUL in a text");
    values.push_back(parameter.c_str());
  }
  Answer answer(PQexecParams(&connection, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                             nullptr, 0));
  const auto status = PQresultStatus(answer.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return answer;
  return refuse(passes(connection, answer.get()) ? ErrorCode::unavailable : ErrorCode::invalid_argument,
                "PostgreSQL: " + one_line(PQerrorMessage(&connection)));
}

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace

Result<std::uint64_t> Transaction::execute(const std::string& sql, const std::vector<std::string>& parameters) {
  auto answer = answered(connection_, sql, parameters);
  if (!answer) return refuse(std::move(answer).error());
  return number(PQcmdTuples(answer->get()));
}

void PostgresTarget::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Result<std::unique_ptr<PostgresTarget>> PostgresTarget::connect(const std::string& connection, std::string sink,
                                                                Handler handler) {
  std::unique_ptr<PostgresTarget> target(new PostgresTarget(std::move(sink), std::move(handler)));
  target->connection_.reset(PQconnectdb(connection.c_str()));
  PQsetNoticeProcessor(
      target->connection_.get(), [](void*, const char*) {}, nullptr);
  auto made = target->run(
      "CREATE TABLE IF NOT EXISTS evershard_sinks (name text PRIMARY KEY, store_id text NOT NULL, fork_id text NOT "
      "NULL, position bigint NOT NULL, epoch bigint NOT NULL, event text NOT NULL DEFAULT '')");
  // One that was made before checkpoints named their event.
  if (made) made = target->run("ALTER TABLE evershard_sinks ADD COLUMN IF NOT EXISTS event text NOT NULL DEFAULT ''");
  if (!made) return refuse(std::move(made).error());
  return target;
}

Result<void> PostgresTarget::connected() {
  if (PQstatus(connection_.get()) == CONNECTION_OK && PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) return {};
  PQreset(connection_.get());  // also what a transaction left open
  if (PQstatus(connection_.get()) == CONNECTION_OK) return {};
  return refuse(ErrorCode::unavailable, "PostgreSQL: " + one_line(PQerrorMessage(connection_.get())));
}

Result<void> PostgresTarget::run(const std::string& sql) {
  EVERSHARD_TRY(connected());
  EVERSHARD_TRY(Transaction(*connection_).execute(sql));
  return {};
}

Result<std::optional<SinkCheckpoint>> PostgresTarget::checkpoint() {
  EVERSHARD_TRY(connected());
  auto answer = answered(
      *connection_, "SELECT store_id, fork_id, position, epoch, event FROM evershard_sinks WHERE name = $1", {sink_});
  if (!answer) return refuse(std::move(answer).error());
  if (PQntuples(answer->get()) == 0) return std::nullopt;
  const auto cell = [&](int column) { return PQgetvalue(answer->get(), 0, column); };
  return SinkCheckpoint{cell(0), cell(1), evershard::GlobalPosition(number(cell(2))), evershard::Epoch(number(cell(3))),
                        evershard::EventId::parse(cell(4)).value_or(evershard::EventId{})};
}

Result<void> PostgresTarget::replace_checkpoint(Transaction& transaction, const std::optional<SinkCheckpoint>& expected,
                                                const SinkCheckpoint& next) {
  std::vector<std::string> values{sink_,
                                  next.store_id,
                                  next.fork_id,
                                  std::to_string(next.position.value),
                                  std::to_string(next.epoch.value),
                                  next.event.given() ? next.event.text() : ""};
  std::string sql =
      "INSERT INTO evershard_sinks (name, store_id, fork_id, position, epoch, event) VALUES ($1, $2, $3, $4, $5, $6) "
      "ON CONFLICT DO NOTHING";
  if (expected) {
    sql =
        "UPDATE evershard_sinks SET store_id = $2, fork_id = $3, position = $4, epoch = $5, event = $6 WHERE name = $1 "
        "AND store_id = $7 AND fork_id = $8 AND position = $9 AND epoch = $10";
    values.insert(values.end(), {expected->store_id, expected->fork_id, std::to_string(expected->position.value),
                                 std::to_string(expected->epoch.value)});
  }
  const auto replaced = transaction.execute(sql, values);
  if (!replaced) return refuse(replaced.error());
  if (*replaced == 1) return {};
  return refuse(ErrorCode::fenced,
                "sink \"" + sink_ + "\": the checkpoint is not the one this writer left: another one has taken over");
}

Result<void> PostgresTarget::write(std::span<const evershard::RecordedEvent> events,
                                   const std::optional<SinkCheckpoint>& expected, const SinkCheckpoint& next) {
  EVERSHARD_TRY(connected());
  Transaction transaction(*connection_);
  const auto undo = [&](evershard::Error error) {
    if (PQstatus(connection_.get()) == CONNECTION_OK) (void)transaction.execute("ROLLBACK");
    return refuse(std::move(error));
  };
  EVERSHARD_TRY(transaction.execute("BEGIN"));
  if (auto replaced = replace_checkpoint(transaction, expected, next); !replaced)
    return undo(std::move(replaced).error());
  for (const auto& event : events) {
    Result<void> handled;
    try {
      handled = handler_(transaction, event);
    } catch (const std::exception& thrown) {
      handled = refuse(ErrorCode::invalid_argument, std::string("the handler threw: ") + thrown.what());
    }
    if (!handled)
      return undo({handled.error().code,
                   "event at position " + std::to_string(event.position.value) + ": " + handled.error().what});
  }
  auto committed = answered(*connection_, "COMMIT", {});
  // A connection that breaks here may have broken before or behind the commit.
  if (!committed)
    return refuse(committed.error().code == ErrorCode::unavailable ? ErrorCode::timeout : committed.error().code,
                  committed.error().what);
  if (std::strcmp(PQcmdStatus(committed->get()), "COMMIT") != 0)
    return refuse(ErrorCode::unavailable, "PostgreSQL has undone the transaction");
  return {};
}

}  // namespace example
