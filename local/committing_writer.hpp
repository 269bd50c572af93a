// CommittingWriter: what retention writes to the store of one process: events and rows are one commit.

#pragma once

#include <chrono>
#include <utility>

#include "evershard/actors/core/committer.hpp"
#include "evershard/services/retention/patience.hpp"
#include "evershard/services/retention/retention_writer.hpp"

namespace evershard::cluster {

/// Waits where sealing lags behind; closing ends that.
///
/// Owner:  the committer outlives it.
/// Errors: overloaded as well: for longer than `patience`; nothing was written
class CommittingWriter final : public RetentionWriter {
 public:
  CommittingWriter(actors::Committer& committer, const Limits& limits,
                   std::chrono::milliseconds patience = usual_patience)
      : committer_(committer), limits_(limits), patience_(patience) {}

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  Result<void> append_with(Append append, storage::RowWrites rows) override {
    auto done = patiently([&] { return committer_.append_with(append, rows); }, patience_, go_on());
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  Result<void> write_rows(storage::RowWrites rows) override {
    return patiently([&] { return committer_.write_rows(rows); }, patience_, go_on());
  }

 private:
  actors::Committer& committer_;
  const Limits limits_;
  const std::chrono::milliseconds patience_;
};

}  // namespace evershard::cluster
