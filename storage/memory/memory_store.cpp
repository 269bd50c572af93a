#include "evershard/storage/memory/memory_store.hpp"

#include <functional>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/index/tail_admission.hpp"
#include "evershard/storage/journal/journal_range.hpp"
#include "evershard/storage/journal/new_identity.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t run_writes_max = 256;  // rows put under one lock

sharding::OrderState nothing_yet(const Identity& identity) {
  sharding::OrderState state;
  state.shards.resize(identity.shards);
  return state;
}

class WriteSink final : public RowSink {
 public:
  explicit WriteSink(std::vector<MemoryRows::Write>& writes) : writes_(writes) {}
  void put(Family family, std::string_view key, std::string_view value) override {
    writes_.push_back({family, std::string(key), std::string(value)});
  }
  void erase(Family family, std::string_view key) override {
    writes_.push_back({family, std::string(key), std::nullopt});
  }
  void put_again(ShardId shard, ShardOffset first, std::string_view record) override {
    RowSink::put_again(shard, first, record);
    written_again_ = true;
  }
  [[nodiscard]] bool written_again() const { return written_again_; }

 private:
  std::vector<MemoryRows::Write>& writes_;
  bool written_again_ = false;
};

}  // namespace

namespace {

Result<void> check_sizes_of(const StoreOptions& options) {
  if (options.shards > shards_max)
    return refuse(ErrorCode::invalid_argument,
                  "a store has at most 65535 shards, not " + std::to_string(options.shards));
  if (options.tail_events == 0 || options.tail_bytes_max == 0 || options.record_bytes == 0)
    return refuse(ErrorCode::invalid_argument, "tail_events, tail_bytes_max and record_bytes are above 0");
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_memory_store(StoreOptions options) {
  EVERSHARD_TRY(check_sizes_of(options));
  if (options.member) return refuse(ErrorCode::invalid_argument, "a whole store is no cluster's member");
  return std::make_unique<MemoryStore>(std::move(options));
}

Result<std::unique_ptr<NodeStore>> open_memory_node_store(StoreOptions options) {
  EVERSHARD_TRY(check_sizes_of(options));
  if (!options.member || options.member->node == 0)
    return refuse(ErrorCode::invalid_argument, "a node's store needs the node's number, from 1, and its cluster");
  return std::make_unique<MemoryStore>(std::move(options));
}

class MemoryStore::Staged final : public StagedCommit {
 public:
  Staged(MemoryStore& of, std::uint64_t n) : store(of), number(n) {}
  ~Staged() override {
    if (!done) store.failed_.store(true, std::memory_order_release);  // what was staged after it stands on it
  }

  MemoryStore& store;
  const std::uint64_t number;
  std::vector<MemoryRows::Write> writes;
  std::optional<GlobalPosition> watermark;
  std::function<Result<void>(RowSink&)> at_commit;  ///< rows that those written before decide
  bool written_again = false;                       ///< records are
  bool done = false;
};

/// Rows above the mark are ignored by every reader, so they can be put in piece by piece.
class MemoryStore::Runs final : public RunSink {
 public:
  explicit Runs(MemoryRows& rows) : rows_(rows) {}
  Result<void> begin(Family family) override {
    family_ = family;
    return {};
  }
  Result<void> put(std::string_view key, std::string_view value) override {
    writes_.push_back({family_, std::string(key), std::string(value)});
    if (writes_.size() >= run_writes_max) return finish();
    return {};
  }
  Result<void> finish() override {
    rows_.write(std::exchange(writes_, {}));
    return {};
  }
  Result<void> publish(GlobalPosition) override { return {}; }
  void abandon() override { writes_.clear(); }

 private:
  MemoryRows& rows_;
  Family family_{};
  std::vector<MemoryRows::Write> writes_;
};

MemoryStore::MemoryStore(StoreOptions options)
    : options_(std::move(options)),
      identity_(new_identity(options_.shards, options_.member)),
      recovered_(nothing_yet(identity_)),
      tails_(GlobalPosition{0}, {options_.tail_events, options_.tail_bytes_max}, identity_.node == 0),
      staging_(recovered_, std::vector<ShardOffset>(identity_.shards, ShardOffset{1}), Unordered(identity_.shards),
               options_.record_bytes),
      snapshots_(rows_),
      runs_(std::make_unique<Runs>(rows_)),
      sealer_(std::make_unique<Sealer>(
          tails_, *runs_,
          Sealer::Options{options_.tail_events, options_.seal_bytes_per_second, options_.at_step, {}})) {
  sealer_->start();
}

MemoryStore::~MemoryStore() { close(); }

template <class Fill>
std::unique_ptr<StagedCommit> MemoryStore::stage_with(Fill fill) {
  std::unique_ptr<Staged> staged;
  {
    std::lock_guard lock(staging_mutex_);
    EVERSHARD_CHECK(!closed_.load(std::memory_order_acquire), "a store that is closed takes no commits");
    staged = std::make_unique<Staged>(*this, ++staged_);
    snapshots_.batch(staged_, committed_.load(std::memory_order_acquire));
    WriteSink sink(staged->writes);
    fill(*staged, sink);
    staged->written_again = sink.written_again();
    tails_.added();
  }
  step(steps::stage_done);
  return staged;
}

std::unique_ptr<StagedCommit> MemoryStore::stage(const CommitBatch& batch) {
  return stage_with([&](Staged& staged, RowSink& sink) {
    if (batch.cut) tails_.switch_if_full();
    staging_.stage(batch, tails_.active(), sink, snapshots_);
    if (batch.cut) staged.watermark = batch.cut->last_position();
  });
}

std::unique_ptr<StagedCommit> MemoryStore::stage_journal(const JournalBatch& batch, std::vector<ShippedRows>* made) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store makes events durable before they have a place");
  return stage_with([&](Staged&, RowSink& sink) { staging_.stage_journal(batch, made, sink); });
}

Result<ShippedRows> MemoryStore::journal_from(ShardId shard, ShardOffset from, std::size_t bytes_max) const {
  return journal_range(rows_, shard, from, bytes_max);
}

std::unique_ptr<StagedCommit> MemoryStore::stage_take_off(ShardId shard, ShardOffset from, Epoch followed) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store follows others");
  return stage_with([&](Staged& staged, RowSink& sink) {
    const auto begins = staging_.stage_take_off(shard, from, followed, sink);
    staged.at_commit = [this, shard, begins, from](RowSink& rows) {
      return take_off(rows_, shard, begins, from, rows);
    };
  });
}

std::unique_ptr<StagedCommit> MemoryStore::stage_cut(const sharding::Cut& cut, const std::vector<ShardId>& damaged,
                                                     const std::vector<ShardId>& holes) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store applies cuts");
  return stage_with([&](Staged& staged, RowSink& sink) {
    tails_.switch_if_full();
    staging_.stage_cut(cut, damaged, holes, tails_.active(), sink, snapshots_);
    staged.watermark = cut.last_position();
  });
}

Result<void> MemoryStore::commit(StagedCommit& commit) {
  auto& staged = dynamic_cast<Staged&>(commit);
  EVERSHARD_CHECK(!staged.done && staged.number == commits_begun_ + 1,
                  "commits follow in the order of staging, each once");
  staged.done = true;
  commits_begun_ = staged.number;
  if (failed_.load(std::memory_order_acquire))
    return refuse(ErrorCode::io, "the store has failed: a staged commit was given up");
  step(steps::commit_begin);
  if (staged.at_commit) {
    WriteSink sink(staged.writes);
    if (auto added = staged.at_commit(sink); !added) {
      failed_.store(true, std::memory_order_release);
      return refuse(ErrorCode::io, "the store has failed: cannot take rows off: " + added.error().what);
    }
  }
  rows_.write(std::move(staged.writes));
  if (staged.written_again) rows_.removals().rewritten();
  committed_.store(staged.number, std::memory_order_release);
  step(steps::commit_written);
  if (staged.watermark) {
    bool sealable = tails_.has_sealable();
    tails_.show(*staged.watermark);
    if (!sealable && tails_.has_sealable()) sealer_->wake();
  }
  step(steps::commit_shown);
  return {};
}

Admission MemoryStore::admission() const {
  if (failed_.load(std::memory_order_acquire)) return {Admission::Kind::failed, 0, "a staged commit was given up"};
  if (closed_.load(std::memory_order_acquire)) return {Admission::Kind::failed, 0, "the store is closed"};
  auto admission = admission_of(tails_.load());
  if (admission.kind == Admission::Kind::full)
    admission.what += ": " + std::to_string(tails_.events()) + " events are not sealed";
  return admission;
}

Result<void> MemoryStore::seal() {
  if (closed_.load(std::memory_order_acquire)) return refuse(ErrorCode::unavailable, "the store is closed");
  return sealer_->wait_sealed(tails_.watermark(), [this]() -> Result<void> {
    if (failed_.load(std::memory_order_acquire)) return refuse(ErrorCode::io, "a staged commit was given up");
    std::lock_guard lock(staging_mutex_);
    if (tails_.mark() < tails_.watermark()) tails_.switch_if_any();
    return {};
  });
}

StoreStats MemoryStore::stats() const {
  StoreStats stats;
  auto view = tails_.view();
  stats.watermark = view.watermark;
  stats.mark = view.mark;
  stats.tail_events = tails_.events();
  stats.tail_bytes = tails_.bytes();
  stats.sealed_runs = sealer_->runs();
  stats.commits = committed_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < family_count; ++i) {
    auto bytes = rows_.bytes(static_cast<Family>(i));
    stats.details.emplace_back("family." + std::string(name_of(static_cast<Family>(i))) + ".bytes", bytes);
    stats.memory_bytes += bytes;
  }
  stats.details.emplace_back("memory.tails", stats.tail_bytes);
  stats.memory_bytes += stats.tail_bytes;
  return stats;
}

void MemoryStore::close() {
  if (closed_.exchange(true)) return;
  sealer_->stop();
  rows_.close();
}

void MemoryStore::step(const char* name) const {
  if (options_.at_step) options_.at_step(name);
}

}  // namespace evershard::storage
