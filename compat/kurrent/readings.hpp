// The kinds of reading: a stream, `$all`, a derived stream.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "evershard/compat/kurrent/reading.hpp"

namespace evershard::kurrent {

/// How many events a read asks the store for, and whether that bound is what ended it: some of them may not be shown,
/// and then as many again are to be looked at.
class ReadBound {
 public:
  /// From the second time on it asks for many events at once: few of the events there may be shown.
  std::uint64_t ask(std::uint64_t events) {
    return left_ = std::exchange(again_, true) ? std::max<std::uint64_t>(events, 1'000) : events;
  }
  void got(std::uint64_t events) { left_ -= std::min(left_, events); }
  [[nodiscard]] bool is_reached() const { return left_ == 0; }

 private:
  std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
  bool again_ = false;
};

/// A stream that is an aggregate, as far as its metadata shows it.
class StreamReading final : public Reading {
 public:
  using Reading::Reading;
  [[nodiscard]] Query interest() const override { return Query().concerning({*plan_.aggregate}); }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  [[nodiscard]] std::optional<Refusal> refused_beyond_the_last();
  void open_at(SeqNr from);

  Visible visible_;
  SeqNr version_;
  SeqNr next_{1};
  bool absent_ = false;
  bool nothing_ = false;
  ReadBound bound_;
};

/// Everything, or what a filter takes.
class AllReading final : public Reading {
 public:
  using Reading::Reading;
  [[nodiscard]] Query interest() const override { return Query::all(); }
  [[nodiscard]] std::optional<GlobalPosition> looked_to() const override { return at_; }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  void give_checkpoint(GlobalPosition position, std::vector<esp::ReadResp>& out) const;

  GlobalPosition at_;
  bool nothing_ = false;
  ReadBound bound_;
  std::uint64_t looked_at_ = 0;  ///< since the last checkpoint
};

/// All of a category, or of a type.
class DerivedReading final : public Reading {
 public:
  using Reading::Reading;
  [[nodiscard]] Query interest() const override { return plan_.derived->query(); }
  [[nodiscard]] std::optional<GlobalPosition> looked_to() const override { return at_; }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  /// What the end of a read says, a page at a time: which number is the last, or that there is none.
  Stepped end(std::vector<esp::ReadResp>& out);

  GlobalPosition
      at_;  ///< forwards: everything up to here was looked at; backwards: everything from here on; 0: nothing
  std::optional<GlobalPosition> last_;  ///< of the links that were met
  bool looks_for_last_ = false;
};

}  // namespace evershard::kurrent
