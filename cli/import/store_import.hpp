// StoreImport: copies a source's events in their order, each once, whatever ends it in between; and compares.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "evershard/cli/import/import_source.hpp"
#include "evershard/store/api/event_store.hpp"

namespace evershard::cli {

/// What the source has and what is stored here of it.
struct ImportCheck {
  std::uint64_t source_events = 0;
  std::uint64_t stored_events = 0;
  std::string source_hash{}, stored_hash{};  ///< of the contents, in order
  [[nodiscard]] bool same() const { return source_events == stored_events && source_hash == stored_hash; }
};

/// How far it has come lies in the target: tags of the last event of each append. So what is stored is known to be, and
/// two imports of one name cannot both store it.
class StoreImport {
 public:
  static constexpr std::size_t append_events_max = 500;
  static constexpr std::size_t append_bytes_max = 2u << 20;
  /// Returns: go on.
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

  /// `name`: of the import, in the target's tags.
  StoreImport(ImportSource& source, EventStore& target, std::string name);

  /// Everything that the source has now. Returns: how many events were stored.
  /// Errors: those of source and store; condition_failed: another import of this name is under way; cancelled
  [[nodiscard]] Result<std::uint64_t> run(const Progress& progress);
  /// Reads both again. Errors: those of source and store, cancelled
  [[nodiscard]] Result<ImportCheck> compare(const Progress& progress);

  [[nodiscard]] std::uint64_t known() const { return known_; }  ///< of the source, before run()

 private:
  struct Mark {
    std::uint64_t source = 0;  ///< everything up to there is stored
    GlobalPosition here{};     ///< by the event at this place
  };
  using Events = std::vector<ImportedEvent>;

  [[nodiscard]] Result<std::optional<RecordedEvent>> marked(bool first);
  [[nodiscard]] Result<void> find_mark();
  [[nodiscard]] Result<void> store(Events events);
  [[nodiscard]] Result<Appended> append(const Events& events);

  ImportSource& source_;
  EventStore& target_;
  const std::string tag_;
  Mark mark_;
  std::uint64_t known_ = 0;
};

}  // namespace evershard::cli
