// Every kind of read against a plain list of events, over every split into sealed rows and tails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/sharding/stream_hash.hpp"
#include "tests/storage/indexed_events.hpp"

namespace evershard::storage {
namespace {

std::vector<RecordedEvent> expected_of(const std::vector<RecordedEvent>& events, const View& view,
                                       const ReadOptions& options, const Query& query) {
  std::vector<RecordedEvent> expected;
  for (const RecordedEvent& event : events) {
    if (event.position > view.watermark || event.position <= options.after) continue;
    if (options.before && event.position >= *options.before) continue;
    if (options.up_to && event.position > *options.up_to) continue;
    if (query.matches(event)) expected.push_back(event);
  }
  if (options.direction == Direction::backwards) std::reverse(expected.begin(), expected.end());
  if (options.limit && expected.size() > *options.limit) expected.resize(*options.limit);
  return expected;
}

std::vector<RecordedEvent> expected_of(const std::vector<RecordedEvent>& events, const View& view,
                                       const StreamOptions& options, const AggregateId& aggregate) {
  std::vector<RecordedEvent> expected;
  const bool forwards = options.direction == Direction::forwards;
  for (const RecordedEvent& event : events) {
    if (event.position > view.watermark || event.aggregate != aggregate) continue;
    if (options.up_to && event.position > *options.up_to) continue;
    if (options.from && (forwards ? event.seq_nr < *options.from : event.seq_nr > *options.from)) continue;
    expected.push_back(event);
  }
  if (!forwards) std::reverse(expected.begin(), expected.end());
  if (options.limit && expected.size() > *options.limit) expected.resize(*options.limit);
  return expected;
}

std::vector<RecordedEvent> read_all(EventCursor& cursor, FewNames& names) {
  std::vector<RecordedEvent> events;
  for (;;) {
    const std::size_t before = events.size();
    const std::size_t events_max = 1 + names.below(40);
    auto read = cursor.next(events_max, 1 + names.below(4'000), events);
    EXPECT_TRUE(read) << (read ? "" : read.error().what);
    EXPECT_LE(events.size() - before, events_max);
    if (!read || events.size() == before) break;
  }
  EXPECT_TRUE(cursor.at_end());
  return events;
}

class Checks {
 public:
  Checks(const IndexedEvents& store, const View& view, FewNames& names, bool collisions)
      : store_(store), reader_(store.reader()), view_(view), names_(names), collisions_(collisions) {}

  void all() {
    queries();
    streams();
    many_streams();
    heads();
    ids();
    directory();
  }

 private:
  void queries() {
    const Query query = names_.query();
    const ReadOptions options = names_.read_options(view_.watermark);
    const auto expected = expected_of(store_.events, view_, options, query);
    EXPECT_EQ(read_all(*reader_.open(view_, query, options), names_), expected);
    if (!collisions_) {
      std::vector<GlobalPosition> positions, expected_positions;
      for (const RecordedEvent& event : expected) expected_positions.push_back(event.position);
      auto cursor = reader_.open(view_, query, options);
      while (cursor->next_positions(1 + names_.below(50), positions).value() > 0) continue;
      EXPECT_EQ(positions, expected_positions);
    }
    ReadOptions first{.after = options.after, .up_to = names_.position(view_.watermark), .limit = 1};
    const auto expected_first = expected_of(store_.events, view_, first, query);
    auto found = reader_.first_match(view_, query, first.after, *first.up_to);
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->has_value(), !expected_first.empty());
    if (*found) {
      EXPECT_EQ(reader_.load(**found).value(), expected_first.front());
    }
  }

  void streams() {
    const AggregateId aggregate = names_.aggregate();
    const StreamOptions options = names_.stream_options(view_.watermark);
    const auto expected = expected_of(store_.events, view_, options, aggregate);
    EXPECT_EQ(read_all(*reader_.open(view_, aggregate, options), names_), expected);
  }

  /// Each stream page by page, all of them at once.
  void many_streams() {
    std::vector<StreamToRead> asked;
    std::vector<std::vector<RecordedEvent>> expected, given;
    for (std::uint64_t n = names_.below(8); n > 0; --n) {
      StreamOptions options = names_.stream_options(view_.watermark);
      options.direction = Direction::forwards;
      options.limit.reset();
      asked.push_back({names_.aggregate(), options});
      expected.push_back(expected_of(store_.events, view_, options, asked.back().aggregate));
    }
    given.resize(asked.size());
    std::vector<std::size_t> open(asked.size());
    for (std::size_t i = 0; i != open.size(); ++i) open[i] = i;
    while (!open.empty()) {
      std::vector<StreamToRead> reads;
      for (const auto i : open) reads.push_back(asked[i]);
      auto pages = reader_.pages(view_, reads);
      ASSERT_EQ(pages.size(), reads.size());
      std::vector<std::size_t> left;
      for (std::size_t k = 0; k != open.size(); ++k) {
        ASSERT_TRUE(pages[k]) << pages[k].error().what;
        auto& all = given[open[k]];
        all.insert(all.end(), pages[k]->events.begin(), pages[k]->events.end());
        if (pages[k]->complete) continue;
        ASSERT_FALSE(pages[k]->events.empty());
        asked[open[k]].options.from = all.back().seq_nr + 1;
        left.push_back(open[k]);
      }
      open = std::move(left);
    }
    EXPECT_EQ(given, expected);
  }

  void heads() {
    const AggregateId aggregate = names_.aggregate();
    const GlobalPosition up_to = names_.position(view_.watermark);
    for (const GlobalPosition bound : {view_.watermark, up_to}) {
      const auto expected =
          expected_of(store_.events, view_,
                      StreamOptions{.limit = 1, .direction = Direction::backwards, .up_to = bound}, aggregate);
      auto head = reader_.head_at(view_, aggregate, bound);
      ASSERT_TRUE(head) << head.error().what;
      EXPECT_EQ(head->version, expected.empty() ? SeqNr{0} : expected[0].seq_nr);
      EXPECT_EQ(head->last_position, expected.empty() ? GlobalPosition{0} : expected[0].position);
    }
  }

  void ids() {
    const GlobalPosition position = names_.position(GlobalPosition{store_.events.size()});
    auto at = reader_.event_at(view_, position);
    ASSERT_TRUE(at) << at.error().what;
    const bool shown = position.value > 0 && position <= view_.watermark;
    ASSERT_EQ(at->has_value(), shown);
    if (position.value == 0 || position.value > store_.events.size()) return;
    const RecordedEvent& event = store_.events[position.value - 1];
    if (shown) {
      EXPECT_EQ(**at, event);
    }
    auto found = reader_.find_id(view_, event.id, event.shard);
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->has_value(), shown);
    EXPECT_FALSE(reader_.find_id(view_, event.id, ShardId{static_cast<std::uint16_t>(store_.shards())}).value());
    if (shown) {
      EXPECT_EQ(reader_.load(**found).value(), event);
      const auto request = reader_.request_of(**found);
      ASSERT_TRUE(request) << request.error().what;
      EXPECT_EQ(request->index, event.append_index);
      EXPECT_EQ(request->count, event.append_events);
      EXPECT_EQ(request->first_position, event.position - event.append_index);
      EXPECT_EQ(request->content_hash,
                reader_.request_of(reader_.find_id(view_, first_of(event).id, first_of(event).shard).value().value())
                    .value()
                    .content_hash);
    }
    if (store_.commands.empty()) return;
    const auto& command = store_.commands[names_.below(store_.commands.size())];
    auto stored = reader_.find_command(view_, command.aggregate, command.id);
    ASSERT_TRUE(stored) << stored.error().what;
    ASSERT_EQ(stored->has_value(), command.position <= view_.watermark);
    if (*stored) {
      EXPECT_EQ((*stored)->position, command.position);
    }
    EXPECT_FALSE(reader_.find_command(view_, command.aggregate, command.id + "x").value());
  }

  const RecordedEvent& first_of(const RecordedEvent& event) const {
    return store_.events[event.position.value - 1 - event.append_index];
  }

  void directory() {
    std::optional<std::string> type;
    if (names_.sometimes()) type = names_.aggregate().type;
    std::map<AggregateId, AggregateInfo> known;
    for (const RecordedEvent& event : store_.events) {
      if (event.position > view_.watermark || !event.aggregate || (type && event.aggregate->type != *type)) continue;
      known[*event.aggregate] = {*event.aggregate, event.seq_nr, event.position, event.shard};
    }
    std::vector<AggregateInfo> expected, listed;
    for (const auto& [aggregate, info] : known) expected.push_back(info);
    std::optional<AggregateId> after;
    for (;;) {
      const std::size_t limit = 1 + names_.below(5);
      auto page = reader_.aggregates(view_, type, after, limit);
      ASSERT_TRUE(page) << page.error().what;
      EXPECT_LE(page->size(), limit);
      if (page->empty()) break;
      listed.insert(listed.end(), page->begin(), page->end());
      after = page->back().aggregate;
    }
    EXPECT_EQ(listed, expected);
  }

  const IndexedEvents& store_;
  Reader reader_;
  const View& view_;
  FewNames& names_;
  bool collisions_;
};

/// Random commits, tails and seals; then every kind of read by every view that was taken on the way.
void read_everything(std::uint64_t seed, std::uint64_t term_mask, std::size_t events) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  FewNames names(seed);
  IndexedEvents store(static_cast<std::uint32_t>(1 + names.below(5)), term_mask);
  std::vector<View> views{store.view()};
  while (store.events.size() < events) {
    store.commit(names.appends());
    if (names.sometimes(events / 15)) store.begin_tail();
    if (names.sometimes(events / 12)) store.seal();
    if (names.sometimes(events / 8)) views.push_back(store.view());
  }
  views.push_back(store.view());

  for (const View& view : views) {
    for (int i = 0; i < 15 && !testing::Test::HasFailure(); ++i)
      Checks(store, view, names, term_mask != ~std::uint64_t{0}).all();
  }
}

TEST(Reader, GivesWhatAPlainListGives) {
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) read_everything(seed, ~std::uint64_t{0}, 300);
}

TEST(Reader, GivesTheSameWhereEveryHashCollides) {
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) read_everything(seed, seed % 3, 200);
}

TEST(Reader, GivesTheSameOverManyChunks) {
  for (std::uint64_t seed = 1; seed <= 3 && !HasFailure(); ++seed)
    read_everything(seed, seed == 1 ? 3 : ~std::uint64_t{0}, 2'500);
}

}  // namespace
}  // namespace evershard::storage
