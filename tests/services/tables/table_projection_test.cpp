// Events into rows: rules and handlers, entries kept with the rows, policies for what does not fit, parked events.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Row = std::vector<TableValue>;

TableDefinition orders_by_handler() {
  TableDefinition orders = orders_by_rules();
  orders.made_by = HandlerName{"orders", 1, Query::all()};
  return orders;
}

TEST(TableProjection, DoesWhatItsRulesSay) {
  SmallTable table(orders_by_rules());

  ASSERT_TRUE(table.feed({happened("Placed", "order-1", R"({"customer":"ann","total":5,"mail":"a@x"})", {}, 1),
                          happened("Placed", "order-2", R"({"customer":"bob"})", {}, 2),
                          happened("Counted", "order-1", R"({"by":3})", {}, 3),
                          happened("Counted", "order-2", R"({"by":4})", {}, 4),
                          happened("Changed", "order-3", R"({"total":1})", {}, 5),
                          happened("Greeted", "order-1", R"({"customer":"eve"})", {}, 6),
                          happened("Greeted", "order-4", R"({"customer":"eve"})", {}, 7)}));
  ASSERT_TRUE(
      table.feed({happened("Changed", "order-2", R"({"customer":"cid","total":9})", {}, 8),
                  happened("Cancelled", "order-4", "{}", {}, 9), happened("Cancelled", "order-9", "{}", {}, 10)}));

  const TablePage page = table.select();
  EXPECT_THAT(page.rows, ElementsAre(Row{"order-1", "ann", 8, "a@x"}, Row{"order-2", "cid", 9, nullptr}));
  EXPECT_EQ(page.position, GlobalPosition{10});
  EXPECT_EQ(table.counts().missed, 2u);
  table.expect_sound();
}

TEST(TableProjection, TakesWhatAnEventSaysOfItself) {
  using Kind = ValueSource::Kind;
  TableDefinition facts;
  facts.schema = {"facts",
                  {{"position", FieldType::integer, FieldRole::key},
                   {"aggregate", FieldType::text, FieldRole::normal, true},
                   {"kind", FieldType::text, FieldRole::normal, true},
                   {"at", FieldType::time},
                   {"tags", FieldType::json},
                   {"country", FieldType::text, FieldRole::index, true},
                   {"who", FieldType::text, FieldRole::normal, true},
                   {"fixed", FieldType::bytes}}};
  facts.made_by =
      std::vector<MappingRule>{{{"E"},
                                {"eu"},
                                ChangeKind::upsert,
                                {{"position", said(Kind::position)}},
                                {{"aggregate", said(Kind::aggregate)},
                                 {"kind", said(Kind::aggregate_type)},
                                 {"at", said(Kind::occurred_at)},
                                 {"tags", said(Kind::tags)},
                                 {"country", {.kind = Kind::tag, .name = "country"}},
                                 {"who", {.kind = Kind::metadata, .path = JsonPath::parse("$.user").value()}},
                                 {"fixed", constant(R"("AP8=")")}}}};
  SmallTable table(facts);
  RecordedEvent event = happened("E", "order-1", "no JSON, and nobody looks", {"country:de", "eu"}, 1);
  event.metadata = R"({"user":"ann"})";

  ASSERT_TRUE(table.feed({event, happened("E", "", "{}", {"eu"}, 2), happened("E", "order-1", "{}", {}, 3)}));

  EXPECT_THAT(table.select().rows, ElementsAre(Row{1, "order-1", "order", Timestamp{1'000'000},
                                                   R"(["country:de","eu"])", "de", "ann", std::string("\0\xff", 2)},
                                               Row{2, nullptr, nullptr, Timestamp{2'000'000}, R"(["eu"])", nullptr,
                                                   nullptr, std::string("\0\xff", 2)}));
}

TEST(TableProjection, StopsBeforeAUniqueValueThatIsThereAndWritesNothing) {
  SmallTable table(orders_by_rules());
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", R"({"mail":"a@x"})", {}, 1)}));
  const auto before = table.raw();

  const auto done = table.feed({happened("Placed", "order-3", R"({"mail":"c@x"})", {}, 2),
                                happened("Placed", "order-2", R"({"mail":"a@x"})", {}, 3)});

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("event \"Placed\" at position 3: rule 0: field \"mail\" is unique, and "
                                           "another row has the value \"a@x\" already"));
  EXPECT_EQ(table.raw(), before);
}

TEST(TableProjection, FindsAUniqueValueOfTheSamePage) {
  TableDefinition orders = orders_by_rules();
  orders.on_violation = OnFault::skip;
  SmallTable table(orders);

  ASSERT_TRUE(table.feed({happened("Placed", "order-1", R"({"mail":"a@x"})", {}, 1),
                          happened("Placed", "order-2", R"({"mail":"a@x","total":1})", {}, 2),
                          happened("Changed", "order-1", R"({"mail":"b@x"})", {}, 3),
                          happened("Placed", "order-3", R"({"mail":"a@x"})", {}, 4)}));

  EXPECT_THAT(table.select({.fields = {"order", "mail"}}).rows,
              ElementsAre(Row{"order-1", "b@x"}, Row{"order-3", "a@x"}));
  EXPECT_EQ(table.counts().skipped, 1u);
  table.expect_sound();
}

TEST(TableProjection, ParksAndRetriesAndDiscards) {
  TableDefinition orders = orders_by_rules();
  orders.on_violation = orders.on_error = OnFault::park;
  SmallTable table(orders);
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", R"({"mail":"a@x"})", {}, 1),
                          happened("Placed", "order-2", R"({"mail":"a@x"})", {}, 2),
                          happened("Placed", "order-3", R"({"total":"many"})", {}, 3),
                          happened("Placed", "order-4", "{", {}, 4)}));
  ASSERT_EQ(table.parked().size(), 3u);
  EXPECT_EQ(table.counts().parked, 3u);
  EXPECT_EQ(table.parked()[0],
            (ParkedEvent{GlobalPosition{2}, TableFault::Kind::unique, "Placed", "order-2",
                         "rule 0: field \"mail\" is unique, and another row has the value \"a@x\" already"}));
  EXPECT_THAT(table.parked()[1].reason, HasSubstr("$.total: field \"total\" takes integer, not the string \"many\""));
  EXPECT_THAT(table.parked()[2].reason, HasSubstr("the payload is no JSON"));

  ASSERT_TRUE(table.feed({happened("$ProjectionRetried", "$projection-orders", "{}", {}, 5)}));
  EXPECT_EQ(table.parked().size(), 3u);
  EXPECT_EQ(table.parked()[0].attempts, 2u);

  ASSERT_TRUE(table.feed({happened("Cancelled", "order-1", "{}", {}, 6),
                          happened("$ProjectionRetried", "$projection-other", "{}", {}, 7),
                          happened("$ProjectionRetried", "$projection-orders", R"({"positions":[2,17]})", {}, 8),
                          happened("$ProjectionDiscarded", "$projection-orders", R"({"positions":[3]})", {}, 9)}));
  ASSERT_EQ(table.parked().size(), 1u);
  EXPECT_EQ(table.parked()[0].position, GlobalPosition{4});
  EXPECT_THAT(table.select({.fields = {"order"}}).rows, ElementsAre(Row{"order-2"}));
  EXPECT_EQ(table.counts().parked, 1u);
  EXPECT_EQ(table.counts().skipped, 1u);
  table.expect_sound();
}

TEST(TableProjection, KeepsAParkedEventThatCannotBeReadAndGoesOn) {
  TableDefinition orders = orders_by_rules();
  orders.on_violation = orders.on_error = OnFault::park;
  SmallTable table(orders);
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", "{", {}, 1)}));
  table.damaged = GlobalPosition{1};

  ASSERT_TRUE(table.feed({happened("$ProjectionRetried", "$projection-orders", "{}", {}, 2),
                          happened("Placed", "order-2", R"({"mail":"a@x"})", {}, 3)}));

  ASSERT_EQ(table.parked().size(), 1u);
  EXPECT_EQ(table.parked()[0].attempts, 2u);
  EXPECT_THAT(table.parked()[0].reason, HasSubstr("its checksum is wrong"));
  EXPECT_THAT(table.select({.fields = {"order"}}).rows, ElementsAre(Row{"order-2"}));
  EXPECT_EQ(table.counts().parked, 1u);
}

TEST(TableProjection, LeavesOutWhatWasErasedButNotWhatNeedsNoPayload) {
  SmallTable table(orders_by_rules());
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", "{}", {}, 1)}));
  RecordedEvent placed = happened("Placed", "order-2", "", {}, 2);
  RecordedEvent cancelled = happened("Cancelled", "order-1", "", {}, 3);
  placed.state = cancelled.state = EventState::erased;

  ASSERT_TRUE(table.feed({placed, cancelled}));

  EXPECT_TRUE(table.select().rows.empty());
  EXPECT_EQ(table.counts().erased, 1u);
}

TEST(TableProjection, RefusesNullWhereAFieldIsNotNullable) {
  TableDefinition orders = orders_by_rules();
  orders.schema.fields[2].nullable = false;
  SmallTable table(orders);

  EXPECT_THAT(table.feed({happened("Placed", "order-1", "{}", {}, 1)}).error().what,
              HasSubstr("field \"total\" is not nullable"));
  EXPECT_TRUE(table.feed({happened("Counted", "order-1", R"({"by":9223372036854775807})", {}, 1)}));
  EXPECT_THAT(table.feed({happened("Counted", "order-1", R"({"by":1})", {}, 2)}).error().what,
              HasSubstr("has no room"));
  EXPECT_THAT(table.feed({happened("Changed", "order-1", R"({"total":1.5})", {}, 2)}).error().what,
              HasSubstr("takes integer, not \"1.5\""));
}

TEST(TableProjection, RunsAHandlerWholeOrNotAtAll) {
  TableDefinition orders = orders_by_handler();
  orders.on_violation = orders.on_error = OnFault::park;
  SmallTable table(orders, [](const RecordedEvent& event, TableChanges& rows) {
    const std::string order = event.aggregate->text();
    rows.upsert({{"order", order}, {"total", 1}});
    rows.upsert({{"order", order + "b"}, {"mail", order}});
    if (const auto row = rows.get({{"order", order}}))
      rows.update({{"order", order}, {"total", *(*row)["total"].as<std::int64_t>() + 1}});
    if (event.type == "Throws") throw std::runtime_error("no");
    if (event.type == "Twice") rows.upsert({{"order", "x"}, {"mail", order}});
    if (event.type == "Nonsense") rows.upsert({{"order", "x"}, {"nothing", 1}});
    if (event.type == "NoKey") rows.upsert({{"total", 1}});
    if (event.type == "Type") rows.upsert({{"order", "x"}, {"total", "seven"}});
    if (event.type == "Utf8") rows.upsert({{"order", "\xff"}});
    if (event.type == "Long") rows.upsert({{"order", std::string(1'025, 'x')}});
    if (event.type == "Odd") throw 7;
    if (event.type == "Bytes") throw std::runtime_error("no \xff");
    if (event.type == "Talks") throw std::runtime_error(std::string(100'000, 'x'));
  });

  std::vector<RecordedEvent> events;
  for (const char* type :
       {"Good", "Throws", "Twice", "Nonsense", "NoKey", "Type", "Utf8", "Long", "Odd", "Bytes", "Talks"})
    events.push_back(happened(type, "order-" + std::to_string(events.size()), "", {}, events.size() + 1));
  ASSERT_TRUE(table.feed(events));

  EXPECT_THAT(table.select().rows,
              ElementsAre(Row{"order-0", nullptr, 2, nullptr}, Row{"order-0b", nullptr, nullptr, "order-0"}));
  table.expect_sound();
  std::vector<std::string> reasons;
  for (const auto& parked : table.parked()) reasons.push_back(std::string(name_of(parked.kind)) + ": " + parked.reason);
  EXPECT_THAT(reasons,
              ElementsAre("handler: the handler threw: no", HasSubstr("unique: field \"mail\" is unique"),
                          HasSubstr("value: table \"orders\" has no field \"nothing\""),
                          HasSubstr("value: field \"order\" is of the key and is missing"),
                          HasSubstr("value: field \"total\" takes integer, not \"seven\""), HasSubstr("takes UTF-8"),
                          HasSubstr("at most 1024 bytes, this one has 1025"), HasSubstr("no std::exception"),
                          "handler: the handler threw: \"no \\xff\"", HasSubstr("xxx...\"")));
  for (const auto& reason : reasons) EXPECT_LT(reason.size(), 2'000u);
}

/// Also where it has so many that they are hashed: the next event of the page begins with none.
TEST(TableProjection, OfAnEventThatFailsTheNextOneFindsNothing) {
  constexpr int many = 40;
  TableDefinition orders = orders_by_handler();
  orders.on_error = OnFault::park;
  SmallTable table(orders, [](const RecordedEvent& event, TableChanges& rows) {
    const auto number = static_cast<std::int64_t>(event.position.value);
    for (int i = 0; i < many; ++i) {
      const std::string order =
          "order-" + std::to_string(10 + (number % 3 == 0 ? i : many - 1 - i));  // others in another order
      const auto before = rows.get({{"order", order}});
      rows.upsert({{"order", order},
                   {"total", (before ? *(*before)["total"].as<std::int64_t>() : 0) + number},
                   {"customer", "of " + std::to_string(number)}});
    }
    if (event.type == "Throws") throw std::runtime_error("no");
  });
  std::vector<RecordedEvent> events;
  std::int64_t sum = 0, last = 0;
  for (std::uint64_t position = 1; position <= 30; ++position) {
    const bool good = position % 4 == 0;
    events.push_back(happened(good ? "Good" : "Throws", "order-1", "", {}, position));
    if (good) sum += last = static_cast<std::int64_t>(position);
  }
  ASSERT_TRUE(table.feed(events));

  const auto page = table.select();
  ASSERT_EQ(page.rows.size(), std::size_t{many});
  for (int i = 0; i < many; ++i)
    EXPECT_EQ(page.rows[i], (Row{"order-" + std::to_string(10 + i), "of " + std::to_string(last), sum, nullptr}));
  table.expect_sound();
}

TEST(TableProjection, CountsChangesOfWhatBecameOtherThanItWas) {
  TableDefinition orders = orders_by_handler();
  SmallTable table(orders, [](const RecordedEvent& event, TableChanges& rows) {
    if (event.type == "Made") rows.upsert({{"order", "a"}, {"total", 5}, {"customer", TableValue()}});
    if (event.type == "Same") {
      rows.upsert({{"order", "a"}, {"total", 5}, {"customer", TableValue()}});
      rows.update({{"order", "a"}, {"total", 5}});
      rows.increment({{"order", "a"}, {"total", 0}});
      rows.increment({{"order", "a"}, {"total", TableValue()}});
      rows.set_if_absent({{"order", "a"}, {"total", 6}});
      rows.set_if_absent({{"order", "a"}, {"customer", TableValue()}});
    }
    if (event.type == "Other") rows.set_if_absent({{"order", "a"}, {"customer", "ann"}});
  });
  ASSERT_TRUE(table.feed({happened("Made", "order-1", "", {}, 1)}));
  EXPECT_EQ(table.counts().changes, 1u);
  ASSERT_TRUE(table.feed({happened("Same", "order-1", "", {}, 2), happened("Same", "order-1", "", {}, 3)}));
  EXPECT_EQ(table.counts().changes, 1u);
  ASSERT_TRUE(table.feed({happened("Other", "order-1", "", {}, 4)}));
  EXPECT_EQ(table.counts().changes, 2u);
  EXPECT_THAT(table.select().rows, ElementsAre(Row{"a", "ann", 5, nullptr}));
}

TEST(TableProjection, AHandlerThatIsNotRegisteredMakesNoTable) {
  const auto made = TableProjection::make("orders", orders_by_handler(), {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard::actors
