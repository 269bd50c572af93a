// What the clients of both gRPC servers have in common: a connection of their own, errors as ours.

#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "evershard/protocol/result.hpp"

namespace evershard::bench {

[[nodiscard]] inline std::shared_ptr<grpc::Channel> channel_to(std::uint16_t port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments);
}

[[nodiscard]] inline Refused refused(const grpc::Status& status) {
  const bool condition =
      status.error_code() == grpc::StatusCode::FAILED_PRECONDITION || status.error_code() == grpc::StatusCode::ABORTED;
  return refuse(condition ? ErrorCode::condition_failed : ErrorCode::io, status.error_message());
}

/// Reads all pages of a call, and counts their events. Page: a message with repeated events
template <class Page>
[[nodiscard]] Result<std::uint64_t> count_events(grpc::ClientReader<Page>& reader) {
  std::uint64_t events = 0;
  for (Page page; reader.Read(&page);) events += static_cast<std::uint64_t>(page.events_size());
  if (const auto status = reader.Finish(); !status.ok()) return refused(status);
  return events;
}

}  // namespace evershard::bench
