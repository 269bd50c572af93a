// Tables of a store in this process: made from events, kept up, built anew, found again after a restart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include <evershard/tables.hpp>

#include "tests/contract/temporary_folder.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Row = std::vector<TableValue>;

const std::string fields_json =
    R"("fields":[{"name":"thing","type":"text","role":"key"},{"name":"owner","type":"text","role":"index","nullable":true},)"
    R"({"name":"count","type":"integer","nullable":true},{"name":"code","type":"text","role":"unique","nullable":true}])";
const std::string rules_json =
    R"("rules":[{"types":["Made"],"action":"upsert","key":"aggregate","fields":{"owner":"$.owner","code":"$.code"}},)"
    R"({"types":["Used"],"action":"increment","key":"aggregate","fields":{"count":{"constant":1}}},{"types":["Gone"],"action":"delete","key":"aggregate"}])";

std::string things(const std::string& policies = "") { return "{" + fields_json + "," + policies + rules_json + "}"; }
std::string handled(int revision = 1) {
  return "{" + fields_json + R"(,"on_error":"park","handler":{"name":"things","revision":)" + std::to_string(revision) +
         R"(,"query":{"items":[{"types":["Made","Used","Bad"]}]}}})";
}

/// In memory and on disk.
class LocalTables : public ::testing::TestWithParam<bool> {
 protected:
  LocalTables() { reopen(); }
  void reopen() {
    store_.reset();
    store_ = std::make_unique<Local>(
        Local::open({.data_dir = GetParam() ? folder_.path() / "data" : std::filesystem::path(), .shards = 4}).value());
  }
  GlobalPosition append(const std::string& type, const std::string& thing, const std::string& payload = "{}") {
    Event event;
    event.aggregate = AggregateId{"thing", thing};
    event.type = type;
    event.payload = payload;
    event.format = PayloadFormat::json;
    return last_ = store_->append(Append{}.event(std::move(event))).value().last_position;
  }
  void create(const std::string& spec) {
    const auto created = store_->projections().create("things", "table", spec);
    ASSERT_TRUE(created) << created.error().what;
  }
  std::vector<Row> rows(TableSelect select = {}) {
    const auto page = store_->tables().select("things", std::move(select), {.at_least = last_});
    EXPECT_TRUE(page) << (page ? "" : page.error().what);
    return page ? page->rows : std::vector<Row>{};
  }
  void eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 60'000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(holds());
  }

  TemporaryFolder folder_;
  std::unique_ptr<Local> store_;
  GlobalPosition last_;
};

TEST_P(LocalTables, ShowWhatWasThereBeforeThemAndWhatComes) {
  append("Made", "a", R"({"owner":"ann"})");
  append("Used", "a");
  create(things());
  append("Made", "b", R"({"owner":"bob","code":"x"})");
  append("Used", "a");
  append("Other", "b");

  EXPECT_THAT(rows(), ElementsAre(Row{"thing-a", "ann", 2, nullptr}, Row{"thing-b", "bob", nullptr, "x"}));
  EXPECT_THAT(rows({.where = "owner = :who", .parameters = {{"who", "bob"}}, .fields = {"thing"}}),
              ElementsAre(Row{"thing-b"}));
  EXPECT_EQ(store_->tables().explain("things", {.where = "owner = 'bob'"})->text(), "index owner, filter");
  append("Gone", "b");
  EXPECT_THAT(rows({.where = "code = 'x'"}), IsEmpty());

  if (!GetParam()) return;
  reopen();
  append("Used", "a");
  EXPECT_THAT(rows(), ElementsAre(Row{"thing-a", "ann", 3, nullptr}));
}

TEST_P(LocalTables, DescribeThemselves) {
  append("Made", "a", R"({"owner":"ann"})");
  create(things());
  static_cast<void>(rows());
  eventually([&] { return store_->tables().describe_table("things")->complete; });

  const auto info = store_->tables().describe_table("things").value();
  EXPECT_EQ(info.projection, "things");
  EXPECT_EQ(info.schema.fields.size(), 4u);
  EXPECT_THAT(info.definition,
              HasSubstr(R"("table":"things","fields":[{"name":"thing","type":"text","role":"key","nullable":false})"));
  EXPECT_THAT(info.figures, ::testing::Contains(std::pair<std::string, std::uint64_t>("rows", 1)));
  EXPECT_EQ(store_->tables().list_tables()->size(), 1u);
  EXPECT_EQ(store_->tables().describe_table("nothing").error().code, ErrorCode::not_found);
  EXPECT_EQ(store_->tables().select("nothing", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(store_->tables().select("things", {.where = "nothing = 1"}).error().code, ErrorCode::invalid_argument);
}

TEST_P(LocalTables, RefuseDefinitionsThatMakeNoSense) {
  const auto refused = store_->projections().create("things", "table", R"({"fields":[],"rules":[]})");
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(store_->tables().list_tables().value(), IsEmpty());
}

TEST_P(LocalTables, StopAtAUniqueValueThatIsThereTwice) {
  create(things());
  append("Made", "a", R"({"code":"x"})");
  const GlobalPosition before = last_;
  append("Made", "b", R"({"code":"x"})");
  append("Used", "a");

  eventually([&] { return store_->tables().describe_table("things")->state == "failed"; });
  EXPECT_THAT(store_->tables().describe_table("things")->error,
              HasSubstr("is unique, and another row has the value \"x\" already"));
  EXPECT_EQ(store_->tables().select("things", {}, {.at_least = last_, .timeout = 10s}).error().code,
            ErrorCode::unavailable);
  last_ = before;
  EXPECT_THAT(rows(), ElementsAre(Row{"thing-a", nullptr, nullptr, "x"}));
}

TEST_P(LocalTables, ParkRetryAndBuildAnewToTheSameRows) {
  create(things(R"("on_violation":"park",)"));
  append("Made", "a", R"({"code":"x"})");
  const GlobalPosition parked = append("Made", "b", R"({"code":"x"})");
  static_cast<void>(rows());
  ASSERT_EQ(store_->tables().parked("things")->size(), 1u);
  EXPECT_EQ(store_->tables().parked("things")->at(0).position, parked);
  EXPECT_EQ(store_->tables().parked("things")->at(0).aggregate, "thing-b");

  append("Gone", "a");
  last_ = store_->tables().retry_parked("things", {parked}).value();
  EXPECT_THAT(rows(), ElementsAre(Row{"thing-b", nullptr, nullptr, "x"}));
  EXPECT_THAT(store_->tables().parked("things").value(), IsEmpty());
  append("Made", "a", R"({"code":"x"})");
  static_cast<void>(rows());
  const auto others = store_->tables().parked("things").value();
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(store_->tables().discard_parked("things", {}).value(), GlobalPosition{});
  EXPECT_EQ(store_->tables().retry_parked("things", {}).value(), GlobalPosition{});
  EXPECT_EQ(store_->tables().discard_parked("nothing", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(store_->tables().parked("things").value(), others) << "none are named: none go";
  last_ = store_->tables().discard_parked("things", {others[0].position}).value();
  static_cast<void>(rows());
  EXPECT_THAT(store_->tables().parked("things").value(), IsEmpty());

  ASSERT_TRUE(store_->projections().ask("things", Projections::Ask::reset));
  append("Used", "b");
  EXPECT_THAT(rows(), ElementsAre(Row{"thing-b", nullptr, 1, "x"}));
  EXPECT_THAT(store_->tables().parked("things").value(), IsEmpty());
}

TEST_P(LocalTables, ANewVersionIsBuiltBesideTheOneThatIsRead) {
  append("Made", "a", R"({"owner":"ann"})");
  append("Used", "a");
  create(things());
  static_cast<void>(rows());

  std::string changed = things();
  changed.replace(changed.find(R"({"constant":1})"), 14, R"({"constant":10})");
  ASSERT_TRUE(store_->projections().change("things", changed, {}));
  append("Used", "a");
  eventually([&] { return rows() == std::vector<Row>{{"thing-a", "ann", 20, nullptr}}; });
  EXPECT_THAT(store_->tables().describe_table("things")->definition, HasSubstr(R"({"constant":10})"));
}

TEST_P(LocalTables, AHandlerIsWaitedForAndWhatItThrowsIsParked) {
  append("Made", "a", R"({"owner":"ann"})");
  create(handled());
  eventually([&] { return store_->projections().describe("things")->versions.back().state == "waiting"; });

  ASSERT_TRUE(store_->add_table_handler("things", [](const RecordedEvent& event, TableChanges& rows) {
    const std::string thing = event.aggregate->text();
    rows.upsert({{"thing", thing}, {"owner", "somebody"}});
    rows.increment({{"thing", thing}, {"count", 1}});
    if (event.type == "Bad") throw std::runtime_error("bad");
  }));
  EXPECT_FALSE(store_->add_table_handler("things", [](const RecordedEvent&, TableChanges&) {}));
  append("Bad", "a");
  append("Used", "a");

  EXPECT_THAT(rows(), ElementsAre(Row{"thing-a", "somebody", 2, nullptr}));
  ASSERT_EQ(store_->tables().parked("things")->size(), 1u);
  EXPECT_THAT(store_->tables().parked("things")->at(0).reason, HasSubstr("the handler threw: bad"));
}

struct UsedTimes {
  std::int64_t times = 0;
};

}  // namespace

/// `5`
template <>
struct Codec<UsedTimes> {
  static constexpr std::string_view name = "Used";
  static constexpr auto format = PayloadFormat::json;
  static std::string encode(const UsedTimes& used) { return std::to_string(used.times); }
  static UsedTimes decode(std::string_view bytes) { return {std::stoll(std::string(bytes))}; }
};

namespace {

TEST_P(LocalTables, AHandlerIsGivenEventsInTheirOwnTypes) {
  TypedTableHandler handler;
  handler.on<UsedTimes>([](const UsedTimes&, TableChanges&) { FAIL() << "another one took its place"; });
  handler.on<UsedTimes>([](const UsedTimes& used, const RecordedEvent& event, TableChanges& rows) {
    rows.upsert({{"thing", event.aggregate->text()}, {"owner", "somebody"}});
    rows.increment({{"thing", event.aggregate->text()}, {"count", used.times}});
  });
  EXPECT_EQ(handler.query(), Query{}.types({"Used"}));
  ASSERT_TRUE(store_->add_table_handler("things", handler));
  create(handled());
  append("Used", "a", "5");
  append("Made", "a", "7");
  append("Used", "a", "no number");
  append("Used", "a", "2");

  EXPECT_THAT(rows(), ElementsAre(Row{"thing-a", "somebody", 7, nullptr}));
  ASSERT_EQ(store_->tables().parked("things")->size(), 1u);
  EXPECT_EQ(store_->tables().parked("things")->at(0).position.value, 4u) << "its definition stands first";
}

TEST_P(LocalTables, AreNotWrittenByUsers) {
  create(things());
  Event forged;
  forged.aggregate = AggregateId{"$projection", "things"};
  forged.type = "$ProjectionRetried";
  EXPECT_EQ(store_->append(Append{}.event(std::move(forged))).error().code, ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Stores, LocalTables, ::testing::Values(false, true),
                         [](const auto& where) { return where.param ? "OnDisk" : "InMemory"; });

}  // namespace
}  // namespace evershard
