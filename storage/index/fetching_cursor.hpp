// FetchingCursor: events whose positions an index gives; their records are fetched a batch at a time and compared.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/protocol/query.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/event_cursor.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/index/stream_walk.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

class FetchingCursor : public EventCursor {
 public:
  FetchingCursor(const Rows& rows, View view, std::optional<std::uint64_t> limit);
  Result<void> visit(std::size_t events_max, std::size_t bytes_max, const RecordedVisitor& visitor) final;
  Result<std::size_t> next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) final;
  [[nodiscard]] bool at_end() const final { return ended_ || left_ == 0; }

 protected:
  /// Appends the next ones, up to `n`; none: the end.
  virtual Result<void> take(std::size_t n, std::vector<FoundEvent>& out) = 0;
  virtual Result<void> take_positions(std::size_t n, std::vector<GlobalPosition>& out) = 0;
  /// Whether the event is one of those asked for: what was found by its hash may be another's.
  virtual Result<bool> accepts(const RecordedView& event) = 0;
  /// Whether what take() gives is right but for a collision.
  [[nodiscard]] virtual bool decided_by_index() const { return true; }

 private:
  Result<bool> fetch(std::size_t wanted, std::size_t bytes_max);

  View view_;
  RecordFetch fetch_;
  std::uint64_t left_;  // of the limit
  RecordedView event_;  // the event that the cursor stands at
  std::vector<FoundEvent> found_;
  std::size_t at_ = 0;       // in found_
  std::size_t fetched_ = 0;  // until there, in found_
  std::size_t fetched_from_ = 0;
  std::size_t batch_;
  bool ended_ = false;
};

/// A query's matches. Shape: not all().
class QueryCursor final : public FetchingCursor {
 public:
  QueryCursor(const Rows& rows, View view, const Query& query, const sharding::TermHasher& hasher, const Walk& walk,
              std::optional<std::uint64_t> limit);

 private:
  Result<void> take(std::size_t n, std::vector<FoundEvent>& out) override;
  Result<void> take_positions(std::size_t n, std::vector<GlobalPosition>& out) override;
  Result<bool> accepts(const RecordedView& event) override { return query_.matches(event); }
  [[nodiscard]] bool decided_by_index() const override { return decided_by_index_; }
  void start();

  Query query_;
  Walk walk_;
  PostingCursor postings_;
  bool decided_by_index_;
  bool started_ = false;
};

/// One aggregate's stream. `from`: the first one to give.
class StreamCursor final : public FetchingCursor {
 public:
  StreamCursor(const Rows& rows, View view, AggregateId aggregate, sharding::Term stream, GlobalPosition up_to,
               std::optional<SeqNr> from, Direction direction, std::optional<std::uint64_t> limit);

 private:
  Result<void> take(std::size_t n, std::vector<FoundEvent>& out) override;
  Result<void> take_positions(std::size_t n, std::vector<GlobalPosition>& out) override;
  Result<bool> accepts(const RecordedView& event) override;
  Result<bool> more();

  AggregateId aggregate_;
  StreamWalk stream_;
  std::optional<SeqNr> next_;  // absent: backwards from the last
  Direction direction_;
  std::vector<NumberedEntry> block_;
  std::size_t at_ = 0;
};

}  // namespace evershard::storage
