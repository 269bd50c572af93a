// Door: the store over gRPC: package evershard.v1, or the services of another protocol.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/serving/served.hpp"
#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/doors/serving/unread_answers.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace grpc {
class Service;
class Status;
}  // namespace grpc

namespace evershard::door {

struct Calls;

/// How a protocol says that a call is refused, as wire::status_of() does.
using RefusedStatus = grpc::Status (*)(const Error& error, const std::vector<RecordedEvent>& conflicts,
                                       std::optional<std::chrono::milliseconds> retry_after);

/// What a door offers.
struct DoorServices {
  std::string_view speaks;  ///< as metrics name it: "grpc", "kurrent", "umadb"
  /// Shape: each by make_service(). Owner: the door
  std::function<std::vector<std::shared_ptr<grpc::Service>>(Calls&)> make;
  RefusedStatus status = nullptr;      ///< absent: ours
  std::vector<std::string> healthy{};  ///< services whose health is told by name
  bool names_history = false;          ///< answers name fork and leadership: protocol/v1/service.proto
};

struct DoorOptions {
  std::vector<std::string> listen{"127.0.0.1:7420"};  ///< HOST:PORT, port 0: any free one; or unix:PATH
  /// Of HOST:PORT; a Unix socket goes by its file's permissions. Read again by reload_tls().
  serving::TlsFiles tls{};
  std::size_t message_bytes_max = 20u << 20;  ///< of what comes in: an append of 16 MiB and what is around it
  /// Over TCP, from their first call on; calls of more are refused as `overloaded`, until others are closed.
  std::size_t connections_max = 10'000;
  std::uint32_t streams_max = 1'000;          ///< calls at once on one connection
  std::size_t append_many_appends_max = 256;  ///< in flight on one AppendMany; then it is not read on
  std::size_t append_many_bytes_max = 16u << 20;
  serving::UnreadAnswersOptions unread{};  ///< of reads and subscriptions
  std::chrono::milliseconds handshake_timeout =
      std::chrono::seconds(10);                                    ///< then a connection that said nothing is closed
  std::chrono::milliseconds keepalive = std::chrono::seconds(30);  ///< asks a silent client whether it is there
};

/// Serves from start() to stop().
class Door {
 public:
  /// Errors: invalid_argument (an address that is none, TLS files that are none), unavailable (an address that is in
  /// use, or not ours)
  [[nodiscard]] static Result<std::unique_ptr<Door>> start(serving::Served& served, DoorOptions options);
  /// The same for other services.
  [[nodiscard]] static Result<std::unique_ptr<Door>> start(serving::Served& served, DoorOptions options,
                                                           const DoorServices& offered);
  /// stop(0)
  ~Door();
  Door(const Door&) = delete;

  /// Where it listens, in the order asked for, with the ports that were taken.
  [[nodiscard]] const std::vector<std::string>& addresses() const;
  /// Calls that are being answered.
  [[nodiscard]] std::uint64_t calls() const;

  /// Takes no new calls, ends subscriptions and each AppendMany that has nothing under way (`unavailable`), waits for
  /// the others as long as `drain`, then ends them too; for those that only read 2 seconds at most. Always comes back;
  /// any number of times.
  void stop(std::chrono::milliseconds drain);
  /// Reads the TLS files again, for connections from a second later on. Errors: as start(); then the old ones stay.
  [[nodiscard]] Result<void> reload_tls();
  /// Tokens were read anew: streams that would not be admitted any more are ended (`CANCELLED`).
  void look_at_tokens_again();
  /// Served::not_ready has nothing any more: gRPC's health service says that it serves. Before it says NOT_SERVING.
  void tell_ready();
  /// gRPC's health service says so from now on.
  void tell_unwell();

 private:
  struct Impl;
  explicit Door(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::door
