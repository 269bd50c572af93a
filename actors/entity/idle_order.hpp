// IdleOrder: which idle aggregate is given up first: a segmented LRU.

#pragma once

#include <cstddef>
#include <cstdint>

#include "evershard/actors/entity/ask.hpp"

namespace evershard::actors {

/// What an element of the order is made of.
struct IdleLinks {
  enum class Segment : std::uint8_t { none, probation, kept };
  IdleLinks* newer = nullptr;
  IdleLinks* older = nullptr;
  SteadyTime since{};
  Segment segment = Segment::none;
  bool used_again = false;  ///< the entity was idle before, and was asked since
};

/// What was used once stands in `probation`, what was used again in `kept`; the first is emptied first. So a pass over
/// many aggregates, each once, pushes out none that is used all the time. What `kept` has too many of goes back to
/// probation.
///
/// Source: Karedla, Love, Wherry: Caching strategies to improve disk system performance (1994).
class IdleOrder {
 public:
  /// Shape: `kept_max` at least 1.
  explicit IdleOrder(std::size_t kept_max) : kept_max_(kept_max) {}

  void add(IdleLinks& element, SteadyTime now);
  /// Shape: may be absent.
  void remove(IdleLinks& element);

  /// The next entity to be given up; nullptr: none.
  [[nodiscard]] IdleLinks* first_out() const { return probation_.oldest != nullptr ? probation_.oldest : kept_.oldest; }
  /// One that is idle since before; one that went back to probation may be found up to one idle time late.
  [[nodiscard]] IdleLinks* idle_since(SteadyTime before) const;
  /// When the longest idle one became so; `never`: none is.
  [[nodiscard]] SteadyTime oldest() const;
  [[nodiscard]] std::size_t size() const { return probation_.size + kept_.size; }

 private:
  struct List {
    IdleLinks* newest = nullptr;
    IdleLinks* oldest = nullptr;
    std::size_t size = 0;
  };
  static void put(List& list, IdleLinks& element);
  static void take(List& list, IdleLinks& element);

  const std::size_t kept_max_;
  List probation_;
  List kept_;
};

}  // namespace evershard::actors
