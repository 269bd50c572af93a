// What changes something and does not name itself: not twice, and no other answer than the one it was given.

#include <gmock/gmock.h>

#include "tests/doors/remote/losing_server.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

TEST(RemoteChanges, AreNotMadeTwiceWhereTheirAnswerWasLost) {
  LosingServer server;
  auto remote = Remote::connect({.server = server.address(), .timeout = 20s}).value();
  auto& projections = remote.projections();
  const auto unknown = [&](const auto& result, const char* what) {
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code, ErrorCode::timeout) << what << ": " << result.error().what;
    EXPECT_THAT(result.error().what, testing::HasSubstr("unknown")) << what;
    EXPECT_EQ(server.heard(), 1) << what;
  };

  unknown(remote.groups().create_group({.name = "g"}), "create_group");
  unknown(remote.groups().change_group("g", {}), "change_group");
  unknown(remote.groups().reset_group("g", GlobalPosition{0}), "reset_group");
  unknown(remote.groups().drop_group("g"), "drop_group");
  unknown(projections.create_value_index("n", {.types = {"A"}, .path = "$.n"}), "create_value_index");
  unknown(projections.create("t", "table", "{}"), "create");
  unknown(projections.change("t", "{}", {}), "change");
  unknown(projections.ask("t", Projections::Ask::drop), "ask");
  unknown(remote.documents().define("order", "{}"), "define");
  unknown(remote.documents().drop("order"), "drop");
  unknown(remote.documents().remove({"order", "1"}), "remove");
  unknown(remote.retention().drop_retention_policy("old", {}), "drop_retention_policy");
  unknown(remote.tables().retry_parked("t", {GlobalPosition{1}}), "retry_parked");
}

TEST(RemoteChanges, AreNotDoneWhereNobodyIsThere) {
  std::string address;
  {
    const LosingServer server;
    address = server.address();
  }
  auto remote = Remote::connect({.server = address, .timeout = 300ms}).value();
  const auto dropped = remote.groups().drop_group("g");
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, ErrorCode::unavailable) << dropped.error().what;
}

TEST(RemoteReads, AreAskedForAgainWhereTheirAnswerWasLost) {
  LosingServer server;
  auto remote = Remote::connect({.server = server.address(), .timeout = 3s}).value();
  EXPECT_EQ(remote.groups().group("g").error().code, ErrorCode::unavailable);
  EXPECT_GT(server.heard(), 1);
}

}  // namespace
}  // namespace evershard
