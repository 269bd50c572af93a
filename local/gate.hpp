// Gate: who uses the parts is counted; closed, it lets nobody in, and closing waits for the last one to leave.

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace evershard::cluster {

/// Any number inside at once; who is inside may enter again.
class Gate {
 public:
  /// Being inside; false: it was closed.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}
    Gate* gate_;
  };

  [[nodiscard]] Pass enter() {
    if ((state_.fetch_add(one) & closed) == 0) return Pass(this);
    leave();
    return Pass(nullptr);
  }

  /// Somebody waits for those inside to leave.
  [[nodiscard]] bool closing() const { return (state_.load() & closed) != 0; }

  /// Never called from inside. Every caller returns with nobody inside.
  void close() {
    auto state = state_.fetch_or(closed) | closed;
    while (state != closed) {
      state_.wait(state);
      state = state_.load();
    }
  }

 private:
  static constexpr std::uint64_t closed = 1;
  static constexpr std::uint64_t one = 2;

  void leave() {
    if (state_.fetch_sub(one) == (closed | one)) state_.notify_all();
  }

  std::atomic<std::uint64_t> state_{0};
};

}  // namespace evershard::cluster
