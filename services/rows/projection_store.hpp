// ProjectionStore: rows that are derived from events, a family a table or index, each with its checkpoint.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/rows/projection_batch.hpp"
#include "evershard/services/rows/projection_checkpoint.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Keys of [from, until), in byte order. Shape: an empty `until` is no bound.
struct RowRange {
  std::string from{};
  std::string until{};
  /// All keys that begin with it.
  [[nodiscard]] static RowRange prefix(std::string_view prefix);
};

/// Walks rows in byte order of their keys, in the direction it was opened in. One thread.
class ProjectionCursor {
 public:
  virtual ~ProjectionCursor() = default;
  /// The next row; false: there is none, or an error, which error() tells. Views hold until the next call.
  [[nodiscard]] virtual bool next() = 0;
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view value() const = 0;
  [[nodiscard]] virtual const std::optional<Error>& error() const = 0;
  /// Goes on with the first key at or behind `key`, in the cursor's direction and range.
  virtual void seek(std::string_view key) = 0;
};

/// One family as it was at one moment: rows and checkpoint belong together, whatever is written meanwhile. Any thread;
/// its cursors one each. Owner: does not outlive the store. A dropped family's view goes on answering.
class ProjectionView {
 public:
  virtual ~ProjectionView() = default;
  [[nodiscard]] virtual const ProjectionCheckpoint& checkpoint() const = 0;
  [[nodiscard]] virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
  /// One answer a key, in their order.
  [[nodiscard]] virtual Result<std::vector<std::optional<std::string>>> get_many(
      std::span<const std::string> keys) const = 0;
  /// Told of each key in turn, by its number, what its row is, where the row lies: the bytes hold until it returns.
  /// False: that was the last.
  using RowSeen = std::function<Result<bool>(std::size_t, std::optional<std::string_view>)>;
  /// As get_many(), without copies of the rows: for a few. Errors: io, and what `each` refuses
  [[nodiscard]] virtual Result<void> look_up(std::span<const std::string_view> keys, const RowSeen& each) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ProjectionCursor> cursor(RowRange range, bool backwards = false) const = 0;
};

/// From any thread; of one family one thread at a time writes.
///
/// Durable: a write survives the end of the process, and what a loss of power takes are the newest writes of a family,
///          whole and in order: rows and checkpoint always agree.
class ProjectionStore {
 public:
  virtual ~ProjectionStore() = default;

  /// The rows begin with this checkpoint. Errors: invalid_argument (there is one of that name), io
  [[nodiscard]] virtual Result<void> create_family(const std::string& name, const ProjectionCheckpoint& begin) = 0;
  /// At once, whatever its size; disk space comes back in the background. An absent one is dropped already.
  [[nodiscard]] virtual Result<void> drop_family(const std::string& name) = 0;
  /// In order of name.
  [[nodiscard]] virtual std::vector<std::string> families() const = 0;

  /// One atomic write, without a sync. What is for a family dropped at this very moment is left out. Errors: not_found
  /// (a family is not there), io
  [[nodiscard]] virtual Result<void> write(const ProjectionBatch& batch) = 0;

  /// Errors: not_found
  [[nodiscard]] virtual Result<ProjectionCheckpoint> checkpoint(const std::string& family) const = 0;
  /// Errors: not_found, io
  [[nodiscard]] virtual Result<std::shared_ptr<const ProjectionView>> view(const std::string& family) const = 0;

  /// Estimated: superseded rows count until they are compacted.
  [[nodiscard]] virtual std::uint64_t disk_bytes() const = 0;
  /// Gives back the space of superseded and removed rows, of families of whose rows at least `removed_percent` of 100
  /// were removed; 0: of all. Errors: cancelled, io
  [[nodiscard]] virtual Result<void> vacuum(const Progress& progress, unsigned removed_percent = 0) = 0;
  /// Behind a large build: what was written goes into sorted files, which are merged in the background, so that reading
  /// looks into few of them. It is no more than a hint.
  virtual void settle(const std::string& family) { (void)family; }
  /// Whole families' worth of work is done; nothing is written any more.
  virtual void close() = 0;
};

/// What is there when it is opened is of `owner`, not ahead of `watermark`, and of the events that the store has, by
/// KeptPlace::settle(); everything else was cleared. An error of `event_id_at` is one of the opening: rows that cannot
/// be judged yet are neither cleared nor served.
struct ProjectionStoreOptions {
  ProjectionOwner owner{};
  GlobalPosition watermark{};
  EventIdStanding event_id_at{};  ///< absent: checkpoints are not compared with the events
};

}  // namespace evershard::storage
