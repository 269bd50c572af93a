// KeptReasons: why events were parked, as whoever keeps them keeps it: each text once, and bounded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace evershard {

/// Events may be parked by thousands for a few different reasons, or each for its own. A reason keeps its number for as
/// long as an event has it, so that one that goes moves no other, on the disk neither. A plain class.
class KeptReasons {
 public:
  using Id = std::uint64_t;  ///< from 1; 0: no reason was given

  /// `bytes_max`: of all different ones together.
  explicit KeptReasons(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Of one more event. As kept_reason() shortens it; where there is no room for another text, it is replaced by a word
  /// that says so.
  [[nodiscard]] Id add(std::string_view reason);
  /// An event of this reason is parked no more.
  void remove(Id id);
  [[nodiscard]] std::string_view of(Id id) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// As they are kept: the text of each number, from 1 on; empty: none has it.
  [[nodiscard]] std::vector<std::string_view> texts() const;
  /// As texts() gave them, of one that is new: add() finds them under their numbers. drop_unused(), once all events
  /// have been added.
  void restore(const std::vector<std::string>& texts);
  void drop_unused();

 private:
  void drop(Id id);
  struct Reason {
    std::string text{};
    std::uint64_t users = 0;
  };
  std::size_t bytes_max_;
  std::map<Id, Reason> reasons_;
  std::unordered_map<std::string, Id> ids_;
  std::size_t bytes_ = 0;
  Id last_ = 0;
  std::set<Id> free_;  ///< below it
};

}  // namespace evershard
