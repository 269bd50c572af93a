// IndexedEvents: a store's rows and tails made step by step, beside a plain list of what is in them.

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "evershard/protocol/append.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/index/run_builder.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/encoded_append.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/view.hpp"
#include "tests/storage/map_rows.hpp"

namespace evershard::storage {

class IndexedEvents {
 public:
  struct Commanded {
    AggregateId aggregate;
    std::string id;
    GlobalPosition position;
  };

  explicit IndexedEvents(std::uint32_t shards = 4, std::uint64_t term_mask = ~std::uint64_t{0})
      : shards_(shards), hasher_(42, term_mask), next_offset_(shards, ShardOffset{1}) {
    begin_tail();
  }

  /// One commit: a record a shard, a cut, entries in the tail. Shape: tags and `also` are sorted, ids given.
  void commit(std::vector<Append> appends) {
    const GlobalPosition first_position = next_position();
    std::map<ShardId, std::vector<Placed>> by_shard;
    sharding::Cut cut;
    cut.first_position = first_position;
    std::vector<EncodedAppend> encoded;
    for (Append& append : appends) {
      const std::vector<Event> given = append.events;
      const std::optional<CommandRecord> command = append.command;
      const auto ids_given = std::make_unique<bool[]>(given.size());
      std::fill_n(ids_given.get(), given.size(), true);
      encoded.push_back(encode_append(std::move(append), std::span<const bool>(ids_given.get(), given.size()), shards_,
                                      hasher_, Timestamp{1}));
      if (command)
        commands.push_back({command->aggregate, command->id, next_position() + encoded.back().command_event});
      for (std::size_t i = 0; i < given.size(); ++i) place(given, i, encoded.back(), cut, by_shard, encoded.size() - 1);
    }
    std::vector<EventLocation> locations(events.size() - (first_position.value - 1));
    for (auto& [shard, placed] : by_shard) {
      RecordBuilder builder;
      builder.begin(shard, placed.front().offset);
      for (std::size_t i = 0; i < placed.size(); ++i) {
        const EncodedAppend& append = encoded[placed[i].append];
        const EncodedEvent& event = append.events[placed[i].event];
        builder.add(append.body_of(event), event.body_hash, placed[i].seq_nr);
        locations[placed[i].position - first_position] = {shard, placed.front().offset, static_cast<std::uint16_t>(i)};
      }
      rows[Family::journal][keys::journal(shard, placed.front().offset)] = builder.finish();
    }
    rows[Family::order][keys::order(first_position)] = sharding::encode(cut);
    std::size_t n = 0;
    for (const EncodedAppend& append : encoded) {
      for (std::size_t i = 0; i < append.events.size(); ++i, ++n)
        add_to_tail(append, i, first_position + n, locations[n]);
    }
  }

  void begin_tail() { tails_.push_back(std::make_shared<TailIndex>(next_position(), 16)); }

  /// Writes the oldest tail's rows, if it takes no more events.
  bool seal() {
    if (tails_.size() < 2) return false;
    for (const Family family : {Family::streams, Family::postings, Family::ids, Family::directory, Family::runs}) {
      RunBuilder builder(tails_.front(), family);
      while (!builder.prepare_step()) continue;
      std::string before;
      std::string_view key, value;
      while (builder.next(key, value)) {
        EXPECT_LT(before, key) << name_of(family);
        EXPECT_FALSE(rows[family].contains(key)) << name_of(family);
        rows[family][std::string(key)] = value;
        before = key;
      }
    }
    mark_ = tails_.front()->next() - 1;
    tails_.erase(tails_.begin());
    return true;
  }

  [[nodiscard]] View view() const {
    return {next_position() - 1, mark_,
            std::make_shared<const std::vector<std::shared_ptr<const TailIndex>>>(tails_.begin(), tails_.end())};
  }
  [[nodiscard]] Reader reader() const { return {rows, hasher_, shards_}; }
  [[nodiscard]] GlobalPosition next_position() const { return GlobalPosition{events.size() + 1}; }
  [[nodiscard]] std::uint32_t shards() const { return shards_; }

  MapRows rows;
  std::vector<RecordedEvent> events;  // at position - 1
  std::vector<Commanded> commands;

 private:
  struct Placed {
    ShardOffset offset;
    SeqNr seq_nr;
    GlobalPosition position;
    std::size_t append, event;
  };

  void place(const std::vector<Event>& given, std::size_t i, const EncodedAppend& encoded, sharding::Cut& cut,
             std::map<ShardId, std::vector<Placed>>& by_shard, std::size_t append) {
    RecordedEvent event;
    event.position = next_position();
    event.shard = encoded.events[i].shard;
    event.offset = next_offset_[event.shard.value];
    ++next_offset_[event.shard.value];
    event.id = given[i].id;
    event.aggregate = given[i].aggregate;
    if (event.aggregate) event.seq_nr = ++versions_[*event.aggregate];
    event.type = given[i].type;
    event.tags = given[i].tags;
    event.also = given[i].also;
    event.payload = given[i].payload;
    event.metadata = given[i].metadata;
    event.occurred_at = given[i].occurred_at.value_or(Timestamp{1});
    event.append_index = static_cast<std::uint32_t>(i);
    event.append_events = static_cast<std::uint32_t>(given.size());
    if (!cut.segments.empty() && cut.segments.back().shard == event.shard) {
      ++cut.segments.back().end;
    } else {
      cut.segments.push_back({event.shard, Epoch{1}, event.offset, event.offset + 1, {}});
    }
    by_shard[event.shard].push_back({event.offset, event.seq_nr, event.position, append, i});
    events.push_back(std::move(event));
  }

  void add_to_tail(const EncodedAppend& append, std::size_t i, GlobalPosition position, const EventLocation& location) {
    const EncodedEvent& event = append.events[i];
    TailEvent entry;
    entry.position = position;
    entry.location = location;
    entry.id = event.id;
    entry.command = append.command_of(i);
    entry.request = append.request_of(i);
    entry.terms = append.terms_of(event);
    if (event.aggregate != EncodedEvent::no_aggregate) {
      entry.terms = entry.terms.first(entry.terms.size() - 1);
      entry.stream = append.aggregates[event.aggregate].stream;
      entry.aggregate_text = append.aggregates[event.aggregate].text;
      entry.seq_nr = events[position.value - 1].seq_nr;
    }
    tails_.back()->add(entry);
  }

  std::uint32_t shards_;
  sharding::TermHasher hasher_;
  std::vector<ShardOffset> next_offset_;
  std::map<AggregateId, SeqNr> versions_;
  GlobalPosition mark_;
  std::vector<std::shared_ptr<TailIndex>> tails_;
};

/// Events of few names, so that much of everything matches.
class FewNames {
 public:
  explicit FewNames(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool sometimes(std::uint64_t of = 2) { return below(of) == 0; }
  std::string type() { return std::string(1, static_cast<char>('A' + below(3))); }
  Tag tag() { return "t:" + std::to_string(below(5)); }
  AggregateId aggregate() { return {sometimes(3) ? "b" : "a!", std::to_string(below(4))}; }

  Event event() {
    Event event;
    for (auto& byte : event.id.bytes) byte = static_cast<std::uint8_t>(random_());
    event.id.bytes[0] = 1;  // ids with the same beginning
    if (!sometimes(6)) event.aggregate = aggregate();
    event.type = type();
    std::set<Tag> tags;
    while (sometimes()) tags.insert(tag());
    event.tags.assign(tags.begin(), tags.end());
    std::set<AggregateId> also;
    while (sometimes(4)) also.insert(aggregate());
    event.also.assign(also.begin(), also.end());
    event.payload = std::string(below(40), 'p');
    event.occurred_at = Timestamp{static_cast<std::int64_t>(below(1'000'000))};
    return event;
  }
  Append append() {
    Append append;
    do append.events.push_back(event());
    while (append.events.size() < 6 && sometimes());
    if (sometimes(4)) {
      for (auto& byte : append.request_id.emplace().bytes) byte = static_cast<std::uint8_t>(random_());
    }
    const Event& any = append.events[below(append.events.size())];
    if (any.aggregate && sometimes())
      append.command = CommandRecord{*any.aggregate, "c" + std::to_string(random_()), "reply"};
    return append;
  }
  std::vector<Append> appends() {
    std::vector<Append> appends;
    do appends.push_back(append());
    while (sometimes(3));
    return appends;
  }
  Query query() {
    if (sometimes(12)) return Query::all();
    std::vector<QueryItem> items;
    do {
      QueryItem item;
      while (item.types.size() < 2 && sometimes()) item.types.push_back(type());
      while (item.tags.size() < 3 && sometimes()) item.tags.push_back(tag());
      while (item.concerning.size() < 2 && sometimes(3)) item.concerning.push_back(aggregate());
      if (item == QueryItem{}) item.types.push_back(type());
      items.push_back(std::move(item));
    } while (sometimes(3));
    return Query::of(std::move(items));
  }
  GlobalPosition position(GlobalPosition last) { return GlobalPosition{below(last.value + 3)}; }
  ReadOptions read_options(GlobalPosition last) {
    ReadOptions options;
    if (sometimes()) options.after = position(last);
    if (sometimes(3)) options.before = position(last);
    if (sometimes(3)) options.up_to = position(last);
    if (sometimes(3)) options.limit = below(20);
    if (sometimes()) options.direction = Direction::backwards;
    return options;
  }
  StreamOptions stream_options(GlobalPosition last) {
    StreamOptions options;
    if (sometimes()) options.from = SeqNr{below(last.value / 4 + 3)};
    if (sometimes(3)) options.up_to = position(last);
    if (sometimes(3)) options.limit = below(20);
    if (sometimes()) options.direction = Direction::backwards;
    return options;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace evershard::storage
