#include "examples/postgres_effects/postgres_ledger.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace example {
namespace {

using evershard::ErrorCode;
using evershard::refuse;
using evershard::Result;

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* answer) const { PQclear(answer); }
};
using Connection = std::unique_ptr<PGconn, Finish>;
using Answer = std::unique_ptr<PGresult, Finish>;

std::string in_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (auto& c : text)
    if (c == '\n') c = ' ';
  return "PostgreSQL: " + text;
}

/// Values that no table of this kind takes (class 22, 23) will not be taken later either: that is final. Everything
/// else is mended by somebody, or passes: no connection, no table, no right to it, a deadlock.
Result<Answer> run(PGconn& connection, const char* sql, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const auto& value : values) {
    if (value.find('\0') != std::string::npos)
      return refuse(ErrorCode::invalid_argument, "PostgreSQL takes no NUL in a text");
    texts.push_back(value.c_str());
  }
  Answer answer(
      PQexecParams(&connection, sql, static_cast<int>(texts.size()), nullptr, texts.data(), nullptr, nullptr, 0));
  const auto status = PQresultStatus(answer.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return answer;
  const char* state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
  const std::string_view code = state == nullptr ? "" : state;
  return refuse(code.starts_with("22") || code.starts_with("23") ? ErrorCode::invalid_argument : ErrorCode::unavailable,
                in_one_line(PQerrorMessage(&connection)));
}

Result<std::int64_t> enter_now(Connection& connection, const std::string& where, const LedgerEntry& entry) {
  if (!connection || PQstatus(connection.get()) != CONNECTION_OK) {
    connection.reset(PQconnectdb(where.c_str()));
    if (PQstatus(connection.get()) != CONNECTION_OK)
      return refuse(ErrorCode::unavailable, in_one_line(PQerrorMessage(connection.get())));
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
  }
  // A transaction by itself. What else belongs to the effect goes into it, where a row was written.
  auto inserted =
      run(*connection, "INSERT INTO ledger (key, account, cents) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          {entry.key, entry.account, std::to_string(entry.cents)});
  if (!inserted) return refuse(std::move(inserted).error());
  auto found = run(*connection, "SELECT number FROM ledger WHERE key = $1", {entry.key});
  if (!found) return refuse(std::move(found).error());
  if (PQntuples(found->get()) != 1) return refuse(ErrorCode::unavailable, "the entry is gone again");
  return std::strtoll(PQgetvalue(found->get(), 0, 0), nullptr, 10);
}

}  // namespace

PostgresLedger::PostgresLedger(std::string connection, std::size_t threads) : connection_(std::move(connection)) {
  while (threads_.size() != threads) threads_.emplace_back([this] { work(); });
}

PostgresLedger::~PostgresLedger() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void PostgresLedger::enter(LedgerEntry entry, Done done) {
  {
    const std::lock_guard lock(mutex_);
    wanted_.push_back({std::move(entry), std::move(done)});
  }
  changed_.notify_one();
}

void PostgresLedger::work() {
  Connection connection;
  for (;;) {
    Wanted wanted;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !wanted_.empty(); });
      if (stopping_) return;
      wanted = std::move(wanted_.front());
      wanted_.pop_front();
    }
    wanted.done(enter_now(connection, connection_, wanted.entry));
  }
}

}  // namespace example
