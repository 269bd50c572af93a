// A server with indexes, a table and documents, killed again and again while events come in: the rows equal a
// recomputation from the journal.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/process/server_process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

int kill_rounds() {
  const char* wanted = std::getenv("EVERSHARD_ROUNDS");
  return wanted == nullptr ? 3 : std::stoi(wanted);
}

Append random_append(std::mt19937_64& random) {
  Append append;
  for (auto n = 1 + random() % 5; n != 0; --n)
    append.event("a-" + std::to_string(random() % 9), random() % 2 == 0 ? "A" : "B",
                 R"({"n":)" + std::to_string(static_cast<int>(random() % 21) - 10) + "}",
                 {"t:" + std::to_string(random() % 3)});
  return append;
}

struct Row {
  std::int64_t sum = 0, events = 0;
  std::int64_t last = 0;  ///< position of the last B
  friend bool operator==(const Row&, const Row&) = default;
};
using Rows = std::map<std::string, Row>;

constexpr const char* sums =
    R"({"fields":[{"name":"id","type":"text","role":"key"},{"name":"sum","type":"integer","role":"index","nullable":true},
  {"name":"events","type":"integer","nullable":true},{"name":"last","type":"integer","role":"unique","nullable":true}],"rules":[
  {"types":["A"],"action":"increment","key":"aggregate","fields":{"sum":"$.n"}},
  {"types":["A","B"],"action":"increment","key":"aggregate","fields":{"events":{"constant":1}}},
  {"types":["B"],"action":"upsert","key":"aggregate","fields":{"last":"position"}}]})";

constexpr const char* sums_of_documents =
    R"({"events":{"A":[{"increment":"sum","from":"n"},{"increment":"events","by":1}],"B":[{"increment":"events","by":1},{"set":"last","from":"$position"}]}})";

std::int64_t number_in(const TableValue& value) { return value.is_null() ? 0 : *value.as<std::int64_t>(); }

/// Table and documents, each row against the journal.
void compare_rows(Remote& store) {
  Rows expected, rows, documents;
  const auto head = *store.head();
  auto events = store.read(Query::all(), {.up_to = head});
  for (const auto& event : events) {
    if (!event.aggregate || event.aggregate->type != "a") continue;
    auto& row = expected[event.aggregate->text()];
    ++row.events;
    if (event.type == "A")
      row.sum += std::stoi(event.payload.substr(5));
    else
      row.last = static_cast<std::int64_t>(event.position.value);
  }
  ASSERT_FALSE(events.error()) << events.error()->what;
  const auto page = store.tables().select("sums", {}, {.at_least = head});
  ASSERT_TRUE(page) << page.error().what;
  for (const auto& row : page->rows)
    rows[*row[0].as<std::string>()] = {number_in(row[1]), number_in(row[2]), number_in(row[3])};
  EXPECT_EQ(rows, expected);
  for (const auto& [id, row] : expected) {
    const auto found =
        store.tables().select("sums", {.where = "last = " + std::to_string(row.last)}, {.at_least = head});
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->rows.size(), row.last == 0 ? 0u : 1u) << id << ": by its unique value";
  }
  const auto listed = store.documents().list({.type = "a", .at_least = head});
  ASSERT_TRUE(listed) << listed.error().what;
  for (const auto& document : listed->documents) {
    const auto json = nlohmann::json::parse(document.json);
    documents[document.aggregate.text()] = {json.value("sum", std::int64_t{0}), json.value("events", std::int64_t{0}),
                                            json.value("last", std::int64_t{0})};
    EXPECT_EQ(document.problems, 0u);
  }
  EXPECT_EQ(documents, expected);
}

void compare(Remote& store, const std::string& index) {
  std::vector<std::uint64_t> numbered, found_numbers;
  std::vector<std::pair<int, std::uint64_t>> valued, found_values;
  std::map<std::string, std::int64_t> totals;
  const auto head = *store.head();
  auto events = store.read(Query::all(), {.up_to = head});
  for (const auto& event : events) {
    if (std::ranges::find(event.tags, "t:1") != event.tags.end()) numbered.push_back(event.position.value);
    if (event.type != "A") continue;
    valued.emplace_back(std::stoi(event.payload.substr(5)), event.position.value);
    totals[event.aggregate->text()] += valued.back().first;
  }
  ASSERT_FALSE(events.error()) << events.error()->what;
  std::ranges::sort(valued);

  IndexRead read{.start = 1, .limit = 1'000, .rows = {.at_least = head}};
  while (true) {
    const auto page = store.projections().read_index(index, read);
    ASSERT_TRUE(page) << page.error().what;
    for (const auto& entry : page->entries) {
      ASSERT_EQ(entry.number, found_numbers.size() + 1);
      found_numbers.push_back(entry.position.value);
    }
    if (page->entries.size() < read.limit) break;
    read.start = found_numbers.size() + 1;
  }
  ValueRead values{.limit = 1'000, .rows = {.at_least = head}};
  do {
    const auto page = store.projections().read_values("n", values);
    ASSERT_TRUE(page) << page.error().what;
    for (const auto& entry : page->entries) found_values.emplace_back(std::stoi(entry.value), entry.position.value);
    values.after = page->next;
  } while (!values.after.empty());
  EXPECT_EQ(found_numbers, numbered);
  EXPECT_EQ(found_values, valued);

  std::map<std::string, std::int64_t> found_totals;
  TableSelect select{.limit = 4};
  do {
    const auto page = store.tables().select("totals", select, {.at_least = head});
    ASSERT_TRUE(page) << page.error().what;
    for (const auto& row : page->rows)
      ASSERT_TRUE(found_totals.emplace(*row.at(0).as<std::string>(), *row.at(1).as<std::int64_t>()).second);
    select.continue_from = page->next;
  } while (!select.continue_from.empty());
  EXPECT_EQ(found_totals, totals);
}

/// In parts; each version counts the same otherwise.
std::string totals_spec(int round) {
  return R"({"fields":[{"name":"a","type":"text","role":"key"},{"name":"total","type":"integer","nullable":true},{"name":"round)" +
         std::to_string(round) +
         R"(","type":"integer","nullable":true}],"parts":3,"rules":[{"types":["A"],"action":"increment","key":"aggregate","fields":{"total":"$.n"}}]})";
}

TEST(ProjectionKillRounds, RowsEqualARecomputationAfterEachKill) {
  const ServerFolder folder;
  ServerProcess server(folder.path() / "data");
  std::string index;
  {
    auto store = server.connect();
    const auto made = store.projections().create_index(Query{}.tags({"t:1"}));
    ASSERT_TRUE(made) << made.error().what;
    index = made->name;
    ASSERT_TRUE(store.projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
    ASSERT_TRUE(store.projections().create("sums", "table", sums));
    ASSERT_TRUE(store.documents().define("a", sums_of_documents));
    ASSERT_TRUE(store.projections().create("totals", "table", totals_spec(0)));
  }
  std::mt19937_64 random(11);
  for (int round = 0; round < kill_rounds() && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::atomic<bool> killed{false};
    std::thread writer([&, seed = random()] {
      std::mt19937_64 own(seed);
      auto store = server.connect(2s);
      while (!killed) (void)store.append(random_append(own));
    });
    auto store = server.connect(5s);
    if (round % 3 == 0)
      (void)store.projections().ask("sums", round % 2 == 0 ? Projections::Ask::rebuild : Projections::Ask::reset);
    if (round % 3 == 1) (void)store.projections().ask("n", Projections::Ask::rebuild);
    if (round % 3 == 2) (void)store.projections().ask(index, Projections::Ask::reset);
    // Killed while its parts are built beside, swapped, cleared.
    if (round % 3 == 0)
      (void)store.projections().change("totals", totals_spec(round + 1), {});
    else
      (void)store.projections().ask("totals", round % 3 == 1 ? Projections::Ask::rebuild : Projections::Ask::reset);
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 400));
    server.kill();
    killed = true;
    writer.join();
    server.start();
    auto again = server.connect();
    compare(again, index);
    compare_rows(again);
  }
  server.terminate();
}

}  // namespace
}  // namespace evershard::testing
