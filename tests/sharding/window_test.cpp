#include "evershard/sharding/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace evershard::sharding {
namespace {

TermQuery::Item item(std::vector<Term> types, std::vector<Term> all) { return {std::move(types), std::move(all)}; }
TermQuery query(std::vector<TermQuery::Item> items) { return {false, std::move(items)}; }
constexpr std::optional<GlobalPosition> none = std::nullopt;
std::optional<GlobalPosition> at(std::uint64_t position) { return GlobalPosition{position}; }

DigestWindow three_events() {
  DigestWindow window(GlobalPosition{10});
  window.add(GlobalPosition{11}, std::vector<Term>{1, 100, 200});
  window.add(GlobalPosition{12}, std::vector<Term>{2, 100});
  window.add(GlobalPosition{13}, std::vector<Term>{1, 200, 100});
  return window;
}

TEST(DigestWindow, FindsTheFirstMatchAfter) {
  const DigestWindow window = three_events();

  EXPECT_EQ(window.first_match(query({item({}, {100})}), GlobalPosition{10}), at(11));
  EXPECT_EQ(window.first_match(query({item({}, {100})}), GlobalPosition{11}), at(12));
  EXPECT_EQ(window.first_match(query({item({}, {100})}), GlobalPosition{13}), none);
  EXPECT_EQ(window.first_match(query({item({}, {100})}), GlobalPosition{999}), none);
}

TEST(DigestWindow, TypesAreOrAndTagsAreAnd) {
  const DigestWindow window = three_events();

  EXPECT_EQ(window.first_match(query({item({2, 1}, {})}), GlobalPosition{11}), at(12));
  EXPECT_EQ(window.first_match(query({item({2, 3}, {})}), GlobalPosition{10}), at(12));
  EXPECT_EQ(window.first_match(query({item({}, {100, 200})}), GlobalPosition{11}), at(13));
  EXPECT_EQ(window.first_match(query({item({2}, {100, 200})}), GlobalPosition{10}), none);
  EXPECT_EQ(window.first_match(query({item({1, 2}, {200})}), GlobalPosition{11}), at(13));
  EXPECT_EQ(window.first_match(query({item({3}, {100})}), GlobalPosition{10}), none);
}

TEST(DigestWindow, ItemsAreOr) {
  const DigestWindow window = three_events();

  EXPECT_EQ(window.first_match(query({item({}, {300}), item({1}, {}), item({2}, {})}), GlobalPosition{11}), at(12));
  EXPECT_EQ(window.first_match(query({item({}, {300}), item({4}, {})}), GlobalPosition{10}), none);
}

TEST(DigestWindow, EverythingMatchesWhateverFollows) {
  const DigestWindow window = three_events();
  const TermQuery everything{true, {}};

  EXPECT_EQ(window.first_match(everything, GlobalPosition{10}), at(11));
  EXPECT_EQ(window.first_match(everything, GlobalPosition{12}), at(13));
  EXPECT_EQ(window.first_match(everything, GlobalPosition{13}), none);
}

TEST(DigestWindow, BeginsBehindAnEventItDoesNotKnow) {
  DigestWindow window = three_events();

  window.skip(GlobalPosition{14});
  window.add(GlobalPosition{15}, std::vector<Term>{7});

  EXPECT_EQ(window.from(), GlobalPosition{14});
  EXPECT_EQ(window.last(), GlobalPosition{15});
  EXPECT_EQ(window.first_match(query({item({}, {100})}), GlobalPosition{14}), none);
  EXPECT_EQ(window.first_match(query({item({}, {7})}), GlobalPosition{14}), at(15));
}

TEST(DigestWindow, CoversAtLeastHalfOfItsSizeAndAtMostAll) {
  DigestWindow window(GlobalPosition{0}, 100);

  for (std::uint64_t p = 1; p != 10'000; ++p) {
    window.add(GlobalPosition{p}, std::vector<Term>{p});
    ASSERT_LE(window.last() - window.from(), 100u);
    ASSERT_GE(window.last() - window.from(), std::min<std::uint64_t>(p, 50));
  }
}

TEST(DigestWindow, TakesAnEventOfMoreTermsThanItKeepsOtherwise) {
  DigestWindow window(GlobalPosition{0}, 2);
  std::vector<Term> terms(130);
  for (std::size_t i = 0; i != terms.size(); ++i) terms[i] = i + 1;

  for (std::uint64_t p = 1; p != 10; ++p) window.add(GlobalPosition{p}, terms);

  EXPECT_EQ(window.from(), GlobalPosition{7});
  EXPECT_EQ(window.first_match(query({item({}, {130})}), GlobalPosition{7}), at(8));
}

TEST(DigestWindowDeathTest, TakesPositionsInSequenceAndAnswersOnlyWhatItCovers) {
  DigestWindow window = three_events();

  EXPECT_DEATH(window.add(GlobalPosition{15}, {}), "in sequence");
  EXPECT_DEATH(window.skip(GlobalPosition{13}), "in sequence");
  EXPECT_DEATH(static_cast<void>(window.first_match(TermQuery{true, {}}, GlobalPosition{9})), "as far back");
}

// Against a list of everything, over swaps of generations, unknown events, few terms (long chains) and many (growth);
// multiples of 2^40 have the same place in the table.
TEST(DigestWindow, EqualsAList) {
  for (std::uint64_t seed = 1; seed != 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::uint64_t base = random() % 1'000;
    const std::size_t size = 1 + random() % 200;
    const Term vocabulary = random() % 2 ? 6 : 400;
    const Term scale = random() % 2 ? 1 : Term{1} << 58;
    const auto term = [&] { return (1 + random() % vocabulary % (scale == 1 ? vocabulary : 60)) * scale; };
    const std::uint64_t unknown_one_in = 10 + random() % 200;
    DigestWindow window(GlobalPosition{base}, size);
    std::map<std::uint64_t, std::vector<Term>> list;
    std::uint64_t last = base;

    for (int step = 0; step != 600; ++step) {
      ++last;
      if (random() % unknown_one_in == 0) {
        window.skip(GlobalPosition{last});
        ASSERT_EQ(window.from(), GlobalPosition{last});
      } else {
        auto& terms = list[last];
        for (std::size_t n = random() % 7; n != 0; --n) terms.push_back(term());
        window.add(GlobalPosition{last}, terms);
      }
      ASSERT_EQ(window.last(), GlobalPosition{last});

      TermQuery asked;
      asked.everything = random() % 20 == 0;
      for (std::size_t n = 1 + random() % 3; n != 0; --n) {
        TermQuery::Item i;
        for (std::size_t t = random() % 3; t != 0; --t) i.types.push_back(term());
        for (std::size_t t = random() % (random() % 8 ? 4 : 12); t != 0; --t) i.all.push_back(term());
        if (!i.types.empty() || !i.all.empty()) asked.items.push_back(std::move(i));
      }
      const std::uint64_t from = window.from().value;
      const std::uint64_t after = from + random() % (last - from + 2);
      std::optional<GlobalPosition> expected;
      for (std::uint64_t p = after + 1; p <= last && !expected; ++p) {
        const auto has = [&](Term t) { return std::count(list[p].begin(), list[p].end(), t) != 0; };
        const bool matches =
            asked.everything || std::any_of(asked.items.begin(), asked.items.end(), [&](const TermQuery::Item& i) {
              return (i.types.empty() || std::any_of(i.types.begin(), i.types.end(), has)) &&
                     std::all_of(i.all.begin(), i.all.end(), has);
            });
        if (matches) expected = GlobalPosition{p};
      }
      ASSERT_EQ(window.first_match(asked, GlobalPosition{after}), expected);
    }
  }
}

// Two terms that many events have and none has together: who decides looks no further than it may, and takes the last
// event for one that may match.
TEST(DigestWindow, LooksAtNoMoreThanItsBudget) {
  DigestWindow window(GlobalPosition{0});
  for (std::uint64_t p = 1; p <= 20'000; ++p) {
    const Term terms[] = {p % 2 == 0 ? Term{100} : Term{200}};
    window.add(GlobalPosition{p}, terms);
  }
  const auto never = query({item({}, {100, 200})});
  EXPECT_EQ(window.first_match(never, GlobalPosition{0}), none);

  MatchBudget small{1'000};
  EXPECT_EQ(window.first_match(never, GlobalPosition{0}, small), at(20'000));
  EXPECT_EQ(small.steps, 0u);
  MatchBudget enough{1'000};
  EXPECT_EQ(window.first_match(never, GlobalPosition{19'990}, enough), none);
  EXPECT_GT(enough.steps, 900u);
}

}  // namespace
}  // namespace evershard::sharding
