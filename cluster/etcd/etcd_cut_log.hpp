// The cut log on etcd: it survives the loss of any minority of its members, and any coordinator may take it up.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"

namespace evershard::cluster {

struct EtcdCutLogOptions {
  EtcdOptions etcd;
  std::uint32_t shards = 0;                               ///< 0: what the log has; 16 for a new one
  bool create = true;                                     ///< create the log if it is not there
  std::optional<storage::CutLogBeginning> begins_with{};  ///< of a new log; one that is there is refused
};

/// The rows of storage/order/cut_log_rows, each under the prefix. Any number of processes may have it open; who leads
/// decides the epoch's row, which every put compares in its own transaction.
///
/// Beyond CutLog: put() asks again where no member answered in time, and takes its own record for an answer. Where etcd
///                is away for longer, what became of the put is unknown (io), and the log has failed for good.
/// Errors:  not_found (there is none and `create` is off), unavailable (no member answers, or no majority),
///          invalid_argument (another number of shards, another hash), corruption (a row is damaged or missing; or rows
///          that were acknowledged are gone: etcd was restored from an older state), io
/// Durable: every put, and every change of epoch, is on a majority of etcd's members on return.
/// Source:  docs/internals/on-disk-format.md, "Cut log".
[[nodiscard]] Result<std::unique_ptr<storage::DurableCutLog>> open_etcd_cut_log(const EtcdCutLogOptions& options);

}  // namespace evershard::cluster
