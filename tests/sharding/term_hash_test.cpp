#include "evershard/sharding/term_hash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(TermHasher, KeepsItsValues) {
  const TermHasher hasher(0x0123456789ABCDEF);

  // Stored in postings: they may change only together with the format version.
  EXPECT_EQ(hasher.type("OrderPlaced"), 0xd4d4d6e1f90b15f4ull);
  EXPECT_EQ(hasher.tag("order:1"), 0xd0331f13d94da90eull);
  EXPECT_EQ(hasher.aggregate("order-1"), 0x0dc2fc12765df0c6ull);
}

TEST(TermHasher, TellsKindsAndKeysApart) {
  const TermHasher one(1), two(2);

  const std::set<Term> terms{one.type("x"), one.tag("x"), one.aggregate("x"),
                             two.type("x"), two.tag("x"), two.aggregate("x")};

  EXPECT_THAT(terms, SizeIs(6));
}

TEST(TermHasher, TakesTermsOfAnyLength) {
  const TermHasher hasher(7);
  std::set<Term> terms;

  for (std::size_t size = 0; size != 2'000; ++size) terms.insert(hasher.tag(std::string(size, 'a')));

  EXPECT_THAT(terms, SizeIs(2'000));
  EXPECT_EQ(hasher.tag(std::string(1'500, 'a')), hasher.tag(std::string(1'500, 'a')));
}

TEST(TermHasher, IsNeverZeroAndCollidesWhenMasked) {
  const TermHasher hasher(7, 3);
  std::set<Term> terms;

  for (int i = 0; i != 100; ++i) terms.insert(hasher.tag("t" + std::to_string(i)));

  EXPECT_THAT(terms, ElementsAre(1, 2, 3));
}

TEST(TermsOf, EverythingHasNoItems) {
  const TermQuery terms = terms_of(Query::all(), TermHasher(7));

  EXPECT_TRUE(terms.everything);
  EXPECT_TRUE(terms.items.empty());
}

TEST(TermsOf, DropsRepetitions) {
  const TermHasher hasher(7);
  const QueryItem item{{"B", "A", "B"}, {"t", "t"}, {{"order", "1"}, {"order", "1"}}};

  const TermQuery terms = terms_of(Query::of({item, item}), hasher);

  ASSERT_THAT(terms.items, SizeIs(1));
  EXPECT_THAT(terms.items[0].types, testing::UnorderedElementsAre(hasher.type("A"), hasher.type("B")));
  EXPECT_THAT(terms.items[0].all, testing::UnorderedElementsAre(hasher.tag("t"), hasher.aggregate("order-1")));
}

}  // namespace
}  // namespace evershard::sharding
