// TrailingIndex: a value index that is always a moment behind a store that is appended to.

#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/projections.hpp"

namespace evershard {

/// The first looks at it come too early, and between two of them something is appended.
class TrailingIndex final : public Projections {
 public:
  explicit TrailingIndex(EventStore& store, std::size_t late = 3) : store_(store), late_(late) {}

  /// What each look waited for.
  [[nodiscard]] std::vector<std::optional<GlobalPosition>> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  Result<ValuePage> read_values(const std::string&, const ValueRead& read) override {
    return looked<ValuePage>(read.rows);
  }
  Result<IndexPage> read_index(const std::string&, const IndexRead& read) override {
    return looked<IndexPage>(read.rows);
  }

  Result<ProjectionInfo> create_index(const Query&) override { return no(); }
  Result<ProjectionInfo> create_value_index(const std::string&, const ValueIndex&, IfThere) override { return no(); }
  Result<ProjectionInfo> create(const std::string&, const std::string&, const std::string&, IfThere) override {
    return no();
  }
  Result<ProjectionInfo> change(const std::string&, const std::string&, std::optional<SeqNr>) override { return no(); }
  Result<void> ask(const std::string&, Ask) override { return no(); }
  Result<std::vector<ProjectionInfo>> list() override { return no(); }
  Result<ProjectionInfo> describe(const std::string&) override { return no(); }
  Result<GlobalPosition> wait_until(const std::string&, GlobalPosition, std::chrono::milliseconds) override {
    return no();
  }
  Result<void> vacuum_projections() override { return no(); }

 private:
  template <class Page>
  Result<Page> looked(const RowsAsked& rows) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(rows.at_least);
    if (!store_.append(Append{}.event("n-1", "T", "{}"))) return no();
    if (asked_.size() <= late_) return refuse(ErrorCode::timeout, "it is behind");
    Page page;
    page.watermark = rows.at_least.value_or(GlobalPosition{0});
    return page;
  }
  static Refused no() { return refuse(ErrorCode::invalid_argument, "not here"); }
  EventStore& store_;
  const std::size_t late_;
  mutable std::mutex mutex_;
  std::vector<std::optional<GlobalPosition>> asked_;
};

}  // namespace evershard
