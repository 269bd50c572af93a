// Rows with what was changed since the last write laid over them: against a plain map.

#include "evershard/services/indexes/projection_rows.hpp"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "evershard/services/rows/memory_projection_store.hpp"

namespace evershard::actors {
namespace {

using Plain = std::map<std::string, std::string>;

Plain all_of(const storage::ProjectionStore& store) {
  Plain rows;
  const auto view = *store.view("rows");
  const auto cursor = view->cursor({});
  while (cursor->next()) rows.emplace(cursor->key(), cursor->value());
  return rows;
}

class ProjectionRowsTest : public ::testing::Test {
 protected:
  ProjectionRowsTest() {
    EXPECT_TRUE(store_->create_family("rows", {}));
    storage::ProjectionBatch stored;
    stored.families["rows"].put("stored", "as it was");
    EXPECT_TRUE(store_->write(stored));
  }
  const std::unique_ptr<storage::ProjectionStore> store_ = storage::memory_projection_store();
};

TEST_F(ProjectionRowsTest, WhatIsNewAndErasedAgainIsNotWritten) {
  ProjectionRows rows(*store_, "rows", {});
  rows.put_new("new", "x");
  EXPECT_EQ(*rows.get("new"), "x");
  rows.erase("new");
  EXPECT_EQ(*rows.get("new"), std::nullopt);
  EXPECT_EQ(rows.bytes(), 0u);
  EXPECT_TRUE(rows.take().rows.empty());
}

TEST_F(ProjectionRowsTest, WhatWasErasedInTheStoreStaysErasedBehindANewOneOfTheKey) {
  ProjectionRows rows(*store_, "rows", {});
  rows.erase("stored");
  rows.put_new("stored", "anew");
  rows.erase("stored");
  EXPECT_EQ(*rows.get("stored"), std::nullopt);
  const auto changes = rows.take();
  ASSERT_EQ(changes.rows.size(), 1u);
  EXPECT_EQ(changes.rows[0].key, "stored");
  EXPECT_EQ(changes.rows[0].value, std::nullopt);
}

TEST_F(ProjectionRowsTest, WhatWasFoundAbsentAndPutIsNotThereWhenItIsErased) {
  ProjectionRows rows(*store_, "rows", {});
  ASSERT_TRUE(rows.fetch({"absent", "stored"}));
  rows.put("absent", "x");
  rows.erase("absent");
  rows.erase("stored");
  const auto changes = rows.take();
  ASSERT_EQ(changes.rows.size(), 1u);
  EXPECT_EQ(changes.rows[0].key, "stored");
}

TEST_F(ProjectionRowsTest, AreWrittenInOrderOfKey) {
  ProjectionRows rows(*store_, "rows", {});
  for (int i = 0; i < 1'000; ++i) rows.put("key-" + std::to_string(i * 7'919 % 1'000), std::to_string(i));
  const auto changes = rows.take();
  ASSERT_EQ(changes.rows.size(), 1'000u);
  EXPECT_TRUE(std::ranges::is_sorted(changes.rows, {}, &storage::ChangedRow::key));
  EXPECT_EQ(rows.bytes(), 0u);
}

/// The memory of the rows is kept from page to page; what was in it is not.
TEST_F(ProjectionRowsTest, OfThePageBeforeNoneIsLeft) {
  ProjectionRows rows(*store_, "rows", {});
  for (const int many : {1, 100, 3, 5'000, 7, 0, 60}) {
    SCOPED_TRACE(many);
    for (int i = 0; i < many; ++i) rows.put("key-" + std::to_string(i), "of this page");
    rows.erase("key-0");
    (void)rows.take();
    storage::ProjectionBatch stored;
    for (int i = 0; i < many; ++i) stored.families["rows"].put("key-" + std::to_string(i), "in the store");
    ASSERT_TRUE(store_->write(stored));
    for (int i = 0; i < many; ++i) ASSERT_EQ(*rows.get("key-" + std::to_string(i)), "in the store");
    Plain seen;
    ASSERT_TRUE(rows.each({"key", "key~"}, [&](std::string_view key, std::string_view value) {
      return seen.emplace(key, value).second;
    }));
    for (const auto& [key, value] : seen) ASSERT_EQ(value, "in the store") << key;
    EXPECT_EQ(rows.bytes(), 0u);
    EXPECT_TRUE(rows.take().rows.empty());
  }
}

TEST(RowTable, GivesBackTheMemoryOfManyRowsAndKeepsThatOfFew) {
  RowTable rows;
  for (int i = 0; i < 50'000; ++i) rows.put("key-" + std::to_string(i));
  rows.clear();
  EXPECT_EQ(rows.capacity(), 0u);
  for (int i = 0; i < 100; ++i) rows.put("key-" + std::to_string(i));
  rows.clear();
  EXPECT_GE(rows.capacity(), 100u);
  EXPECT_EQ(rows.find("key-7"), nullptr);
}

TEST_F(ProjectionRowsTest, AreAsAPlainMapIsWhateverIsDoneToThem) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto draw = [&](std::uint64_t below) { return random() % below; };
    const auto keys = 1 + draw(seed % 3 == 0 ? 2'000 : 40);
    const auto a_key = [&] { return "k" + std::to_string(draw(keys)); };
    Plain plain = all_of(*store_);
    ProjectionRows rows(*store_, "rows", {});
    for (int step = 0; step < 3'000; ++step) {
      const auto key = a_key();
      switch (draw(12)) {
        case 0:
        case 1:
        case 2:
          rows.put(key, plain[key] = std::to_string(step));
          break;
        case 3:
        case 4:
        case 5:
          if (plain.contains(key))
            rows.put(key, plain[key] = std::to_string(step));
          else
            rows.put_new(key, plain[key] = std::to_string(step));
          break;
        case 6:
        case 7:
        case 8:
          rows.erase(key), plain.erase(key);
          break;
        case 9:
          ASSERT_TRUE(rows.fetch({a_key(), a_key(), a_key()}));
          break;
        case 10: {
          const std::vector<std::string> some{a_key(), a_key(), key};
          const auto found = *rows.get_many(some);
          for (std::size_t i = 0; i < some.size(); ++i)
            ASSERT_EQ(found[i], plain.contains(some[i]) ? std::optional(plain.at(some[i])) : std::nullopt);
          break;
        }
        default:
          rows.rest();
      }
      const auto looked_up = a_key();
      ASSERT_EQ(*rows.get(looked_up), plain.contains(looked_up) ? std::optional(plain.at(looked_up)) : std::nullopt)
          << looked_up;
      if (draw(200) == 0) {
        Plain seen;
        ASSERT_TRUE(rows.each({"k", ""}, [&](std::string_view each, std::string_view value) {
          return seen.emplace(each, value).second;
        }));
        ASSERT_EQ(seen, Plain(plain.lower_bound("k"), plain.end()));
      }
      if (draw(500) == 0) {
        storage::ProjectionBatch batch;
        batch.families.emplace("rows", rows.take());
        ASSERT_TRUE(store_->write(batch));
        ASSERT_EQ(all_of(*store_), plain);
        ASSERT_EQ(rows.bytes(), 0u);
      }
    }
    storage::ProjectionBatch batch;
    batch.families.emplace("rows", rows.take());
    ASSERT_TRUE(store_->write(batch));
    ASSERT_EQ(all_of(*store_), plain);
  }
}

}  // namespace
}  // namespace evershard::actors
