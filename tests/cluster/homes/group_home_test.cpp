// GroupHome as other nodes ask it, over a store that does what a test says.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "evershard/cluster/groups/group_home.hpp"
#include "evershard/v1/group_homes.pb.h"
#include "tests/services/groups/host/groups_with_hooks.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

class GroupHomeByHand : public GroupsWithHooks {
 protected:
  GroupHomeByHand() { EXPECT_TRUE(host_.create_group(defined())); }
  ~GroupHomeByHand() override { home_.close(); }

  [[nodiscard]] static HomeCall call_of(const google::protobuf::Message& request, std::chrono::milliseconds time) {
    return {{"$group", "g"}, Epoch{1}, request.SerializeAsString(), std::chrono::steady_clock::now() + time};
  }
  [[nodiscard]] std::uint64_t joined() {
    v1::WorkRequest::Join join;
    join.set_group("g");
    join.set_worker("w");
    join.set_credit(100);
    v1::GroupSessionOpened opened;
    EXPECT_TRUE(opened.ParseFromString(home_.open(call_of(join, 60s)).value()));
    return opened.session();
  }
  /// Of one session.
  v1::GroupSessionWorked worked(std::uint64_t session, std::chrono::milliseconds time) {
    v1::GroupWorkAsked asked;
    auto& one = *asked.add_sessions();
    one.set_session(session);
    one.set_room(100);
    v1::GroupWorkAnswered answered;
    EXPECT_TRUE(answered.ParseFromString(home_.work(call_of(asked, time)).value()));
    return answered.sessions(0);
  }
  void wait_for_all(std::size_t in_flight) {
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         host_.group("g")->in_flight < in_flight && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(host_.group("g")->in_flight, in_flight);
  }

  GroupHost host_{store_, {.cached_bytes_max = 0}};
  GroupHome home_{host_};
};

// What is taken and not heard of in time lies until its lease ends, and counts as an attempt.
TEST_F(GroupHomeByHand, NothingIsTakenThatNobodyMayHearOf) {
  for (int i = 0; i < 5; ++i) append("order-" + std::to_string(i));
  const auto session = joined();
  wait_for_all(5);
  int reads = 0;
  store_.reads_again = [&](GlobalPosition position) {
    if (++reads == 2) std::this_thread::sleep_for(7s);
    return events_.event_at(position);
  };
  EXPECT_EQ(worked(session, 12s).deliveries_size(), 2) << "more than half of the time was over";
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(worked(session, -1ms).deliveries_size(), 0) << "nobody listens any more";
  EXPECT_EQ(worked(session, 60s).deliveries_size(), 3);
}

// What a newer neighbour says.
TEST_F(GroupHomeByHand, ACallThatIsNotUnderstoodSettlesNothing) {
  append("order-1");
  append("order-2");
  const auto session = joined();
  wait_for_all(2);
  const auto out = worked(session, 60s);
  ASSERT_EQ(out.deliveries_size(), 2);
  v1::GroupWorkAsked asked;
  auto& one = *asked.add_sessions();
  one.set_session(session);
  for (const auto& delivery : out.deliveries()) {
    auto& settlement = *one.add_settlements();
    settlement.set_position(delivery.event().position());
    settlement.set_delivery(delivery.delivery());
  }
  auto& unknown = *asked.add_sessions()->add_settlements();
  unknown.set_kind(static_cast<v1::WorkRequest::Settlement::Kind>(99));
  EXPECT_EQ(home_.work(call_of(asked, 60s)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(host_.group("g")->acknowledged, 0u);
}

// The worker is in the middle of others.
class GroupHomeWhereAnEventIs : public GroupHomeByHand, public ::testing::WithParamInterface<ErrorCode> {};

TEST_P(GroupHomeWhereAnEventIs, NotReadableEndsNoSession) {
  append("order-1");
  append("order-2");
  const auto session = joined();
  wait_for_all(2);
  bool failed = false;
  store_.reads_again = [&](GlobalPosition position) -> Result<RecordedEvent> {
    if (!std::exchange(failed, true)) return refuse(GetParam(), "it cannot be read");
    return events_.event_at(position);
  };
  const auto nothing = worked(session, 60s);
  EXPECT_FALSE(nothing.has_ended()) << nothing.ended().message();
  EXPECT_EQ(nothing.deliveries_size(), 0);
  EXPECT_GE(worked(session, 60s).deliveries_size(), 1);
}

INSTANTIATE_TEST_SUITE_P(Groups, GroupHomeWhereAnEventIs,
                         ::testing::Values(ErrorCode::unavailable, ErrorCode::corruption));

}  // namespace
}  // namespace evershard::cluster
