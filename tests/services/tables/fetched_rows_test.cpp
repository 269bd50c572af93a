// Rows that were looked up beforehand: what a page changes is seen, not what was fetched.

#include <gtest/gtest.h>

#include "evershard/services/indexes/projection_rows.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"

namespace evershard::actors {
namespace {

TEST(FetchedRows, AreSeenAsThePageChangesThem) {
  const auto store = storage::memory_projection_store();
  ASSERT_TRUE(store->create_family("rows", {}));
  storage::ProjectionBatch stored;
  for (const char* key : {"a", "b", "c"}) stored.families["rows"].put(key, "stored");
  ASSERT_TRUE(store->write(stored));
  ProjectionRows rows(*store, "rows", {});
  rows.put("a", "put before");

  ASSERT_TRUE(rows.fetch({"c", "absent", "a", "b", "a"}));
  rows.put("b", "put behind");
  rows.erase("c");

  EXPECT_EQ(*rows.get("a"), "put before");
  EXPECT_EQ(*rows.get("b"), "put behind");
  EXPECT_EQ(*rows.get("c"), std::nullopt);
  EXPECT_EQ(*rows.get("absent"), std::nullopt);
  rows.put("absent", "there now");
  EXPECT_EQ(*rows.get("absent"), "there now");
}

TEST(FetchedRows, AreFoundAsTheyAreInTheStore) {
  const auto store = storage::memory_projection_store();
  ASSERT_TRUE(store->create_family("rows", {}));
  storage::ProjectionBatch stored;
  std::vector<std::string> keys;
  for (int i = 0; i < 2'000; ++i) {
    keys.push_back("row-" + std::to_string(i));
    if (i % 3 != 0) stored.families["rows"].put(keys.back(), std::to_string(i));
  }
  ASSERT_TRUE(store->write(stored));
  ProjectionRows rows(*store, "rows", {});

  ASSERT_TRUE(rows.fetch({keys.rbegin(), keys.rend()}));

  for (int i = 0; i < 2'000; ++i) {
    EXPECT_EQ(*rows.get("row-" + std::to_string(i)), i % 3 == 0 ? std::nullopt : std::optional(std::to_string(i)));
  }
}

}  // namespace
}  // namespace evershard::actors
