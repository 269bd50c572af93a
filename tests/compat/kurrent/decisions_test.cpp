#include <gtest/gtest.h>

#include "evershard/compat/kurrent/batch_append_call.hpp"
#include "evershard/compat/kurrent/discovery_services.hpp"
#include "evershard/compat/kurrent/reading.hpp"
#include "evershard/compat/kurrent/records.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/compat/kurrent/stream_writes.hpp"
#include "evershard/compat/kurrent/virtual_streams.hpp"

namespace evershard::kurrent {
namespace {

const AggregateId plan_order{"order", "7"};

StreamWrite write_expecting(ExpectedVersion expected) {
  StreamWrite write;
  write.streams.push_back({"order-7", plan_order, expected, true});
  Event event;
  event.aggregate = plan_order;
  event.type = "T";
  write.events.push_back(event);
  return write;
}

LookedAt deleted_at_version(std::uint64_t at_delete, std::uint64_t version, bool still = true) {
  LookedAt looked;
  looked.state.emplace();
  looked.state->deleted_at = GlobalPosition{20};
  if (still) looked.state->metadata.from = deleted_mark;
  looked.state->metadata_version = SeqNr{2};
  looked.version = SeqNr(version);
  looked.version_at_delete = SeqNr(at_delete);
  return looked;
}

Append append_in(const std::variant<Append, Refusal>& plan) { return std::get<Append>(plan); }

}  // namespace

TEST(PlanOf, ExpectsOfAnOrdinaryStreamWhatItsClientDoes) {
  EXPECT_TRUE(append_in(plan_of(write_expecting(ExpectedVersion::any()), {LookedAt{}})).expectations.empty());
  const auto plan = append_in(plan_of(write_expecting(ExpectedVersion::none()), {LookedAt{}}));
  ASSERT_EQ(plan.expectations.size(), 1u);
  EXPECT_EQ(plan.expectations[0], (Expectation{plan_order, ExpectedVersion::none()}));
}

TEST(PlanOf, GoesOnBehindADeletionAndTakesItBack) {
  const auto plan = append_in(plan_of(write_expecting(ExpectedVersion::none()), {deleted_at_version(5, 5)}));

  ASSERT_EQ(plan.events.size(), 2u);
  EXPECT_EQ(plan.events[1].type, "$metadata");
  EXPECT_EQ(plan.events[1].payload, R"({"$tb":5})");
  EXPECT_EQ(plan.expectations, (std::vector<Expectation>{{metadata_of(plan_order).value(), ExpectedVersion::exactly(2)},
                                                         {plan_order, ExpectedVersion::exactly(5)}}));
}

TEST(PlanOf, FindsNoStreamWhereItWasDeleted) {
  const auto plan = plan_of(write_expecting(ExpectedVersion::exists()), {deleted_at_version(5, 5)});

  ASSERT_TRUE(std::holds_alternative<Refusal>(plan));
  EXPECT_EQ(std::get<Refusal>(plan).why, Refusal::Why::wrong_version);
  const auto again = plan_of(write_expecting(ExpectedVersion::exists()), {deleted_at_version(5, 6, false)});
  EXPECT_EQ(append_in(again).events.size(), 1u) << "it was written again";
}

TEST(PlanOf, RefusesWhatIsGoneForGood) {
  LookedAt looked;
  looked.state.emplace();
  looked.state->tombstoned = true;
  auto check = write_expecting(ExpectedVersion::none());

  EXPECT_EQ(std::get<Refusal>(plan_of(check, {looked})).why, Refusal::Why::stream_deleted);
  check.streams[0].written = false;
  EXPECT_TRUE(append_in(plan_of(check, {looked})).expectations.empty()) << "no stream is what there is";
  check.streams[0].expected = ExpectedVersion::exists();
  EXPECT_EQ(std::get<Refusal>(plan_of(check, {looked})).why, Refusal::Why::wrong_version);
}

TEST(IsLate, IsByWhatAnAppendMayTakeOrByItsClientsClock) {
  using std::chrono::seconds;
  esp::BatchAppendReq::Options options;
  const Timestamp now{1'000'000'000'000};
  EXPECT_FALSE(is_late(options, seconds(1'000), now)) << "nothing is said";
  options.mutable_deadline_21_10_0()->set_seconds(1'000'002);
  EXPECT_FALSE(is_late(options, seconds(0), now));
  options.mutable_deadline_21_10_0()->set_seconds(999'998);
  EXPECT_TRUE(is_late(options, seconds(0), now));
  options.mutable_deadline_21_10_0()->set_seconds(999'990);
  EXPECT_FALSE(is_late(options, seconds(0), now)) << "a clock that is wrong";
  EXPECT_TRUE(is_late(options, seconds(9), now)) << "it was not past when it came, or not long";
  options.mutable_deadline()->set_seconds(3);
  EXPECT_FALSE(is_late(options, seconds(2), now));
  EXPECT_TRUE(is_late(options, seconds(3), now));
}

TEST(Derived, IsByCategoryOrType) {
  RecordedEvent event;
  event.aggregate = plan_order;
  event.type = "Placed";

  EXPECT_TRUE(Derived::from("$ce-order")->takes(event));
  EXPECT_FALSE(Derived::from("$ce-cart")->takes(event));
  EXPECT_TRUE(Derived::from("$et-Placed")->takes(event));
  EXPECT_FALSE(Derived::from("$et-Paid")->takes(event));
  for (const char* name : {"order-7", "$ce-", "$et", "$ceorder"}) EXPECT_FALSE(Derived::from(name)) << name;
  event.type = "$>";
  EXPECT_FALSE(Derived::from("$ce-order")->takes(event)) << "links are not linked to";
}

TEST(ReadPlan, IsWhatIsAskedFor) {
  esp::ReadReq request;
  EXPECT_FALSE(ReadPlan::of(request)) << "of nothing";
  auto& all = *request.mutable_options()->mutable_all();
  all.mutable_position()->set_commit_position(7);
  request.mutable_options()->mutable_subscription();
  auto& filter = *request.mutable_options()->mutable_filter();
  filter.mutable_event_type()->add_prefix("A");
  filter.mutable_count();
  filter.set_checkpointintervalmultiplier(3);

  const auto plan = ReadPlan::of(request).value();
  EXPECT_EQ(plan.from, ReadPlan::From::at);
  EXPECT_EQ(plan.at, 7u);
  EXPECT_EQ(plan.checkpoint_every, 96u) << "their default window";
  request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  EXPECT_FALSE(ReadPlan::of(request)) << "a subscription goes forwards";
}

TEST(Records, HaveTheirStreamsAndChecksTogether) {
  esv2::AppendRecordsRequest request;
  for (const char* stream : {"order-7", "cart", "order-7"}) {
    auto& record = *request.add_records();
    record.set_stream(stream);
    record.mutable_schema()->set_name("T");
    record.mutable_schema()->set_format(esv2::SCHEMA_FORMAT_JSON);
    (*record.mutable_properties())["n"].set_number_value(1);
  }
  auto& check = *request.add_checks()->mutable_stream_state();
  check.set_stream("other-1");
  check.set_expected_state(-4);

  const auto records = records_write(request).value();
  ASSERT_EQ(records.write.streams.size(), 3u);
  EXPECT_EQ(records.write.streams[2].expected, ExpectedVersion::exists());
  EXPECT_FALSE(records.write.streams[2].written);
  EXPECT_EQ(records.checks[2], 0u);
  EXPECT_EQ(records.write.events.size(), 3u);
  EXPECT_EQ(records.write.events[0].metadata, R"({"$schema.format":"Json","$schema.name":"T","n":1.0})");
  *request.add_checks() = request.checks(0);
  EXPECT_FALSE(records_write(request)) << "one check a stream";
}

TEST(Records, OfASessionNameEachStreamOnce) {
  std::vector<esv2::AppendRequest> requests(2);
  for (auto& request : requests) {
    request.set_stream("order-7");
    request.set_expected_revision(4);
    request.add_records()->mutable_schema()->set_name("T");
  }
  EXPECT_EQ(session_write(requests).error().code, ErrorCode::invalid_argument);
  requests.resize(1);
  EXPECT_EQ(session_write(requests).value().streams[0].expected, ExpectedVersion::exactly(5));
  requests.clear();
  EXPECT_FALSE(session_write(requests));
}

TEST(ExpectedState, IsANumberOrAWord) {
  for (const std::int64_t state : {-4, -2, -1, 0, 17}) EXPECT_EQ(state_of(expected_state(state).value()), state);
  EXPECT_FALSE(expected_state(-3));
  EXPECT_EQ(expected_state(std::numeric_limits<std::int64_t>::max()).value().kind(), ExpectedVersion::Kind::exactly);
}

TEST(Gossip, OfOneProcessIsWhereItsCallerAsked) {
  const auto info = members_of("db.example:2113", nullptr, Timestamp{5});

  ASSERT_EQ(info.members_size(), 1);
  EXPECT_EQ(info.members(0).http_end_point().address(), "db.example");
  EXPECT_EQ(info.members(0).http_end_point().port(), 2113u);
  EXPECT_EQ(info.members(0).state(), ::event_store::client::gossip::MemberInfo::Leader);
  EXPECT_EQ(members_of("[::1]:2113", nullptr, {}).members(0).http_end_point().address(), "::1");
}

TEST(Gossip, OfAClusterIsItsNodesThatHaveADoorForThem) {
  using Member = ::event_store::client::gossip::MemberInfo;
  ClusterView view;
  view.self = 2;
  view.nodes = {{.node = 1, .kurrent_door = "a:2113"},
                {.node = 2, .up = true, .kurrent_door = "b:2113"},
                {.node = 3, .up = true, .kurrent_door = "[::1]:2114"},
                {.node = 4, .up = true, .gateway = true, .kurrent_door = "d:2113"},
                {.node = 5, .door = "e:7420", .up = true}};

  const auto info = members_of("elsewhere:9", &view, {});
  ASSERT_EQ(info.members_size(), 4);
  EXPECT_FALSE(info.members(0).is_alive());
  EXPECT_EQ(info.members(1).state(), Member::Leader);
  EXPECT_EQ(info.members(2).state(), Member::Follower);
  EXPECT_EQ(info.members(2).http_end_point().address(), "::1");
  EXPECT_EQ(info.members(2).http_end_point().port(), 2114u);
  EXPECT_EQ(info.members(3).state(), Member::ReadOnlyReplica);
}

}  // namespace evershard::kurrent
