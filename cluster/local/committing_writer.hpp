// CommittingWriter: what retention writes to the store of one process: events and rows are one commit.

#pragma once

#include <utility>

#include "evershard/actors/core/committer.hpp"
#include "evershard/cluster/retention/retention_writer.hpp"

namespace evershard::cluster {

/// Owner: the committer outlives it.
class CommittingWriter final : public RetentionWriter {
 public:
  CommittingWriter(actors::Committer& committer, const Limits& limits) : committer_(committer), limits_(limits) {}

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  Result<void> append_with(Append append, storage::RowWrites rows) override {
    auto done = committer_.append_with(std::move(append), std::move(rows));
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  Result<void> write_rows(storage::RowWrites rows) override { return committer_.write_rows(std::move(rows)); }

 private:
  actors::Committer& committer_;
  const Limits limits_;
};

}  // namespace evershard::cluster
