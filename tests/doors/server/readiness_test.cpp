// When a node of a cluster says that it serves.

#include "evershard/doors/server/readiness.hpp"

#include <gmock/gmock.h>

namespace evershard::server {
namespace {

using testing::HasSubstr;

ClusterView view_of(std::vector<std::uint32_t> writers) {
  ClusterView view;
  view.self = 1;
  for (const std::uint32_t n : {1u, 2u}) {
    ClusterView::Node node;
    node.node = n;
    node.up = true;
    view.nodes.push_back(node);
  }
  for (const auto writer : writers) view.shards.push_back({writer, Epoch{writer == 0 ? 0u : 1u}});
  return view;
}

TEST(Readiness, IsThereWhereEveryShardHasAWriter) {
  EXPECT_FALSE(waits_for_writers(view_of({1, 2, 1}), {ShardId{0}, ShardId{2}}));
}

TEST(Readiness, WaitsForShardsThatNobodyWrites) {
  const auto waits = waits_for_writers(view_of({1, 0, 0}), {ShardId{0}});
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, ErrorCode::unavailable);
  EXPECT_EQ(waits->what, "shards 1, 2 have no writer yet");
}

TEST(Readiness, WaitsUntilItsOwnShardsAreOpen) {
  const auto waits = waits_for_writers(view_of({1, 2, 1}), {ShardId{0}});
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->what, "shard 2 not open on this node yet");
}

TEST(Readiness, NamesTheNodeThatIsNotUp) {
  auto view = view_of({1, 2, 2});
  view.nodes[1].up = false;
  const auto waits = waits_for_writers(view, {ShardId{0}});
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->what, "shards 1, 2 written by node 2, which is not up");
}

TEST(Readiness, WaitsForTheCoordinatorsWord) {
  EXPECT_TRUE(waits_for_writers(ClusterView{}, {}));
  auto nobody_told = view_of({1, 2});
  nobody_told.nodes.clear();
  EXPECT_TRUE(waits_for_writers(nobody_told, {ShardId{0}}));
}

TEST(Readiness, NamesFewOfManyShards) {
  const auto waits = waits_for_writers(view_of(std::vector<std::uint32_t>(200, 0)), {});
  ASSERT_TRUE(waits);
  EXPECT_THAT(waits->what, HasSubstr("... (200 of them)"));
}

}  // namespace
}  // namespace evershard::server
