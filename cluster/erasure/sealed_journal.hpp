// SealedJournal: what aggregates ask of a store whose payloads are sealed where they have a subject.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/cluster/erasure/opened_snapshot.hpp"
#include "evershard/cluster/erasure/sealing.hpp"
#include "evershard/cluster/erasure/sealing_queue.hpp"

namespace evershard::cluster {

/// `queue`: where keys are waited for; null: they are at hand. Owner: journal and queue outlive it.
class SealedJournal final : public actors::AggregateJournal {
 public:
  SealedJournal(actors::AggregateJournal& journal, std::shared_ptr<const Sealing> sealing, SealingQueue* queue = nullptr) : journal_(journal), sealing_(std::move(sealing)), queue_(queue) {}

  void append(Append append, AppendChain chain, std::function<void(Result<Appended>)> done) override {
    if (queue_ == nullptr || !queue_->has_to(sealing_->may_wait(append))) return seal_and_append(append, chain, done);
    queue_->run([this, chain, held = std::make_shared<std::pair<Append, Done>>(std::move(append), std::move(done))] { seal_and_append(held->first, chain, held->second); });
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) const override {
    return opened_snapshot(*sealing_, journal_.snapshot(aggregate, up_to), [&](const RecordedSnapshot& erased) { return journal_.snapshot(aggregate, erased.position - 1); });
  }
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override { return opened(journal_.stream(aggregate, options)); }
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override { return opened(journal_.query(query, options)); }
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate, std::string_view command_id) const override {
    return journal_.command(aggregate, command_id);
  }
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot) override {
    EVERSHARD_TRY(sealing_->seal(snapshot));
    return journal_.put_snapshot(std::move(snapshot));
  }
  [[nodiscard]] GlobalPosition watermark() const override { return journal_.watermark(); }

 private:
  using Done = std::function<void(Result<Appended>)>;
  void seal_and_append(Append& append, AppendChain chain, Done& done) {
    if (auto sealed = sealing_->seal(append); !sealed) return done(refuse(std::move(sealed).error()));
    journal_.append(std::move(append), chain, std::move(done));
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
