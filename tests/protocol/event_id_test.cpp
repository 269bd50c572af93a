#include "evershard/protocol/event_id.hpp"

#include <rapidcheck/gtest.h>

#include <set>
#include <thread>
#include <unordered_set>

namespace evershard {
namespace {

int version_of(const EventId& id) { return id.bytes[6] >> 4; }
int variant_of(const EventId& id) { return id.bytes[8] >> 6; }

TEST(EventId, IsAVersion4UuidWhenRandom) {
  for (int i = 0; i < 1000; ++i) {
    const auto id = EventId::random();
    ASSERT_EQ(version_of(id), 4);
    ASSERT_EQ(variant_of(id), 2);
    ASSERT_TRUE(id.given());
  }
}

TEST(EventId, IsNeverTheSameOnAnyThread) {
  constexpr std::size_t threads = 4, each = 20'000;
  std::vector<std::vector<EventId>> ids(threads);
  std::vector<std::thread> makers;

  for (auto& mine : ids) {
    makers.emplace_back([&mine] {
      for (std::size_t i = 0; i < each; ++i) mine.push_back(EventId::random());
    });
  }
  for (auto& maker : makers) maker.join();

  std::unordered_set<EventId> all;
  for (const auto& mine : ids) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), threads * each);
}

TEST(EventId, UsesAllOfItsRandomBits) {
  std::array<int, 128> ones{};
  constexpr int rounds = 4000;

  for (int i = 0; i < rounds; ++i) {
    const auto id = EventId::random();
    for (std::size_t bit = 0; bit < 128; ++bit) ones[bit] += id.bytes[bit / 8] >> (bit % 8) & 1;
  }

  const std::set<std::size_t> fixed{52, 53, 54, 55, 70, 71};  // version and variant
  for (std::size_t bit = 0; bit < 128; ++bit) {
    if (fixed.count(bit)) continue;
    EXPECT_NEAR(ones[bit], rounds / 2, 400) << "bit " << bit;  // 12 standard deviations
  }
}

TEST(EventId, IsDerivedTheSameEveryTimeAndAnotherForEveryIndex) {
  const auto request = RequestId::random();
  std::set<EventId> ids;

  for (std::uint32_t i = 0; i < 70'000; ++i) {
    const auto id = EventId::derived(request, i);
    ids.insert(id);
    ASSERT_EQ(version_of(id), 8);
    ASSERT_EQ(variant_of(id), 2);
  }

  EXPECT_EQ(ids.size(), 70'000u);  // an index that wraps at 65,536 would repeat
  EXPECT_EQ(EventId::derived(request, 7), EventId::derived(request, 7));
}

TEST(EventId, IsReadInEitherCaseAndWrittenInLower) {
  const auto id = EventId::parse("018F3c5e-7B1A-4e4e-8b1a-0242AC120002");

  ASSERT_TRUE(id);
  EXPECT_EQ(id->text(), "018f3c5e-7b1a-4e4e-8b1a-0242ac120002");
  EXPECT_EQ(id->bytes[0], 0x01);
  EXPECT_EQ(id->bytes[15], 0x02);
}

TEST(EventId, IsNotReadFromAnythingElse) {
  for (const std::string_view text : {"", "018f3c5e", "018f3c5e7b1a4e4e8b1a0242ac120002",
                                      "{018f3c5e-7b1a-4e4e-8b1a-0242ac120002}", "018f3c5e-7b1a-4e4e-8b1a-0242ac12000",
                                      "018f3c5e-7b1a-4e4e-8b1a-0242ac1200022", "018f3c5e-7b1a-4e4e-8b1a-0242ac12000g",
                                      "018f3c5e07b1a-4e4e-8b1a-0242ac120002", "018f3c5-e7b1a-4e4e-8b1a-0242ac120002",
                                      "-18f3c5e-7b1a-4e4e-8b1a-0242ac120002", " 18f3c5e-7b1a-4e4e-8b1a-0242ac120002",
                                      "0x8f3c5e-7b1a-4e4e-8b1a-0242ac120002", "018f3c5e_7b1a_4e4e_8b1a_0242ac120002"}) {
    EXPECT_EQ(EventId::parse(text), std::nullopt) << text;
  }
}

TEST(EventId, IsNotGivenWhenAllZero) {
  EXPECT_FALSE(EventId{}.given());
  EXPECT_EQ(EventId::parse("00000000-0000-0000-0000-000000000000"), EventId{});
}

RC_GTEST_PROP(EventId, IsItselfAgainAfterItsText, (const std::array<std::uint8_t, 16>& bytes)) {
  const EventId id{bytes};

  RC_ASSERT(EventId::parse(id.text()) == id);
}

}  // namespace
}  // namespace evershard
