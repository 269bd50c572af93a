// `evershard coordinator`: who orders a cluster's events.

#include "evershard/cluster/etcd/etcd_cut_log.hpp"
#include "evershard/cluster/etcd/etcd_keys.hpp"
#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/cluster/peers/key_links.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/help/version.hpp"
#include "evershard/cli/server/serve_settings.hpp"
#include "evershard/doors/server/coordinator_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/server/stop_signals.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/store/erasure/key_folder.hpp"
#include "evershard/store/erasure/key_names.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint32_t cuts_held_max = 64;  ///< a millisecond each where nothing else is cut

Options coordinator_flags() { return settings_options(server::coordinator_settings()); }

Result<cluster::LinkOptions> links_of(const server::CoordinatorSettings& options, std::uint32_t shards) {
  cluster::LinkIdentity who;
  who.node = cluster::coordinator_on_links;
  who.role = cluster::NodeRole::coordinator;
  who.shards = shards;
  who.hash = sharding::hash_id;
  auto link = server::link_options_of(options.peers, std::move(who));
  if (link) EVERSHARD_TRY(cluster::check_host(*link, options.place.host));
  return link;
}

/// At SIGHUP. What cannot be read leaves everything as it was.
void reload(const Invocation& invocation, cluster::CoordinatorLinks& links, serving::Log& log) {
  if (auto opened = log.reopen(); !opened) log.error("log not opened anew", {{"error", opened.error().what}});
  if (auto files = links.reload_tls(); !files) log.error("files not reloaded", {{"error", files.error().what}});
  auto settings = effective_settings(invocation.arguments, server::coordinator_settings());
  auto options = settings ? server::coordinator_options_of(*settings)
                          : Result<server::CoordinatorSettings>(refuse(settings.error()));
  if (!options) {
    log.error("settings not reloaded", {{"error", options.error().what}});
    return;
  }
  log.set_level(options->log.level);
  log.info("reloaded", {{"log_level", name_of(options->log.level)}});
}

Result<cluster::EtcdOptions> etcd_of(const server::CoordinatorSettings& settings) {
  auto etcd = cluster::etcd_options_of(settings.cut_log);
  if (!etcd) return etcd;
  if (!settings.cut_log_password_file.empty()) {
    auto password = cluster::text_of_secret_file(settings.cut_log_password_file, "the cut log's password");
    if (!password) return refuse(std::move(password).error());
    etcd->password = *std::move(password);
  }
  etcd->tls_ca = settings.cut_log_ca;
  etcd->tls_certificate = settings.cut_log_certificate;
  etcd->tls_key = settings.cut_log_key;
  etcd->user = settings.cut_log_user;
  return etcd;
}

Result<std::unique_ptr<storage::DurableCutLog>> open_cut_log(const server::CoordinatorSettings& settings) {
  if (settings.cut_log.empty()) {
    storage::CutLogOptions options;
    options.data_dir = settings.data;
    options.shards = settings.shards;
    return storage::open_cut_log(options);
  }
  auto etcd = etcd_of(settings);
  if (!etcd) return refuse(std::move(etcd).error());
  return cluster::open_etcd_cut_log({.etcd = *std::move(etcd), .shards = settings.shards});
}

Result<cluster::MasterKey> master_key_of(const server::CoordinatorSettings& settings) {
  auto text = cluster::text_of_secret_file(settings.key_file, "the master key's");
  if (!text) return refuse(std::move(text).error());
  auto master = cluster::MasterKey::parse(*text);
  cluster::wipe(*text);
  return master;
}

Result<std::unique_ptr<cluster::EtcdKeys>> open_etcd_keys(const server::CoordinatorSettings& settings) {
  auto etcd = etcd_of(settings);
  if (!etcd) return refuse(std::move(etcd).error());
  const auto master = master_key_of(settings);
  if (!master) return refuse(master.error());
  return cluster::EtcdKeys::open(*etcd, *master);
}

Outcome run_coordinator(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  if (arguments.has("help-markdown") || arguments.has("sample-config")) {
    invocation.out.write(arguments.has("sample-config") ? server::coordinator_configuration_sample()
                                                        : server::configuration_document());
    return {};
  }
  auto settings = effective_settings(arguments, server::coordinator_settings());
  if (!settings) return Failed(Failure(std::move(settings).error()));
  if (arguments.has("check")) print_settings(invocation, *settings);
  auto options = server::coordinator_options_of(*settings);
  if (!options) return Failed(Failure(std::move(options).error()));
  // Before anything is opened; the number of shards is the log's.
  if (auto link = links_of(*options, 1); !link) return Failed(Failure(std::move(link).error()));
  if (!options->key_file.empty())
    if (auto master = master_key_of(*options); !master) return Failed(Failure(std::move(master).error()));
  if (arguments.has("check")) return {};

  const server::StopSignals signals;
  auto opened = serving::Log::open(options->log);
  if (!opened) return Failed(Failure(std::move(opened).error()));
  serving::Log& log = **opened;
  log.info("starting", {{"version", version_number()}, {"commit", build_commit()}, {"pid", ::getpid()}});
  log_settings(*settings, log);
  for (const auto& name : unknown_variables(server::coordinator_settings()))
    log.warning("a variable of the environment is no setting", {{"name", name}});
  auto cuts = open_cut_log(*options);
  if (!cuts) return Failed(Failure(std::move(cuts).error()));
  const bool is_new = (*cuts)->state().epoch.value == 0;

  std::unique_ptr<cluster::SubjectKeys> keys;
  cluster::EtcdKeys* etcd_keys = nullptr;
  if (!options->key_file.empty()) {
    auto on_etcd = open_etcd_keys(*options);
    if (!on_etcd) return Failed(Failure(std::move(on_etcd).error()));
    etcd_keys = on_etcd->get();
    keys = *std::move(on_etcd);
  }
  if (!options->keys.empty()) {
    auto folder =
        cluster::KeyFolder::open(options->keys, options->data,
                                 is_new ? cluster::KeyFolder::Missing::create : cluster::KeyFolder::Missing::refuse);
    if (!folder) return Failed(Failure(std::move(folder).error()));
    keys = *std::move(folder);
  }

  cluster::CoordinatorLinksOptions links_options;
  auto link = links_of(*options, (*cuts)->identity().shards);
  if (!link) return Failed(Failure(std::move(link).error()));
  for (const auto& finding : server::unsafe(*link)) log.warning("insecure, as asked for", {{"because", finding}});
  links_options.link = *std::move(link);
  links_options.listen_host = options->place.host;
  links_options.listen_port = options->place.port;
  links_options.identity = (*cuts)->identity();
  links_options.refused = [&log](const std::string& whom, const Error& why) {
    log.warning("link refused", {{"peer", whom}, {"error", why.what}});
  };
  auto links = cluster::CoordinatorLinks::open(std::move(links_options));
  if (!links) return Failed(Failure(std::move(links).error()));

  cluster::CoordinatorHostOptions host_options;
  host_options.coordinator.nodes_expected = options->nodes;
  host_options.coordinator.ordering.cuts_held_max = cuts_held_max;
  host_options.warn = [&log](const Error& error) {
    log.warning("coordinator", {{"code", name_of(error.code)}, {"error", error.what}});
  };
  auto host = cluster::CoordinatorHost::lead(**cuts, **links, std::move(host_options));
  if (!host) return Failed(Failure(std::move(host).error()));
  if (etcd_keys != nullptr)
    if (auto led = etcd_keys->lead((*host)->epoch()); !led) return Failed(Failure(std::move(led).error()));
  cluster::KeyKeeper keeper(std::move(keys), cluster::have_forgotten_over(**links));
  cluster::serve_keys(**links, keeper);
  (*links)->attach(**host);
  const auto address = options->place.host + ':' + std::to_string((*links)->port());
  log.info("leading",
           {{"address", address}, {"store", (*cuts)->identity().store.text()}, {"shards", (*cuts)->identity().shards}});
  invocation.out.write("ready " + address + '\n');
  invocation.out.flush();

  std::optional<Error> ended;
  while (!ended) {
    const auto asked = signals.wait(std::chrono::milliseconds(200));
    if (asked == server::Asked::stop) break;
    if (asked == server::Asked::reload) reload(invocation, **links, log);
    ended = (*host)->ended();
  }
  (*links)->detach();
  keeper.stop();
  host->reset();
  links->reset();
  log.info("stopped");
  if (ended) return Failed(Failure(std::move(*ended), "it has stepped down: nodes go on with whoever leads now"));
  return {};
}

}  // namespace

Command coordinator_command() {
  return {"coordinator",
          "server",
          "Runs the coordinator of a cluster until SIGTERM.",
          "evershard coordinator --data order --nodes 3 --secret-file secret",
          coordinator_flags,
          run_coordinator};
}

}  // namespace evershard::cli
