#include "evershard/bench/storage_load.hpp"

#include <chrono>
#include <thread>

namespace evershard::bench {

StorageLoad::StorageLoad(storage::Store& store, Workload& workload)
    : store_(store),
      workload_(workload),
      hasher_(store.identity().term_key),
      shards_(store.identity().shards),
      next_(shards_, 1),
      versions_(workload.shape().aggregates, 0) {}

void StorageLoad::pace() const {
  for (;;) {
    const auto admission = store_.admission();
    if (admission.kind == storage::Admission::Kind::slow) {
      std::this_thread::sleep_for(std::chrono::microseconds(admission.delay_us));
      return;
    }
    if (admission.kind != storage::Admission::Kind::full) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<void> StorageLoad::commit(std::size_t appends, std::size_t events_each) {
  std::vector<storage::EncodedAppend> encoded;
  encoded.reserve(appends);
  const auto given = std::make_unique<bool[]>(events_each);
  for (std::size_t a = 0; a < appends; ++a) {
    auto append = workload_.append(events_each);
    for (auto& event : append.events) event.id = EventId::random();
    encoded.push_back(storage::encode_append(std::move(append), std::span<const bool>(given.get(), events_each),
                                             shards_, hasher_, Timestamp::now()));
  }

  storage::CommitBatch batch;
  batch.cut.emplace();
  auto& cut = *batch.cut;
  cut.number = CutNumber{++cut_};
  cut.coordinator = Epoch{1};
  cut.first_position = GlobalPosition{position_ + 1};
  batch.events.reserve(appends * events_each);
  for (const auto& append : encoded) {
    batch.appends.push_back({&append, GlobalPosition{position_ + 1}, static_cast<std::uint32_t>(batch.events.size())});
    for (const auto& event : append.events) {
      const ShardOffset offset{next_[event.shard.value]++};
      ++position_;
      batch.events.push_back({SeqNr{++versions_[std::stoull(append.aggregates[event.aggregate].id.value)]}, offset});
      auto& segments = cut.segments;
      if (segments.empty() || segments.back().shard != event.shard)
        segments.push_back({event.shard, Epoch{1}, offset, offset + 1, {}});
      else
        ++segments.back().end;
    }
  }
  const double at = now_seconds();
  auto staged = store_.stage(batch);
  auto done = store_.commit(*staged);
  latencies.add((now_seconds() - at) * 1e6);
  return done;
}

}  // namespace evershard::bench
