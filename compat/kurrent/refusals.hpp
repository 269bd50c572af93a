// Why something was refused, in the forms that KurrentDB's clients understand.

#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <optional>
#include <string>

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/kurrent/shared.pb.h"
#include "evershard/kurrent/streams.pb.h"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/version.hpp"

namespace evershard::kurrent {

/// What an append or a deletion was refused for.
struct Refusal {
  enum class Why : std::uint8_t { error, wrong_version, stream_deleted, of_group, not_served };
  Why why = Why::error;
  Error error{};                       ///< of each: its sentence
  std::string stream{};                ///< of wrong_version, stream_deleted, of_group
  ExpectedVersion expected{};          ///< of wrong_version
  SeqNr actual{};                      ///< of wrong_version; 0: there is no such stream
  std::string exception{}, group{};    ///< of of_group: what clients choose their error by
  std::optional<std::size_t> which{};  ///< of several streams: this one, from 0
};

[[nodiscard]] Refusal wrong_version(std::string stream, ExpectedVersion expected, SeqNr actual);
[[nodiscard]] Refusal stream_deleted(std::string stream);
/// One that may be written again.
[[nodiscard]] Refusal stream_deleted_already(std::string stream);

/// Of a persistent subscription. `exception`: as "persistent-subscription-exists".
[[nodiscard]] Refusal refused_of_group(std::string exception, std::string stream, std::string group, ErrorCode code,
                                       std::string what);

/// What this protocol has, and this server does not.
[[nodiscard]] Refusal not_served(std::string what);

/// A status, with what clients look for in the trailers of the call. Never INTERNAL, which ends a client's connection.
[[nodiscard]] grpc::Status status_of(door::UnderWay& here, grpc::CallbackServerContext& context, const Refusal& refusal,
                                     std::size_t append_bytes_max);
/// In the answer of a BatchAppend.
void put_error(const Refusal& refusal, std::size_t append_bytes_max, ::event_store::client::RpcStatus& to);

}  // namespace evershard::kurrent
