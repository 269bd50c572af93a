// RealWriters: the product's ShardWriters in a process of the simulation, with what the shell around them keeps.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/cluster/order/messages.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/link_end.hpp"

namespace evershard::simulation {

struct RealWriters {
  RealWriters(actors::ShardWriters::Start start, actors::ShardWriters::Options options)
      : writers(std::move(start), options) {}

  actors::ShardWriters writers;
  std::map<CutNumber, sharding::Cut> cuts;  ///< heard of and not applied
  struct Writing {
    actors::WriterBatch batch;
    std::size_t until = 0;  ///< of the disk's writes
  };
  std::deque<Writing> writing;
  std::map<std::uint64_t, AppendId> clients;           ///< not answered yet
  std::map<std::uint64_t, Letters::Answer> forwarded;  ///< of those, the ones that another node waits for
  struct Asker {
    cluster::NodeProcess process;
    std::uint64_t ask = 0;
    Letters::Answer answer;  ///< with links
  };
  std::map<std::uint64_t, Asker> askers;  ///< of parts, not answered yet
  std::map<std::uint64_t, actors::PartAsked> asking;
  std::uint64_t numbers = 0;
};

/// What a node begins with, as its disk has it.
[[nodiscard]] actors::ShardWriters::Start writers_of(const DiskState& disk);
/// The request as a client sends it: encoded, and not looked up.
[[nodiscard]] std::shared_ptr<actors::Attempt> attempt_of(AppendId id, const Request& request);
/// What the owner of another shard makes of a part.
[[nodiscard]] std::shared_ptr<actors::Attempt> part_attempt_of(const actors::Attempt& of,
                                                               const actors::PartAsked& asked);
[[nodiscard]] AggregateId aggregate_of(ShardId shard, std::uint32_t aggregate);
/// Of what aggregate_of() made.
[[nodiscard]] std::pair<ShardId, std::uint32_t> numbers_of(const AggregateId& aggregate);
/// Which request it is.
[[nodiscard]] AppendId append_of(const storage::EncodedAppend& append);

}  // namespace evershard::simulation
