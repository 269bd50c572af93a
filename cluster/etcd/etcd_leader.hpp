// Who leads a cut log on etcd, and where it listens: what coordinators that stand by go by.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/cluster/order/succession.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

class EtcdClient;

/// The leader writes a row beside the cut log's: where it listens, and a beat. The row decides nothing: the epoch's
/// does, and the beat is written only as long as the epoch is the writer's.
///
/// Owner: one thread; another one than the cut log's may have it.
class EtcdLeader {
 public:
  /// Nothing is asked yet. Errors: invalid_argument (a file of TLS cannot be read)
  [[nodiscard]] static Result<std::unique_ptr<EtcdLeader>> open(EtcdOptions options);
  ~EtcdLeader();

  /// Absent: nobody has led. Errors: those of EtcdClient; corruption (a row is damaged)
  [[nodiscard]] Result<std::optional<Leader>> read();
  /// That this process leads, where, and how far its beat is. Errors: those of EtcdClient; fenced: somebody else leads
  [[nodiscard]] Result<void> say(const Leader& leader);

 private:
  EtcdLeader(EtcdOptions options, std::unique_ptr<EtcdClient> etcd);
  const EtcdOptions options_;
  const std::unique_ptr<EtcdClient> etcd_;
  std::uint64_t said_ = 0;
};

}  // namespace evershard::cluster
