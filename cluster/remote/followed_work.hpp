// Long work of a server, followed to its end.

#pragma once

#include <utility>

#include "evershard/cluster/remote/connection.hpp"
#include "evershard/cluster/store/administration.hpp"

namespace evershard::remote {

/// Work that changes nothing, or that may be begun again: where its end was not heard it is what the network says.
/// Work that removes: where its end was not heard it may have been done (`timeout`).
enum class Unheard : std::uint8_t { as_said, may_be_done };

/// Reads what long work tells until its end; `report` takes the last message.
///
/// Shape: `open`: std::unique_ptr<grpc::ClientReader<Response>>(Door&, grpc::ClientContext&); Response has a WorkProgress `progress`
template <class Response, class Open, class Report>
Result<void> follow_work(Connection& connection, const Progress& progress, Open open, Report report, Unheard unheard = Unheard::as_said) {
  const auto deadline = Connection::Clock::now() + connection.options().timeout;
  auto door = connection.door(deadline);
  // What breaks before there is a connection was not begun; behind that nobody knows.
  while (door && unheard == Unheard::may_be_done && !(*door)->channel->WaitForConnected(Connection::Clock::now() + connection.wait_at_one(Connection::left(deadline)))) {
    connection.failed(**door);
    if (Connection::Clock::now() >= deadline) return refuse(ErrorCode::unavailable, "no server was reached at " + (*door)->address);
    door = connection.door(deadline);
  }
  if (!door) return refuse(std::move(door).error());
  auto context = connection.context();
  auto reader = open(**door, *context);
  Response response;
  bool stopped = false;
  while (reader->Read(&response)) {
    if (!response.has_progress()) report(response);
    else if (progress && !progress(response.progress().done(), response.progress().total()) && !std::exchange(stopped, true)) context->TryCancel();
  }
  const auto status = reader->Finish();
  if (status.ok()) return {};
  if (stopped) return refuse(ErrorCode::cancelled, "stopped as asked");
  auto error = wire::error_of(status);
  const bool not_told = error.code == ErrorCode::unavailable && status.error_details().empty();
  if (unheard == Unheard::may_be_done && (not_told || error.code == ErrorCode::cancelled))  // cancelled, and not by us: the server is stopping
    return refuse(ErrorCode::timeout, "whether it was done is unknown (" + error.what + "): the same again tells, and does what is left");
  return refuse(std::move(error));
}

}  // namespace evershard::remote
