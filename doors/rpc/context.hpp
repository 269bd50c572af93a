// Context: what a call knows of its client, and what its answer says beside its messages.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/doors/http2/session.hpp"

namespace evershard::rpc {

/// Lives until the call's Reactor is done. What the client said: any thread. What the answer says: before it begins.
class Context {
 public:
  using Clock = std::chrono::system_clock;

  /// Metadata by name, in small letters; the first of several. Of `-bin` ones the bytes. Empty: none.
  [[nodiscard]] std::optional<std::string_view> said(std::string_view name) const {
    for (const auto& header : headers)
      if (header.name == name) return header.value;
    return std::nullopt;
  }
  /// `ipv4:HOST:PORT`, `ipv6:[HOST]:PORT`, `unix:`
  [[nodiscard]] const std::string& peer() const { return peer_; }
  /// Absent: it has none.
  [[nodiscard]] const std::optional<Clock::time_point>& deadline() const { return deadline_; }
  /// The client has gone, has given the call up, or waits no longer.
  [[nodiscard]] bool is_cancelled() const { return cancelled.load(std::memory_order_relaxed); }
  /// Ends the call, CANCELLED. Any thread.
  void try_cancel() const {
    if (cancels) cancels();
  }
  void add_initial(std::string name, std::string value) { initial.push_back({std::move(name), std::move(value)}); }
  void add_trailing(std::string name, std::string value) { trailing.push_back({std::move(name), std::move(value)}); }

  // Of the call, and of nobody else.
  http2::Headers headers;
  std::string peer_;
  std::optional<Clock::time_point> deadline_;
  std::atomic<bool> cancelled{false};
  std::function<void()> cancels;
  http2::Headers initial, trailing;
};

}  // namespace evershard::rpc
