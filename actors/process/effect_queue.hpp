// EffectQueue: which effect of a kind is performed next: so many at a time, and so many of them for one target.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace evershard::actors {

/// First come, first served. Effects whose target performs as many as it may are passed over until the target has room,
/// and hold up no effect of another target.
///
/// Cost:   logarithmic in the number of targets that have something waiting, however much that is.
/// Owner:  one thread at a time.
class EffectQueue {
 public:
  /// Shape: `at_a_time` is more than 0. `per_target`: 0: no bound of its own
  EffectQueue(std::uint32_t at_a_time, std::uint32_t per_target) : at_a_time_(at_a_time), per_target_(per_target) {}

  /// `id` waits. An empty target is none: it is not bounded.
  void add(std::string id, const std::string& target);
  /// The next effect that may begin, if there is one. The effect counts as being performed from here on, until end() of
  /// its target.
  [[nodiscard]] std::optional<std::string> begin();
  /// One that was performed for the target no longer is.
  void end(const std::string& target);

 private:
  struct Target {
    std::uint32_t performing = 0;
    std::deque<std::pair<std::uint64_t, std::string>> waiting;  ///< when it came, and who
    bool ready = false;                                         ///< stands in ready_
  };
  using Targets = std::unordered_map<std::string, Target>;
  /// The target's first effect may begin as far as the target is concerned, or the target is needed no more.
  void look_at(Targets::iterator found);

  const std::uint32_t at_a_time_;
  const std::uint32_t per_target_;
  std::uint32_t performing_ = 0;
  std::uint64_t came_ = 0;
  Targets targets_;
  std::map<std::uint64_t, std::string> ready_;  ///< targets with room, by when the first that waits for them came
};

}  // namespace evershard::actors
