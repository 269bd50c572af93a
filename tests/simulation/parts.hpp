// The simulation's nodes, their processes and the coordinators.

#pragma once

#include "evershard/cluster/order/history_sources.hpp"
#include "tests/simulation/real_writers.hpp"
#include "tests/simulation/simulation.hpp"

namespace evershard::simulation {

struct Simulation::Node {
  std::uint32_t number = 0;
  SimulatedDisk disk;
  std::optional<SimulatedDisk> copy;  ///< an old one
  std::unique_ptr<Process> process;   ///< none: it is down
  std::map<ShardId, Epoch> verified;  ///< opened since its disk was last broken, and under what: it has lost nothing
  Network::Microseconds broken_at = 0;
  std::map<AppendId, Network::Microseconds> durable;  ///< acknowledged when it was synced
  // With replicas.
  bool away = false;                                        ///< for good
  bool broken = false;                                      ///< its disk is not known to have everything again
  std::map<ShardId, std::map<ShardOffset, EventAt>> had;    ///< synced on disks that it lost
  std::map<ShardId, Epoch> took_off;                        ///< on this disk, under which epoch last
  std::map<ShardId, std::map<ShardOffset, EventAt>> taken;  ///< off this disk, and not written since
  RowDisk rows;                                             ///< beside the journal, synced
  std::int64_t wall = 0;                                    ///< how far its wall clock is ahead, in microseconds
  std::int64_t clock = 0;  ///< how far its process's clock is ahead; a process begins with any
};

/// A process that was replaced while it was frozen, with the disk that it had: it goes on where a session with it
/// stands.
struct Simulation::Ghost {
  cluster::NodeProcess self;
  struct Followed {
    Epoch epoch;
    ShardOffset tail;
  };
  std::map<ShardId, Followed> shards;
  bool replaced = false;  ///< a coordinator has taken a hello of who took its place
};

struct Simulation::Process {
  Node& node;
  cluster::NodeProcess self;
  cluster::NodeOrder order;
  std::unique_ptr<Writer> writer;
  std::shared_ptr<RealWriters> real;  ///< in its place
  std::optional<std::size_t> leader;  ///< the session's
  bool syncing = false;
  bool failed = false;     ///< does nothing more, until it is started again
  bool skip_lost = false;  ///< reads aggregates over what was given up
  std::shared_ptr<LinkEnd> link{};
  std::map<std::uint32_t, std::uint64_t> peers{};  ///< sessions with which of their processes
  bool turning = false;
  bool learning = false;
  cluster::HistorySources history_from{};
  std::shared_ptr<Hosts> hosts{};
};

struct Simulation::Leader {
  std::size_t number = 0;
  cluster::Coordinator coordinator;
  bool alive = true;
  std::shared_ptr<LinkEnd> link{};
  std::map<std::uint32_t, cluster::NodeProcess> said_hello{};  ///< over its present session
  std::map<std::uint32_t, cluster::Hello> hellos{};            ///< the last ones
  [[nodiscard]] Network::Endpoint endpoint() const { return 1'000 + number; }
};

}  // namespace evershard::simulation
