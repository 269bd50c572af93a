// AggregateJournal: what aggregates ask of a store; a store in this process, a fake with faults, a cluster's node.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/append_chain.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::actors {

/// A command that was stored: its encoded reply, and where.
struct RecordedCommand {
  std::string reply;
  SeqNr version;            ///< of the aggregate after the command's last event
  GlobalPosition position;  ///< of the command's last event
};

/// Any thread. Reads block on the disk: they are called from reader threads only.
class AggregateJournal {
 public:
  virtual ~AggregateJournal() = default;

  /// Order: what one thread sends one after the other is decided in that order, but for what has to be prepared again.
  /// `loaded_at`: erasures() before the state was loaded that it was decided over.
  /// `done`: once, from any thread, perhaps from within this call; must not block. Errors: as EventStore::append;
  /// version_conflict: also where that state may have what is erased.
  virtual void append(Append append, AppendChain chain, std::uint64_t loaded_at,
                      std::function<void(Result<Appended>)> done) = 0;

  /// The newest snapshot, or the newest as of a position. Errors: corruption (skip it, replay), io
  [[nodiscard]] virtual Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                         std::optional<GlobalPosition> up_to) const = 0;
  /// Events of one aggregate; a page at most of the store's usual size. An absent aggregate: an empty, complete page.
  [[nodiscard]] virtual Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const = 0;
  struct StreamRead {
    AggregateId aggregate;
    StreamOptions options;  ///< forwards, without a limit
  };
  /// The same for many aggregates at once, as far as that goes: the caller asks alone for a page that comes back empty
  /// and not complete.
  [[nodiscard]] virtual std::vector<Result<Page>> streams(std::span<const StreamRead> reads) const {
    std::vector<Result<Page>> pages;
    for (const auto& read : reads) pages.push_back(stream(read.aggregate, read.options));
    return pages;
  }
  /// Matches of a query, in position order.
  [[nodiscard]] virtual Result<Page> query(const Query& query, const ReadOptions& options) const = 0;
  [[nodiscard]] virtual Result<std::optional<RecordedCommand>> command(const AggregateId& aggregate,
                                                                       std::string_view command_id) const = 0;
  /// Writes a snapshot alone. Errors: version_conflict: the state it is of, loaded at `loaded_at`, may have what is
  /// erased
  [[nodiscard]] virtual Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) = 0;
  [[nodiscard]] virtual GlobalPosition watermark() const = 0;
  /// How often something was erased that a state loaded before may have.
  [[nodiscard]] virtual std::uint64_t erasures() const { return 0; }
};

}  // namespace evershard::actors
