// DoorChoice: which of the addresses of a store is asked next. Decisions only: no connection, no clock, no dice.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace evershard::remote {

/// Keeps to the door that works; goes on to the next one in the order given when it fails, and past those that failed a
/// moment ago.
class DoorChoice {
 public:
  using Clock = std::chrono::steady_clock;
  /// Whose a door is: it is used once it has said that it is of our store. `foreign`: it serves another one, and is
  /// never used.
  enum class Whose { unknown, ours, foreign };

  /// A further address, behind the others. Returns: its number, from 0.
  std::size_t add();
  [[nodiscard]] std::size_t count() const { return doors_.size(); }
  void is(std::size_t door, Whose whose);
  [[nodiscard]] Whose whose(std::size_t door) const { return doors_.at(door).whose; }

  /// Every door serves another store: none can be asked, now or later.
  [[nodiscard]] bool all_foreign() const;
  /// The door to ask. Nothing: no door is known to serve our store.
  [[nodiscard]] std::optional<std::size_t> current() const;
  /// The door that should say which store it serves, because no door of ours works. Nothing: no such door, or none yet.
  [[nodiscard]] std::optional<std::size_t> to_meet(Clock::time_point now) const;
  /// When to_meet() may give a door that rests now.
  [[nodiscard]] std::optional<Clock::time_point> meets_next() const;

  void worked(std::size_t door) { doors_.at(door).failures = 0; }
  /// It could not be reached, or said that it cannot: it rests. Many calls that fail on one door move on once.
  void failed(std::size_t door, Clock::time_point now, std::chrono::milliseconds rest);
  [[nodiscard]] unsigned failures(std::size_t door) const { return doors_.at(door).failures; }
  [[nodiscard]] bool rests(std::size_t door, Clock::time_point now) const { return doors_.at(door).rests_until > now; }

 private:
  struct Door {
    Whose whose = Whose::unknown;
    unsigned failures = 0;  ///< since it worked
    Clock::time_point rests_until{};
  };
  /// The next door that fits, from the one behind `from` on, once around.
  template <class Fits>
  [[nodiscard]] std::optional<std::size_t> next(std::size_t from, Fits fits) const;

  std::vector<Door> doors_;
  std::size_t at_ = 0;
};

}  // namespace evershard::remote
