// CommittingWriter: what retention writes to the store of one process: events and rows are one commit.

#pragma once

#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>

#include "evershard/actors/core/committer.hpp"
#include "evershard/cluster/retention/retention_writer.hpp"

namespace evershard::cluster {

/// Waits where sealing lags behind: an operation that has begun, or is the thousandth of a run, is not to end because the store is busy for a moment.
///
/// Owner:  the committer outlives it.
/// Errors: overloaded as well: it was busy for longer than that; nothing was written
class CommittingWriter final : public RetentionWriter {
 public:
  static constexpr std::chrono::milliseconds usual_patience{10'000};

  CommittingWriter(actors::Committer& committer, const Limits& limits, std::chrono::milliseconds patience = usual_patience)
      : committer_(committer), limits_(limits), patience_(patience) {}

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  Result<void> append_with(Append append, storage::RowWrites rows) override {
    auto done = patiently([&] { return committer_.append_with(append, rows); });
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  Result<void> write_rows(storage::RowWrites rows) override {
    return patiently([&] { return committer_.write_rows(rows); });
  }

 private:
  static constexpr std::chrono::milliseconds looks_every{5};

  /// Closing ends it: then it is unavailable.
  template <class Write>
  std::invoke_result_t<const Write&> patiently(const Write& write) const {
    const auto until = std::chrono::steady_clock::now() + patience_;
    for (;;) {
      auto done = write();
      if (done || done.error().code != ErrorCode::overloaded || std::chrono::steady_clock::now() >= until) return done;
      std::this_thread::sleep_for(looks_every);
    }
  }

  actors::Committer& committer_;
  const Limits limits_;
  const std::chrono::milliseconds patience_;
};

}  // namespace evershard::cluster
