// Appends of version 2 of KurrentDB's protocol <-> writes of ours; and why they are refused, in its words.

#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <vector>

#include "evershard/compat/kurrent/stream_writes.hpp"
#include "evershard/kurrent/streams_v2.pb.h"

namespace evershard::kurrent {

namespace esv2 = ::kurrentdb::protocol::v2::streams;

/// A revision, or what the protocol's negative numbers stand for. Errors: invalid_argument
[[nodiscard]] Result<ExpectedVersion> expected_state(std::int64_t state);
[[nodiscard]] std::int64_t state_of(ExpectedVersion expected);

/// Which check of AppendRecords speaks of a stream; absent: none.
struct RecordsWrite {
  StreamWrite write{};
  std::vector<std::optional<std::size_t>> checks{};  ///< of write.streams
};

/// Errors: invalid_argument, permission_denied
[[nodiscard]] Result<StreamWrite> session_write(std::vector<esv2::AppendRequest>& requests);
[[nodiscard]] Result<RecordsWrite> records_write(esv2::AppendRecordsRequest& request);

/// What is too large, before anything is written: they say which record. Absent: nothing.
[[nodiscard]] std::optional<grpc::Status> too_large_status(const StreamWrite& write, const Limits& limits);
[[nodiscard]] grpc::Status records_status(door::UnderWay& here, grpc::CallbackServerContext& context,
                                          const Refusal& refusal);
/// All checks of AppendRecords that do not hold. Shape: `seen`: of records.write.streams, as clients have them
[[nodiscard]] grpc::Status violations_status(const RecordsWrite& records, const std::vector<SeqNr>& seen,
                                             const Refusal& refusal);

}  // namespace evershard::kurrent
