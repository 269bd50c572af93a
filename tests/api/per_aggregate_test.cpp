// At most so many events of each aggregate: what is counted, where counting begins, and what it may cost.

#include "evershard/api/per_aggregate.hpp"

#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

AggregateId number(int n) { return AggregateId{"order", std::to_string(n)}; }

TEST(AggregateQuota, AdmitsTheFirstOfEachAndWhatHasNone) {
  AggregateQuota quota(2);
  EXPECT_EQ(quota.admits(number(1)), true);
  EXPECT_EQ(quota.admits(number(2)), true);
  EXPECT_EQ(quota.admits(number(1)), true);
  EXPECT_EQ(quota.admits(number(1)), false);
  EXPECT_EQ(quota.admits(number(2)), true);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(quota.admits(std::nullopt), true);
  AggregateQuota none(0);
  EXPECT_EQ(none.admits(number(1)), false);
}

TEST(AggregateQuota, RefusesToCountMoreThanItHasRoomFor) {
  AggregateQuota quota(1, 1'000);
  int admitted = 0;
  Result<bool> last = true;
  while (last && admitted < 100) {
    last = quota.admits(number(admitted));
    ++admitted;
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::too_large);
  EXPECT_THAT(last.error().what, HasSubstr("aggregates"));
  EXPECT_EQ(quota.admits(number(0)), false) << "those that are counted stay so";
}

TEST(AggregateQuota, AllReadsTogetherHaveABoundAndGiveBack) {
  const auto fill = [](AggregateQuota& quota) {
    for (int n = 0;; ++n) {
      const AggregateId wide{"order", std::to_string(n) + std::string(200'000, 'x')};
      if (auto admitted = quota.admits(wide); !admitted) return admitted.error().code;
    }
  };
  {
    std::vector<std::unique_ptr<AggregateQuota>> quotas;
    std::vector<ErrorCode> codes;
    for (int n = 0; n < 5; ++n) {
      quotas.push_back(std::make_unique<AggregateQuota>(1));
      codes.push_back(fill(*quotas.back()));
    }
    EXPECT_EQ(codes.front(), ErrorCode::too_large);
    EXPECT_EQ(codes.back(), ErrorCode::overloaded);
  }
  AggregateQuota quota(1);
  EXPECT_EQ(fill(quota), ErrorCode::too_large) << "what ended holds nothing";
}

TEST(ReadBy, RefusesWhatCannotBeCounted) {
  const auto refused = [](const ReadOptions& options) {
    auto stream = read_by(options, [](const ReadOptions&) -> std::unique_ptr<PageSource> {
      ADD_FAILURE() << "nothing is opened";
      return nullptr;
    });
    return code_of(std::move(stream));
  };
  EXPECT_EQ(refused({.per_aggregate_from = GlobalPosition{0}}), "invalid_argument");
  EXPECT_EQ(refused({.after = GlobalPosition{3}, .per_aggregate = 1, .per_aggregate_from = GlobalPosition{4}}),
            "invalid_argument");
  EXPECT_EQ(refused({.direction = Direction::backwards, .per_aggregate = 1, .per_aggregate_from = GlobalPosition{4}}),
            "invalid_argument");
  EXPECT_EQ(refused({.before = GlobalPosition{5},
                     .direction = Direction::backwards,
                     .per_aggregate = 1,
                     .per_aggregate_from = GlobalPosition{4}}),
            "invalid_argument");
}

TEST(ReadBy, GivesTheSameInOnePieceAndInMany) {
  auto store = open_store();
  for (int n = 0; n < 60; ++n)
    ASSERT_TRUE(store.append(Append{}.event("order-" + std::to_string(n * n % 7), "T", "x")));
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    const auto whole = positions_of(store.read(Query::all(), {.direction = direction, .per_aggregate = 3}));
    ASSERT_GT(whole.size(), 9u);
    std::vector<std::uint64_t> pieces;
    ReadOptions options{.limit = 2, .direction = direction, .per_aggregate = 3};
    for (bool first = true;; first = false) {
      const auto piece = positions_of(store.read(Query::all(), options));
      if (piece.empty()) break;
      pieces.insert(pieces.end(), piece.begin(), piece.end());
      if (direction == Direction::forwards)
        options.after = GlobalPosition{piece.back()};
      else
        options.before = GlobalPosition{piece.back()};
      if (first) options.per_aggregate_from = GlobalPosition{direction == Direction::forwards ? 0u : 61u};
    }
    EXPECT_EQ(pieces, whole);
  }
}

}  // namespace
}  // namespace evershard
