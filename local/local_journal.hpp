// LocalJournal: what aggregates ask of the store in this process.

#pragma once

#include "evershard/actors/core/committer.hpp"
#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/local/gate.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::cluster {

/// The parts of a node, while its gate is open; behind it everything is `unavailable`. They outlive it.
class LocalJournal final : public actors::AggregateJournal {
 public:
  struct Parts {
    storage::Store& store;
    const storage::Reader& reader;
    actors::Committer& committer;
    Gate& gate;
    const Limits& limits;
    std::chrono::milliseconds at_least_timeout;
  };
  explicit LocalJournal(Parts parts) : parts_(parts) {}

  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override;
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override;
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override;
  [[nodiscard]] std::vector<Result<Page>> streams(std::span<const StreamRead> reads) const override;
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override;
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate,
                                                                       std::string_view command_id) const override;
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) override;
  [[nodiscard]] GlobalPosition watermark() const override { return parts_.committer.watermark(); }

 private:
  template <class Asked, class Options>
  [[nodiscard]] Result<Page> page(const Asked& asked, Options options) const;
  [[nodiscard]] Result<Gate::Pass> enter() const;

  const Parts parts_;
};

}  // namespace evershard::cluster
