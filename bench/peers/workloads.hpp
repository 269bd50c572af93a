// What is measured of each peer, in turn: appends of so many clients, reads of a tag and of everything.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/peers/peer.hpp"
#include "evershard/bench/report.hpp"
#include "evershard/bench/run.hpp"

namespace evershard::bench {

/// One of those that are compared. `start`: with an empty folder.
struct PeerKind {
  std::string name;
  std::function<Result<std::unique_ptr<Peer>>(const std::filesystem::path& folder, std::uint64_t cache_bytes)> start;
};

/// The last of the kinds is held against each of the others, in the same rounds.
///
/// Errors: those of the measurements, cancelled
Result<void> measure_peer_appends(const BenchOptions& options, const std::vector<PeerKind>& kinds, Report& report);
/// `events` of `options` are written to each first.
Result<void> measure_peer_reads(const BenchOptions& options, const std::vector<PeerKind>& kinds, Report& report);
/// KurrentDB's door against our own, of the same program; reads also of the same store.
Result<void> measure_door_appends(const BenchOptions& options, const std::filesystem::path& program, Report& report);
Result<void> measure_door_reads(const BenchOptions& options, const std::filesystem::path& program, Report& report);

}  // namespace evershard::bench
