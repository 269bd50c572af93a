// PartedTables: projections and tables as users see them: a table in parts is one to them, and each part a projection
// of its own beneath.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "evershard/api/projections.hpp"
#include "evershard/api/tables.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/tables/host/part_threads.hpp"
#include "evershard/services/tables/table_select.hpp"

namespace evershard::cluster {

struct PartedTablesOptions {
  std::function<std::uint32_t(const std::string& projection)>
      home_of{};  ///< the node that keeps it; absent: there is one process
  std::function<std::vector<ProjectionInfo>()>
      hosted{};                            ///< what is kept in this process: whose parts are swapped by it
  std::chrono::milliseconds look_every{};  ///< for what others changed; 0: nobody else does
  std::size_t threads = 8;
  std::function<void(const Error&)> warn{};  ///< told what keeps parts from being swapped, once of the same
};

/// The parts of `orders` are the projections `orders~0`, `orders~1`, ..: each has its definition's aggregate, and so on
/// a cluster a shard and a home, of its own. What is asked of the table (created, changed, paused, .., dropped) is one
/// append with an event for it and one for each part: all of them or none. What was built beside is read when all parts
/// have it: one more such append, `Served`, by the process that keeps the table.
///
/// Errors: those of what lies beneath, a part's named. A change of a table in parts that fails with `timeout` may have
/// been done. Any thread. Owner: what lies beneath outlives it; events take reserved names.
class PartedTables final : public Projections, public Tables {
 public:
  PartedTables(EventStore& events, Projections& projections, Tables& tables, PartedTablesOptions options);
  ~PartedTables() override { close(); }

  /// Begins to swap versions of tables that are ready, in a thread of its own.
  void begin();
  /// Idempotent. Not while it is asked.
  void close();

  Result<ProjectionInfo> create_index(const Query& query) override { return projections_.create_index(query); }
  Result<ProjectionInfo> create_value_index(const std::string& name, const ValueIndex& index,
                                            IfThere there = IfThere::refuse) override {
    return projections_.create_value_index(name, index, there);
  }
  Result<ProjectionInfo> create(const std::string& name, const std::string& kind, const std::string& spec,
                                IfThere there = IfThere::refuse) override;
  Result<ProjectionInfo> change(const std::string& name, const std::string& spec,
                                std::optional<SeqNr> expected) override;
  Result<void> ask(const std::string& name, Ask what) override;
  /// Of a table in parts the versions are its parts', each with `part`.
  Result<std::vector<ProjectionInfo>> list() override;
  Result<ProjectionInfo> describe(const std::string& name) override;
  Result<IndexPage> read_index(const std::string& name, const IndexRead& read) override {
    return projections_.read_index(name, read);
  }
  Result<ValuePage> read_values(const std::string& name, const ValueRead& read) override {
    return projections_.read_values(name, read);
  }
  Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                    std::chrono::milliseconds timeout) override;
  Result<void> vacuum_projections() override { return projections_.vacuum_projections(); }

  Result<TablePage> select(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TablePlan> explain(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TableInfo> describe_table(const std::string& table, TableReading reading = {}) override;
  Result<std::vector<TableInfo>> list_tables() override;
  Result<std::vector<ParkedRow>> parked(const std::string& table, GlobalPosition after = {},
                                        std::size_t limit = 1'000) override;
  Result<GlobalPosition> retry_parked(const std::string& table, std::vector<GlobalPosition> positions) override {
    return settle(table, positions, false);
  }
  Result<GlobalPosition> discard_parked(const std::string& table, std::vector<GlobalPosition> positions) override {
    return settle(table, positions, true);
  }

 private:
  /// A table in parts, as its definition was read.
  struct Parted {
    actors::Definition definition{};
    std::uint32_t parts = 1;
    SeqNr serves{};  ///< the version that a read gets that names none
    std::map<SeqNr, std::shared_ptr<const actors::TableShape>> shapes{};
  };
  using Known = std::shared_ptr<const Parted>;  ///< nullptr: the table has no parts, or does not exist

  [[nodiscard]] Result<Known> look_up(const std::string& name);
  /// As it was read last, if it was.
  [[nodiscard]] std::optional<Known> remembered(const std::string& name);
  /// `whole()` or `in_parts(table)`, again with the definition as it is now where the one remembered is no more.
  template <class T, class Whole, class InParts>
  [[nodiscard]] Result<T> as_it_lies(const std::string& name, Whole whole, InParts in_parts);
  template <class T, class Once>
  [[nodiscard]] Result<std::vector<T>> of_all(const std::string& table, std::uint32_t parts, Once once);
  /// The same event for the table and its parts. Returns: the last one's position. Errors: version_conflict, of
  /// EventStore::append
  [[nodiscard]] Result<GlobalPosition> note_all(const std::string& name, std::uint32_t parts, SeqNr last,
                                                std::string_view verb, const std::string& payload);
  /// Homes are told, those that can be.
  void tell_all(const std::string& name, std::uint32_t parts);
  [[nodiscard]] Result<GlobalPosition> settle(const std::string& table, const std::vector<GlobalPosition>& positions,
                                              bool discard);
  [[nodiscard]] ProjectionInfo with_parts(ProjectionInfo table, std::uint32_t parts,
                                          const std::function<Result<ProjectionInfo>(std::uint32_t)>& part) const;
  [[nodiscard]] Result<ProjectionInfo> describe_parts(const std::string& name, std::uint32_t parts);
  /// Behind what was appended: no error says that it was not done.
  [[nodiscard]] Result<ProjectionInfo> as_changed(const std::string& name, std::uint32_t parts);
  [[nodiscard]] Result<TableInfo> describe_table_of(const Parted& table, const TableReading& reading);
  void look();
  /// Returns: something is still to be swapped.
  [[nodiscard]] bool swap_what_is_ready();

  EventStore& events_;
  Projections& projections_;
  Tables& tables_;
  const PartedTablesOptions options_;
  Catalogue catalogue_;
  PartThreads threads_;
  std::mutex mutex_;  ///< of those below
  std::condition_variable changed_;
  std::map<std::string, Known, std::less<>> known_;
  /// Of the looker: warns that a table could not be swapped. The next look tries again.
  void say_unswapped(const std::string& name, const Error& error);
  std::map<std::string, std::string, std::less<>> unswapped_;  ///< what was said of a table; the looker's
  std::map<std::string, SeqNr, std::less<>> swapped_;          ///< nothing was to be swapped as of then; the looker's
  bool look_now_ = true, closing_ = false;
  std::thread looker_;
};

}  // namespace evershard::cluster
