// NodeWriter: what retention writes at a node of a cluster, where an append is decided by a cut.
//
// Source: docs/removal.md, "On a cluster".

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/cluster/removal/retention_intent.hpp"
#include "evershard/services/retention/retention_writer.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::cluster {

/// An append and its rows: first a row of its own, the intent, says durably what is appended, under which ids, and what
/// is to be written when it stands; then it is appended; then the rows take the intent's place, in one commit. Broken
/// off anywhere, the same append is sent again and has the same answer: so the rows are written if, and only if, it
/// stands. A refusal takes the intent away. Where a loss was accepted, and only the log's event is left, the removal is
/// ordered anew, or the log says that it was dropped.
///
/// Shape: one operation at a time. Owner: both outlive it.
class NodeWriter final : public RetentionWriter {
 public:
  struct Steps {
    static constexpr const char* intended = "retention.intended";
    static constexpr const char* decided = "retention.decided";
  };
  using Touched = std::function<void(const AggregateId&)>;

  NodeWriter(ClusterNode& node, storage::Store& store, Touched touched, std::function<void(const char*)> at_step)
      : node_(node), store_(store), reader_(store), touched_(std::move(touched)), at_step_(std::move(at_step)) {}

  /// Any thread. The shards that are open here.
  void shards_are(NodeCommitter::OpenShards open);
  /// Any thread. Errors: io
  [[nodiscard]] Result<bool> has_unsettled() const;
  /// Any thread.
  [[nodiscard]] NodeCommitter::OpenShards open() const;

  [[nodiscard]] const Limits& limits() const override { return node_.limits(); }
  void begin() override;
  [[nodiscard]] bool has(ShardId shard) const override { return held_.contains(shard); }
  [[nodiscard]] Result<void> wait_settled(const AggregateId& aggregate) override {
    return node_.committer().wait_settled(aggregate);
  }
  [[nodiscard]] Result<void> append_with(Append append, storage::RowWrites rows) override;
  [[nodiscard]] Result<void> write_rows(storage::RowWrites rows) override { return write_rows(std::move(rows), {}); }
  [[nodiscard]] Result<std::vector<Unsettled>> settle(const Progress& progress) override;

 private:
  enum class Sent : std::uint8_t { first, again };
  struct Intent {
    std::string key;
    std::optional<ShardId> shard;  ///< whose row log keeps it
  };
  [[nodiscard]] Result<void> settle(const Intent& intent, Append append, storage::RowWrites rows, Sent sent);
  [[nodiscard]] Result<void> stands(const Intent& intent, storage::RowWrites rows);
  [[nodiscard]] Result<void> settle_in_part(const Intent& intent, Append append, storage::RowWrites rows,
                                            const Error& why);
  [[nodiscard]] Result<std::optional<GlobalPosition>> find_in_log(const Append& append, GlobalPosition after) const;
  /// Another intent in this one's place, in one commit, and that one is carried through.
  [[nodiscard]] Result<void> replace(const Intent& intent, Append by, storage::RowWrites rows);
  [[nodiscard]] Result<void> drop(const Intent& intent, std::string_view type, const storage::RowWrites& rows,
                                  const std::string& why);
  [[nodiscard]] Result<void> let_go(const Intent& intent, const RetentionIntent& what);
  /// Whether what the rows remove is what is here: behind a loss that an operator accepted other events have its
  /// numbers, or none. Errors: corruption, io
  [[nodiscard]] Result<bool> is_here(const storage::RowWrites& rows) const;
  /// Whether the intent says that a removal is done, and another writer has done it meanwhile: the row that the intent
  /// takes away is gone, or a later removal's. Errors: corruption, io
  [[nodiscard]] Result<bool> is_over(const Append& append, const storage::RowWrites& rows) const;
  /// The intent goes, nothing else.
  [[nodiscard]] Result<void> forget(const Intent& intent);
  /// Who is to settle the append when this node is gone: one that has what it is about. Nothing: no other node.
  [[nodiscard]] std::optional<ShardId> keeper_of(const Append& append, const storage::RowWrites& rows) const;
  /// `intents`: whose row log has the intents among them.
  [[nodiscard]] Result<void> write_rows(storage::RowWrites rows, std::optional<ShardId> intents);
  void step(const char* name) const {
    if (at_step_) at_step_(name);
  }

  ClusterNode& node_;
  storage::Store& store_;
  const storage::Reader reader_;
  const Touched touched_;
  const std::function<void(const char*)> at_step_;
  mutable std::mutex mutex_;
  NodeCommitter::OpenShards open_;  ///< under it
  NodeCommitter::OpenShards held_;
  std::map<std::string, Epoch> relogged_;  ///< intents that a quorum has, by this writer of their shards
};

}  // namespace evershard::cluster
