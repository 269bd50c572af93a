// SealedJournal: what aggregates ask of a store whose payloads are sealed where they have a subject.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/services/erasure/opened_snapshot.hpp"
#include "evershard/services/erasure/sealing.hpp"
#include "evershard/services/erasure/sealing_queue.hpp"

namespace evershard::cluster {

/// What a live aggregate decided over a state that may have something that is erased meanwhile is not sealed, under
/// whatever key: `version_conflict`, and it is loaded anew.
///
/// `queue`: where keys are waited for; null: they are at hand. Owner: journal and queue outlive it.
class SealedJournal final : public actors::AggregateJournal {
 public:
  SealedJournal(actors::AggregateJournal& journal, std::shared_ptr<const Sealing> sealing,
                SealingQueue* queue = nullptr)
      : journal_(journal), sealing_(std::move(sealing)), queue_(queue) {}

  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override {
    if (queue_ == nullptr) return seal_and_append(append, chain, loaded_at, done);
    if (!queue_->busy()) {
      auto sealed = sealing_->seal_at_once(append, loaded_at);
      if (!sealed) return done(refuse(std::move(sealed).error()));
      if (*sealed) return journal_.append(std::move(append), chain, loaded_at, std::move(done));
    }
    auto held = std::make_shared<std::pair<Append, Done>>(std::move(append), std::move(done));
    auto queued = queue_->run(
        held->first, [this, chain, loaded_at, held] { seal_and_append(held->first, chain, loaded_at, held->second); });
    if (!queued) held->second(refuse(std::move(queued).error()));
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override {
    return opened_snapshot(*sealing_, journal_.snapshot(aggregate, up_to), [&](const RecordedSnapshot& erased) {
      return journal_.snapshot(aggregate, erased.position - 1);
    });
  }
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override {
    return opened(journal_.stream(aggregate, options));
  }
  [[nodiscard]] std::vector<Result<Page>> streams(std::span<const StreamRead> reads) const override {
    auto pages = journal_.streams(reads);
    for (auto& page : pages) page = opened(std::move(page));
    return pages;
  }
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override {
    return opened(journal_.query(query, options));
  }
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate,
                                                                       std::string_view command_id) const override {
    return journal_.command(aggregate, command_id);
  }
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) override {
    EVERSHARD_TRY(sealing_->seal(snapshot, loaded_at));
    return journal_.put_snapshot(std::move(snapshot), loaded_at);
  }
  [[nodiscard]] GlobalPosition watermark() const override { return journal_.watermark(); }
  [[nodiscard]] std::uint64_t erasures() const override { return sealing_->erasures(); }

 private:
  using Done = std::function<void(Result<Appended>)>;
  void seal_and_append(Append& append, AppendChain chain, std::uint64_t loaded_at, Done& done) {
    if (auto sealed = sealing_->seal(append, loaded_at); !sealed) return done(refuse(std::move(sealed).error()));
    journal_.append(std::move(append), chain, loaded_at, std::move(done));
  }
  [[nodiscard]] Result<Page> opened(Result<Page> page) const {
    if (page) EVERSHARD_TRY(sealing_->open(page->events));
    return page;
  }

  actors::AggregateJournal& journal_;
  const std::shared_ptr<const Sealing> sealing_;
  SealingQueue* const queue_;
};

}  // namespace evershard::cluster
