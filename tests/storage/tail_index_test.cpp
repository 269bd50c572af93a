// The tail: what it finds, and that readers beside its writer see whole entries.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "evershard/storage/index/position_list.hpp"
#include "evershard/storage/index/tail_index.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;

EventId id_of(std::uint64_t n) {
  EventId id;
  for (int i = 0; i < 8; ++i) id.bytes[static_cast<std::size_t>(15 - i)] = static_cast<std::uint8_t>(n >> (8 * i));
  return id;
}

std::vector<std::uint32_t> all_of(const PositionList& list) {
  std::vector<std::uint32_t> all(list.size());
  list.read(0, list.size(), all.data());
  return all;
}

TEST(PositionList, GivesAndFindsWhatWasAppended) {
  std::mt19937 random(7);
  for (std::uint32_t size = 0; size < 300; size += 1 + size / 20) {
    Arena arena;
    PositionList list;
    std::vector<std::uint32_t> model;
    for (std::uint32_t at = random() % 3; model.size() < size; at += 1 + random() % 3) {
      list.append(at, arena);
      model.push_back(at);
    }

    ASSERT_EQ(all_of(list), model);
    for (std::uint32_t from = 0; from <= size; ++from) {
      const std::uint32_t n = size == from ? 0 : random() % (size - from) + 1;
      std::vector<std::uint32_t> part(n);
      list.read(from, n, part.data());
      ASSERT_EQ(part, std::vector(model.begin() + from, model.begin() + from + n));
      const std::uint32_t position = random() % (size * 2 + 2);
      ASSERT_EQ(list.lower_bound(position, from),
                std::lower_bound(model.begin(), model.begin() + from, position) - model.begin());
    }
  }
}

TEST(PositionList, KeepsAPositionOnceHoweverOftenItIsAppended) {
  Arena arena;
  PositionList list;
  std::vector<std::uint32_t> expected;

  for (std::uint32_t at = 0; at < 100; ++at) {
    for (int i = 0; i < 3; ++i) list.append(at, arena);
    expected.push_back(at);
  }

  EXPECT_EQ(all_of(list), expected);
}

TEST(TailTable, FindsEveryKeyThroughEveryGrowth) {
  std::mt19937_64 random(3);
  TailTable table(0);
  std::vector<std::uint64_t> keys;

  for (std::uint32_t n = 0; n < 20'000; ++n) {
    keys.push_back(n % 3 == 0 ? n : random());  // small ones fall into one part
    table.insert(keys.back(), n);
  }

  for (std::uint32_t n = 0; n < keys.size(); ++n) {
    ASSERT_EQ(table.find(keys[n], [&](std::uint32_t entry) { return keys[entry] == keys[n]; }), n);
  }
  EXPECT_EQ(table.find(random(), [&](std::uint32_t) { return false; }), TailTable::none);
}

TEST(TailIndex, KeepsStreamsApartThatHaveTheSameHash) {
  TailIndex tail(GlobalPosition{11});
  const sharding::Term type[] = {5};
  TailEvent event{.position = GlobalPosition{11},
                  .location = {},
                  .id = id_of(1),
                  .command = {},
                  .terms = type,
                  .stream = 7,
                  .aggregate_text = "a-1",
                  .seq_nr = SeqNr{1}};
  tail.add(event);
  event.position = GlobalPosition{12};
  event.aggregate_text = "a-2";
  event.seq_nr = SeqNr{40};
  tail.add(event);
  event.position = GlobalPosition{13};
  event.seq_nr = SeqNr{41};
  tail.add(event);

  EXPECT_THAT(all_of(tail.find_stream(7, "a-1")->events), ElementsAre(0));
  EXPECT_THAT(all_of(tail.find_stream(7, "a-2")->events), ElementsAre(1, 2));
  EXPECT_EQ(tail.find_stream(7, "a-2")->first_seq_nr, SeqNr{40});
  EXPECT_EQ(tail.find_stream(7, "a-3"), nullptr);
}

TEST(TailIndexDeathTest, RefusesAGapInPositionsOrInAStream) {
  TailIndex tail(GlobalPosition{1});
  const sharding::Term type[] = {5};
  TailEvent event{.position = GlobalPosition{1},
                  .location = {},
                  .id = id_of(1),
                  .command = {},
                  .terms = type,
                  .stream = 7,
                  .aggregate_text = "a-1",
                  .seq_nr = SeqNr{1}};
  tail.add(event);

  event.position = GlobalPosition{3};
  EXPECT_DEATH(tail.add(event), "positions are dense");
  event.position = GlobalPosition{2};
  event.seq_nr = SeqNr{3};
  EXPECT_DEATH(tail.add(event), "seq_nrs are dense");
}

TEST(TailIndex, SaysHowMuchMemoryItTakes) {
  TailIndex tail(GlobalPosition{1}, 1'000);
  const std::size_t empty = tail.bytes();
  const std::string text(100, 'x');

  for (std::uint64_t n = 1; n <= 2'000; ++n) {
    const sharding::Term terms[] = {5, n << 32};
    tail.add({.position = GlobalPosition{n},
              .location = {},
              .id = id_of(n),
              .command = {},
              .terms = terms,
              .stream = n << 40,
              .aggregate_text = text,
              .seq_nr = SeqNr{1}});
  }

  EXPECT_GT(tail.bytes() - empty, 2'000 * (100 + sizeof(TailIndex::Place) + sizeof(EventId) + 2 * 4));
  EXPECT_LT(tail.bytes() - empty, 2'000 * 500);
}

/// What stands at a position follows from its number, so a reader can tell a whole entry from a torn one.
struct Written {
  static constexpr std::uint64_t terms_max = 97, streams_max = 31;
  static sharding::Term term(std::uint64_t n) { return (n % terms_max + 1) << 50; }
  static sharding::Term stream(std::uint64_t n) { return (n % streams_max + 1) << 50; }
};

TEST(TailIndex, ShowsReadersWholeEntriesWhileItGrows) {
  constexpr std::uint64_t events = 12'000;
  TailIndex tail(GlobalPosition{1}, 16);
  std::atomic<std::uint64_t> watermark{0};
  std::atomic<std::uint64_t> wrong{0};
  auto read = [&](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::uint64_t shown = 0; shown < events;) {
      shown = watermark.load(std::memory_order_acquire);
      if (shown == 0) continue;
      const std::uint64_t n = random() % shown;
      const auto number = static_cast<std::uint32_t>(n);
      if (tail.posting(number).type != 1 || tail.place(number).record != ShardOffset{n + 1}) ++wrong;
      if (tail.find_id(id_of(n + 1), ShardId{3}) != number) ++wrong;
      const PositionList* list = tail.find_term(Written::term(n));
      const auto until = static_cast<std::uint32_t>(shown);
      const std::uint32_t count = list == nullptr ? 0 : list->lower_bound(until, list->size());
      if (count != (shown - 1 - n % Written::terms_max) / Written::terms_max + 1) ++wrong;
      const auto* stream = tail.find_stream(Written::stream(n), "s-" + std::to_string(n % Written::streams_max));
      if (stream == nullptr || stream->events.at(static_cast<std::uint32_t>(n / Written::streams_max)) != number)
        ++wrong;
      if (tail.streams().size() == 0 || tail.bytes() == 0) ++wrong;
    }
  };
  std::vector<std::thread> readers;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) readers.emplace_back(read, seed);

  for (std::uint64_t n = 0; n < events; ++n) {
    const sharding::Term terms[] = {1, Written::term(n), (n + 1) << 33};
    const std::string text = "s-" + std::to_string(n % Written::streams_max);
    tail.add({.position = GlobalPosition{n + 1},
              .location = {ShardId{3}, ShardOffset{n + 1}, 0},
              .id = id_of(n + 1),
              .command = {},
              .terms = terms,
              .stream = Written::stream(n),
              .aggregate_text = text,
              .seq_nr = SeqNr{n / Written::streams_max + 1}});
    // Entries stand above the watermark for a while, as those of a staged commit do.
    if (n % 16 == 15) watermark.store(n - 7, std::memory_order_release);
  }
  watermark.store(events, std::memory_order_release);
  for (std::thread& reader : readers) reader.join();

  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace evershard::storage
