// Reader: what can be asked of one view of a store: streams, everything, queries, ids, the directory, snapshots.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/event_cursor.hpp"
#include "evershard/storage/index/found_event.hpp"
#include "evershard/storage/index/stream_pages.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

class StreamWalk;

struct StreamHead {
  SeqNr version;  ///< 0: absent
  GlobalPosition last_position;
};

/// What is known of a stored request, read from the first of its events.
struct StoredRequest {
  RequestId request;
  std::uint64_t content_hash = 0;
  std::uint32_t index = 0;  ///< of the event in its append
  std::uint32_t count = 0;
  GlobalPosition first_position;
};

/// A stored command record.
struct StoredCommand {
  std::string id;
  std::string reply;
  GlobalPosition position;
};

/// Stateless: any thread, any number at once. No answer leaves before the record was compared with what was asked.
class Reader {
 public:
  explicit Reader(const Store& store);
  /// The same of rows alone. Shape: they outlive it.
  Reader(const Rows& rows, const sharding::TermHasher& hasher, std::uint32_t shards);

  /// Everything, or a query's matches. Shape: the query was checked.
  [[nodiscard]] std::unique_ptr<EventCursor> open(const View& view, const Query& query,
                                                  const ReadOptions& options) const;
  [[nodiscard]] std::unique_ptr<EventCursor> open(const View& view, const AggregateId& aggregate,
                                                  const StreamOptions& options) const;

  /// Of many streams at once: stream_pages().
  [[nodiscard]] std::vector<Result<StreamPage>> pages(const View& view, std::span<const StreamToRead> streams) const {
    return stream_pages(rows_, view, hasher_, streams);
  }

  /// The first event after `after`, up to `up_to`, that matches. Cost: the index only where every tag has occurred
  /// since.
  [[nodiscard]] Result<std::optional<FoundEvent>> first_match(const View& view, const Query& query,
                                                              GlobalPosition after, GlobalPosition up_to) const;

  [[nodiscard]] Result<StreamHead> head(const View& view, const AggregateId& aggregate) const;
  /// The head as of a position (inclusive).
  [[nodiscard]] Result<StreamHead> head_at(const View& view, const AggregateId& aggregate, GlobalPosition up_to) const;
  /// Absent ids cost a filter's look-up.
  [[nodiscard]] Result<std::optional<FoundEvent>> find_id(const View& view, const EventId& id, ShardId shard) const;
  /// Names in one view, looked for one after the other. One thread; the reader and the view outlive it.
  class Names {
   public:
    Names(const Reader& reader, const View& view);
    /// What has this name over the whole store: an event of this id, or the first event of the request that this is
    /// request_key() of. Where an older store has the id on several shards, the one on `near` if it is there.
    /// Cost: a filter's look-up; of the first one that no tail knows, a cursor, which serves for all.
    [[nodiscard]] Result<std::optional<FoundEvent>> find(const EventId& id, ShardId near);

   private:
    const Rows& rows_;
    const View& view_;
    std::unique_ptr<RowCursor> sealed_;
  };
  [[nodiscard]] Names names(const View& view) const { return {*this, view}; }
  /// The event at a position of this node's, if it has the content of this body: all that a caller gives but for id
  /// and time. Errors: corruption, naming shard and offset; io
  [[nodiscard]] Result<std::optional<FoundEvent>> same_event(GlobalPosition position, std::string_view body) const;
  /// Errors: corruption, naming shard and offset; io
  [[nodiscard]] Result<RecordedEvent> load(const FoundEvent& found) const;
  [[nodiscard]] Result<StoredRequest> request_of(const FoundEvent& found) const;
  [[nodiscard]] Result<std::optional<StoredCommand>> find_command(const View& view, const AggregateId& aggregate,
                                                                  std::string_view command_id) const;
  /// Absent above the watermark, and 0.
  [[nodiscard]] Result<std::optional<RecordedEvent>> event_at(const View& view, GlobalPosition position) const;

  /// By type (absent: all types), in order of type and value, behind `after`.
  [[nodiscard]] Result<std::vector<AggregateInfo>> aggregates(const View& view, std::optional<std::string_view> type,
                                                              std::optional<AggregateId> after,
                                                              std::size_t limit) const;

  /// The latest; absent if none, or if its checksum fails (then it is as if it were not there: replay).
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> latest_snapshot(const AggregateId& aggregate) const;
  /// The newest one at or before a version, latest or retained, not expired at `now`.
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot_at(const AggregateId& aggregate, SeqNr version,
                                                                    Timestamp now) const;
  /// The newest one whose position is at or before `up_to`.
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate,
                                                                       GlobalPosition up_to, Timestamp now) const;
  /// The latest first, then retained copies from the newest; expired ones are hidden.
  [[nodiscard]] Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate, Timestamp now) const;

 private:
  [[nodiscard]] StreamWalk stream_of(const View& view, const AggregateId& aggregate, GlobalPosition up_to) const;

  const Rows& rows_;
  sharding::TermHasher hasher_;
  std::uint32_t shards_;
};

}  // namespace evershard::storage
