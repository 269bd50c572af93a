// SmallJournal: a store for aggregates in a few vectors, as strict as the real one; faults are set by the test.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/entity/aggregate_journal.hpp"

namespace evershard::actors {

class SmallJournal final : public AggregateJournal {
 public:
  std::size_t page_events_max = 3;
  std::optional<Error> snapshot_fault;  ///< of every snapshot read
  std::optional<Error> stream_fault;
  std::optional<Error> query_fault;
  std::optional<Error> command_fault;
  std::optional<Error> put_fault;
  std::uint64_t erased = 0;           ///< what was decided over a state of another one is refused
  std::vector<RecordedEvent> events;  ///< all, by position
  std::vector<RecordedSnapshot> snapshots;
  std::vector<Append> appends;  ///< that were written

  /// Decides and writes at once.
  Result<Appended> write(const Append& append, AppendChain chain);
  /// Somebody else's append: one event, without any expectation.
  void outside(const AggregateId& aggregate, std::string type, std::string payload, std::vector<Tag> tags = {});

  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override {
    done(loaded_at == erased ? write(append, chain)
                             : Result<Appended>(refuse(ErrorCode::version_conflict, "of what is erased")));
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override;
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override;
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override;
  [[nodiscard]] Result<std::optional<RecordedCommand>> command(const AggregateId& aggregate,
                                                               std::string_view command_id) const override;
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) override;
  [[nodiscard]] GlobalPosition watermark() const override { return GlobalPosition{events.size()}; }
  [[nodiscard]] std::uint64_t erasures() const override { return erased; }

  [[nodiscard]] SeqNr version(const AggregateId& aggregate) const;
  [[nodiscard]] std::vector<std::string> payloads(const AggregateId& aggregate) const;

 private:
  [[nodiscard]] Result<void> refusal(const Append& append, AppendChain chain) const;
  void keep(const Snapshot& snapshot, SeqNr version);

  std::map<std::pair<AggregateId, std::string>, RecordedCommand> commands_;
  std::map<AggregateId, std::uint64_t> last_writer_;
};

}  // namespace evershard::actors
