#include "evershard/actors/core/recent.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace evershard::actors {
namespace {

TEST(Recent, ForgetsNothingAboveItsFloor) {
  std::mt19937_64 random(7);
  Recent recent(GlobalPosition{0}, 10, 99);
  std::map<std::string, storage::StreamHead> heads;
  std::map<EventId, GlobalPosition> ids;
  std::uint64_t floor = 0;

  for (std::uint64_t position = 1; position < 5'000; ++position) {
    const std::string text = "order-" + std::to_string(random() % 40);
    const storage::StreamHead head{heads[text].version + 1, GlobalPosition{position}};
    heads[text] = head;
    recent.set_head(1, text, {head, position});
    const auto id = EventId::random();
    ids[id] = GlobalPosition{position};
    recent.add(id, ShardId{3}, GlobalPosition{position});
    recent.forget(GlobalPosition{position},
                  GlobalPosition{position - std::min<std::uint64_t>(position, random() % 30)});
    floor = std::max(floor, recent.floor().value);

    EXPECT_EQ(recent.floor().value, floor) << "never goes back";
    for (const auto& [name, known] : heads) {
      const auto found = recent.head(1, name);
      ASSERT_TRUE(!found || (found->head.version == known.version && found->writer == known.last_position.value))
          << name;
      ASSERT_TRUE(found || known.last_position <= recent.floor()) << name;
    }
  }
  for (const auto& [id, position] : ids) {
    EXPECT_TRUE(recent.find(id, ShardId{3}) || position <= recent.floor());
    EXPECT_FALSE(recent.find(id, ShardId{2}));
  }
  EXPECT_GT(floor, 4'900);
}

TEST(Recent, KeepsWhatReadersDoNotSeeYet) {
  Recent recent(GlobalPosition{0}, 1, 0);

  for (std::uint64_t position = 1; position < 100; ++position) {
    recent.set_head(position, "order-" + std::to_string(position), {{SeqNr{1}, GlobalPosition{position}}});
    recent.forget(GlobalPosition{position}, GlobalPosition{0});
  }

  EXPECT_EQ(recent.floor(), GlobalPosition{0});
  EXPECT_TRUE(recent.head(5, "order-5"));
}

}  // namespace
}  // namespace evershard::actors
