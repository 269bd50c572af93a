// Node: the list of the parts of a store in one process, made once, closed in order.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/actors/aggregate/aggregate_host.hpp"
#include "evershard/actors/core/committer.hpp"
#include "evershard/local/committing_writer.hpp"
#include "evershard/local/gate.hpp"
#include "evershard/local/held_cursors.hpp"
#include "evershard/local/local_journal.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/erasure/sealed_journal.hpp"
#include "evershard/services/retention/store_retention.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::cluster {

struct NodeOptions {
  storage::StoreOptions store{};
  Limits limits{};
  actors::AggregateHostOptions aggregates{};
  std::chrono::milliseconds at_least_timeout = std::chrono::seconds(30);  ///< how long a read waits for its `at_least`
  std::shared_ptr<SubjectKeys> keys{};                                    ///< null: no payload is sealed, or opened
};

/// Owner: the Local that opened it, and every stream and feed: who outlives the Local finds a closed node, whose parts
///        are still there and answer nothing.
class Node {
 public:
  /// Errors: invalid_argument (limits too), not_found, unavailable, corruption, io: storage/open.hpp
  [[nodiscard]] static Result<std::shared_ptr<Node>> open(NodeOptions options);
  Node(std::unique_ptr<storage::Store> store, const NodeOptions& options);
  ~Node() { close(); }
  Node(const Node&) = delete;

  /// While it is held, the parts are open. Not held while waiting for the watermark. Errors: unavailable: closed
  [[nodiscard]] Result<Gate::Pass> enter();
  /// Of long work inside: ends it with `cancelled` when the node is being closed.
  [[nodiscard]] storage::Progress until_closed(storage::Progress progress);

  [[nodiscard]] storage::Store& store() { return *store_; }
  [[nodiscard]] const storage::Reader& reader() const { return reader_; }
  [[nodiscard]] actors::Committer& committer() { return committer_; }
  /// Where the watermark is, and waiting for it; open even when the node is closed.
  [[nodiscard]] actors::WatermarkWatch& watch() { return committer_.watch(); }
  /// The live aggregates; their actors are started when they are first wanted. Closed: one that refuses everything.
  [[nodiscard]] actors::AggregateHost& aggregates();
  /// Absent: none were ever wanted.
  [[nodiscard]] std::optional<actors::AggregateFigures> aggregate_figures() const;
  [[nodiscard]] HeldCursors& held() { return held_; }
  [[nodiscard]] StoreRetention& retention() { return retention_; }
  /// A live aggregate's state is forgotten: whoever asks next has it loaded again.
  void forget(const AggregateId& aggregate);
  /// Another number each time events were removed or payloads erased: what was read before is looked at again before it
  /// is handed out.
  [[nodiscard]] std::uint64_t rewritten() const;
  /// Null: there are no keys. Streams and feeds may keep it.
  [[nodiscard]] const std::shared_ptr<const Sealing>& sealing() const { return sealing_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] std::chrono::milliseconds at_least_timeout() const { return at_least_timeout_; }

  /// Empty: in memory.
  [[nodiscard]] const std::filesystem::path& data_dir() const { return data_dir_; }

  /// Answers what is under way, refuses what comes; from any thread but the store's own, any number of times: whoever
  /// comes back finds it closed.
  void close();

 private:
  const std::filesystem::path data_dir_;
  const Limits limits_;
  const std::chrono::milliseconds at_least_timeout_;
  std::shared_ptr<const void> others_out_{};  ///< of a read-only store: keeps other processes out
  const std::unique_ptr<storage::Store> store_;
  const storage::Reader reader_;
  actors::Committer committer_;
  const std::shared_ptr<SubjectKeys> keys_;
  const std::shared_ptr<const Sealing> sealing_;
  HeldCursors held_;
  CommittingWriter retention_writer_;
  StoreRetention retention_;
  Gate gate_;
  LocalJournal journal_;
  const std::unique_ptr<SealedJournal> sealed_journal_;  ///< null: there are no keys
  const actors::AggregateHostOptions aggregate_options_;
  mutable std::mutex aggregates_mutex_;
  std::unique_ptr<actors::AggregateHost> aggregates_;
  bool aggregates_closed_ = false;
  std::once_flag closed_;
};

}  // namespace evershard::cluster
