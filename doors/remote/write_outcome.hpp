// WriteOutcome: what a write ends with, where tries may have arrived whose answer nobody heard. Decisions only.

#pragma once

#include "evershard/protocol/error.hpp"

namespace evershard::remote {

/// Begins what is wrong where a call was not sent for want of a connection.
inline constexpr const char* no_connection = "no connection to ";
/// As gRPC, or this client, says it where there was no connection to send a call over.
[[nodiscard]] bool never_sent(const Error& error);

/// Of one write, over all its tries. Once a byte of a try may have arrived, it is unknown whether the write was done
/// until a server answers by looking at the write: that a token is refused, or a shard closed, or a queue full, says
/// nothing about the try before.
///
/// Source: docs/server.md, "What is tried again"; tests/clients/outcomes.json has the cases
class WriteOutcome {
 public:
  /// A try that was sent ended so. `told`: by a server, with details; else by the network.
  void failed(const Error& error, bool told);
  /// A byte of a try may have arrived.
  void arrived() { unknown_ = true; }
  /// A try of it may have arrived, and nobody has answered for it.
  [[nodiscard]] bool unknown() const { return unknown_; }
  /// What the caller is told, when `last` is what the last try ended with.
  [[nodiscard]] Error end(Error last, bool told) const;

 private:
  bool unknown_ = false;
};

}  // namespace evershard::remote
