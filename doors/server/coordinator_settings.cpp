#include "evershard/doors/server/coordinator_settings.hpp"

#include <unistd.h>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/doors/server/log_settings.hpp"
#include "evershard/doors/settings/settings_text.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::server {
namespace {

const settings::BoundTable<CoordinatorSettings>& coordinators() {
  static const auto all = [] {
    constexpr std::uint64_t nodes_max = 1'024;
    settings::BoundTable<CoordinatorSettings> made;
    settings::BoundTable<CoordinatorSettings>::Group order(made, "order");
    order.path("data", "The directory of the cut log, unless `cut-log` says otherwise.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, data));
    order.text(
        "cut-log",
        "Where the cut log lies, if not in `data`: etcd://HOST:PORT,HOST:PORT,.../NAME, or etcds://... with TLS. "
        "NAME keeps clusters apart that share an etcd; without it: evershard.",
        EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log));
    order.path("cut-log-ca", "Who signs etcd's certificates, in PEM; without it, whom the system trusts.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log_ca));
    order.path("cut-log-certificate", "The certificate that etcd is shown, in PEM; with `cut-log-key`.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log_certificate));
    order.path("cut-log-key", "The key of that certificate, in PEM.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log_key));
    order.text("cut-log-user", "A user of etcd, where it asks for one; with `cut-log-password-file`.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log_user));
    order.path("cut-log-password-file", "A file with that user's password, which nobody but its owner may read.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, cut_log_password_file));
    order.path("keys",
               "The directory of subjects' keys; without it, what has a subject is refused. Outside of `data`, and of "
               "the nodes' directories.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, keys));
    order.path(
        "key-file",
        "With `cut-log` on etcd, instead of `keys`: subjects' keys lie on etcd too, sealed with the master key in "
        "this file. 32 random bytes in hex or base64, as `openssl rand -hex 32` makes them; the same for every "
        "coordinator; nobody but its owner may read it.",
        EVERSHARD_SETTING_FIELD(CoordinatorSettings, key_file));
    order.text("listen", "Where nodes connect: HOST:PORT; port 0 takes any free one.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, listen));
    order.text("advertise",
               "Where the other coordinators reach this one, if there are several: HOST:PORT; without it, where it "
               "listens.",
               EVERSHARD_SETTING_FIELD(CoordinatorSettings, advertise));
    settings::bounded(order.number("nodes", "A new cluster's shards are given out once so many nodes are there.",
                                   EVERSHARD_SETTING_FIELD(CoordinatorSettings, nodes)),
                      1, nodes_max);
    settings::bounded(order.number("replicas",
                                   "So many nodes keep each shard of a new cluster; at most `nodes`. What is "
                                   "acknowledged is on the disks of most of them. 3 survives the loss of any one.",
                                   EVERSHARD_SETTING_FIELD(CoordinatorSettings, replicas)),
                      1, nodes_max);
    order.duration(
        "balance-after",
        "When no node came or went for so long, shards with replicas get other writers until all nodes write "
        "about as many.",
        EVERSHARD_SETTING_FIELD(CoordinatorSettings, balance_after));
    order.duration(
        "gone-after",
        "A node that was away for so long is gone for good: other nodes are given the replicas that it kept, "
        "where there is room. Longer than a node's start may take. 0: never.",
        EVERSHARD_SETTING_FIELD(CoordinatorSettings, gone_after));
    settings::bounded(order.number("shards",
                                   "How many shards a new cluster gets, for good; a cut log that is there must have as "
                                   "many. 0: 16, or what it has.",
                                   EVERSHARD_SETTING_FIELD(CoordinatorSettings, shards)),
                      0, shards_max);
    settings::BoundTable<CoordinatorSettings>::Group cluster(made, "cluster");
    add_peers<CoordinatorSettings>(cluster);
    add_log(made);
    return made;
  }();
  return all;
}

}  // namespace

const settings::Table& coordinator_settings() {
  static const settings::Table table = coordinators().table();
  return table;
}

Result<CoordinatorSettings> coordinator_options_of(const settings::Settings& settings) {
  auto options = coordinators().options(settings);
  if (options.data.empty() && options.cut_log.empty())
    return refuse(ErrorCode::invalid_argument,
                  "no data directory is given: --data DIR, EVERSHARD_DATA, or data in a file; nor is --cut-log");
  if (!options.cut_log.empty()) {
    if (auto etcd = cluster::etcd_options_of(options.cut_log); !etcd)
      return refuse(ErrorCode::invalid_argument, "cut-log: " + etcd.error().what);
  }
  if (options.cut_log_certificate.empty() != options.cut_log_key.empty())
    return refuse(ErrorCode::invalid_argument, "cut-log-certificate and cut-log-key go together");
  if (options.cut_log_user.empty() != options.cut_log_password_file.empty())
    return refuse(ErrorCode::invalid_argument, "cut-log-user and cut-log-password-file go together");
  if (!options.cut_log.empty() && !options.keys.empty())
    return refuse(ErrorCode::invalid_argument,
                  "--keys is a directory of one machine, and with --cut-log a coordinator on another one may go on: "
                  "give --key-file instead, and subjects' keys lie on etcd too");
  if (options.cut_log.empty() && !options.key_file.empty())
    return refuse(ErrorCode::invalid_argument,
                  "--key-file goes with --cut-log on etcd, where keys are sealed with it; without that, --keys names "
                  "their directory");
  if (options.replicas > options.nodes)
    return refuse(ErrorCode::invalid_argument, "replicas is " + std::to_string(options.replicas) + ", and nodes is " +
                                                   std::to_string(options.nodes) +
                                                   ": so many nodes cannot keep a shard");
  auto place = place_of(settings, "listen");
  if (!place) return refuse(std::move(place).error());
  options.place = *std::move(place);
  if (!options.advertise.empty()) EVERSHARD_TRY(target_of(settings, "advertise"));
  return options;
}

std::string advertised_address(const CoordinatorSettings& settings, std::uint16_t port) {
  if (!settings.advertise.empty()) return settings.advertise;
  auto place = settings.place;
  place.port = port;
  if (cluster::is_of_all(place)) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) place.host = name;
  }
  return cluster::text_of(place);
}

std::string coordinator_configuration_sample() {
  return "# Settings of the coordinator of an Evershard cluster. Each is shown with its default; docs/configuration.md "
         "has the rest.\n"
         "# `evershard coordinator --config THIS_FILE --check` says what is in force, from where, and what is "
         "wrong.\n\n" +
         settings::sample_file_of(coordinator_settings());
}

}  // namespace evershard::server
