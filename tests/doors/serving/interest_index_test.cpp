#include "evershard/doors/serving/interest_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace evershard::serving {
namespace {

/// Values few enough to meet.
class Words {
 public:
  explicit Words(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::string letter() { return std::string(1, static_cast<char>('a' + below(4))); }
  // A type, a tag and an aggregate may be the same text, with the index's own first letters in it.
  std::string word() { return below(3) == 0 ? letter() + letter() : letter(); }
  AggregateId aggregate() { return {word(), word()}; }

  QueryItem item() {
    QueryItem item;
    while (item.types.empty() && item.tags.empty() && item.concerning.empty()) {
      for (auto n = below(3); n > 0; --n) item.types.push_back(word());
      for (auto n = below(3); n > 0; --n) item.tags.push_back(word());
      for (auto n = below(3); n > 1; --n) item.concerning.push_back(aggregate());
    }
    return item;
  }
  Query query() {
    if (below(12) == 0) return Query::all();
    std::vector<QueryItem> items(1 + below(3));
    for (auto& one : items) one = item();
    return Query::of(std::move(items));
  }
  RecordedEvent event() {
    RecordedEvent event;
    event.type = word();
    for (auto n = below(4); n > 0; --n) event.tags.push_back(word());
    if (below(3) != 0) event.aggregate = aggregate();
    for (auto n = below(3); n > 0; --n) event.also.push_back(aggregate());
    return event;
  }

 private:
  std::mt19937_64 random_;
};

TEST(InterestIndex, FindsWhatEachQueryMatchesAndNothingElse) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::size_t matched = 0;
  for (int round = 0; round < 25; ++round) {
    Words words(seed + static_cast<std::uint64_t>(round));
    InterestIndex index;
    std::map<InterestIndex::Id, Query> model;
    for (InterestIndex::Id id = 1; id < 120; ++id) {
      auto query = words.query();
      ASSERT_TRUE(query.check());
      index.add(id, query);
      model.emplace(id, std::move(query));
      if (words.below(3) == 0) {
        const auto gone = 1 + words.below(id + 2);  // perhaps one that is not there
        index.remove(gone);
        model.erase(gone);
      }
      ASSERT_EQ(index.size(), model.size());
      ASSERT_EQ(index.empty(), model.empty());

      const auto event = words.event();
      std::unordered_set<InterestIndex::Id> expected{};
      for (const auto& [one, of] : model) {
        if (of.matches(event)) expected.insert(one);
      }
      std::unordered_set<InterestIndex::Id> found;
      index.matching(event, found);
      ASSERT_EQ(found, expected);
      matched += found.size();
    }
    for (const auto id : index.everybody()) {
      ASSERT_EQ(model.erase(id), 1u);
      index.remove(id);
    }
    ASSERT_TRUE(model.empty());
    ASSERT_TRUE(index.empty());
    std::unordered_set<InterestIndex::Id> found;
    for (int i = 0; i < 50; ++i) index.matching(words.event(), found);
    ASSERT_TRUE(found.empty()) << "something was left behind";
  }
  EXPECT_GT(matched, 500u) << "the values hardly meet";
}

TEST(InterestIndex, AddsToWhatWasFoundBefore) {
  InterestIndex index;
  index.add(1, Query{}.types({"A"}));
  index.add(2, Query{}.types({"B"}));
  std::unordered_set<InterestIndex::Id> found;
  RecordedEvent event;
  event.type = "A";
  index.matching(event, found);
  event.type = "B";
  index.matching(event, found);
  EXPECT_EQ(found, (std::unordered_set<InterestIndex::Id>{1, 2}));
}

}  // namespace
}  // namespace evershard::serving
