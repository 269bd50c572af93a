// Tables in parts, in this process: one to who asks, a projection a part beneath.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <evershard/tables.hpp>

#include "evershard/api/page_forms.hpp"
#include "evershard/services/tables/host/parted_tables.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/local/trailing_index.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using PartedRow = std::vector<TableValue>;
using Ask = Projections::Ask;

std::string parted_spec(std::uint32_t parts, const std::string& more_rules = "") {
  return R"({"fields":[{"name":"thing","type":"text","role":"key"},{"name":"owner","type":"text","role":"index","nullable":true},{"name":"count","type":"integer","nullable":true}],)"
         R"("on_error":"park","parts":)" +
         std::to_string(parts) +
         R"(,"rules":[{"types":["Made"],"action":"upsert","key":"aggregate","fields":{"owner":"$.owner"}},)" +
         more_rules +
         R"({"types":["Used"],"action":"increment","key":"aggregate","fields":{"count":{"constant":1}}},{"types":["Gone"],"action":"delete","key":"aggregate"}]})";
}
const std::string twice_rule =
    R"({"types":["Made"],"action":"increment","key":"aggregate","fields":{"count":{"constant":100}}},)";

/// In memory and on disk.
class LocalPartedTables : public ::testing::TestWithParam<bool> {
 protected:
  LocalPartedTables() { reopen(); }
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
  void append_some(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto thing = std::to_string(random_() % 40);
      const auto kind = random_() % 8;
      if (kind < 4)
        append("Made", thing,
               random_() % 10 == 0 ? R"({"owner":7})" : R"({"owner":"o)" + std::to_string(random_() % 6) + "\"}");
      else if (kind < 7)
        append("Used", thing);
      else
        append("Gone", thing);
    }
  }
  void create(const std::string& name, const std::string& spec) {
    const auto created = store_->projections().create(name, "table", spec);
    ASSERT_TRUE(created) << created.error().what;
  }
  TablePage page(const std::string& table, TableSelect select = {}, std::optional<SeqNr> version = {}) {
    const auto found = store_->tables().select(table, std::move(select), {.at_least = last_, .version = version});
    EXPECT_TRUE(found) << (found ? "" : found.error().what);
    return found ? *found : TablePage{};
  }
  std::vector<PartedRow> all_rows(const std::string& table, TableSelect select = {}) {
    std::vector<PartedRow> rows;
    do {
      auto one = page(table, select);
      rows.insert(rows.end(), one.rows.begin(), one.rows.end());
      select.continue_from = one.next;
    } while (!select.continue_from.empty());
    return rows;
  }
  std::uint64_t figure(const std::string& table, const std::string& name) {
    const auto info = store_->tables().describe_table(table);
    EXPECT_TRUE(info) << (info ? "" : info.error().what);
    for (const auto& [figure, value] : info->figures)
      if (figure == name) return value;
    return 0;
  }
  /// What users see of a table in parts is what they see of one in one.
  void expect_equal() {
    for (const auto* where :
         {"", "owner = 'o1'", "count > 2", "owner >= 'o2' AND NOT count = 1", "thing = 'thing-7'", "owner IS NULL"}) {
      for (const auto& order :
           std::vector<std::vector<TableOrder>>{{}, {{"count", true}}, {{"owner"}, {"thing", true}}}) {
        TableSelect select{.where = where, .order_by = order, .limit = 1 + random_() % 9};
        EXPECT_EQ(all_rows("parted", select), all_rows("whole", select)) << where;
        EXPECT_EQ(store_->tables().explain("parted", select)->text(),
                  store_->tables().explain("whole", select)->text());
      }
    }
    for (const auto* name : {"rows", "events", "changes", "missed", "parked", "skipped"})
      EXPECT_EQ(figure("parted", name), figure("whole", name)) << name;
    std::vector<GlobalPosition> parked, in_parts;
    const auto of_whole = store_->tables().parked("whole"), of_parted = store_->tables().parked("parted");
    for (const auto& row : of_whole.value()) parked.push_back(row.position);
    for (const auto& row : of_parted.value()) {
      in_parts.push_back(row.position);
      EXPECT_TRUE(row.part) << "it says where";
    }
    EXPECT_EQ(in_parts, parked);
  }
  void eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 60'000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(holds());
  }
  /// All parts have nothing but rows of this version, and they are what is read.
  bool serves(const std::string& table, std::optional<SeqNr> version = {}) {
    const auto info = store_->projections().describe(table);
    return info && std::ranges::all_of(info->versions, [&](const auto& one) {
             return one.serving && one.complete && (!version || one.version == *version);
           });
  }

  TemporaryFolder folder_;
  std::unique_ptr<Local> store_;
  GlobalPosition last_;
  std::mt19937_64 random_{7};
};

TEST_P(LocalPartedTables, AreWhatTheyAreInOnePart) {
  append_some(150);
  create("whole", parted_spec(1));
  create("parted", parted_spec(5));
  append_some(150);
  expect_equal();
  EXPECT_EQ(store_->tables().discard_parked("parted", {}).value(), GlobalPosition{});
  expect_equal();
  std::vector<GlobalPosition> all;
  const auto parked = store_->tables().parked("whole", {}, 10'000).value();
  for (const auto& row : parked) all.push_back(row.position);
  for (const auto* table : {"whole", "parted"})
    last_ = std::max(last_, store_->tables().discard_parked(table, all).value());
  append_some(20);
  expect_equal();
  const auto some = store_->tables().parked("whole").value();
  if (!some.empty())
    last_ = std::max(store_->tables().retry_parked("whole", {some[0].position}).value(),
                     store_->tables().retry_parked("parted", {some[0].position}).value());
  for (const auto* table : {"whole", "parted"}) ASSERT_TRUE(store_->projections().ask(table, Ask::rebuild));
  append_some(10);
  eventually([&] { return serves("parted") && serves("whole"); });
  expect_equal();
  if (!GetParam()) return;
  reopen();
  append_some(10);
  expect_equal();
}

TEST_P(LocalPartedTables, ShowTheirParts) {
  append_some(60);
  create("parted", parted_spec(3));
  EXPECT_EQ(store_->projections().create("parted", "table", parted_spec(3)).error().code, ErrorCode::already_exists)
      << "there is one";
  EXPECT_TRUE(store_->projections().create("parted", "table", parted_spec(3), IfThere::give));
  EXPECT_EQ(store_->projections().create("parted", "table", parted_spec(2), IfThere::give).error().code,
            ErrorCode::already_exists);
  static_cast<void>(page("parted"));
  const auto info = store_->projections().describe("parted").value();
  ASSERT_EQ(info.versions.size(), 3u);
  std::uint64_t events = 0;
  for (std::uint32_t part = 0; part < 3; ++part) {
    EXPECT_EQ(info.versions[part].part, part);
    EXPECT_GE(info.versions[part].position, last_);
    events += info.versions[part].events;
  }
  EXPECT_EQ(events, 3 * 60u) << "each part looks at every event";
  const auto listed = store_->projections().list().value();
  ASSERT_EQ(listed.size(), 1u) << "parts are no projections to users";
  ASSERT_EQ(listed[0].versions.size(), 3u);
  for (std::uint32_t part = 0; part < 3; ++part) {
    EXPECT_EQ(listed[0].versions[part].part, part);
    EXPECT_GE(listed[0].versions[part].position, last_)
        << "a list tells of parts what is told of one: " << listed[0].versions[part].state;
    EXPECT_EQ(listed[0].versions[part].figures, info.versions[part].figures);
  }
  EXPECT_EQ(store_->tables().list_tables()->size(), 1u);
  EXPECT_THAT(store_->tables().describe_table("parted")->definition, HasSubstr(R"("parts":3)"));
  EXPECT_EQ(figure("parted", "events") + figure("parted", "parked"), 60u) << "and each is one part's";

  for (const auto what : {Ask::pause, Ask::drop})
    EXPECT_EQ(store_->projections().ask("parted~1", what).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->projections().change("parted~1", "table", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->projections().create("other~1", "table", parted_spec(1)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->tables().discard_parked("parted~1", {GlobalPosition{1}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->projections().create("many", "table", parted_spec(65)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->tables().select("many", {}).error().code, ErrorCode::not_found);
}

TEST_P(LocalPartedTables, ASelectByKeyAsksItsPartAlone) {
  create("parted", parted_spec(16));
  append("Made", "a", R"({"owner":"ann"})");
  append("Made", "b", R"({"owner":"bob"})");
  EXPECT_EQ(page("parted", {.where = "thing = 'thing-a' AND owner = 'ann'"}).rows.size(), 1u);
  EXPECT_EQ(page("parted", {.where = "thing = 'thing-a' AND owner = 'bob'"}).rows.size(), 0u);
  EXPECT_EQ(page("parted", {.where = "thing = 'thing-a'"}).looked_at, 1u);
  EXPECT_EQ(page("parted", {.where = "owner = 'ann'"}).looked_at, 1u);
  EXPECT_EQ(store_->tables().select("parted", {.where = "nothing = 1"}).error().code, ErrorCode::invalid_argument);
}

TEST_P(LocalPartedTables, WhatIsAskedIsAskedOfAllParts) {
  append_some(30);
  create("parted", parted_spec(4));
  static_cast<void>(page("parted"));
  ASSERT_TRUE(store_->projections().ask("parted", Ask::pause));
  eventually([&] {
    const auto info = store_->projections().describe("parted").value();
    return info.paused && std::ranges::all_of(info.versions, [](const auto& one) { return one.state == "paused"; });
  });
  append("Used", "a");
  const auto waited = store_->tables().select("parted", {}, {.at_least = last_, .timeout = 10s});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::unavailable);
  EXPECT_THAT(waited.error().what, HasSubstr("of table \"parted\""));
  ASSERT_TRUE(store_->projections().ask("parted", Ask::resume));
  const auto before = all_rows("parted");
  ASSERT_TRUE(store_->projections().ask("parted", Ask::reset));
  EXPECT_EQ(all_rows("parted"), before);
  EXPECT_GE(store_->projections().wait_until("parted", last_, 60s).value(), last_);
  ASSERT_TRUE(store_->projections().ask("parted", Ask::drop));
  EXPECT_EQ(store_->tables().select("parted", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(store_->projections().describe("parted").error().code, ErrorCode::not_found);
  EXPECT_THAT(store_->projections().list().value(), IsEmpty());
  EXPECT_EQ(store_->projections().ask("parted", Ask::pause).error().code, ErrorCode::not_found);

  create("parted", parted_spec(7));
  EXPECT_EQ(all_rows("parted"), before) << "in other parts, the same table";
  ASSERT_TRUE(store_->projections().ask("parted", Ask::drop));
  create("parted", parted_spec(1));
  EXPECT_EQ(all_rows("parted"), before);
}

TEST_P(LocalPartedTables, AnotherVersionIsReadWhenAllPartsHaveIt) {
  append_some(60);
  create("parted", parted_spec(4));
  const auto before = all_rows("parted");
  eventually([&] { return serves("parted"); });
  const auto refused = store_->projections().change("parted", parted_spec(5), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("lies in 4 parts, not 5"));
  const auto old = store_->projections().describe("parted").value();
  EXPECT_EQ(store_->projections().change("parted", parted_spec(4, twice_rule), SeqNr{old.last.value + 1}).error().code,
            ErrorCode::version_conflict);

  const auto token = page("parted", {.limit = 3});
  ASSERT_FALSE(token.next.empty());
  const auto changed = store_->projections().change("parted", parted_spec(4, twice_rule), old.last);
  ASSERT_TRUE(changed) << changed.error().what;
  const auto version = changed->versions.back().version;
  eventually([&] { return serves("parted", version); });
  EXPECT_NE(all_rows("parted"), before);
  EXPECT_EQ(store_->tables().describe_table("parted")->version, version);
  EXPECT_EQ(store_->tables().select("parted", {.limit = 3, .continue_from = token.next}).error().code,
            ErrorCode::invalid_argument)
      << "a page goes on in its version";
  EXPECT_EQ(store_->tables().select("parted", {}, {.version = old.versions[0].version}).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(store_->projections().change("parted", parted_spec(1), {}).error().code, ErrorCode::invalid_argument);

  create("whole", parted_spec(1));
  EXPECT_THAT(store_->projections().change("whole", parted_spec(2), {}).error().what, HasSubstr("lies in one part"));
}

// While parts get there one after the other, each select is of one version in all of them.
TEST_P(LocalPartedTables, NoSelectSeesTwoVersions) {
  append_some(40);
  create("parted", parted_spec(6));
  static_cast<void>(page("parted"));
  std::vector<std::vector<PartedRow>> whole;
  for (const auto& rules : {std::string(), twice_rule}) {
    create("whole", parted_spec(1, rules));
    whole.push_back(all_rows("whole"));
    ASSERT_TRUE(store_->projections().ask("whole", Ask::drop));
  }
  ASSERT_NE(whole[0], whole[1]);
  for (int round = 0; round < 6; ++round) {
    eventually([&] { return serves("parted"); });
    ASSERT_TRUE(store_->projections().ask("parted", Ask::rebuild));
    const auto changed = store_->projections().change("parted", parted_spec(6, round % 2 == 0 ? twice_rule : ""), {});
    ASSERT_TRUE(changed) << changed.error().what;
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    for (bool served = false; !served;) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      served = serves("parted", changed->versions.back().version);
      const auto found = store_->tables().select("parted", {});
      ASSERT_TRUE(found) << found.error().what;
      ASSERT_TRUE(found->rows == whole[0] || found->rows == whole[1]) << "round " << round;
    }
  }
}

// A crash between what was asked and what is swapped: the store is opened again, and it is done.
TEST_P(LocalPartedTables, WhatWasToBeSwappedIsSwappedWhenItIsOpenedAgain) {
  if (!GetParam()) return;
  append_some(40);
  create("parted", parted_spec(4));
  eventually([&] { return serves("parted"); });
  const auto before = all_rows("parted");
  for (int round = 0; round < 5; ++round) {
    const auto changed = store_->projections().change("parted", parted_spec(4, round % 2 == 0 ? twice_rule : ""), {});
    ASSERT_TRUE(changed) << changed.error().what;
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 60));
    reopen();
    const auto now = store_->tables().select("parted", {});
    ASSERT_TRUE(now) << "one version or the other: " << now.error().what;
    eventually([&] { return serves("parted", changed->versions.back().version); });
    if (round % 2 == 1)
      EXPECT_EQ(all_rows("parted"), before);
    else
      EXPECT_NE(all_rows("parted"), before);
  }
}

TEST_P(LocalPartedTables, AnEventAtFaultStopsItsPartAlone) {
  auto spec = parted_spec(4);
  spec.replace(spec.find(R"("park")"), 6, R"("fail")");
  create("parted", spec);
  for (int i = 0; i < 20; ++i) append("Made", std::to_string(i), R"({"owner":"o"})");
  const auto good = last_;
  append("Made", "3", R"({"owner":7})");
  eventually([&] { return store_->tables().describe_table("parted")->state == "failed"; });
  EXPECT_THAT(store_->tables().describe_table("parted")->error, HasSubstr("part "));
  const auto info = store_->projections().describe("parted").value();
  EXPECT_EQ(std::ranges::count(info.versions, "failed", &ProjectionVersion::state), 1);
  append("Used", "3");
  const auto waited = store_->tables().select("parted", {}, {.at_least = last_, .timeout = 20s});
  EXPECT_EQ(waited.error().code, ErrorCode::unavailable);
  last_ = good;
  EXPECT_EQ(all_rows("parted").size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(, LocalPartedTables, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "OnDisk" : "InMemory"; });

/// Of which no aggregate can be read.
class UnreadStore final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  EventStream read(AggregateId, StreamOptions = {}) override { return EventStream(std::make_unique<Refusing>()); }

 private:
  struct Refusing final : PagesOfValues {
    Result<Page> next_page() override { return refuse(ErrorCode::unavailable, "no quorum"); }
    void cancel() override {}
  };
};

// It was tried again without a word, and the parts went on to be read as they were.
TEST(PartsThatCannotBeSwapped, AreSaidOnceOfTheSame) {
  auto local = Local::open().value();
  UnreadStore store(local);
  TrailingIndex projections(local);
  std::mutex mutex;
  std::vector<std::string> warned;
  cluster::PartedTablesOptions options;
  options.look_every = 5ms;
  options.hosted = [] {
    ProjectionInfo info;
    info.name = "orders";
    info.kind = "table";
    info.spec = parted_spec(4);
    return std::vector{info};
  };
  options.warn = [&](const Error& error) {
    const std::lock_guard lock(mutex);
    warned.push_back(error.what);
  };
  cluster::PartedTables parted(store, projections, local.tables(), std::move(options));
  parted.begin();
  const auto said = [&] {
    const std::lock_guard lock(mutex);
    return !warned.empty();
  };
  for (int tries = 0; tries != 3'000 && !said(); ++tries) std::this_thread::sleep_for(20ms);
  std::this_thread::sleep_for(300ms);  // for what would say it once more
  parted.close();
  EXPECT_THAT(warned, ::testing::ElementsAre(::testing::AllOf(HasSubstr("\"orders\""), HasSubstr("no quorum"))));
}

}  // namespace
}  // namespace evershard
