// What is decided about UmaDB's appends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/compat/umadb/words/uma_append.hpp"

namespace evershard::umadb {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

namespace pb = ::umadb::v1;

pb::AppendRequest request_of(std::initializer_list<const char*> ids) {
  pb::AppendRequest request;
  for (const auto* id : ids) {
    auto& event = *request.add_events();
    event.set_event_type("T");
    event.set_data("d");
    event.set_uuid(id);
  }
  return request;
}

constexpr const char* id_a = "01234567-89ab-4def-8123-00000000000a";
constexpr const char* id_b = "01234567-89ab-4def-8123-00000000000b";
constexpr const char* nil = "00000000-0000-0000-0000-000000000000";

TEST(UmaAppends, WithoutAConditionHaveNone) {
  auto request = request_of({id_a});
  EXPECT_THAT(UmaAppend::of(request)->append.conditions, SizeIs(0));
}

TEST(UmaAppends, WithAnEmptyConditionForbidEverythingBehindIt) {
  auto request = request_of({id_a});
  request.mutable_condition()->set_after(5);
  const auto made = UmaAppend::of(request).value();
  ASSERT_THAT(made.append.conditions, SizeIs(1));
  EXPECT_TRUE(made.append.conditions[0].query.is_all());
  EXPECT_EQ(made.append.conditions[0].after, GlobalPosition(5));
}

TEST(UmaAppends, MayNameAnEventTwice) {
  auto request = request_of({id_a, id_a, id_b});
  const auto made = UmaAppend::of(request).value();
  EXPECT_EQ(made.append.events[0].id.text(), id_a);
  EXPECT_NE(made.append.events[1].id.text(), id_a);
  EXPECT_EQ(made.append.events[2].id.text(), id_b);
}

TEST(UmaAppends, TrackASourceFurtherOnly) {
  auto request = request_of({id_a});
  request.mutable_tracking_info()->set_source("s");
  request.mutable_tracking_info()->set_position(5);
  const auto made = UmaAppend::of(request).value();

  const auto first = made.tracked_after({}).value();
  ASSERT_THAT(first.conditions, SizeIs(1));
  EXPECT_EQ(first.conditions[0], (AppendCondition{Query().tags({"evershard-tracking:s"}), GlobalPosition(0)}));
  EXPECT_EQ(made.tracked_after(std::pair(GlobalPosition(9), 4u))->conditions[0].after, GlobalPosition(9));
  for (const std::uint64_t there : {5u, 6u}) {
    const auto refused = made.tracked_after(std::pair(GlobalPosition(9), there));
    EXPECT_EQ(refused.error().code, ErrorCode::condition_failed);
    EXPECT_THAT(refused.error().what, HasSubstr("5 <= " + std::to_string(there)));
  }
}

TEST(UmaAppends, AreDecidedAnewWhereTheSourceWasTrackedMeanwhile) {
  auto request = request_of({id_a});
  request.mutable_tracking_info()->set_source("s");
  request.mutable_condition()->mutable_fail_if_events_match()->add_items()->add_types("T");
  const auto made = UmaAppend::of(request).value();
  const auto failed = [](std::uint32_t which) {
    ErrorDetails details;
    details.condition = which;
    return Error(ErrorCode::condition_failed, "", details);
  };
  EXPECT_FALSE(made.tracked_meanwhile(failed(0)));
  EXPECT_TRUE(made.tracked_meanwhile(failed(1)));
}

TEST(UmaAppends, WithTrackingInfoHaveNoReservedTypesEither) {
  auto request = request_of({id_a});
  request.mutable_tracking_info()->set_source("s");
  request.mutable_events(0)->set_event_type("$Anything");
  const auto refused = UmaAppend::of(request).value().tracked_after({});
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("reserved"));
}

TEST(UmaAppends, WithTrackingInfoNeedEvents) {
  auto request = request_of({});
  request.mutable_tracking_info()->set_source("s");
  EXPECT_EQ(UmaAppend::of(request).error().code, ErrorCode::invalid_argument);
}

/// Events as they are found: position, id, data.
std::optional<GlobalPosition> repetition_of(
    const pb::AppendRequest& request, const std::vector<std::tuple<std::uint64_t, const char*, const char*>>& found) {
  UmaAppend::Repetition repetition(request);
  for (const auto& [position, id, data] : found) {
    pb::Event given;
    given.set_event_type("T");
    given.set_data(data);
    given.set_uuid(id);
    auto event = event_of(given).value();
    RecordedView view;
    view.position = GlobalPosition(position);
    view.id = event.id;
    view.type = event.type;
    view.payload = event.payload;
    UmaEvent shown;
    shown.show(view);
    repetition.found(shown);
  }
  return repetition.position();
}

TEST(UmaRepetitions, AreTheSameIdsInTheSameOrder) {
  const auto request = request_of({id_a, id_b});
  EXPECT_EQ(repetition_of(request, {{3, id_a, "d"}, {5, id_b, "d"}}), GlobalPosition(5));
  EXPECT_EQ(repetition_of(request, {{5, id_b, "d"}, {3, id_a, "d"}, {5, id_b, "d"}}), GlobalPosition(5));
  EXPECT_EQ(repetition_of(request, {{3, id_b, "d"}, {5, id_a, "d"}}), std::nullopt);
  EXPECT_EQ(repetition_of(request, {{3, id_a, "d"}}), std::nullopt);
  EXPECT_EQ(repetition_of(request, {}), std::nullopt);
}

TEST(UmaRepetitions, WithoutIdsAreNone) { EXPECT_EQ(repetition_of(request_of({""}), {{3, "", "d"}}), std::nullopt); }

TEST(UmaRepetitions, WithTheNilIdAreTheSameDataToo) {
  EXPECT_EQ(repetition_of(request_of({nil}), {{3, nil, "d"}}), GlobalPosition(3));
  EXPECT_EQ(repetition_of(request_of({nil}), {{3, nil, "other"}}), std::nullopt);
}

}  // namespace
}  // namespace evershard::umadb
