// Tables over the door say what they say in this process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string every_type_spec =
    R"({"fields":[{"name":"thing","type":"text","role":"key"},{"name":"n","type":"integer","role":"index","nullable":true},{"name":"x","type":"number","nullable":true},)"
    R"({"name":"b","type":"boolean","nullable":true},{"name":"at","type":"time"},{"name":"y","type":"bytes","nullable":true},{"name":"j","type":"json","nullable":true},{"name":"u","type":"text","role":"unique","nullable":true}],)"
    R"("on_violation":"park","rules":[{"types":["Made"],"action":"upsert","key":"aggregate","fields":{"n":"$.n","x":"$.x","b":"$.b","at":"occurred_at","y":"$.y","j":"$.j","u":"$.u"}}]})";

class RemoteTables : public testing::Test {
 protected:
  RemoteTables() : remote_(served_.connect()) {
    EXPECT_TRUE(served_.local.projections().create("things", "table", every_type_spec));
    make("a", R"({"n":-7,"x":0.5,"b":true,"y":"AP8=","j":{"k":[1]},"u":"one"})");
    make("b", R"({"n":3,"x":-1e300,"b":false,"u":"two"})");
    make("c", "{}");
  }
  void make(const std::string& thing, const std::string& payload) {
    Event event;
    event.aggregate = AggregateId{"thing", thing};
    event.type = "Made";
    event.payload = payload;
    event.format = PayloadFormat::json;
    last_ = served_.local.append(Append{}.event(std::move(event)))->last_position;
  }

  ServedStore served_;
  Remote remote_;
  GlobalPosition last_;
};

TEST_F(RemoteTables, SelectWhatLocalSelects) {
  for (TableSelect select :
       {TableSelect{}, TableSelect{.where = "n < :n", .parameters = {{"n", 5}}, .fields = {"thing", "y"}},
        TableSelect{.order_by = {{"x", true}}},
        TableSelect{.where = "at > :t AND x = :x AND b = :b",
        .parameters = {{"t", Timestamp{0}}, {"x", 0.5}, {"b", true}}},
        TableSelect{.where = "n = :n", .parameters = {{"n", nullptr}}}, TableSelect{.limit = 0}}) {
    const auto here = served_.local.tables().select("things", select, {.at_least = last_});
    const auto there = remote_.tables().select("things", select, {.at_least = last_});
    ASSERT_TRUE(here && there) << (there ? "" : there.error().what);
    EXPECT_EQ(*there, *here);
  }
}

TEST_F(RemoteTables, SelectPageByPage) {
  TableSelect select{.fields = {"thing"}, .limit = 1};
  std::vector<TableValue> found;
  for (;;) {
    const auto page = remote_.tables().select("things", select, {.at_least = last_});
    ASSERT_TRUE(page);
    for (const auto& row : page->rows) found.push_back(row[0]);
    if (page->next.empty()) break;
    select.continue_from = page->next;
  }
  EXPECT_THAT(found, testing::ElementsAre("thing-a", "thing-b", "thing-c"));
}

TEST_F(RemoteTables, ExplainDescribeAndList) {
  static_cast<void>(remote_.tables().select("things", {}, {.at_least = last_}));
  EXPECT_EQ(remote_.tables().explain("things", {.where = "n = 3"}).value(),
            served_.local.tables().explain("things", {.where = "n = 3"}).value());
  const auto here = served_.local.tables().describe_table("things").value();
  const auto there = remote_.tables().describe_table("things").value();
  EXPECT_EQ(there.schema, here.schema);
  EXPECT_EQ(there.definition, here.definition);
  EXPECT_EQ(there.version, here.version);
  EXPECT_EQ(remote_.tables().list_tables()->size(), 1u);
}

TEST_F(RemoteTables, ParkedEventsAreSettledFromAfar) {
  make("d", R"({"u":"one"})");
  static_cast<void>(remote_.tables().select("things", {}, {.at_least = last_}));
  EXPECT_EQ(remote_.tables().parked("things").value(), served_.local.tables().parked("things").value());
  ASSERT_EQ(remote_.tables().parked("things")->size(), 1u);
  const auto retried = remote_.tables().retry_parked("things", {last_}).value();
  ASSERT_TRUE(remote_.tables().select("things", {}, {.at_least = retried}));
  EXPECT_EQ(remote_.tables().parked("things")->at(0).attempts, 2u);
  EXPECT_EQ(remote_.tables().discard_parked("things", {}).value(), GlobalPosition{});
  EXPECT_EQ(remote_.tables().parked("things")->size(), 1u) << "none are named: none go";
  const auto discarded = remote_.tables().discard_parked("things", {last_}).value();
  ASSERT_TRUE(remote_.tables().select("things", {}, {.at_least = discarded}));
  EXPECT_TRUE(remote_.tables().parked("things")->empty());
}

TEST_F(RemoteTables, SayWhatIsWrong) {
  EXPECT_EQ(remote_.tables().select("nothing", {}).error().code, ErrorCode::not_found);
  const auto refused = remote_.tables().select("things", {.where = "n = "});
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("at byte 4: expected a value"));
  EXPECT_EQ(remote_.tables().select("things", {.limit = 20'000}).error().code, ErrorCode::too_large);
  EXPECT_EQ(remote_.tables().select("things", {}, {.at_least = last_ + 100, .timeout = 50ms}).error().code,
            ErrorCode::timeout);
}

}  // namespace
}  // namespace evershard
