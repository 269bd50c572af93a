#include "evershard/doors/server/server_settings.hpp"

#include "evershard/doors/server/log_settings.hpp"
#include "evershard/doors/settings/bound_table.hpp"

namespace evershard::server {
namespace {

using settings::Kind;
using settings::Setting;
using settings::Value;

using Entries = settings::BoundTable<ServerOptions>;
using Group = Entries::Group;
using settings::bounded;
using settings::unfit;

constexpr Limits limits_most = Limits::most();

#define EVERSHARD_FIELD(member) EVERSHARD_SETTING_FIELD(ServerOptions, member)

void add_store(Entries& all) {
  constexpr std::uint64_t mib = 1u << 20;
  Group store(all, "store");
  store.path(
      "data", "The store's directory.", [](ServerOptions & options) -> auto& { return options.store.data_dir; });
  store.path(
      "keys",
      "The keys of subjects whose payloads are sealed, outside of the store's directory. Empty: payloads are neither "
      "sealed nor opened.",
      [](ServerOptions & options) -> auto& { return options.store.keys_dir; });
  store.yes_no("create", "Whether a store that is not there is created.", EVERSHARD_FIELD(store.create));
  bounded(store.number("shards",
                       "How many shards a new store gets, for good; a store that is there must have as many. 0: 16, or "
                       "what it has; of a cluster's node: what the cluster has.",
                       EVERSHARD_FIELD(store.shards)),
          0, shards_max);
  store.size("block-cache",
             "Memory for blocks of sorted files. 0: an eighth of the machine's memory, or of what its container or "
             "unit may use.",
             EVERSHARD_FIELD(store.block_cache_bytes));
  bounded(store.size("memtable", "Memory for what was written last, before it becomes a file; the store has several.",
                     EVERSHARD_FIELD(store.memtable_bytes)),
          mib, 1u << 30);
  bounded(store.number("tail-events", "How many events are indexed in memory before they are sealed into a file.",
                       EVERSHARD_FIELD(store.tail_events)),
          1'024, 16'777'216);
  store.size("disk-reserve",
             "Below this much free space appends are refused. At least `memtable`; 0: only where what is in memory "
             "would find no "
             "room on the disk.",
             EVERSHARD_FIELD(store.disk_reserve_bytes));
  store.duration("at-least-timeout", "How long a read waits for the position it must have reached.",
                 EVERSHARD_FIELD(store.at_least_timeout));
  store.duration("retention-every",
                 "How often the store's policies of retention are applied, by a node of a cluster to its own shards: "
                 "what they say is removed for good. 0: never.",
                 EVERSHARD_FIELD(retention_every));
  store.duration(
      "schedule-keep",
      "How long it is kept what became of scheduled appends, from when they were made, refused or cancelled; "
      "a node of a cluster does it for its own shards. That each is over stays known. 0: for good.",
      EVERSHARD_FIELD(schedule_keep));
  store.duration("vacuum-every",
                 "How often space of events that were removed is given back, while everything goes on. 0: never.",
                 EVERSHARD_FIELD(vacuum_every));
}

void add_rows(Entries& all) {
  constexpr std::uint64_t mib = 1u << 20;
  const char* every =
      "How often space of rows that were removed or superseded is given back, while everything goes on. 0: never.";
  const char* factor = "Where at least so many of 100 rows were removed. 100: only on demand.";
  Group projections(all, "projections");
  projections.size("projections-block-cache",
                   "Memory for blocks of the rows' sorted files. 0: an eighth of the machine's memory, the same that "
                   "`block-cache` 0 is.",
                   EVERSHARD_FIELD(store.projections.block_cache_bytes));
  bounded(projections.size("projections-memtables",
                           "Memory for rows that were written last, before they become files; of all tables together.",
                           EVERSHARD_FIELD(store.projections.memtables_bytes)),
          4 * mib, 16'384 * mib);
  bounded(projections.number("projections-page-events", "How many events are applied at a time by one that catches up.",
                             EVERSHARD_FIELD(store.projections.page_events_max)),
          1, 1'000'000);
  bounded(projections.number("projections-building", "How many are built at once.",
                             EVERSHARD_FIELD(store.projections.building_at_once)),
          1, 64);
  projections.size("projections-gathered",
                   "Memory for changes of those that catch up, of all together, before they are written at once. 0: "
                   "after every page.",
                   EVERSHARD_FIELD(store.projections.gathered_bytes_max));
  bounded(
      projections.duration("projections-pace", "At least this long between two writes of those that have caught up.",
                           EVERSHARD_FIELD(store.projections.pace)),
      0, 10'000);
  projections.duration("projections-vacuum-every", every, EVERSHARD_FIELD(projections_vacuum.every));
  bounded(projections.number("projections-vacuum-factor", factor, EVERSHARD_FIELD(projections_vacuum.factor)), 1, 100);
  Group documents(all, "documents");
  documents.duration("documents-vacuum-every", every, EVERSHARD_FIELD(documents_vacuum.every));
  bounded(documents.number("documents-vacuum-factor", factor, EVERSHARD_FIELD(documents_vacuum.factor)), 1, 100);
}

void add_network(Entries& all) {
  Group network(all, "network");
  network.list("listen", "Where gRPC is served: HOST:PORT; port 0 takes any free one.", EVERSHARD_FIELD(door.listen));
  network.path("unix-socket",
               "A Unix socket where gRPC is served too; who may use it is a matter of the permissions of its file and "
               "directory.",
               EVERSHARD_FIELD(unix_socket));
  network.list("kurrent-listen",
               "Where KurrentDB's protocol is served, for its clients: HOST:PORT; without it, nowhere.",
               EVERSHARD_FIELD(kurrent_listen));
  bounded(
      network.size("max-message-size", "The largest message that is taken.", EVERSHARD_FIELD(door.message_bytes_max)),
      64u << 10, 1u << 30);
  bounded(network.number("max-connections",
                         "How many gRPC connections over TCP are answered; calls of more are refused as `overloaded`.",
                         EVERSHARD_FIELD(door.connections_max)),
          1, 1'000'000);
  bounded(network.number("max-streams", "How many calls one connection may have at once.",
                         EVERSHARD_FIELD(door.streams_max)),
          1, 1'000'000);
  bounded(network.number("append-many-appends",
                         "How many appends of one AppendMany are under way before it is not read on.",
                         EVERSHARD_FIELD(door.append_many_appends_max)),
          1, 1'000'000);
  bounded(network.size("append-many-size", "And how much of them.", EVERSHARD_FIELD(door.append_many_bytes_max)),
          64u << 10);
  bounded(network.duration("handshake-timeout", "A connection that says nothing is closed after this.",
                           EVERSHARD_FIELD(door.handshake_timeout)),
          100, 3'600'000);
  bounded(network.duration("keepalive", "How often a silent client is asked whether it is there.",
                           EVERSHARD_FIELD(door.keepalive)),
          1'000, 86'400'000);
}

void add_other_protocols(Entries& all) {
  Group protocols(all, "protocols");
  protocols.add("umadb-listen", Kind::text,
                "Where clients of UmaDB are answered, in their protocol: HOST:PORT; `none`: nowhere.", "none",
                [](ServerOptions& options, const Value& value) {
                  options.umadb_listen = value.text == "none" ? "" : value.text;
                });
}

void add_page(Entries& all) {
  Group page(all, "page");
  const ServerOptions defaults;
  page.add(
      "http-listen", Kind::text,
      "Where the JSON interface, metrics and the page are served: HOST:PORT; `none`: nowhere.", defaults.http.listen,
      [](ServerOptions& options, const Value& value) { options.http.listen = value.text == "none" ? "" : value.text; });
  page.list("http-hosts",
            "Names, beside localhost and addresses, by which browsers may call the page where it has no tokens.",
            EVERSHARD_FIELD(http.hosts));
  bounded(page.number("http-connections", "How many connections the page has at most.",
                      EVERSHARD_FIELD(http.limits.connections)),
          1, 100'000);
  bounded(page.number("http-streams", "How many of them may be live streams.", EVERSHARD_FIELD(http.limits.streams)), 1,
          100'000);
  bounded(page.size("http-max-body", "The largest request body.", EVERSHARD_FIELD(http.limits.body_bytes)), 1'024,
          1u << 30);
  bounded(page.duration("http-idle-timeout", "A connection without a request is closed after this.",
                        EVERSHARD_FIELD(http.limits.idle_time)),
          100, 86'400'000);
}

void add_security(Entries& all) {
  Group security(all, "security");
  security.path("tokens",
                "A file of tokens: NAME SCOPE[,SCOPE...] TOKEN a line, scopes read, append, admin. Read again at "
                "SIGHUP. Without it everybody may do everything.",
                EVERSHARD_FIELD(tokens));
  security.path("tls-cert", "The server's certificate chain, PEM. The file is read again when it changes.",
                EVERSHARD_FIELD(door.tls.certificate));
  security.path("tls-key", "The certificate's private key, PEM.", EVERSHARD_FIELD(door.tls.key));
  security.path("tls-client-ca", "Clients must show a certificate that one of these has signed (mutual TLS), PEM.",
                EVERSHARD_FIELD(door.tls.client_ca));
  security.yes_no("insecure", "Listens beyond this machine even without TLS and tokens.", EVERSHARD_FIELD(insecure));
}

void add_limits(Entries& all) {
  Group limits(all, "limits");
  const auto size = [&](const char* name, const char* sentence, auto field, std::uint64_t most) {
    bounded(limits.size(name, sentence, field), 1, most);
  };
  size("max-payload-size", "The largest payload of an event.", EVERSHARD_FIELD(store.limits.payload_bytes_max),
       limits_most.payload_bytes_max);
  size("max-metadata-size", "The largest metadata of an event.", EVERSHARD_FIELD(store.limits.metadata_bytes_max),
       limits_most.metadata_bytes_max);
  size("max-snapshot-size", "The largest snapshot.", EVERSHARD_FIELD(store.limits.snapshot_bytes_max),
       limits_most.snapshot_bytes_max);
  size("max-append-size", "The largest append.", EVERSHARD_FIELD(store.limits.append_bytes_max),
       limits_most.append_bytes_max);
  bounded(limits.number("max-append-events", "The most events of an append.",
                        EVERSHARD_FIELD(store.limits.append_events_max)),
          1, limits_most.append_events_max);
  bounded(limits.number("max-queue-appends", "How many appends wait for a shard before they are refused as overloaded.",
                        EVERSHARD_FIELD(store.limits.shard_queue_appends_max)),
          1);
  size("max-queue-size", "And how much of them.", EVERSHARD_FIELD(store.limits.shard_queue_bytes_max), Setting{}.most);
  limits.number("client-requests-max",
                "How many requests a client may send a second, and as many at once; each append of an AppendMany is "
                "one. A client is its token's name, "
                "or its address where there are no tokens. 0: no limit.",
                EVERSHARD_FIELD(clients.requests_per_second_max));
  limits.size("client-bytes-max", "How much of them a second. 0: no limit.",
              EVERSHARD_FIELD(clients.bytes_per_second_max));
  limits.number("client-streams-max",
                "How many streams a client may have open: reads, subscriptions, AppendManys, long work. 0: no limit.",
                EVERSHARD_FIELD(clients.streams_max));
  bounded(limits.number("read-threads", "Threads for what may wait for the disk.", EVERSHARD_FIELD(read_threads)), 1,
          256);
  bounded(limits.number("long-reads",
                        "How many reads that take long (a filter over many rows, an expensive pattern) work at the "
                        "same time, at a low priority; others wait.",
                        EVERSHARD_FIELD(long_reads.at_once)),
          1, 256);
  limits.duration(
      "read-processor-max",
      "How much processor time one answer to a reader may take, or one page of it; beyond that it ends as too_large.",
      EVERSHARD_FIELD(long_reads.limits.processor_max));
}

void add_running(Entries& all) {
  Group running(all, "running");
  running.duration("drain-timeout",
                   "How long what is under way has at the end, reads 2 seconds of it; what is left then is ended too.",
                   EVERSHARD_FIELD(drain_timeout));
}

#undef EVERSHARD_FIELD

const Entries& entries() {
  static const Entries all = [] {
    Entries made;
    add_store(made);
    add_rows(made);
    add_network(made);
    add_other_protocols(made);
    add_page(made);
    add_security(made);
    add_limits(made);
    add_running(made);
    add_log(made);
    return made;
  }();
  return all;
}

}  // namespace

const settings::Table& server_settings() {
  static const settings::Table table = entries().table();
  return table;
}

const std::vector<std::string>& client_variables() {
  static const std::vector<std::string> names{"EVERSHARD_CONFIG",          "EVERSHARD_SERVER",
                                              "EVERSHARD_TOKEN",           "EVERSHARD_TLS_CA",
                                              "EVERSHARD_CLIENT_TLS_CERT", "EVERSHARD_CLIENT_TLS_KEY"};
  return names;
}

Result<ServerOptions> options_of(const settings::Settings& settings) {
  auto options = entries().options(settings);
  if (options.store.data_dir.empty())
    return refuse(ErrorCode::invalid_argument,
                  "no data directory is given: --data DIR, EVERSHARD_DATA, or data in a file");
  const auto& tls = options.door.tls;
  if (tls.certificate.empty() && !tls.key.empty()) return unfit(settings, "tls-key", "needs tls-cert");
  if (tls.key.empty() && !tls.certificate.empty()) return unfit(settings, "tls-cert", "needs tls-key");
  if (tls.certificate.empty() && !tls.client_ca.empty())
    return unfit(settings, "tls-client-ca", "needs tls-cert and tls-key");
  const auto& limits = options.store.limits;
  if (const auto& store = options.store;
      store.disk_reserve_bytes != 0 && store.disk_reserve_bytes < store.memtable_bytes)
    return unfit(settings, "disk-reserve",
                 "is smaller than memtable, whose content must still find room when the disk is nearly full: at least "
                 "as much, or 0 for none");
  if (limits.append_bytes_max < limits.payload_bytes_max)
    return unfit(settings, "max-append-size", "is smaller than max-payload-size");
  if (!options.unix_socket.empty()) {
    if (!options.unix_socket.is_absolute()) return unfit(settings, "unix-socket", "must be an absolute path");
    options.door.listen.push_back("unix:" + options.unix_socket.string());
  }
  options.http.tls = tls;
  options.http.store_limits = options.store.limits;
  options.http.limits.at_least_time = options.store.at_least_timeout;
  if (options.door.listen.empty()) return unfit(settings, "listen", "names no address");
  return options;
}

}  // namespace evershard::server
