// Watermark: up to which position everything is in place, while batches are under way in sequence.

#pragma once

#include "evershard/protocol/numbers.hpp"

namespace evershard::sharding {

/// decided >= shown. What is decided may still be on its way to the disk; what is shown is durable and applied.
class Watermark {
 public:
  explicit Watermark(GlobalPosition start) : decided_(start), shown_(start) {}
  [[nodiscard]] GlobalPosition decided() const { return decided_; }
  [[nodiscard]] GlobalPosition shown() const { return shown_; }
  /// Neither ever goes back: a promise checked in release builds too.
  void decide(GlobalPosition position);
  void show(GlobalPosition position);

 private:
  GlobalPosition decided_;
  GlobalPosition shown_;
};

}  // namespace evershard::sharding
