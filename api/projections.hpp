// Projections: what every door offers of indexes and other projections: definitions, how they are, what they hold.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/if_there.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// One version of a projection: its rows.
struct ProjectionVersion {
  SeqNr version{};        ///< of the definition: the seq_nr of the event that made it
  SeqNr rows{};           ///< built since that event: created, changed, reset, rebuilt
  std::string state{};    ///< building, live, paused, failed, waiting
  bool complete = false;  ///< it has caught up once
  bool serving = false;   ///< it is what a read gets that names no version
  GlobalPosition position{};
  std::uint64_t lag = 0;                                         ///< positions that it is behind the watermark
  std::uint64_t events = 0, errors = 0;                          ///< handled, met, since the process began
  std::optional<Error> error{};                                  ///< why it stands
  std::optional<GlobalPosition> failed_at{};                     ///< the event that it is about
  std::optional<std::uint64_t> busy_ms{};                        ///< so long with the page it works on
  std::vector<std::pair<std::string, std::uint64_t>> figures{};  ///< "entries", "rows", ...
  std::optional<std::uint32_t> part{};                           ///< of a table in parts: which, from 0
  std::uint32_t home = 0;                                        ///< of a part on a cluster: its node
  friend bool operator==(const ProjectionVersion&, const ProjectionVersion&) = default;
};

struct ProjectionInfo {
  std::string name{};
  std::string kind{};  ///< index, value, table
  std::string spec{};  ///< JSON, of the newest version
  SeqNr last{};        ///< its definition's version: what a change expects
  bool paused = false;
  GlobalPosition watermark{};
  std::vector<ProjectionVersion> versions{};  ///< the newest last
  friend bool operator==(const ProjectionInfo&, const ProjectionInfo&) = default;
};

/// A value index is of event types, by a value in their payload or metadata.
struct ValueIndex {
  std::vector<std::string> types{};
  std::string source = "payload";  ///< or "metadata"
  std::string path{};              ///< `$.customer.city`, `$.items[0].sku`. Source: docs/projections.md, "Paths"
  std::string value = "text";      ///< text, integer, number, boolean, time
};

/// Of every read of rows.
struct RowsAsked {
  /// Which position the rows must show. Absent: of an index, whatever they show; of values, the watermark when the read
  /// begins.
  std::optional<GlobalPosition> at_least{};
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::optional<SeqNr> version{};  ///< absent: the one that serves
  bool events = false;             ///< with the events themselves
};

inline constexpr std::size_t index_page_max = 1'000;

struct IndexRead {
  std::optional<std::uint64_t> start{};  ///< a number, from 1; absent: the first, backwards the last
  std::size_t limit = 100;               ///< at most index_page_max
  Direction direction = Direction::forwards;
  RowsAsked rows{};
};

struct IndexEntry {
  std::uint64_t number = 0;
  GlobalPosition position{};
  std::optional<RecordedEvent> event{};
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

struct IndexPage {
  std::vector<IndexEntry> entries{};
  std::uint64_t count = 0;     ///< numbers that the index has
  GlobalPosition watermark{};  ///< every event up to here is in the index
  friend bool operator==(const IndexPage&, const IndexPage&) = default;
};

/// Values as text: `42`, `-1.5`, `true`, `2026-01-31T12:00:00Z`, of text the text itself.
struct ValueRead {
  std::optional<std::string> equal{};
  std::optional<std::string> from{};   ///< inclusive
  std::optional<std::string> to{};     ///< inclusive
  std::optional<std::string> until{};  ///< exclusive
  std::string after{};                 ///< `next` of the page before
  std::size_t limit = 100;             ///< at most index_page_max
  Direction direction = Direction::forwards;
  RowsAsked rows{};
};

struct ValueEntry {
  std::string value{};  ///< as JSON
  GlobalPosition position{};
  std::optional<RecordedEvent> event{};
  friend bool operator==(const ValueEntry&, const ValueEntry&) = default;
};

struct ValuePage {
  std::vector<ValueEntry> entries{};
  std::string next{};          ///< empty: nothing follows
  GlobalPosition watermark{};  ///< every event up to here is in the index
  friend bool operator==(const ValuePage&, const ValuePage&) = default;
};

/// From any thread. What is created, changed, dropped is durable on return; it is carried out in the background.
/// Errors of all: unavailable (closed; the rows cannot be opened: why), those of EventStore::append
class Projections {
 public:
  virtual ~Projections() = default;

  /// The same query asked twice shares one index. Errors: invalid_query, too_large
  [[nodiscard]] virtual Result<ProjectionInfo> create_index(const Query& query) = 0;
  /// Errors: already_exists, invalid_argument (a path, a type of values that is none)
  [[nodiscard]] virtual Result<ProjectionInfo> create_value_index(const std::string& name, const ValueIndex& index,
                                                                  IfThere there = IfThere::refuse) = 0;
  /// Of any kind, by its spec in JSON. Errors: already_exists, invalid_argument
  [[nodiscard]] virtual Result<ProjectionInfo> create(const std::string& name, const std::string& kind,
                                                      const std::string& spec, IfThere there = IfThere::refuse) = 0;
  /// Another version, built beside the one that is read. `expected`: what `last` must be.
  /// Errors: not_found, invalid_argument, version_conflict
  [[nodiscard]] virtual Result<ProjectionInfo> change(const std::string& name, const std::string& spec,
                                                      std::optional<SeqNr> expected) = 0;

  enum class Ask : std::uint8_t {
    pause,
    resume,   ///< also one that failed: it tries the event again
    reset,    ///< its rows are cleared at once and built anew
    rebuild,  ///< built anew beside those that are read, then swapped
    drop,
  };
  /// Errors: not_found, version_conflict
  [[nodiscard]] virtual Result<void> ask(const std::string& name, Ask what) = 0;

  /// In order of name.
  [[nodiscard]] virtual Result<std::vector<ProjectionInfo>> list() = 0;
  [[nodiscard]] virtual Result<ProjectionInfo> describe(const std::string& name) = 0;

  /// Errors: not_found, invalid_argument (it is no index; a limit), timeout (not there in time), unavailable (it stands
  /// before that position: why)
  [[nodiscard]] virtual Result<IndexPage> read_index(const std::string& name, const IndexRead& read) = 0;
  [[nodiscard]] virtual Result<ValuePage> read_values(const std::string& name, const ValueRead& read) = 0;

  /// Until it shows a position. Errors: as those of reading
  [[nodiscard]] virtual Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                                          std::chrono::milliseconds timeout) = 0;

  /// Gives back what superseded rows take. Errors: cancelled, io
  [[nodiscard]] virtual Result<void> vacuum_projections() = 0;
};

}  // namespace evershard
