#include "evershard/doors/server/server.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "evershard/api/json/types_file.hpp"
#include "evershard/doors/server/certificate_watch.hpp"
#include "evershard/doors/server/ready_watch.hpp"
#include "evershard/doors/server/token_file.hpp"
#include "evershard/doors/server/vacuuming.hpp"
#include "evershard/local/new_store.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::server {
namespace {

constexpr std::chrono::milliseconds certificates_looked_at_every = std::chrono::seconds(1);
constexpr std::chrono::milliseconds node_retains_after = std::chrono::minutes(1);

/// The last time policies removed something; nothing: never, or what was then cannot be read.
std::optional<Timestamp> last_retention(EventStore& store) {
  ReadOptions newest;
  newest.direction = Direction::backwards;
  newest.limit = 1;
  auto runs = store.read(Query().types({std::string(retention::policies_applied)}), newest);
  auto run = runs.next();
  if (!run || !*run) return {};  // a figure; what reads the log of retention tells that it cannot be read
  return (*run)->occurred_at;
}

/// How often the server looks for settled schedules that have been kept for `keep`.
std::chrono::milliseconds forgets_every(std::chrono::milliseconds keep) {
  if (keep.count() == 0) return keep;
  return std::clamp<std::chrono::milliseconds>(keep / 4, std::chrono::seconds(1), std::chrono::hours(6));
}

std::chrono::milliseconds period_of(const RowsVacuum& vacuum) {
  return vacuum.factor >= 100 ? std::chrono::milliseconds(0) : vacuum.every;
}

}  // namespace

/// Members end in reverse order.
struct Server::Parts {
  Parts(ServerOptions given, serving::Log& logs, std::unique_ptr<StoreInService> opened,
        std::unique_ptr<TokenFile> access)
      : options(std::move(given)),
        log(logs),
        tokens(std::move(access)),
        store(std::move(opened)),
        pool(options.read_threads),
        watch(store->unopened()),
        served{store->store(),
               store->administration(),
               pool,
               watch,
               [this] { return tokens->access(); },
               [this]() -> Result<RegisteredTypes> {
                 if (options.store.data_dir.empty()) return RegisteredTypes{};  // in memory
                 return load_types(options.store.data_dir);
               },
               std::make_shared<serving::Metrics>(),
               std::make_shared<serving::ClientGate>(options.clients),
               store->cluster(),
               store->groups(),
               store->documents()} {
    served.tables = store->tables();
    served.own_projections = store->projections();
    served.retention = &store->retention();
    served.scheduled = &store->scheduled();
    served.processes = &store->processes();
    served.all_names = &store->all_names();
    served.homes = store->homes();
    if (auto* aggregates = store->aggregates()) {
      std::vector<std::shared_ptr<const AggregateKind>> kinds;
      for (const auto& of : options.kinds) kinds.push_back(of.kind);
      commands.emplace(*aggregates, kinds);
      served.commands = &*commands;
    }
    served.wrong_tokens = std::make_shared<serving::WrongTokens>(
        serving::WrongTokensOptions{}, [this](const std::string& address, std::uint64_t count) {
          log.warning("a token is not known", {{"from", address}, {"times", count}});
        });
    served.warn = [this](const Error& error) {
      log.warning("store", {{"code", name_of(error.code)}, {"error", error.what}});
    };
    served.cannot_write = [this] { return store->cannot_write(); };
    served.short_of_disk = [this] { return store->short_of_disk(); };
    served.not_ready = [this] { return store->not_ready(); };
    served.rewritten = [this] { return store->rewritten(); };
    served.event_again = [this](GlobalPosition position, const std::optional<AggregateId>& aggregate,
                                const EventId& id) { return store->event_again(position, aggregate, id); };
    served.led = [this] { return store->led(); };
    served.long_reads = std::make_shared<cluster::LongReads>(options.long_reads);
  }

  const ServerOptions options;
  serving::Log& log;
  const std::unique_ptr<TokenFile> tokens;
  const std::unique_ptr<StoreInService> store;
  cluster::WorkPool pool;
  serving::HeadWatch watch;
  std::optional<serving::HostedCommands> commands;
  serving::Served served;
  RunningDoors doors;
  std::optional<CertificateWatch> certificates;
  std::optional<ReadyWatch> ready;
  std::optional<Vacuuming> vacuuming, vacuuming_projections, vacuuming_documents, retaining, forgetting;
  std::once_flag stopped;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, serving::Log& log,
                                              const std::vector<StartDoor>& doors, const OpenStore& open) {
  auto tokens = std::make_unique<TokenFile>(options.tokens);
  EVERSHARD_TRY(tokens->load());
  if (tokens->is_open_to_others())
    log.warning("everybody on this machine can read the file of tokens", {{"file", options.tokens.string()}});
  NewStore made(options.store.data_dir);  // a start that fails leaves none
  auto store = open(options, log);
  if (!store) return refuse(std::move(store).error());
  if ((*store)->cluster() != nullptr) made.keep();  // from now on it is one of the cluster's disks
  std::unique_ptr<Server> server(
      new Server(std::make_unique<Parts>(std::move(options), log, *std::move(store), std::move(tokens))));
  auto& parts = *server->parts_;
  if (const auto stats = parts.store->administration().stats()) {
    parts.served.fork = stats->info.fork_id;
    log.info("store opened", {{"data", parts.options.store.data_dir.string()},
                              {"store", stats->info.store_id},
                              {"shards", stats->info.shards},
                              {"format", stats->info.format},
                              {"head", stats->watermark.value}});
  }
  for (const auto& start_door : doors) {
    auto door = start_door(parts.served, parts.options, parts.doors);
    if (!door) return refuse(std::move(door).error());
    if (!*door) continue;
    parts.doors.push_back(*std::move(door));
    if (parts.doors.back()->speaks() == "grpc") parts.store->serves_at(parts.doors.back()->addresses());
    if (parts.doors.back()->speaks() == "kurrent") parts.store->serves_kurrent_at(parts.doors.back()->addresses());
    for (const auto& address : parts.doors.back()->addresses())
      log.info("listening", {{"speaks", parts.doors.back()->speaks()}, {"address", address}});
  }
  parts.store->begin();
  made.keep();
  parts.ready.emplace([&parts] { return parts.store->not_ready(); },
                      [&parts] {
                        for (const auto& door : parts.doors) door->tell_ready();
                      },
                      log);
  parts.certificates.emplace(
      parts.options.door.tls, [&server = *server] { return server.reload_tls(); }, certificates_looked_at_every, log);
  auto& served = *parts.store;
  parts.vacuuming.emplace(
      "vacuum", [&served](const Progress& progress) { return served.vacuum_events(progress); },
      parts.options.vacuum_every, log);
  const auto& projections = parts.options.projections_vacuum;
  parts.vacuuming_projections.emplace(
      "vacuum of projections",
      [&served, &projections](const Progress& progress) {
        return served.vacuum_projections(projections.factor, progress);
      },
      period_of(projections), log);
  const auto& documents = parts.options.documents_vacuum;
  parts.vacuuming_documents.emplace(
      "vacuum of documents",
      [&served, &documents](const Progress& progress) { return served.vacuum_documents(documents.factor, progress); },
      period_of(documents), log);
  if (parts.options.retention_every.count() > 0) {
    const auto every = parts.options.retention_every;
    // A node does not know when its shards were last looked at, and a run that finds nothing removes nothing.
    const auto first = parts.store->cluster() != nullptr
                           ? std::min(every, node_retains_after)
                           : due_in(every, last_retention(parts.store->store()), Timestamp::now());
    parts.retaining.emplace(
        "retention",
        [&served](const Progress& progress) {
          RetentionOrder order;
          order.by = "retention-every";
          return served.retain(order, progress);
        },
        every, log, first);
  }
  const auto keep = parts.options.schedule_keep;
  parts.forgetting.emplace(
      "removal of settled schedules",
      [&served, keep](const Progress& progress) {
        RetentionOrder order;
        order.by = "schedule-keep";
        return served.remove_settled_schedules(keep, order, progress);
      },
      forgets_every(keep), log, std::min(forgets_every(keep), node_retains_after));
  return server;
}

const RunningDoors& Server::doors() const { return parts_->doors; }

bool Server::is_well() const { return !cannot_write() && parts_->store->store().head().has_value(); }

std::optional<Error> Server::failed() const { return parts_->store->failed(); }

std::optional<Error> Server::short_of_disk() const { return parts_->store->short_of_disk(); }

std::optional<Error> Server::cannot_write() const { return parts_->store->cannot_write(); }

void Server::tell_unwell() {
  for (const auto& door : parts_->doors) door->tell_unwell();
}

Result<void> Server::reload() {
  auto outcome = parts_->tokens->load();
  if (outcome)
    for (const auto& door : parts_->doors) door->look_at_tokens_again();
  if (auto reloaded = parts_->store->reload(); !reloaded && outcome) outcome = std::move(reloaded);
  if (auto reloaded = reload_tls(); !reloaded && outcome) outcome = std::move(reloaded);
  return outcome;
}

Result<void> Server::reload_tls() {
  Result<void> outcome;
  for (const auto& door : parts_->doors)
    if (auto reloaded = door->reload_tls(); !reloaded && outcome) outcome = std::move(reloaded);
  return outcome;
}

void Server::stop(std::chrono::milliseconds drain) {
  std::call_once(parts_->stopped, [&] {
    parts_->served.long_reads->close();  // they may take longer than anybody waits for the end
    std::vector<std::thread> stopping;
    stopping.reserve(parts_->doors.size());
    for (const auto& door : parts_->doors) stopping.emplace_back([&door, drain] { door->stop(drain); });
    if (parts_->certificates) parts_->certificates->stop();
    if (parts_->ready) parts_->ready->stop();
    for (auto* work : {&parts_->vacuuming, &parts_->vacuuming_projections, &parts_->vacuuming_documents,
                       &parts_->retaining, &parts_->forgetting}) {
      if (*work) (*work)->stop();
    }
    for (auto& thread : stopping) thread.join();
    parts_->watch.close();
    parts_->doors.clear();
    parts_->store->close();
  });
}

}  // namespace evershard::server
