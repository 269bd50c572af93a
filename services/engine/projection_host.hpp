// ProjectionHost: the projections of a store, where it is: definitions, rows, engine; opened when there is the first
// definition.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "evershard/api/projections.hpp"
#include "evershard/services/engine/any_removed.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/engine/definition_share.hpp"
#include "evershard/services/engine/projection_engine.hpp"
#include "evershard/services/engine/tried_again.hpp"
#include "evershard/services/rows/projection_store.hpp"

namespace evershard::cluster {

struct ProjectionHostOptions {
  std::filesystem::path folder{};  ///< empty: in memory
  storage::ProjectionOwner owner{};
  std::size_t block_cache_bytes = 0;  ///< 0: that of the process's stores
  std::size_t memtables_bytes = 64u << 20;
  EngineOptions engine{};
  std::shared_ptr<DefinitionShare> share{};  ///< absent: all definitions are here
};

/// Any thread. Owner: the events outlive it; they take reserved names.
class ProjectionHost final : public Projections {
 public:
  ProjectionHost(EventStore& events, ProcessorKinds kinds, ProjectionHostOptions options);
  ~ProjectionHost() override { close(); }

  /// Goes on where it was, if there are definitions. What is wrong with the rows is warned of, and tried again.
  void begin();
  /// begin() has not worked yet: nothing that is defined goes on.
  [[nodiscard]] bool stands_still() const { return begins_.fails(); }
  /// Nothing works any more, nothing is written.
  void close();

  /// The rows of one, as they are or once they have passed a position; for those who know what is in them. Errors:
  /// those of ProjectionEngine::open
  [[nodiscard]] Result<ProjectionEngine::Opened> open(const std::string& name, const ProjectionEngine::Wanted& wanted);
  /// Of a share: takes what has become its own, or has changed, lets go what is not any more, tries again what could
  /// not be made; rows of what is another's are dropped. Whoever has a share calls it when that changes, and every now
  /// and then. Errors: of reading
  [[nodiscard]] Result<void> look_again();
  /// What is hosted here, without asking for definitions that are elsewhere. Empty: no projection was ever opened here.
  [[nodiscard]] std::vector<ProjectionInfo> hosted();
  /// Something is there that was missing (a handler): what waits for it is tried again.
  void retry();
  /// The definition, if it is of that kind. Errors: not_found, invalid_argument (of another kind)
  [[nodiscard]] Result<actors::Definition> definition(const std::string& name, const std::string& kind);
  /// Nothing: no projection was ever opened here.
  struct Figures {
    std::vector<ProjectionInfo> projections{};
    std::uint64_t disk_bytes = 0;
  };
  [[nodiscard]] std::optional<Figures> figures();

  [[nodiscard]] Result<ProjectionInfo> create_index(const Query& query) override;
  [[nodiscard]] Result<ProjectionInfo> create_value_index(const std::string& name, const ValueIndex& index,
                                                          IfThere there = IfThere::refuse) override;
  [[nodiscard]] Result<ProjectionInfo> create(const std::string& name, const std::string& kind, const std::string& spec,
                                              IfThere there = IfThere::refuse) override;
  [[nodiscard]] Result<ProjectionInfo> change(const std::string& name, const std::string& spec,
                                              std::optional<SeqNr> expected) override;
  [[nodiscard]] Result<void> ask(const std::string& name, Ask what) override;
  [[nodiscard]] Result<std::vector<ProjectionInfo>> list() override;
  [[nodiscard]] Result<ProjectionInfo> describe(const std::string& name) override;
  [[nodiscard]] Result<IndexPage> read_index(const std::string& name, const IndexRead& read) override;
  [[nodiscard]] Result<ValuePage> read_values(const std::string& name, const ValueRead& read) override;
  [[nodiscard]] Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                                  std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> vacuum_projections() override { return vacuum({}); }
  [[nodiscard]] Result<void> vacuum(const storage::Progress& progress, unsigned removed_percent = 0);

 private:
  /// Opens the rows and begins with all definitions, once.
  Result<std::shared_ptr<ProjectionEngine>> engine();
  /// Of a share: what can be read of it is whole. Errors: unavailable
  Result<void> settle(const std::string& name);
  /// With its definition applied, if there is one. Errors: as engine(); wrong_shard: it is not here any more
  Result<std::shared_ptr<ProjectionEngine>> engine_with(const std::string& name);
  Result<std::vector<actors::Definition>> definitions();
  Result<void> begin_defined();
  /// Of a definition: false: it cannot be read. It hides none beside it, and its rows are kept.
  bool is_readable(const std::string& name, const Result<std::optional<actors::Definition>>& found);
  bool is_damaged(const std::string& name);
  Result<std::string> checked(const std::string& name, const std::string& kind, const std::string& spec) const;
  Result<ProjectionInfo> carry_out(const actors::Definition& definition);
  Result<ProjectionEngine::Opened> open_index(const std::string& name, const std::string& kind, const RowsAsked& rows,
                                              bool at_the_watermark);
  Result<void> add_events(bool wanted, GlobalPosition position, std::optional<RecordedEvent>& to);

  EventStore& events_;
  const ProcessorKinds kinds_;
  const ProjectionHostOptions options_;
  Catalogue catalogue_;
  AnyRemoved any_removed_;
  TriedAgain begins_;
  std::mutex damaged_mutex_;
  std::set<std::string, std::less<>> damaged_;  ///< definitions that cannot be read
  std::mutex mutex_;                            ///< of the three below
  bool closed_ = false;
  std::shared_ptr<storage::ProjectionStore> rows_;
  std::shared_ptr<ProjectionEngine> engine_;  ///< before rows_ when it goes
};

}  // namespace evershard::cluster
