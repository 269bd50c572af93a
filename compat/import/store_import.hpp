// StoreImport: copies a source's events in their order, each once, whatever ends it in between; and compares.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/compat/import/import_source.hpp"

namespace evershard::cli {

/// What the source has and what is stored here of it.
struct ImportCheck {
  std::uint64_t source_events = 0;
  std::uint64_t stored_events = 0;
  std::uint64_t refused_events = 0;          ///< of the source, beside those: they cannot be stored here
  std::uint64_t removed_events = 0;          ///< of those that are stored: their content is removed or erased here
  std::string source_hash{}, stored_hash{};  ///< of the contents, in order, without the refused and the removed
  [[nodiscard]] bool same() const { return source_events == stored_events && source_hash == stored_hash; }
};

/// What was done about numbers in aggregates that are left out in the source: their events are gone there.
struct ImportNumbers {
  std::uint64_t places = 0;      ///< that are held here by events without content
  std::uint64_t renumbered = 0;  ///< aggregates whose numbers are others here
};

struct StoreImportOptions {
  std::string name{};        ///< of the import, in the target's tags
  bool keep_numbers = true;  ///< of events in their aggregates; else they begin at 1 and go on without gaps
  /// What cannot be stored here is left out; its number in its aggregate is held as that of an event that is gone.
  bool skip_refused = false;
};

/// How far it has come lies in the target: tags of the last event of each append. So what is stored is known to be, and
/// two imports of one name cannot both store it.
class StoreImport {
 public:
  static constexpr std::size_t append_events_max = 500;
  static constexpr std::size_t append_bytes_max = 2u << 20;
  /// Returns: go on. Of positions in the source.
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;
  using Refused = std::function<Result<void>(const ImportedEvent& event)>;

  StoreImport(ImportSource& source, EventStore& target, StoreImportOptions options);

  /// Everything that the source has now. Returns: how many events were stored.
  /// Errors: those of source and store; condition_failed: another import of this name is under way; version_conflict:
  /// an aggregate has other events here, so that numbers cannot be kept; cancelled; what is told of an event that
  /// cannot be stored: everything before it is stored
  [[nodiscard]] Result<std::uint64_t> run(const Progress& progress);
  /// Reads both again, as far as run() has read. `refused` is told each event of the source that cannot be stored.
  /// Errors: those of source, store and `refused`; cancelled
  [[nodiscard]] Result<ImportCheck> compare(const Progress& progress, const Refused& refused);

  [[nodiscard]] ImportNumbers numbers() const { return numbers_; }  ///< of run()

 private:
  struct Mark {
    SourcePlace source{};   ///< everything up to there is stored
    GlobalPosition here{};  ///< by the event at this place
  };
  /// With the places in front of it in its aggregate that are held for events that are gone.
  struct Placed {
    ImportedEvent event{};
    std::uint64_t gone = 0;
    bool placed = false;
  };
  using Events = std::vector<Placed>;

  [[nodiscard]] Result<std::optional<RecordedEvent>> marked(bool first);
  [[nodiscard]] Result<void> find_mark();
  [[nodiscard]] Result<std::uint64_t> number_here(const AggregateId& aggregate, std::uint64_t revision);
  [[nodiscard]] Result<bool> place(Placed& event, bool first);
  [[nodiscard]] Result<std::size_t> next_append(Events& events, std::size_t from);
  [[nodiscard]] Result<void> hold(const AggregateId& aggregate, std::uint64_t from, std::uint64_t count);
  [[nodiscard]] Result<void> store(Events events);
  [[nodiscard]] Result<Appended> append(const Events& events);
  [[nodiscard]] Result<Appended> append(Append append);

  ImportSource& source_;
  EventStore& target_;
  const StoreImportOptions options_;
  const std::string tag_;
  Mark mark_;
  SourcePlace refused_;  ///< the last event that run() has left out
  ImportNumbers numbers_;
  std::unordered_map<AggregateId, std::uint64_t> versions_;  ///< of aggregates in the source, as far as it was read
  std::unordered_set<AggregateId> renumbered_;
};

}  // namespace evershard::cli
