// Long work of a server, followed to its end.

#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "evershard/api/administration.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

/// Work that changes nothing, or that may be begun again: where its end was not heard it is what the network says.
/// Work that removes: where its end was not heard it may have been done (`timeout`).
enum class Unheard : std::uint8_t { as_said, may_be_done };

/// Reads what long work tells until its end; `report` takes the last message.
///
/// Shape: `open`: std::unique_ptr<grpc::ClientReader<Response>>(Door&, grpc::ClientContext&); Response has a
/// WorkProgress `progress`
template <class Response, class Open, class Report>
Result<void> follow_work(Connection& connection, const Progress& progress, Open open, Report report,
                         Unheard unheard = Unheard::as_said) {
  constexpr std::chrono::milliseconds asks_every{50};
  const auto deadline = Connection::Clock::now() + connection.options().timeout;
  if (!connection.was_heard()) {
    // Where no address will ever work, it is told with why; what a server says of this question counts for nothing.
    pb::HeadResponse there;
    auto met = connection.ask([&](Door& at, grpc::ClientContext& context, std::chrono::milliseconds) {
      return at.events->Head(&context, {}, &there);
    });
    if (!met && met.error().lasting() && never_sent(met.error())) return met;
  }
  auto door = connection.door(deadline);
  // What breaks before there is a connection was not begun; behind that nobody knows.
  while (door && unheard == Unheard::may_be_done) {
    const auto until = Connection::Clock::now() + connection.wait_at_one(Connection::left(deadline));
    bool reached = false;
    do {
      reached = (*door)->channel->WaitForConnected(
          std::min<Connection::Clock::time_point>(until, Connection::Clock::now() + asks_every));
      if (!reached && progress && !progress(0, 0)) return refuse(ErrorCode::cancelled, "stopped as asked");
    } while (!reached && Connection::Clock::now() < until);
    if (reached) break;
    connection.failed(**door);
    if (Connection::Clock::now() >= deadline)
      return refuse(ErrorCode::unavailable, "no server was reached at " + (*door)->address);
    door = connection.door(deadline);
  }
  if (!door) return refuse(std::move(door).error());
  auto context = connection.context();
  auto reader = open(**door, *context);
  // A server that tells nothing for a while must not keep who asks from being heard: a thread of its own asks
  // meanwhile.
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t done = 0, total = 0;
  bool stopped = false, ended = false;
  const auto ask = [&] {  // under the lock
    if (!stopped && progress && !progress(done, total)) {
      stopped = true;
      context->TryCancel();
    }
  };
  std::thread asking([&] {
    std::unique_lock lock(mutex);
    while (!stopped && !changed.wait_for(lock, asks_every, [&] { return ended; })) ask();
  });
  Response response;
  while (reader->Read(&response)) {
    const std::lock_guard lock(mutex);
    if (!response.has_progress()) {
      report(response);
      continue;
    }
    done = response.progress().done();
    total = response.progress().total();
    ask();
  }
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  asking.join();
  const auto status = reader->Finish();
  if (status.ok()) return {};
  if (stopped) return refuse(ErrorCode::cancelled, "stopped as asked");
  auto error = wire::error_of(status);
  const bool not_told = error.code == ErrorCode::unavailable && status.error_details().empty();
  if (unheard == Unheard::may_be_done &&
      (not_told || error.code == ErrorCode::cancelled))  // cancelled, and not by us: the server is stopping
    return refuse(ErrorCode::timeout,
                  "whether it was done is unknown (" + error.what + "): the same again tells, and does what is left");
  return refuse(std::move(error));
}

}  // namespace evershard::remote
