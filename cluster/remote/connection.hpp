// Connection: the channel to a server, and what every call on it needs.

#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "evershard/cluster/remote/remote.hpp"
#include "evershard/cluster/wire/status.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::remote {

namespace pb = evershard::v1;

/// Shared by the Remote and every stream and feed made of it.
class Connection {
 public:
  /// Errors: invalid_argument
  [[nodiscard]] static Result<std::shared_ptr<Connection>> make(const RemoteOptions& options);
  explicit Connection(const RemoteOptions& options) : options_(options) { options_.timeout = std::min<std::chrono::milliseconds>(options_.timeout, std::chrono::hours(24)); }

  [[nodiscard]] pb::EventStore::Stub& events() { return *events_; }
  [[nodiscard]] pb::Administration::Stub& administration() { return *administration_; }
  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  [[nodiscard]] const RemoteOptions& options() const { return options_; }

  /// With the token. A deadline is the caller's to set.
  [[nodiscard]] std::unique_ptr<grpc::ClientContext> context() const;

  /// When a call is tried again.
  enum class Again : std::uint8_t {
    not_served,   ///< `unavailable`, whoever says so: the network, or a server that is stopping
    not_reached,  ///< only where nobody of the store answered: what it says of itself, as of a full disk, is the answer
  };

  /// One call that may be repeated, until the deadline.
  ///
  /// Shape: `call`: grpc::Status(grpc::ClientContext&)
  template <class Call>
  [[nodiscard]] Result<void> ask(std::chrono::milliseconds timeout, Call call, Again again = Again::not_served) {
    const auto deadline = std::chrono::system_clock::now() + timeout;
    Error why;  // of the try before: it says more than that the time is up
    for (std::uint32_t tries = 0;; ++tries) {
      auto context = this->context();
      context->set_deadline(deadline);
      const grpc::Status status = call(*context);
      if (status.ok()) return {};
      Error error = wire::error_of(status);
      const bool late = error.code == ErrorCode::timeout && status.error_details().empty();
      if (late && tries > 0) return refuse(std::move(why));
      const bool told = again == Again::not_reached && !status.error_details().empty();
      if (error.code != ErrorCode::unavailable || told || !wait_before(tries, deadline)) return refuse(std::move(error));
      why = std::move(error);
    }
  }
  template <class Call>
  [[nodiscard]] Result<void> ask(Call call, Again again = Again::not_served) {
    return ask(options_.timeout, std::move(call), again);
  }

 private:
  /// Waits before the next try. Returns: false: there is no time for another one.
  static bool wait_before(std::uint32_t tries, std::chrono::system_clock::time_point deadline);

  RemoteOptions options_;  ///< a time-out that is no longer than a day: what is longer may overflow the clock
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::EventStore::Stub> events_;
  std::unique_ptr<pb::Administration::Stub> administration_;
};

/// 10 ms, doubled with every try up to 500 ms, and up to as much less by chance.
[[nodiscard]] std::chrono::milliseconds pause_before(std::uint32_t tries);

}  // namespace evershard::remote
