// NodeWriter: the smallest committer of a node: appends durable first, their places by cuts. For tests of stores.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "evershard/sharding/node_cut.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/options.hpp"
#include "tests/contract/store_writer.hpp"

namespace evershard::storage {

/// A batch and what it borrows.
struct PreparedJournal {
  std::deque<EncodedAppend> appends;
  std::deque<JournalPlace> places;
  JournalBatch batch;
};

/// Two nodes share four shards here: node 1, whose store this is, has 0 and 1.
class NodeWriter {
 public:
  static constexpr std::uint32_t shards = 4;
  static ClusterMember member(std::uint32_t node = 1) {
    ClusterMember member;
    member.node = node;
    member.store.bytes.fill(7);
    member.fork = member.store;
    member.term_key = 4711;
    member.created_at = Timestamp{1'769'860'800'000'000};
    return member;
  }
  static bool own(ShardId shard) { return shard.value < 2; }
  static bool own_segment(const sharding::Segment& segment) { return own(segment.shard); }

  explicit NodeWriter(NodeStore& store) : store_(store), order_(store.recovered()) {
    for (const auto& shard : order_.shards) journal_next_.push_back(shard.next);
    found_ = store.take_unordered();
    for (const auto& [append, place] : found_) {
      journal_next_[place.shard.value] = place.end();
      for (std::size_t i = 0; i < append.events.size(); ++i)
        if (append.events[i].aggregate != EncodedEvent::no_aggregate)
          versions_[append.aggregates[append.events[i].aggregate].id] = place.seq_nrs[i];
    }
  }

  /// What the store held behind the cuts when it was opened.
  [[nodiscard]] const std::vector<UnorderedAppend>& found() const { return found_; }
  [[nodiscard]] ShardOffset next(ShardId shard) const { return journal_next_[shard.value]; }

  /// Each append's events of one shard only, or all of them where they lie in one.
  std::unique_ptr<PreparedJournal> prepare(std::vector<Append> appends, bool tentative = false) {
    auto journal = std::make_unique<PreparedJournal>();
    for (auto& append : appends) {
      std::vector<std::uint8_t> given;
      for (auto& event : append.events) {
        given.push_back(event.id.given());
        if (!event.id.given()) event.id = EventId::random();
        std::ranges::sort(event.tags);
      }
      auto ids_given = std::make_unique<bool[]>(given.size());
      std::ranges::copy(given, ids_given.get());
      journal->appends.push_back(encode_append(std::move(append), {ids_given.get(), given.size()},
                                               store_.identity().shards, store_.hasher(), Timestamp::now()));
      add(*journal, journal->appends.back(), journal->appends.back().events.front().shard, tentative, {});
    }
    return journal;
  }

  void add(PreparedJournal& journal, const EncodedAppend& append, ShardId shard, bool tentative,
           std::optional<sharding::PartOf> part) {
    auto& place = journal.places.emplace_back();
    place.shard = shard;
    place.first = journal_next_[shard.value];
    place.tentative = tentative;
    place.part = std::move(part);
    for (const auto& event : append.events)
      if (event.shard == shard)
        place.seq_nrs.push_back(event.aggregate == EncodedEvent::no_aggregate
                                    ? SeqNr{0}
                                    : ++version_of(append.aggregates[event.aggregate].id));
    journal_next_[shard.value] = place.end();
    journal.batch.appends.push_back({&append, &place});
  }

  Result<void> commit(const PreparedJournal& prepared) {
    auto staged = store_.stage_journal(prepared.batch);
    return store_.commit(*staged);
  }
  Result<void> journal(std::vector<Append> appends, bool tentative = false) {
    return commit(*prepare(std::move(appends), tentative));
  }

  /// The next cut: these segments of any shards, as the coordinator sends it.
  sharding::Cut cut(std::vector<sharding::Segment> segments) {
    sharding::Cut cut;
    cut.number = order_.last_cut + 1;
    cut.coordinator = Epoch{1};
    cut.first_position = order_.watermark + 1;
    cut.segments = std::move(segments);
    order_.last_cut = cut.number;
    order_.watermark = cut.last_position();
    return cut;
  }
  sharding::Segment segment(std::uint16_t shard, std::uint64_t first, std::uint64_t end,
                            std::vector<ShardOffset> refused = {}) {
    return {ShardId{shard}, Epoch{1}, ShardOffset{first}, ShardOffset{end}, std::move(refused)};
  }

  Result<void> apply(const sharding::Cut& cut) {
    auto staged = store_.stage_cut(sharding::cut_of_node(cut, own_segment, cut.openings));
    return store_.commit(*staged);
  }

  /// Gives up the shard's offsets [from, until), under that epoch.
  sharding::Cut losing(std::uint16_t shard, std::uint64_t from, std::uint64_t until, std::uint64_t epoch) {
    auto losing = cut({});
    losing.openings.push_back(
        {ShardId{shard}, Epoch{epoch}, 1, ShardOffset{until}, ShardOffset{from}, ShardOffset{until}});
    return losing;
  }

  /// Of a cut that covers more than is here.
  Result<void> apply_in_part(const sharding::Cut& cut, const std::vector<ShardId>& damaged,
                             const std::vector<ShardId>& holes) {
    auto staged = store_.stage_cut(sharding::cut_of_node(cut, own_segment, {}), damaged, holes);
    return store_.commit(*staged);
  }

  SeqNr& version_of(const AggregateId& aggregate) {
    auto known = versions_.find(aggregate);
    if (known != versions_.end()) return known->second;
    return versions_[aggregate] = Reader(store_).head(store_.view(), aggregate).value().version;
  }
  void forget(const AggregateId& aggregate) { versions_.erase(aggregate); }

 private:
  NodeStore& store_;
  sharding::OrderState order_;
  std::vector<ShardOffset> journal_next_;
  std::map<AggregateId, SeqNr> versions_;
  std::vector<UnorderedAppend> found_;
};

/// Names of an aggregate in each of the four shards.
inline std::string aggregate_in(std::uint16_t shard, int nth = 0) {
  for (int i = 0;; ++i) {
    AggregateId id{"order", std::to_string(i)};
    if (sharding::shard_of(sharding::stream_hash(id), NodeWriter::shards).value == shard && nth-- == 0)
      return id.text();
  }
}

}  // namespace evershard::storage
