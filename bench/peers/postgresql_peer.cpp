// PostgreSQL with a table of events, as people keep them there: a growing position, tags in an array under a GIN index.
//
// A plain append takes its positions from a sequence: readers may see a later one before an earlier one, and rolled
// back ones leave gaps. It promises less than the others do. One with a condition takes a lock, as it must.

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "bench/peers/peer.hpp"

namespace evershard::bench {
namespace {

constexpr const char* schema = R"(
create table events (
  position bigint generated always as identity primary key,
  id uuid not null unique,
  type text not null,
  tags text[] not null,
  data bytea not null);
create index events_tags on events using gin (tags);

-- The tags of the i-th event are those from tags_end[i - 1] + 1 to tags_end[i].
create function append(after bigint, ids uuid[], types text[], all_tags text[], tags_end int[], data bytea[])
returns bigint language plpgsql as $$
declare
  last bigint;
begin
  if after is not null then
    perform pg_advisory_xact_lock(1);
    if exists (select from events where position > after and type = types[1] and tags @> all_tags[1:tags_end[1]]) then
      return null;
    end if;
  end if;
  with stored as (
    insert into events (id, type, tags, data)
    select ids[i], types[i], all_tags[coalesce(tags_end[i - 1], 0) + 1:tags_end[i]], data[i]
    from generate_subscripts(ids, 1) as i order by i
    returning position)
  select max(position) into last from stored;
  return last;
end $$;
)";

constexpr Oid bytea_type = 17, int8_type = 20, int4_type = 23, text_type = 25, int4s_type = 1007,
              text_array_type = 1009, byteas_type = 1001, uuid_type = 2950, uuids_type = 2951;

template <class Int>
std::string big_endian(Int value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i != sizeof value; ++i)
    bytes[sizeof value - 1 - i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return bytes;
}

/// An array in PostgreSQL's binary form.
class Array {
 public:
  explicit Array(Oid element) : element_(element) {}
  void add(std::string_view bytes) {
    elements_ += big_endian(static_cast<std::int32_t>(bytes.size()));
    elements_ += bytes;
    ++count_;
  }
  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] std::string bytes() const {
    return big_endian(std::int32_t{1}) + big_endian(std::int32_t{0}) + big_endian(static_cast<std::int32_t>(element_)) +
           big_endian(count_) + big_endian(std::int32_t{1}) + elements_;
  }

 private:
  Oid element_;
  std::int32_t count_ = 0;
  std::string elements_;
};

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

class PostgreSqlClient final : public PeerClient {
 public:
  explicit PostgreSqlClient(PGconn* connection) : connection_(connection) {}
  ~PostgreSqlClient() override { PQfinish(connection_); }

  Result<void> prepare() {
    constexpr std::array types{int8_type, uuids_type, text_array_type, text_array_type, int4s_type, byteas_type};
    for (const Answer& answer :
         {Answer(PQprepare(connection_, "append", "select append($1, $2, $3, $4, $5, $6)", types.size(), types.data())),
          Answer(PQprepare(connection_, "tag",
                           "select position, id, type, tags, data from events where tags @> $1 order by position", 1,
                           &text_array_type)),
          Answer(
              PQprepare(connection_, "one",
                        "select position, id, type, tags, data from events where tags @> $1 order by position limit 1",
                        1, &text_array_type)),
          Answer(PQprepare(connection_, "all", "select position, id, type, tags, data from events order by position", 0,
                           nullptr))})
      if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return failed();
    return {};
  }

  Result<std::uint64_t> append(const Append& append) override { return send(append, std::nullopt); }
  Result<std::uint64_t> append_if(const Append& append, std::uint64_t after) override { return send(append, after); }
  Result<std::uint64_t> read(const std::string& tag) override { return read("tag", tag); }
  Result<std::uint64_t> read_one(const std::string& tag) override { return read("one", tag); }
  Result<std::uint64_t> read_all() override {
    return read(PQsendQueryPrepared(connection_, "all", 0, nullptr, nullptr, nullptr, 1) == 1);
  }

 private:
  Result<std::uint64_t> read(const char* statement, const std::string& tag) {
    Array tags(text_type);
    tags.add(tag);
    const auto bytes = tags.bytes();
    const char* const value = bytes.data();
    const auto length = static_cast<int>(bytes.size());
    constexpr int binary = 1;
    return read(PQsendQueryPrepared(connection_, statement, 1, &value, &length, &binary, 1) == 1);
  }
  Result<std::uint64_t> send(const Append& append, std::optional<std::uint64_t> after) {
    Array ids(uuid_type), types(text_type), tags(text_type), ends(int4_type), data(bytea_type);
    for (const auto& event : append.events) {
      const auto id = EventId::random();
      ids.add({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
      types.add(event.type);
      for (const auto& tag : event.tags) tags.add(tag);
      ends.add(big_endian(tags.count()));
      data.add(event.payload);
    }
    const std::array given{
        big_endian(after.value_or(0)), ids.bytes(), types.bytes(), tags.bytes(), ends.bytes(), data.bytes()};
    std::array<const char*, given.size()> values;
    std::array<int, given.size()> lengths, formats;
    for (std::size_t i = 0; i != given.size(); ++i) {
      values[i] = given[i].data();
      lengths[i] = static_cast<int>(given[i].size());
      formats[i] = 1;
    }
    if (!after) values[0] = nullptr;
    const Answer answer(PQexecPrepared(connection_, "append", static_cast<int>(given.size()), values.data(),
                                       lengths.data(), formats.data(), 1));
    if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) return failed();
    if (PQgetisnull(answer.get(), 0, 0)) return refuse(ErrorCode::condition_failed, "another event came in between");
    std::uint64_t last = 0;
    for (int i = 0; i != 8; ++i) last = last << 8 | static_cast<unsigned char>(PQgetvalue(answer.get(), 0, 0)[i]);
    return last;
  }

  /// Row by row, as a client does that does not want to have all of them in memory.
  Result<std::uint64_t> read(bool sent) {
    if (!sent || PQsetSingleRowMode(connection_) != 1) return failed();
    std::uint64_t events = 0;
    bool whole = true;
    while (const Answer answer{PQgetResult(connection_)}) {
      const auto status = PQresultStatus(answer.get());
      whole = whole && (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK);
      events += static_cast<std::uint64_t>(PQntuples(answer.get()));
    }
    if (!whole) return failed();
    return events;
  }

  [[nodiscard]] Refused failed() const { return refuse(ErrorCode::io, PQerrorMessage(connection_)); }

  PGconn* const connection_;
};

/// It refuses to run as root: then it runs as the user that its package made.
std::vector<std::string> as_its_user(std::vector<std::string> words) {
  if (geteuid() != 0) return words;
  words.insert(words.begin(), {"--reuid=postgres", "--regid=postgres", "--clear-groups"});
  return words;
}

class PostgreSqlPeer final : public Peer {
 public:
  explicit PostgreSqlPeer(const PeerSetup& given)
      : Peer({given.folder, geteuid() == 0 ? "/usr/bin/setpriv" : given.program / "postgres", given.cache_bytes}),
        programs_(given.program) {}

  Result<void> make() {
    const auto* user = geteuid() == 0 ? getpwnam("postgres") : nullptr;
    if (geteuid() == 0 && (user == nullptr || chown(setup().folder.c_str(), user->pw_uid, user->pw_gid) != 0))
      return refuse(ErrorCode::io, "there is no user \"postgres\" that PostgreSQL could run as");
    auto words = as_its_user({(programs_ / "initdb").string(), "--pgdata", data(), "--username", "bench", "--auth",
                              "trust", "--encoding", "UTF8", "--locale", "C"});
    if (geteuid() != 0) words.erase(words.begin());
    auto made = cli::ChildProcess::start(words, setup().folder / "initdb.log", SIGKILL,
                                         geteuid() == 0 ? "/usr/bin/setpriv" : programs_ / "initdb");
    if (!made) return refuse(std::move(made).error());
    std::optional<int> status;
    while (!(status = made->ended())) usleep(20'000);
    if (*status != 0)
      return refuse(ErrorCode::io, "initdb has failed: see " + (setup().folder / "initdb.log").string());
    EVERSHARD_TRY(start());
    PGconn* const connection = open();
    const Answer answer(PQexec(connection, schema));
    const bool there = PQresultStatus(answer.get()) == PGRES_COMMAND_OK;
    const std::string what = PQerrorMessage(connection);
    PQfinish(connection);
    return there ? Result<void>() : refuse(ErrorCode::io, what);
  }

  Result<std::unique_ptr<PeerClient>> connect() override {
    auto client = std::make_unique<PostgreSqlClient>(open());
    EVERSHARD_TRY(client->prepare());
    return client;
  }

 private:
  [[nodiscard]] std::string data() const { return (setup().folder / "data").string(); }
  /// It listens before it lets anybody in.
  [[nodiscard]] PGconn* open() const {
    const auto where = "host=127.0.0.1 user=bench dbname=postgres sslmode=disable port=" + std::to_string(port());
    for (int tries = 0;; ++tries) {
      PGconn* const connection = PQconnectdb(where.c_str());
      if (PQstatus(connection) == CONNECTION_OK || tries == 500) return connection;
      PQfinish(connection);
      usleep(20'000);
    }
  }
  /// Its defaults, but for memory: a quarter of the machine's, as its documentation advises, and a log of 4 GB between
  /// two checkpoints.
  std::vector<std::string> words() const override {
    const auto cache = setup().cache_bytes != 0 ? setup().cache_bytes
                                                : static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) / 4 *
                                                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<std::string> own{"-D", data(),
                                 "-p", std::to_string(port()),
                                 "-h", "127.0.0.1",
                                 "-k", "",
                                 "-c", "shared_buffers=" + std::to_string(cache >> 20) + "MB",
                                 "-c", "max_wal_size=4GB",
                                 "-c", "max_connections=200"};
    if (geteuid() != 0) return own;
    own.insert(own.begin(), (programs_ / "postgres").string());
    return as_its_user(std::move(own));
  }

  const std::filesystem::path programs_;
};

}  // namespace

Result<std::unique_ptr<Peer>> start_postgresql(const PeerSetup& setup) {
  auto peer = std::make_unique<PostgreSqlPeer>(setup);
  EVERSHARD_TRY(peer->make());
  return peer;
}

}  // namespace evershard::bench
