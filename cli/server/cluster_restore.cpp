// `evershard cluster restore`: a new cluster's directories, made of a store or of a backup.

#include <limits>
#include <string>

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/coordinator_term.hpp"
#include "evershard/cli/store/copy_lacks.hpp"
#include "evershard/cluster/etcd/etcd_cut_log.hpp"
#include "evershard/storage/order/rebuild_cut_log.hpp"
#include "evershard/storage/repair/cluster_spread.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t restored_nodes_max = 1'000;
constexpr std::uint64_t replicas_where_there_are_three = 3;
constexpr const char* coordinator_folder = "coordinator";

Options cluster_restore_options() {
  Options options;
  options.argument("SOURCE", "what `cluster backup` made, any backup of a whole store, or a store that is not open")
      .argument("TARGET", "an empty directory, or one that does not exist yet")
      .value("nodes", "N", "how many nodes the new cluster gets")
      .value("replicas", "N", "how many nodes keep each shard; without it 3, or 1 where there are fewer nodes")
      .value("up-to", "POSITION", "end the store with this position; it must be the last one of an append")
      .value("cut-log", "etcd://HOST:PORT,.../NAME",
             "put the cut log on this etcd, where none is under that name; without it, into TARGET/coordinator")
      .value("cut-log-ca", "FILE", "who signed etcd's certificates, PEM; without it, whom this machine trusts")
      .value("cut-log-certificate", "FILE", "this program's certificate for etcd, PEM")
      .value("cut-log-key", "FILE", "its private key, PEM")
      .value("cut-log-user", "NAME", "a user of etcd")
      .value("cut-log-password-file", "FILE", "the user's password");
  return options;
}

server::CoordinatorSettings cut_log_of(const Arguments& arguments) {
  server::CoordinatorSettings settings;
  settings.cut_log = arguments.text("cut-log").value_or("");
  settings.cut_log_ca = arguments.text("cut-log-ca").value_or("");
  settings.cut_log_certificate = arguments.text("cut-log-certificate").value_or("");
  settings.cut_log_key = arguments.text("cut-log-key").value_or("");
  settings.cut_log_user = arguments.text("cut-log-user").value_or("");
  settings.cut_log_password_file = arguments.text("cut-log-password-file").value_or("");
  return settings;
}

Result<void> write_to_etcd(const cluster::EtcdOptions& etcd, const storage::SpreadStore& store) {
  cluster::EtcdCutLogOptions options;
  options.etcd = etcd;
  options.begins_with = storage::CutLogBeginning{store.identity, store.state};
  auto made = cluster::open_etcd_cut_log(options);
  if (!made) return refuse(std::move(made).error());
  if ((*made)->state() != store.state)
    return refuse(ErrorCode::corruption,
                  "the cut log on etcd reads back as another one than was written: do not use it");
  return {};
}

/// Before anything is made: whether etcd answers, and has no cut log there.
Result<void> check_etcd_is_free(const cluster::EtcdOptions& etcd) {
  const auto there = cluster::open_etcd_cut_log({.etcd = etcd, .create = false});
  if (there)
    return refuse(ErrorCode::invalid_argument,
                  "there is a cut log on this etcd under " + etcd.prefix + " already: give another name");
  if (there.error().code != ErrorCode::not_found) return refuse(there.error());
  return {};
}

Outcome run_cluster_restore(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const std::string source = *arguments.text("SOURCE");
  const std::string target = *arguments.text("TARGET");
  if (!arguments.has("nodes"))
    throw UsageError("--nodes is needed: how many the cluster gets",
                     "for a store of one process: evershard restore " + source + " " + target);
  const auto nodes = arguments.number_at_least("nodes", 1);
  if (nodes > restored_nodes_max)
    throw UsageError("--nodes is " + std::to_string(nodes) + ": the most is " + std::to_string(restored_nodes_max));
  const auto replicas = arguments.has("replicas")                ? arguments.number_at_least("replicas", 1)
                        : nodes < replicas_where_there_are_three ? 1
                                                                 : replicas_where_there_are_three;
  if (replicas > nodes)
    throw UsageError("--replicas is " + std::to_string(replicas) + ", of " + std::to_string(nodes) + " nodes");
  storage::SpreadOptions how{.nodes = static_cast<std::uint32_t>(nodes),
                             .replicas = static_cast<std::uint32_t>(replicas)};
  how.up_to = position_of(arguments, "up-to");
  CopyLacks lacks;
  lacks.gather(how);

  const auto settings = cut_log_of(arguments);
  if (settings.cut_log.empty())
    for (const char* flag :
         {"cut-log-ca", "cut-log-certificate", "cut-log-key", "cut-log-user", "cut-log-password-file"})
      if (arguments.has(flag)) throw UsageError("--" + std::string(flag) + " needs --cut-log");
  std::optional<cluster::EtcdOptions> etcd;
  if (!settings.cut_log.empty()) {
    auto options = etcd_of(settings);
    if (!options) return Failed(Failure(std::move(options).error()));
    etcd = *std::move(options);
    if (const auto free = check_etcd_is_free(*etcd); !free) return Failed(Failure(free.error()));
  }
  LongWork work(invocation, "restore");
  const auto cut_log = [&](const std::filesystem::path& folder, const storage::SpreadStore& store) -> Result<void> {
    if (etcd) return write_to_etcd(*etcd, store);
    storage::RebuiltCutLog log;
    log.identity = store.identity;
    log.order.state = store.state;
    return storage::write_cut_log(folder / coordinator_folder, log);
  };
  const auto done = storage::spread_store(source, target, how, cut_log, work.progress());
  if (!done) return Failed(work.failure(done.error()));
  work.clear();
  const auto log_at = etcd ? settings.cut_log : (std::filesystem::path(target) / coordinator_folder).string();
  JsonText json;
  json.begin_object().key("source").string(source).key("restored").string(target).key("up_to").number(done->value);
  json.key("nodes").number(nodes).key("replicas").number(replicas).key("cut_log").string(log_at);
  lacks.put(json);
  json.end_object();
  std::vector<std::pair<std::string, std::string>> parts{
      {"restored", target},
      {"from", source},
      {"up to position", std::to_string(done->value)},
      {"nodes", std::to_string(nodes) + ", each with " + target + "/node-N"},
      {"replicas", std::to_string(replicas)},
      {"cut log", log_at}};
  lacks.put(parts);
  print_one(invocation, json, parts);
  return {};
}

}  // namespace

Command cluster_restore_command() {
  return {"cluster restore",
          "cluster",
          "Makes a new cluster's directories of a backup.",
          "evershard cluster restore /backups/monday shop --nodes 3",
          cluster_restore_options,
          run_cluster_restore,
          nullptr,
          "The cluster is a fork of its own, of any number of nodes; it has as many shards as the source. Nodes are "
          "started with TARGET/node-1 and so on, the coordinator with TARGET/coordinator; on one machine `cluster "
          "launch N --data TARGET` starts all. One process's store is made by `restore`."};
}

}  // namespace evershard::cli
