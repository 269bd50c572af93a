// The rows of a cut log, byte by byte. Each ends with a checksum that binds it to its key.
//
// Source: docs/internals/on-disk-format.md, "Cut log"; golden bytes in tests/golden/cut_log_golden_test.cpp.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::storage::cut_log_rows {

std::string identity_key();
std::string epoch_key();
std::string leaderships_key();  ///< before the cuts', where earlier releases do not look
std::string leader_key();       ///< as well; where several coordinators share a log
std::string checkpoint_key();
std::string cut_key(CutNumber number);  ///< ascending with the number
/// What begins every cut's key.
std::string cut_prefix();

std::string epoch_row(Epoch epoch);
std::string leaderships_row(const sharding::Leaderships& leaderships);
/// Where the leader of that epoch listens, and how often it has said since that nodes are with it.
struct LeaderRow {
  Epoch epoch;
  std::string address;
  std::uint64_t beat = 0;
  friend bool operator==(const LeaderRow&, const LeaderRow&) = default;
};
std::string leader_row(const LeaderRow& leader);
std::string checkpoint_row(const sharding::CutLogState& checkpoint);  ///< without its epoch, which has a row of its
                                                                      ///< own, and without what the rows say is folded
std::string cut_row(const sharding::Cut& cut);

// Errors of each: corruption, naming the row
Result<CutNumber> decode_cut_key(std::string_view key);
Result<Epoch> decode_epoch_row(std::string_view row);
Result<sharding::Leaderships> decode_leaderships_row(std::string_view row);
Result<LeaderRow> decode_leader_row(std::string_view row);
/// Shape: `shards` of them.
Result<sharding::CutLogState> decode_checkpoint_row(std::string_view row, std::uint32_t shards);
Result<sharding::Cut> decode_cut_row(CutNumber number, std::string_view row);

}  // namespace evershard::storage::cut_log_rows
