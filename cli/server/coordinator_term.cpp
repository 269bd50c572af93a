#include "evershard/cli/server/coordinator_term.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/etcd/etcd_cut_log.hpp"
#include "evershard/cluster/etcd/etcd_keys.hpp"
#include "evershard/cluster/peers/key_links.hpp"
#include "evershard/doors/server/peer_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "evershard/services/erasure/key_names.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint32_t cuts_held_max = 64;  ///< a millisecond each where nothing else is cut

Result<std::unique_ptr<cluster::EtcdKeys>> open_etcd_keys(const server::CoordinatorSettings& settings) {
  auto etcd = etcd_of(settings);
  if (!etcd) return refuse(std::move(etcd).error());
  const auto master = master_key_of(settings);
  if (!master) return refuse(master.error());
  return cluster::EtcdKeys::open(*etcd, *master);
}

}  // namespace

Result<cluster::LinkOptions> coordinator_link_of(const server::CoordinatorSettings& settings, std::uint32_t shards) {
  cluster::LinkIdentity who;
  who.node = cluster::coordinator_on_links;
  who.role = cluster::NodeRole::coordinator;
  who.shards = shards;
  who.hash = sharding::hash_id;
  auto link = server::link_options_of(settings.peers, std::move(who));
  if (link) EVERSHARD_TRY(cluster::check_host(*link, settings.place.host));
  return link;
}

Result<cluster::EtcdOptions> etcd_of(const server::CoordinatorSettings& settings) {
  auto etcd = cluster::etcd_options_of(settings.cut_log);
  if (!etcd) return refuse(std::move(etcd).error());
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

Result<void> check_etcd_keys(const server::CoordinatorSettings& settings) {
  if (settings.key_file.empty()) return {};
  const auto keys = open_etcd_keys(settings);
  return keys ? Result<void>() : refuse(keys.error());
}

Result<std::unique_ptr<CoordinatorTerm>> CoordinatorTerm::begin(const server::CoordinatorSettings& settings,
                                                                std::uint16_t port, serving::Log& log) {
  std::unique_ptr<CoordinatorTerm> term(new CoordinatorTerm());
  auto cuts = open_cut_log(settings);
  if (!cuts) return refuse(std::move(cuts).error());
  term->cuts_ = *std::move(cuts);
  const bool is_new = term->cuts_->state().epoch.value == 0;

  std::unique_ptr<cluster::SubjectKeys> keys;
  cluster::EtcdKeys* etcd_keys = nullptr;
  if (!settings.key_file.empty()) {
    auto on_etcd = open_etcd_keys(settings);
    if (!on_etcd) return refuse(std::move(on_etcd).error());
    etcd_keys = on_etcd->get();
    keys = *std::move(on_etcd);
  }
  if (!settings.keys.empty()) {
    auto folder =
        cluster::KeyFolder::open(settings.keys, settings.data,
                                 is_new ? cluster::KeyFolder::Missing::create : cluster::KeyFolder::Missing::refuse);
    if (!folder) return refuse(std::move(folder).error());
    keys = *std::move(folder);
  }

  cluster::CoordinatorLinksOptions links_options;
  auto link = coordinator_link_of(settings, term->identity().shards);
  if (!link) return refuse(std::move(link).error());
  links_options.link = *std::move(link);
  links_options.listen_host = settings.place.host;
  links_options.listen_port = port;
  links_options.identity = term->identity();
  links_options.refused = [&log](const std::string& whom, const Error& why) {
    log.warning("link refused", {{"peer", whom}, {"error", why.what}});
  };
  auto links = cluster::CoordinatorLinks::open(std::move(links_options));
  if (!links) return refuse(std::move(links).error());
  term->links_ = *std::move(links);

  cluster::CoordinatorHostOptions host_options;
  host_options.coordinator.nodes_expected = settings.nodes;
  host_options.coordinator.replicas = settings.replicas;
  host_options.balance_after = settings.balance_after;
  host_options.gone_after = settings.gone_after;
  host_options.coordinator.ordering.cuts_held_max = cuts_held_max;
  host_options.led = [&has_owners = term->has_owners_, &log,
                      replicas = settings.replicas](const sharding::CutLogState& state) {
    has_owners = std::ranges::any_of(state.shards, [](const auto& shard) { return shard.node != 0; });
    const auto fewer = [&](const auto& shard) { return shard.node != 0 && shard.keepers().size() < replicas; };
    if (const auto shards = std::ranges::count_if(state.shards, fewer); shards != 0)
      log.warning("replicas is for new clusters: shards that are given out already keep theirs",
                  {{"replicas", replicas}, {"shards_with_fewer", shards}});
  };
  host_options.warn = [&log](const Error& error) {
    log.warning("coordinator", {{"code", name_of(error.code)}, {"error", error.what}});
  };
  host_options.moved = [&log](const cluster::CoordinatorHostOptions::Moved& moved) {
    std::string shards;
    for (const auto shard : moved.shards) shards += (shards.empty() ? "" : ",") + std::to_string(shard.value);
    log.info("other nodes write a node's shards",
             {{"node", moved.from},
              {"shards", shards},
              {"why", name_of(moved.cause)},
              {"after_ms", moved.after ? static_cast<std::uint64_t>(moved.after->count()) : std::uint64_t{0}}});
  };
  host_options.clock = [&log](std::uint32_t node, std::chrono::milliseconds ahead, bool differs) {
    const serving::LogFields fields{{"node", node}, {"ahead_ms", ahead.count()}};
    differs ? log.warning("a node's clock differs from this machine's by more than a second", fields)
            : log.info("a node's clock agrees with this machine's again", fields);
  };
  auto host = cluster::CoordinatorHost::lead(*term->cuts_, *term->links_, std::move(host_options));
  if (!host) return refuse(std::move(host).error());
  term->host_ = *std::move(host);
  if (etcd_keys != nullptr) EVERSHARD_TRY(etcd_keys->lead(term->epoch()));
  term->keeper_ = std::make_unique<cluster::KeyKeeper>(std::move(keys), cluster::have_forgotten_over(*term->links_));
  cluster::serve_keys(*term->links_, *term->keeper_);
  term->links_->attach(*term->host_);
  return term;
}

CoordinatorTerm::~CoordinatorTerm() {
  if (links_) links_->detach();
  if (keeper_) keeper_->stop();
  host_.reset();
  links_.reset();
}

}  // namespace evershard::cli
