#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/local/local.hpp"
#include "evershard/local/maintenance.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ask = Projections::Ask;

/// In memory and on disk.
class LocalProjections : public ::testing::TestWithParam<bool> {
 protected:
  LocalProjections() { reopen(); }
  void reopen() {
    store_.reset();
    store_ = std::make_unique<Local>(
        Local::open({.data_dir = GetParam() ? folder_.path() / "data" : std::filesystem::path(), .shards = 4}).value());
  }
  Projections& projections() { return store_->projections(); }
  GlobalPosition append(const std::string& type, const std::string& payload = "{}", std::vector<Tag> tags = {}) {
    Event event;
    event.aggregate = AggregateId{"thing", std::to_string(++things_ % 5)};
    event.type = type;
    event.payload = payload;
    event.format = PayloadFormat::json;
    event.tags = std::move(tags);
    return store_->append(Append{}.event(std::move(event))).value().last_position;
  }
  std::vector<std::uint64_t> numbers(const std::string& name, IndexRead read) {
    const auto page = projections().read_index(name, read);
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::uint64_t> positions;
    for (const auto& entry : page->entries) positions.push_back(entry.position.value);
    return positions;
  }
  std::vector<std::string> values(const std::string& name, const ValueRead& read = {}) {
    const auto page = projections().read_values(name, read);
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::string> found;
    if (page)
      for (const auto& entry : page->entries) found.push_back(entry.value);
    return found;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Local> store_;
  std::uint64_t things_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Memory, LocalProjections, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Disk, LocalProjections, ::testing::Values(true));

TEST_P(LocalProjections, APageWithEventsIsBoundedInBytesAndTheNextGoesOn) {
  constexpr std::size_t events = 24;
  for (std::size_t i = 0; i < events; ++i)
    append("Big", R"({"n":)" + std::to_string(i) + R"(,"filling":")" + std::string(1'000'000, 'x') + "\"}");
  const auto index = projections().create_index(Query{}.types({"Big"}));
  ASSERT_TRUE(index);
  ASSERT_TRUE(projections().create_value_index("n", {.types = {"Big"}, .path = "$.n", .value = "integer"}));
  const auto last = *store_->head();
  std::size_t pages = 0, found = 0;
  for (IndexRead read{.start = 1, .rows = {.at_least = last, .events = true}}; found < events; ++pages) {
    const auto page = projections().read_index(index->name, read);
    ASSERT_TRUE(page) << page.error().what;
    ASSERT_FALSE(page->entries.empty());
    EXPECT_LE(page->entries.size(), 9u);
    EXPECT_EQ(page->entries.front().number, found + 1);
    found += page->entries.size();
    read.start = found + 1;
  }
  EXPECT_EQ(pages, 3u);
  std::vector<std::string> values;
  for (ValueRead read{.rows = {.events = true}};;) {
    const auto page = projections().read_values("n", read);
    ASSERT_TRUE(page) << page.error().what;
    EXPECT_LE(page->entries.size(), 9u);
    for (const auto& entry : page->entries) values.push_back(entry.value);
    read.after = page->next;
    if (page->next.empty()) break;
  }
  ASSERT_EQ(values.size(), events);
  EXPECT_EQ(values.back(), "23");
  EXPECT_EQ(projections().read_values("n", {})->entries.size(), events) << "without events as many as asked for";
}

TEST_P(LocalProjections, AValueIndexShowsNoValueOfAnEventThatIsGone) {
  for (const auto* name : {"ann", "bob", "eve"}) {
    ASSERT_TRUE(store_->append(
        Append{}.event("person-" + std::string(name), "Named", R"({"name":")" + std::string(name) + R"("})")));
  }
  ASSERT_TRUE(projections().create_value_index("names", {.types = {"Named"}, .path = "$.name", .value = "text"}));
  ASSERT_THAT(values("names"), ElementsAre("\"ann\"", "\"bob\"", "\"eve\""));

  ASSERT_TRUE(store_->retention().remove_aggregate({"person", "bob"}, {}));

  EXPECT_THAT(values("names"), ElementsAre("\"ann\"", "\"eve\""));
  EXPECT_THAT(values("names", {.equal = "bob", .rows = {.events = true}}), IsEmpty());
  std::vector<std::string> paged;
  for (ValueRead read{.limit = 1};;) {
    const auto page = projections().read_values("names", read);
    ASSERT_TRUE(page) << page.error().what;
    for (const auto& entry : page->entries) paged.push_back(entry.value);
    read.after = page->next;
    if (page->next.empty()) break;
  }
  EXPECT_THAT(paged, ElementsAre("\"ann\"", "\"eve\""));
}

TEST_P(LocalProjections, TheSameDefinitionAgainIsNoNewVersion) {
  const auto made = projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"});
  ASSERT_TRUE(made);
  const auto same =
      projections().change("n", R"({ "value":"integer","path":"$.n","types":["A"],"source":"payload"})", {});
  ASSERT_TRUE(same) << same.error().what;
  EXPECT_EQ(same->last, made->last);
  EXPECT_EQ(same->versions.size(), 1u);
  EXPECT_EQ(projections().change("n", made->spec, made->last + 1).error().code, ErrorCode::version_conflict);
}

TEST_P(LocalProjections, AnIndexNumbersAQuerysMatchesFromOne) {
  for (int i = 0; i < 10; ++i) append(i % 2 == 0 ? "A" : "B");
  const auto made = projections().create_index(Query{}.types({"A"}));
  ASSERT_TRUE(made) << made.error().what;
  const auto last = append("A");
  const RowsAsked there{.at_least = last};
  EXPECT_THAT(numbers(made->name, {.rows = there}), ElementsAre(1, 3, 5, 7, 9, 12));  // the definition stands at 11
  EXPECT_THAT(numbers(made->name, {.start = 3, .limit = 2, .rows = there}), ElementsAre(5, 7));
  EXPECT_THAT(numbers(made->name, {.limit = 2, .direction = Direction::backwards, .rows = there}), ElementsAre(12, 9));
  EXPECT_THAT(numbers(made->name, {.start = 2, .limit = 5, .direction = Direction::backwards, .rows = there}),
              ElementsAre(3, 1));
  EXPECT_THAT(numbers(made->name, {.start = 7}), IsEmpty());
  EXPECT_THAT(numbers(made->name, {.limit = 0}), IsEmpty());
  const auto page = projections().read_index(made->name, {.start = 6, .rows = {.at_least = last, .events = true}});
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries.front().number, 6u);
  EXPECT_EQ(page->entries.front().event->type, "A");
  EXPECT_EQ(page->count, 6u);
  EXPECT_GE(page->watermark, last);
  EXPECT_EQ(projections().read_index(made->name, {.start = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(projections().read_index(made->name, {.limit = 1'001}).error().code, ErrorCode::too_large);
}

TEST_P(LocalProjections, TheSameQueryAskedTwiceSharesOneIndex) {
  const auto first = projections().create_index(Query{}.types({"A", "B"}).tags({"x", "y"}));
  ASSERT_TRUE(first) << first.error().what;
  const auto head = *store_->head();
  const auto again = projections().create_index(Query{}.tags({"y", "x", "y"}).types({"B", "A"}));
  ASSERT_TRUE(again);
  EXPECT_EQ(first->name, again->name);
  EXPECT_EQ(*store_->head(), head) << "a second definition was written";
  EXPECT_EQ(projections().list()->size(), 1u);
  EXPECT_EQ(projections().create_index(Query{}).error().code, ErrorCode::invalid_query);
}

TEST_P(LocalProjections, ManyNumbersAreReadAcrossChunksAndAfterARestart) {
  const auto made = projections().create_index(Query{}.tags({"t"})).value();
  std::vector<std::uint64_t> expected;
  GlobalPosition last;
  for (int i = 0; i < 700; ++i) {
    last = append("A", "{}", i % 3 == 0 ? std::vector<Tag>{} : std::vector<Tag>{"t"});
    if (i % 3 != 0) expected.push_back(last.value);
    if (i == 350 && GetParam()) reopen();
  }
  EXPECT_EQ(numbers(made.name, {.limit = 1'000, .rows = {.at_least = last}}), expected);
  std::ranges::reverse(expected);
  EXPECT_EQ(numbers(made.name, {.limit = 1'000, .direction = Direction::backwards}), expected);
}

TEST_P(LocalProjections, ValuesAreReadByEqualityAndRangesInBothDirections) {
  ASSERT_TRUE(
      projections().create_value_index("total", {.types = {"Placed"}, .path = "$.order.total", .value = "integer"}));
  for (const auto* total : {"5", "-3", "42", "5", "1000000", "null", "\"x\"", "1.5"})
    append("Placed", std::string(R"({"order":{"total":)") + total + "}}");
  append("Placed", "not json");
  append("Placed", R"({"order":7})");
  append("Other", R"({"order":{"total":6}})");
  EXPECT_THAT(values("total"), ElementsAre("-3", "5", "5", "42", "1000000"));
  EXPECT_THAT(values("total", {.equal = "5"}), ElementsAre("5", "5"));
  EXPECT_THAT(values("total", {.equal = "6"}), IsEmpty());
  EXPECT_THAT(values("total", {.from = "5"}), ElementsAre("5", "5", "42", "1000000"));
  EXPECT_THAT(values("total", {.from = "-3", .to = "42"}), ElementsAre("-3", "5", "5", "42"));
  EXPECT_THAT(values("total", {.from = "-3", .until = "42"}), ElementsAre("-3", "5", "5"));
  EXPECT_THAT(values("total", {.to = "5", .direction = Direction::backwards}), ElementsAre("5", "5", "-3"));
  EXPECT_THAT(values("total", {.from = "6", .to = "5"}), IsEmpty());
  EXPECT_EQ(projections().read_values("total", {.equal = "x"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(projections().read_values("total", {.equal = "5", .from = "1"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(projections().read_values("total", {.after = "zz"}).error().code, ErrorCode::invalid_argument);
  const auto described = projections().describe("total").value();
  EXPECT_THAT(described.versions.back().figures,
              ElementsAre(::testing::Pair("entries", 5u), ::testing::Pair("absent", 2u),
                          ::testing::Pair("of_another_type", 2u), ::testing::Pair("unreadable", 1u)));
}

TEST_P(LocalProjections, ValuesAreReadPageByPage) {
  ASSERT_TRUE(projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "number"}));
  for (int i = 0; i < 50; ++i) append("A", R"({"n":)" + std::to_string(i * 7 % 10) + "}");
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    std::vector<std::pair<std::string, std::uint64_t>> all, paged;
    const auto whole = projections().read_values("n", {.limit = 1'000, .direction = direction}).value();
    for (const auto& entry : whole.entries) all.emplace_back(entry.value, entry.position.value);
    ASSERT_EQ(all.size(), 50u);
    EXPECT_TRUE(direction == Direction::forwards ? std::ranges::is_sorted(all)
                                                 : std::ranges::is_sorted(all, std::greater<>()));
    std::string after;
    do {
      const auto page = projections().read_values("n", {.after = after, .limit = 7, .direction = direction}).value();
      for (const auto& entry : page.entries) paged.emplace_back(entry.value, entry.position.value);
      after = page.next;
    } while (!after.empty());
    EXPECT_EQ(paged, all);
  }
}

TEST_P(LocalProjections, MetadataTimesTextsAndBooleansAreIndexedToo) {
  ASSERT_TRUE(projections().create_value_index("who", {.types = {"A"}, .source = "metadata", .path = "$.user.name"}));
  ASSERT_TRUE(projections().create_value_index("when", {.types = {"A"}, .path = "$.due", .value = "time"}));
  ASSERT_TRUE(
      projections().create_value_index("paid", {.types = {"A"}, .path = "$.items[1].paid", .value = "boolean"}));
  Event event;
  event.type = "A";
  event.payload = R"({"due":"2026-03-01T10:00:00+01:00","items":[{"paid":false},{"paid":true}]})";
  event.metadata = R"({"user":{"name":"ann"}})";
  event.tags = {"t"};
  ASSERT_TRUE(store_->append(Append{}.event(event)));
  EXPECT_THAT(values("who", {.equal = "ann"}), ElementsAre("\"ann\""));
  EXPECT_THAT(values("when", {.equal = "2026-03-01T09:00:00Z"}), ElementsAre("\"2026-03-01T09:00:00.000000Z\""));
  EXPECT_THAT(values("paid", {.equal = "true"}), ElementsAre("true"));
}

TEST_P(LocalProjections, AreDroppedMadeAgainAndRefusedWhereTheyMakeNoSense) {
  ASSERT_TRUE(projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
  EXPECT_EQ(projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}).error().code,
            ErrorCode::already_exists);
  const auto again = [&](const char* value) {
    return projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = value}, IfThere::give);
  };
  EXPECT_EQ(again("integer").value().last, projections().describe("n").value().last) << "nothing was written";
  EXPECT_EQ(again("text").error().code, ErrorCode::already_exists) << "it is another one";
  EXPECT_EQ(projections().create_value_index("m", {.types = {}, .path = "$.n"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(projections().create_value_index("a b", {.types = {"A"}, .path = "$.n"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(projections().create_value_index("m", {.types = {"A"}, .path = "$.\x80"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(projections().create_value_index("m", {.types = {"\x80"}, .path = "$.n"}).error().code,
            ErrorCode::invalid_query);
  EXPECT_EQ(projections().create("x", "no such kind", "{}").error().code, ErrorCode::invalid_argument);
  append("A", R"({"n":1})");
  EXPECT_THAT(values("n"), ElementsAre("1"));
  ASSERT_TRUE(projections().ask("n", Ask::drop));
  EXPECT_EQ(projections().read_values("n", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(projections().describe("n").error().code, ErrorCode::not_found);
  EXPECT_EQ(projections().ask("n", Ask::drop).error().code, ErrorCode::not_found);
  EXPECT_THAT(*projections().list(), IsEmpty());
  ASSERT_TRUE(projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "text"}));
  EXPECT_THAT(values("n"), IsEmpty());
  EXPECT_EQ(projections().read_index("n", {}).error().code, ErrorCode::invalid_argument);
}

TEST_P(LocalProjections, ResetRebuildPauseAndChangeAnswerTheSameAsAFreshOne) {
  const auto made = projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}).value();
  for (int i = 0; i < 20; ++i) append("A", R"({"n":)" + std::to_string(i % 4) + R"(,"m":"x"})");
  const auto fresh = values("n");
  ASSERT_EQ(fresh.size(), 20u);
  ASSERT_TRUE(projections().ask("n", Ask::reset));
  EXPECT_EQ(values("n"), fresh);
  ASSERT_TRUE(projections().ask("n", Ask::rebuild));
  EXPECT_EQ(values("n"), fresh);
  ASSERT_TRUE(projections().ask("n", Ask::pause));
  append("A", R"({"n":9})");
  EXPECT_EQ(projections().read_values("n", {}).error().code, ErrorCode::unavailable);
  ASSERT_TRUE(projections().ask("n", Ask::resume));
  EXPECT_EQ(values("n").back(), "9");
  EXPECT_EQ(projections().change("n", R"({"types":["A"],"path":"$.m","value":"text"})", made.last).error().code,
            ErrorCode::version_conflict);
  ASSERT_TRUE(projections().change("n", R"({"types":["A"],"path":"$.m","value":"text"})", {}));
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (values("n").front() != "\"x\"" && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(values("n"), std::vector<std::string>(20, "\"x\""));
}

// Rows were numbered anew: whoever remembered a number went on at another event.
TEST_P(LocalProjections, NumbersOfAnIndexStayOverARebuildAfterARemoval) {
  const auto index = projections().create_index(Query{}.types({"F"})).value();
  for (int i = 0; i < 300; ++i) append("F");  // of "thing-1" to "thing-4", and "thing-0"
  const auto by_number = [&](GlobalPosition at_least) {
    std::map<std::uint64_t, std::uint64_t> found;
    IndexRead read;
    read.rows.at_least = at_least;
    read.limit = 1'000;
    const auto page = projections().read_index(index.name, read);
    EXPECT_TRUE(page) << page.error().what;
    if (page)
      for (const auto& entry : page->entries) found[entry.number] = entry.position.value;
    return found;
  };
  auto expected = by_number(*store_->head());
  ASSERT_EQ(expected.size(), 300u);
  ASSERT_TRUE(store_->retention().remove_aggregate({"thing", "1"}, {}));
  ASSERT_TRUE(store_->retention().remove_aggregate({"thing", "0"}, {}));  // whose event is the last one
  const auto rebuilt = [&](Ask how) {
    ASSERT_TRUE(projections().ask(index.name, how));
    const auto last = append("F");
    expected[expected.size() + 1] = last.value;
    std::map<std::uint64_t, std::uint64_t> found;
    const auto until = std::chrono::steady_clock::now() + 60s;
    do found = by_number(last);
    while (found != expected && std::chrono::steady_clock::now() < until);
    EXPECT_EQ(found, expected);
  };
  rebuilt(Ask::rebuild);
  rebuilt(Ask::reset);
  ASSERT_TRUE(store_->retention().remove_aggregate({"thing", "2"}, {}));
  rebuilt(Ask::rebuild);
  rebuilt(Ask::reset);
  if (!GetParam()) return;
  reopen();
  rebuilt(Ask::rebuild);
}

TEST_P(LocalProjections, AReadWaitsForAPositionAndSaysSoInTime) {
  ASSERT_TRUE(projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
  for (int i = 0; i < 100; ++i) {
    append("A", R"({"n":)" + std::to_string(i) + "}");
    ASSERT_EQ(values("n", {.equal = std::to_string(i)}).size(), 1u)
        << "not there although it was appended before the read began";
  }
  const auto head = *store_->head();
  EXPECT_EQ(projections().wait_until("n", head + 5, 30ms).error().code, ErrorCode::timeout);
  EXPECT_GE(*projections().wait_until("n", head, 30s), head);
  EXPECT_EQ(projections().wait_until("nobody", head, 30ms).error().code, ErrorCode::not_found);
}

TEST_P(LocalProjections, NamesThatBeginWithADollarAreRefusedToUsers) {
  const auto refused = [&](const Append& append) {
    const auto done = store_->append(append);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(done.error().what, HasSubstr("reserved"));
    EXPECT_EQ(store_->append_future(append).get().error().code, ErrorCode::invalid_argument);
  };
  refused(Append{}.event("$projection-x", "Created", "{}"));
  refused(Append{}.event("thing-1", "$ProjectionCreated", "{}"));
  refused(Append{}.event("thing-1", "Fine", "{}").event("$anything-x", "Fine", "{}"));
  Snapshot snapshot;
  snapshot.aggregate = {"$group", "x"};
  snapshot.version = SeqNr{1};
  EXPECT_EQ(store_->put_snapshot(snapshot).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store_->head()->value, 0u);
  ASSERT_TRUE(store_->append(Append{}.event("thing-$1", "A$", "{}", {"$tag"})));
}

TEST_P(LocalProjections, AStoreWithoutThemPaysNothing) {
  append("A");
  EXPECT_THAT(*projections().list(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "data" / "projections"));
  ASSERT_TRUE(projections().create_index(Query::all()));
  EXPECT_EQ(std::filesystem::exists(folder_.path() / "data" / "projections"), GetParam());
}

class LocalProjectionsOnDisk : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(LocalProjectionsOnDisk, ARestoredStoreHasItsDefinitionsAndRebuildsItsRows) {
  const auto fill = [](Local& store, int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_TRUE(store.append(Append{}.event("a-1", "A", R"({"n":)" + std::to_string(i) + "}")));
  };
  const auto all = [](Local& store) {
    std::vector<std::string> found;
    const auto page = store.projections().read_values("n", {.limit = 1'000});
    EXPECT_TRUE(page) << page.error().what;
    for (const auto& entry : page->entries) found.push_back(entry.value);
    return found;
  };
  {
    auto store = Local::open({.data_dir = folder_.path() / "a", .shards = 2}).value();
    ASSERT_TRUE(store.projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
    fill(store, 0, 10);
    EXPECT_EQ(all(store).size(), 10u);
    ASSERT_TRUE(store.backup(folder_.path() / "b"));
    fill(store, 10, 15);
    EXPECT_EQ(all(store).size(), 15u);
  }
  // Whoever puts the newer rows beside the older copy, by hand, is not believed.
  std::filesystem::copy(folder_.path() / "a" / "projections", folder_.path() / "b" / "projections",
                        std::filesystem::copy_options::recursive);
  auto copy = Local::open({.data_dir = folder_.path() / "b"}).value();
  EXPECT_EQ(all(copy).size(), 10u);
  fill(copy, 100, 101);
  EXPECT_EQ(all(copy).back(), "100");
  auto first = Local::open({.data_dir = folder_.path() / "a"}).value();
  EXPECT_EQ(all(first).size(), 15u);
  ASSERT_TRUE(first.vacuum());
}

/// Two stores of one fork with as many events: only the events tell them apart.
TEST_F(LocalProjectionsOnDisk, RowsSwappedBetweenRawCopiesThatWentTheirOwnWaysAreMadeAnew) {
  const auto fill = [](Local& store, const std::string& type, int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_TRUE(store.append(Append{}.event("a-1", type, R"({"n":)" + std::to_string(i) + "}")));
  };
  const auto all = [](Local& store, const std::string& name) {
    std::vector<std::string> found;
    const auto page = store.projections().read_values(name, {.limit = 1'000, .rows = {.at_least = *store.head()}});
    EXPECT_TRUE(page) << page.error().what;
    if (!page) return found;
    for (const auto& entry : page->entries) found.push_back(entry.value);
    return found;
  };
  const auto numbers = [&](Local& store) {
    std::vector<std::uint64_t> positions;
    const auto listed = store.projections().list();
    EXPECT_TRUE(listed) << listed.error().what;
    for (const auto& info : *listed) {
      if (info.kind == "index") {
        const auto page = store.projections().read_index(info.name, {.rows = {.at_least = *store.head()}});
        EXPECT_TRUE(page) << page.error().what;
        for (const auto& entry : page->entries) positions.push_back(entry.position.value);
      }
    }
    return positions;
  };
  const auto a = folder_.path() / "a", b = folder_.path() / "b", aside = folder_.path() / "aside";
  {
    auto store = Local::open({.data_dir = a, .shards = 2}).value();
    ASSERT_TRUE(store.projections().create_value_index("n", {.types = {"A", "B"}, .path = "$.n", .value = "integer"}));
    ASSERT_TRUE(store.projections().create_value_index("some", {.types = {"A"}, .path = "$.n", .value = "integer"}));
    ASSERT_TRUE(store.projections().create_index(Query{}.types({"A"})));
    ASSERT_TRUE(store.documents().define("a", R"({"events":{"A":{"set":"n","from":"n"}}})"));
    fill(store, "A", 0, 3);
    EXPECT_EQ(all(store, "n").size(), 3u);
  }
  std::filesystem::copy(a, b, std::filesystem::copy_options::recursive);
  // The last event of both is none that "some" and the index look at: their checkpoints' position is beyond what they
  // were given.
  const auto go_on = [&](const std::filesystem::path& of, int first, std::initializer_list<std::string> types) {
    auto store = Local::open({.data_dir = of}).value();
    for (const auto& type : types) {
      fill(store, type, first, first + 1);
      ++first;
    }
    const auto documents = store.documents().list({.type = "a", .at_least = *store.head()});
    EXPECT_TRUE(documents) << documents.error().what;
    return std::tuple(all(store, "n"), all(store, "some"), numbers(store),
                      documents ? documents->documents : std::vector<Document>());
  };
  const auto of_a = go_on(a, 10, {"A", "B", "B"});
  const auto of_b = go_on(b, 20, {"B", "A", "B"});
  ASSERT_NE(of_a, of_b);

  for (const auto* rows : {"projections", "documents"}) {
    std::filesystem::rename(a / rows, aside);
    std::filesystem::rename(b / rows, a / rows);
    std::filesystem::rename(aside, b / rows);
  }

  EXPECT_EQ(go_on(a, 0, {}), of_a);
  EXPECT_EQ(go_on(b, 0, {}), of_b);
}

TEST(LocalProjectionsAtTheStart, AreSaidAndTriedAgainWhereTheyCannotBeOpened) {
  TemporaryFolder folder;
  const auto data = folder.path() / "data";
  std::string index;
  {
    auto store = Local::open({.data_dir = data, .shards = 4}).value();
    index = store.projections().create_index(Query{}.types({"A"}))->name;
  }
  std::filesystem::rename(data / "projections", folder.path() / "away");
  std::ofstream(data / "projections") << "no folder";
  std::mutex mutex;
  std::vector<std::string> warned;
  LocalOptions options{.data_dir = data};
  options.warn = [&](const Error& error) {
    const std::lock_guard lock(mutex);
    warned.push_back(error.what);
  };
  auto store = Local::open(std::move(options)).value();
  const auto figure = [&](const std::string& name) -> std::optional<std::uint64_t> {
    const auto stats = store.stats().value();
    for (const auto& [detail, number] : stats.details)
      if (detail == name) return number;
    return std::nullopt;
  };
  EXPECT_EQ(figure("projections.not_open"), 1u);
  {
    const std::lock_guard lock(mutex);
    ASSERT_EQ(warned.size(), 1u);
    EXPECT_THAT(warned[0], HasSubstr("the projections do not go on"));
  }
  std::filesystem::remove(data / "projections");
  std::filesystem::rename(folder.path() / "away", data / "projections");
  const auto until = std::chrono::steady_clock::now() + 60s;
  const auto goes_on = [&] { return figure("projections." + index + ".lag") == 0u && !figure("projections.not_open"); };
  while (!goes_on() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(figure("projections." + index + ".lag"), 0u);
  EXPECT_EQ(figure("projections.not_open"), std::nullopt);
}

}  // namespace
}  // namespace evershard
