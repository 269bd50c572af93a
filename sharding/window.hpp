// DigestWindow: the terms of the newest events, so that a condition is checked without reading.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/term_hash.hpp"

namespace evershard::sharding {

/// What may still be looked at for a verdict, in steps of some nanoseconds: who decides decides for everybody.
struct MatchBudget {
  std::uint64_t steps = std::uint64_t{1} << 18;

  /// Returns: whether there was as much.
  bool take(std::uint64_t of) {
    if (steps < of) steps = 0;
    steps -= steps == 0 ? 0 : of;
    return steps != 0;
  }
};

/// The terms of consecutive events, until it is full.
///
/// A term's occurrences are chained backwards from its last one, which a table of last occurrences knows.
class DigestGeneration {
 public:
  DigestGeneration(std::size_t events_max, std::size_t terms_max);

  /// Forgets everything, keeps its memory: covers the positions after `from`.
  void clear(GlobalPosition from);
  [[nodiscard]] GlobalPosition from() const { return from_; }
  [[nodiscard]] GlobalPosition last() const { return from_ + events(); }
  [[nodiscard]] bool has_room(std::size_t terms) const;
  void add(std::span<const Term> terms);
  /// The first event after `after` that matches the item; where the budget does not last, no matter what.
  [[nodiscard]] std::optional<GlobalPosition> first_match(const TermQuery::Item& item, GlobalPosition after,
                                                          MatchBudget& budget) const;

 private:
  using Index = std::uint32_t;  ///< of an occurrence, from 1; 0: none
  struct Occurrence {
    Term term;
    Index before;  ///< of the same term
    Index event;   ///< from 0
  };
  /// The mixed term's upper half, whose own upper bits say where it lies; a table grows without looking at terms.
  struct Slot {
    std::uint32_t fingerprint;
    Index last;
  };

  [[nodiscard]] std::size_t events() const { return first_of_.size(); }
  [[nodiscard]] Index last_of(Term term) const;
  [[nodiscard]] std::size_t slot_of(std::uint32_t fingerprint) const { return fingerprint >> (32 - slot_bits_); }
  void remember(Term term, Index occurrence);
  void grow();
  [[nodiscard]] bool matches(const TermQuery::Item& item, Index event) const;
  [[nodiscard]] Term rarest(const TermQuery::Item& item, Index event_from, MatchBudget& budget) const;

  GlobalPosition from_;
  std::size_t events_max_;
  std::size_t terms_max_;
  std::vector<Occurrence> occurrences_;  ///< those of an event lie together
  std::vector<Index> first_of_;          ///< per event, how many occurrences lie before its own
  std::vector<Slot> slots_;
  unsigned slot_bits_;
  std::size_t slots_used_ = 0;
};

/// Covers the positions after from(). It can only refuse wrongly (a collision), never admit wrongly.
///
/// Two generations of at most events_max / 2 events each (fewer where events have more than eight terms on average:
/// memory is bounded by terms), the older dropped whole. A check costs the occurrences of an item's rarest term since
/// `after`, not the length of the window, and no more than its budget.
/// Cost: 20-60 ns an event, 40 ns a check that fails on the last-occurrence table; about 30 bytes a term.
class DigestWindow {
 public:
  explicit DigestWindow(GlobalPosition from, std::size_t events_max = 262'144);

  /// The window covers the positions after this one.
  [[nodiscard]] GlobalPosition from() const { return older().from(); }
  /// The last position it covers.
  [[nodiscard]] GlobalPosition last() const { return newer().last(); }
  /// Shape: `position` is the next one. `terms`: type, tags, concerned aggregates, own aggregate.
  void add(GlobalPosition position, std::span<const Term> terms);
  /// An event whose terms are not known: the window begins behind it. Shape: `position` is the next one.
  void skip(GlobalPosition position);
  /// The first event after `after` that matches; the last one there is, where the budget does not last: it may match.
  /// Shape: after >= from().
  [[nodiscard]] std::optional<GlobalPosition> first_match(const TermQuery& query, GlobalPosition after,
                                                          MatchBudget& budget) const;
  [[nodiscard]] std::optional<GlobalPosition> first_match(const TermQuery& query, GlobalPosition after) const {
    MatchBudget budget;
    return first_match(query, after, budget);
  }

 private:
  [[nodiscard]] const DigestGeneration& newer() const { return generations_[newer_]; }
  [[nodiscard]] const DigestGeneration& older() const { return generations_[1 - newer_]; }

  std::array<DigestGeneration, 2> generations_;
  std::size_t newer_ = 0;
};

}  // namespace evershard::sharding
