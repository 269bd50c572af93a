// Doors: our program with all its doors, and clients of two of them that ask for the same work.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/peer_process.hpp"
#include "evershard/protocol/event.hpp"

namespace evershard::bench {

/// A connection of its own, for one thread: each call waits for its answer.
class DoorClient {
 public:
  virtual ~DoorClient() = default;
  DoorClient() = default;
  DoorClient(const DoorClient&) = delete;

  /// A call of its own, to one aggregate or stream: the first event's.
  virtual Result<void> append(const std::vector<Event>& events) = 0;
  /// The same on a call that stays open.
  virtual Result<void> append_on_open_call(const std::vector<Event>& events) = 0;
  /// Returns: how many events there are, of each of the following.
  virtual Result<std::uint64_t> read(const AggregateId& stream) = 0;
  virtual Result<std::uint64_t> read_all() = 0;
  /// Follows everything from the first on, up to the last one that there is, and goes.
  virtual Result<std::uint64_t> catch_up(std::uint64_t events) = 0;
};

/// What calls of both kinds go to.
struct Doors {
  std::unique_ptr<PeerProcess> process{};
  std::uint16_t own = 0, kurrent = 0;

  /// Errors: io
  [[nodiscard]] static Result<Doors> start(const std::filesystem::path& program, const std::filesystem::path& folder);
};

/// Our own door, by generated messages: what our own client does better is not counted.
[[nodiscard]] std::unique_ptr<DoorClient> client_of_own_door(std::uint16_t port);
/// KurrentDB's, as its clients speak to it.
[[nodiscard]] std::unique_ptr<DoorClient> client_of_kurrent_door(std::uint16_t port);

/// A service that sends messages of so many bytes from memory, an event a message: the least that a read of KurrentDB's
/// protocol costs with this gRPC, whatever is read. Serves until its standard input ends.
int serve_messages(std::uint16_t port, std::size_t message_bytes);
/// Asks it, over a connection of its own.
class MessagesClient {
 public:
  virtual ~MessagesClient() = default;
  [[nodiscard]] virtual Result<std::uint64_t> read_messages(std::uint64_t messages) = 0;
  [[nodiscard]] static std::unique_ptr<MessagesClient> to(std::uint16_t port);
};

}  // namespace evershard::bench
