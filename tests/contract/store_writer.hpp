// StoreWriter: the smallest committer: appends in, placed batches out. For tests of stores.

#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// A batch and what it borrows.
struct PreparedBatch {
  std::deque<EncodedAppend> appends;
  CommitBatch commit;
};

/// Places appends without judging them; versions go on where the store's streams end.
class StoreWriter {
 public:
  explicit StoreWriter(Store& store) : store_(store), ordering_(store.recovered(), {}) {}

  /// Empty `appends`: a batch without a cut.
  std::unique_ptr<PreparedBatch> prepare(std::vector<Append> appends) {
    auto batch = std::make_unique<PreparedBatch>();
    std::vector<ShardOffset> offsets;
    for (auto& append : appends) {
      std::vector<std::uint8_t> given;
      for (auto& event : append.events) {
        given.push_back(event.id.given());
        if (!event.id.given()) event.id = EventId::random();
        std::ranges::sort(event.tags);
      }
      auto ids_given = std::make_unique<bool[]>(given.size());
      std::ranges::copy(given, ids_given.get());
      batch->appends.push_back(encode_append(std::move(append), {ids_given.get(), given.size()},
                                             store_.identity().shards, store_.hasher(), Timestamp::now()));
      const auto& encoded = batch->appends.back();

      std::vector<sharding::EventToPlace> places;
      for (const auto& event : encoded.events) places.push_back({event.shard, encoded.terms_of(event)});
      offsets.resize(places.size());
      PlacedAppend placed{&encoded, ordering_.place(places, offsets),
                          static_cast<std::uint32_t>(batch->commit.events.size())};
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& event = encoded.events[i];
        auto seq_nr = event.aggregate == EncodedEvent::no_aggregate
                          ? SeqNr{0}
                          : ++version_of(encoded.aggregates[event.aggregate].id);
        batch->commit.events.push_back({seq_nr, offsets[i]});
      }
      batch->commit.appends.push_back(placed);
    }
    if (!appends.empty()) batch->commit.cut = ordering_.cut();
    return batch;
  }

  /// Stages and commits at once.
  Result<void> commit(std::vector<Append> appends) {
    auto batch = prepare(std::move(appends));
    auto staged = store_.stage(batch->commit);
    return store_.commit(*staged);
  }

  SeqNr& version_of(const AggregateId& aggregate) {
    auto known = versions_.find(aggregate);
    if (known != versions_.end()) return known->second;
    auto head = Reader(store_).head(store_.view(), aggregate);
    return versions_[aggregate] = head.value().version;
  }

 private:
  Store& store_;
  sharding::Ordering ordering_;
  std::map<AggregateId, SeqNr> versions_;
};

/// An append of one event.
inline Append one(std::string_view aggregate, std::string type, std::string payload, std::vector<Tag> tags = {}) {
  return Append().event(aggregate, std::move(type), std::move(payload), std::move(tags));
}

/// All a cursor gives. An error ends it with an event whose payload is the error: no test takes that for what it
/// expects.
inline std::vector<RecordedEvent> all_of(std::unique_ptr<EventCursor> cursor) {
  std::vector<RecordedEvent> events;
  while (!cursor->at_end()) {
    auto page = cursor->next(1'000, 1u << 20, events);
    if (page) continue;
    events.emplace_back();
    events.back().payload = page.error().what;
    break;
  }
  return events;
}

inline std::vector<RecordedEvent> everything(const Store& store, const View& view) {
  return all_of(Reader(store).open(view, Query::all(), ReadOptions{}));
}
inline std::vector<RecordedEvent> everything(const Store& store) { return everything(store, store.view()); }

inline std::vector<RecordedEvent> matching(const Store& store, const Query& query) {
  return all_of(Reader(store).open(store.view(), query, ReadOptions{}));
}

inline std::vector<RecordedEvent> stream_of(const Store& store, std::string_view aggregate) {
  return all_of(Reader(store).open(store.view(), AggregateId::parse(aggregate).value(), StreamOptions{}));
}

inline std::vector<std::string> payloads_of(const std::vector<RecordedEvent>& events) {
  std::vector<std::string> payloads;
  for (const auto& event : events) payloads.push_back(event.payload);
  return payloads;
}

}  // namespace evershard::storage
