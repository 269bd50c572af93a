// Scheduled appends over the network: the same words and errors as in the process that makes them.

#include <gmock/gmock.h>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

TEST(RemoteScheduled, AreThoseOfTheServer) {
  ServedStore served;
  auto remote = served.connect();
  auto& scheduled = remote.scheduled();
  auto& there = served.local.scheduled();
  const auto code = [](const auto& result) { return result ? std::optional<ErrorCode>() : result.error().code; };
  const auto placed = [](const std::string& aggregate) {
    return Append{}
        .event(aggregate, "Placed", R"({"n":1})", {"customer:7"})
        .expect(aggregate, ExpectedVersion::none())
        .fail_if(Query{}.types({"Closed"}), GlobalPosition{3});
  };

  const auto one = scheduled.schedule({.id = "a/1 b", .after = 1h, .append = placed("order-1")});
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(*one, *there.get("a/1 b"));
  EXPECT_EQ(*scheduled.get("a/1 b"), *one);
  EXPECT_EQ(*one->append, placed("order-1"));
  const auto again = scheduled.schedule({.id = "a/1 b", .after = 2h, .append = placed("order-1")});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(code(scheduled.schedule({.id = "a/1 b", .after = 1h, .append = placed("order-2")})),
            ErrorCode::version_conflict);
  const auto later = scheduled.schedule({.id = "a/1 b", .after = 3h, .append = placed("order-2"), .replace = true});
  ASSERT_TRUE(later) << later.error().what;
  EXPECT_EQ(*later, *there.get("a/1 b"));
  const auto unnamed = scheduled.schedule({.due = Timestamp{later->due.micros + 1}, .append = placed("order-3")});
  ASSERT_TRUE(unnamed) << unnamed.error().what;
  EXPECT_FALSE(unnamed->id.empty());

  EXPECT_EQ(*scheduled.list({}), *there.list({}));
  const auto page = scheduled.list({.limit = 1});
  ASSERT_TRUE(page) << page.error().what;
  ASSERT_EQ(page->scheduled.size(), 1u);
  EXPECT_EQ(page->scheduled[0].id, "a/1 b");
  ASSERT_TRUE(page->next);
  EXPECT_EQ(scheduled.list({.after = *page->next})->scheduled.at(0).id, unnamed->id);
  EXPECT_EQ(*scheduled.list({.all = true}), *there.list({.all = true}));
  EXPECT_EQ(code(scheduled.list({.limit = 0})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(scheduled.list({.limit = 5'000})), ErrorCode::invalid_argument);

  EXPECT_EQ(scheduled.cancel(unnamed->id)->state, ScheduledState::cancelled);
  EXPECT_EQ(code(scheduled.cancel("nobody")), ErrorCode::not_found);
  EXPECT_EQ(code(scheduled.get("nobody")), ErrorCode::not_found);
  EXPECT_EQ(code(scheduled.schedule({.id = "x", .append = placed("order-4")})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(scheduled.schedule({.id = "x", .after = 1s, .append = placed("order")})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(scheduled.schedule({.id = "x", .after = 1s, .append = placed("$order-1")})),
            ErrorCode::invalid_argument);

  ASSERT_TRUE(remote.append(Append{}.event("order-5", "Placed", "{}")));
  ASSERT_TRUE(scheduled.schedule({.id = "late", .after = 0ms, .append = placed("order-5")}));
  for (int n = 0; n != 12'000 && scheduled.get("late")->state == ScheduledState::pending; ++n)
    std::this_thread::sleep_for(5ms);
  const auto refused = scheduled.get("late");
  ASSERT_TRUE(refused && refused->refusal);
  EXPECT_EQ(refused->refusal->code, ErrorCode::version_conflict);
  EXPECT_EQ(refused->refusal->details->actual, SeqNr{1});
  EXPECT_EQ(*refused, *there.get("late"));
}

}  // namespace
}  // namespace evershard
