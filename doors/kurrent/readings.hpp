// The kinds of reading: a stream, `$all`, a derived stream.

#pragma once

#include "evershard/doors/kurrent/reading.hpp"

namespace evershard::kurrent {

/// A stream that is an aggregate, as far as its metadata shows it.
class StreamReading final : public Reading {
 public:
  using Reading::Reading;
  [[nodiscard]] Query interest() const override { return Query().concerning({*plan_.aggregate}); }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  void open_at(SeqNr from);

  Visible visible_;
  SeqNr version_;
  SeqNr next_{1};
  bool absent_ = false;
  bool nothing_ = false;
  bool is_again_ = false;
};

/// Everything, or what a filter takes.
class AllReading final : public Reading {
 public:
  using Reading::Reading;
  [[nodiscard]] Query interest() const override { return Query::all(); }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  void give_checkpoint(GlobalPosition position, std::vector<esp::ReadResp>& out) const;

  GlobalPosition at_;
  bool nothing_ = false;
  std::uint64_t looked_at_ = 0;  ///< since the last checkpoint
};

/// All of a category, or of a type.
class DerivedReading final : public Reading {
 public:
  DerivedReading(Kurrent& kurrent, ReadPlan plan)
      : Reading(kurrent, std::move(plan)), table_(kurrent.virtual_streams.table_of(plan_.stream)) {}
  [[nodiscard]] Query interest() const override { return plan_.derived->query(); }

 private:
  std::optional<Refusal> begin(std::vector<esp::ReadResp>& out) override;
  Stepped go_on(std::vector<esp::ReadResp>& out) override;
  Stepped backwards(std::vector<esp::ReadResp>& out);
  /// Counts on until the revision is there, or everything was looked at. Returns: it is done.
  Result<bool> count_up_to(std::uint64_t revision);

  const std::shared_ptr<VirtualStreams::Table> table_;
  bool placed_ = false;
  GlobalPosition at_;
  std::uint64_t revision_ = 0;  ///< of the next match behind at_
  std::uint64_t first_ = 0;     ///< given from here on
  std::optional<GlobalPosition> counting_;
};

}  // namespace evershard::kurrent
