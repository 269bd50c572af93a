// A kind of projections for tests: counts events by type, each a row that is read, raised and written; refuses, throws
// or hangs where it is told so.

#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "evershard/services/indexes/processor.hpp"
#include "evershard/services/indexes/query_spec.hpp"
#include "evershard/services/indexes/row_bytes.hpp"

namespace evershard::cluster {

struct CountingFaults {
  std::atomic<std::uint64_t> refuse_at{0}, unavailable_at{0}, throw_at{0}, hang_at{0};  ///< positions
  std::atomic<bool> let_go{false};
  std::atomic<std::uint32_t> slow_ms{0};  ///< a page, until let go
  std::atomic<std::uint64_t> handled{0};  ///< events, also again
};

class CountingProcessor final : public actors::Processor {
 public:
  CountingProcessor(Query query, std::shared_ptr<CountingFaults> faults, bool users_code)
      : query_(std::move(query)), faults_(std::move(faults)), users_code_(users_code) {}
  [[nodiscard]] const Query& query() const override { return query_; }
  [[nodiscard]] bool has_users_code() const override { return users_code_; }
  Result<void> handle(std::span<const RecordedEvent* const> events, actors::ProjectionRows& rows) override {
    if (!faults_->let_go) std::this_thread::sleep_for(std::chrono::milliseconds(faults_->slow_ms));
    for (const auto* event : events) {
      if (event->position.value == faults_->refuse_at) return refuse(ErrorCode::invalid_argument, "not this one");
      if (event->position.value == faults_->unavailable_at) return refuse(ErrorCode::unavailable, "not now");
      if (event->position.value == faults_->throw_at) throw std::runtime_error("thrown");
      while (event->position.value == faults_->hang_at && !faults_->let_go)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto row = rows.get(event->type);
      if (!row) return refuse(row.error());
      rows.put(event->type, std::to_string((*row ? std::stoull(**row) : 0) + 1));
    }
    const auto counts = actors::read_counts(rows.state(), 1);
    rows.put_state(actors::write_counts({counts->front() + events.size()}));
    faults_->handled += events.size();
    return {};
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> figures(const std::string& state) const override {
    return {{"counted", actors::read_counts(state, 1)->front()}};
  }

 private:
  const Query query_;
  const std::shared_ptr<CountingFaults> faults_;
  const bool users_code_;
};

/// Spec: a query's, and "keep_versions" if there is one.
class CountingKind final : public actors::ProcessorKind {
 public:
  explicit CountingKind(bool users_code = false)
      : faults(std::make_shared<CountingFaults>()), users_code_(users_code) {}
  [[nodiscard]] Result<std::string> check(const std::string&, const std::string& spec) const override { return spec; }
  [[nodiscard]] Result<std::unique_ptr<actors::Processor>> make(const std::string&,
                                                                const std::string& spec) const override {
    auto query = actors::read_query_spec(spec);
    return std::make_unique<CountingProcessor>(query ? *query : Query::all(), faults, users_code_);
  }
  const std::shared_ptr<CountingFaults> faults;

 private:
  const bool users_code_;
};

inline std::map<std::string, std::uint64_t> counted(const storage::ProjectionView& rows) {
  std::map<std::string, std::uint64_t> counts;
  const auto cursor = rows.cursor({});
  while (cursor->next()) counts[std::string(cursor->key())] = std::stoull(std::string(cursor->value()));
  return counts;
}

}  // namespace evershard::cluster
