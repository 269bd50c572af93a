// A read that may not wait for the disk: what it gives is what any read gives, or nothing.

#include "evershard/storage/index/memory_only.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "evershard/storage/store.hpp"
#include "tests/contract/rocks_folder.hpp"

namespace evershard::storage {
namespace {

class InMemoryOnly : public RocksFolder {
 protected:
  void SetUp() override {
    open();
    write(0, 300);
    ASSERT_TRUE(store().seal());
    open();  // with a cache that has nothing yet
  }

  struct Given {
    std::vector<RecordedEvent> events;
    std::optional<Error> error;
    bool missed = false;
  };
  template <class Asked, class Options>
  [[nodiscard]] Given read(const Asked& asked, const Options& options) {
    const MemoryOnly memory_only;
    Given given;
    auto cursor = Reader(store()).open(store().view(), asked, options);
    while (!cursor->at_end() && !given.error) {
      const auto before = given.events.size();
      if (auto page = cursor->next(1'000, 1u << 20, given.events); !page) given.error = page.error();
      if (given.events.size() == before) break;
    }
    given.missed = memory_only.missed();
    return given;
  }
  template <class Asked, class Options>
  void expect_nothing_then_all(const Asked& asked, const Options& options) {
    const auto cold = read(asked, options);
    EXPECT_TRUE(cold.missed);
    ASSERT_TRUE(cold.error);
    EXPECT_EQ(cold.error->code, ErrorCode::unavailable);
    EXPECT_TRUE(cold.events.empty());

    const auto all = all_of(Reader(store()).open(store().view(), asked, options));
    ASSERT_FALSE(all.empty());
    const auto warm = read(asked, options);
    EXPECT_FALSE(warm.missed);
    EXPECT_FALSE(warm.error);
    EXPECT_EQ(warm.events, all);
  }
};

TEST_F(InMemoryOnly, AQueryGivesNothingUntilSomebodyHasReadIt) {
  expect_nothing_then_all(Query{}.tags({"mod5:3"}), ReadOptions{});
}

TEST_F(InMemoryOnly, SoDoesAStream) { expect_nothing_then_all(AggregateId{"order", "3"}, StreamOptions{}); }

TEST_F(InMemoryOnly, AShortReadOfEverythingIsWholeOrMissed) {
  const auto given = read(Query::all(), ReadOptions{.limit = 5});
  const auto all = all_of(Reader(store()).open(store().view(), Query::all(), ReadOptions{.limit = 5}));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(given.error.has_value(), given.missed);
  EXPECT_EQ(given.events, given.missed ? std::vector<RecordedEvent>() : all);
  EXPECT_EQ(read(Query::all(), ReadOptions{.limit = 5}).events, all);
}

TEST_F(InMemoryOnly, TheTailIsThere) {
  write(300, 20);
  const auto given = read(Query{}.tags({"mod5:3"}), ReadOptions{.after = GlobalPosition{300}});
  EXPECT_FALSE(given.missed);
  EXPECT_EQ(given.events.size(), 4u);
}

TEST_F(InMemoryOnly, OtherThreadsAndLaterReadsWait) {
  static_cast<void>(read(Query{}.tags({"mod5:3"}), ReadOptions{}));
  EXPECT_EQ(MemoryOnly::current(), nullptr);
  EXPECT_EQ(matching(store(), Query{}.tags({"mod5:3"})).size(), 60u);
}

}  // namespace
}  // namespace evershard::storage
