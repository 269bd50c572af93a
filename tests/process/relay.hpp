// Relay: a TCP connection's other end that lets through what a test wants: everything, nothing, late, or until it cuts.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace evershard::testing {

/// Listens on loopback. Everything it holds back goes on when it may: as TCP does after a partition.
class Relay {
 public:
  /// `to`: HOST:PORT; empty: nobody yet, who connects waits.
  explicit Relay(std::string to);
  ~Relay();
  Relay(const Relay&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  void leads_to(std::string to);
  /// Nothing gets through, new connections neither; nobody is told.
  void block() { blocked_ = true; }
  void let_through() { blocked_ = false; }
  /// What gets through does so this much later.
  void delay(std::chrono::milliseconds by) { delay_ms_ = by.count(); }
  /// Ends all connections that there are.
  void cut() { ++cuts_; }

 private:
  void accept();
  void carry(int client);

  std::mutex mutex_;
  std::string to_;
  std::string address_;
  int listener_ = -1;
  std::atomic<bool> ending_{false};
  std::atomic<bool> blocked_{false};
  std::atomic<std::int64_t> delay_ms_{0};
  std::atomic<std::uint64_t> cuts_{0};
  std::vector<std::thread> carrying_;
  std::thread accepting_;
};

}  // namespace evershard::testing
