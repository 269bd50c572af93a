// KeptPlace: a place in the order that the store keeps for somebody; and one rule for what is left of it when the store
// is another than it was.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// An event that was read. Its id at its position says that the history up to there is the same one.
struct PlaceMark {
  GlobalPosition position{};
  EventId event{};
  std::uint64_t key = 0;  ///< the owner's own number of the event, where the owner does not count by positions
  friend bool operator==(const PlaceMark&, const PlaceMark&) = default;
};

/// What stands at a position now. Absent: nobody can say, because the event was removed or is damaged.
/// Errors: those of reading, but for `not_found` and `corruption`
using EventIdStanding = std::function<Result<std::optional<EventId>>(GlobalPosition)>;

/// Which store's order the place is of, and by which events that order is known again: the newest one, and older ones
/// ever further apart. Whichever position a store is restored to, one of them lies not far in front of it. A plain
/// class: no store, no clock.
class KeptPlace {
 public:
  static constexpr std::size_t marks_max = 24;

  KeptPlace() = default;
  explicit KeptPlace(std::string fork) : fork_(std::move(fork)) {}

  /// The fork of the store. Empty: the program that kept the place was one that did not name it.
  [[nodiscard]] const std::string& fork() const { return fork_; }
  void set_fork(std::string fork) { fork_ = std::move(fork); }
  /// Shape: positions ascend, none is 0.
  [[nodiscard]] const std::vector<PlaceMark>& marks() const { return marks_; }
  /// One that is not behind the newest changes nothing.
  void add(const PlaceMark& mark);
  /// The marks behind a position go.
  void cut_back(GlobalPosition end);
  /// The same place, as far as it lies up to a position.
  [[nodiscard]] KeptPlace up_to(GlobalPosition end) const;

  struct Settled {
    bool stands = true;
    /// Where it does not stand: everything that was kept of events behind this mark is of another history, and is to be
    /// forgotten. Absent: of all events.
    std::optional<PlaceMark> last{};
    /// Where it does not stand: the position to go on behind, of owners that count by positions.
    GlobalPosition position{};
    std::string why{};  ///< where it does not stand: a sentence for the log and for listings
  };
  /// `reached`: the greatest position that anything is kept of. `fork`, `head`: of the store as it is now.
  ///
  /// The place stands where the store is the same fork, has come as far, and has the newest mark's event at the newest
  /// mark's position. Else it falls back to the newest mark that the store still has: nothing behind that is skipped,
  /// and what both histories have in common behind it comes again. A place without a fork, of an earlier release, has
  /// no marks: where it lies beyond the head it falls back to the head.
  [[nodiscard]] Result<Settled> settle(GlobalPosition reached, std::string_view fork, GlobalPosition head,
                                       const EventIdStanding& standing) const;

  friend bool operator==(const KeptPlace&, const KeptPlace&) = default;

 private:
  std::string fork_;
  std::vector<PlaceMark> marks_;
};

}  // namespace evershard
