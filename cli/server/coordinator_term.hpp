// CoordinatorTerm: a coordinator that leads, from the epoch it raised to its end.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/cluster/keys/key_keeper.hpp"
#include "evershard/cluster/node/coordinator_host.hpp"
#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/doors/server/coordinator_settings.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/services/erasure/master_key.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"

namespace evershard::cli {

/// Where the settings say. Errors: those of both kinds of log
[[nodiscard]] Result<std::unique_ptr<storage::DurableCutLog>> open_cut_log(const server::CoordinatorSettings& settings);
/// Of an etcd, with what is in the files that the settings name. Shape: `cut_log` is one's address.
[[nodiscard]] Result<cluster::EtcdOptions> etcd_of(const server::CoordinatorSettings& settings);
/// What keys of subjects are sealed with on etcd. Shape: `key_file` is given. Errors: as text_of_secret_file and
/// MasterKey::parse say
[[nodiscard]] Result<cluster::MasterKey> master_key_of(const server::CoordinatorSettings& settings);
/// Whether the keys can be used that the settings name on etcd. Errors: those of EtcdKeys::open
[[nodiscard]] Result<void> check_etcd_keys(const server::CoordinatorSettings& settings);
/// Who a coordinator of so many shards is on the links.
[[nodiscard]] Result<cluster::LinkOptions> coordinator_link_of(const server::CoordinatorSettings& settings,
                                                               std::uint32_t shards);

/// One leadership of this coordinator process: nodes connect to it as long as the object lives.
///
/// Owner: one thread. The log of what happens outlives it.
class CoordinatorTerm {
 public:
  /// Opens the cut log and what belongs to it, leads, and lets nodes in. `port`: of settings.place, or instead of it.
  /// Errors: those of the cut log, of the keys and of the links
  [[nodiscard]] static Result<std::unique_ptr<CoordinatorTerm>> begin(const server::CoordinatorSettings& settings,
                                                                      std::uint16_t port, serving::Log& log);
  ~CoordinatorTerm();

  /// Why it leads no more, if so.
  [[nodiscard]] std::optional<Error> ended() const { return host_->ended(); }
  [[nodiscard]] Epoch epoch() const { return host_->epoch(); }
  [[nodiscard]] std::uint16_t port() const { return links_->port(); }
  /// How many nodes are here. None: those that are can have nothing ordered, since they are no quorum.
  [[nodiscard]] std::size_t nodes() const { return host_->has_quorums() ? links_->nodes() : 0; }
  /// Whether another coordinator would lead.
  [[nodiscard]] bool could_be_replaced() const { return links_->somebody_stands_by(); }
  /// Whether a shard has been given to a node, by the time that it began.
  [[nodiscard]] bool has_owners() const { return has_owners_; }
  [[nodiscard]] const storage::Identity& identity() const { return cuts_->identity(); }
  [[nodiscard]] Result<void> reload_tls() { return links_->reload_tls(); }

 private:
  CoordinatorTerm() = default;
  std::unique_ptr<storage::DurableCutLog> cuts_;
  std::unique_ptr<cluster::CoordinatorLinks> links_;
  std::unique_ptr<cluster::KeyKeeper> keeper_;
  std::unique_ptr<cluster::CoordinatorHost> host_;
  bool has_owners_ = false;
};

}  // namespace evershard::cli
