// Projections on a cluster: created at one node, kept by the home, read from any; and what becomes of them when homes
// come and go.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/views/node_projections.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/rows/rocks_projection_store.hpp"
#include "evershard/services/tables/host/projection_kinds.hpp"
#include "evershard/services/tables/table_definition.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "tests/cluster/homes/homes_in_process.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto hosted_patience = 60s;

/// Three nodes, on disk.
class HomedProjectionsTest : public ::testing::Test {
 protected:
  HomedProjectionsTest() {
    for (std::uint32_t n = 1; n <= 3; ++n) join(n);
    EXPECT_TRUE(cluster_->wait_until_open());
  }
  ~HomedProjectionsTest() override {
    for (std::uint32_t n = 1; n <= 3; ++n) leave(n);
  }
  void join(std::uint32_t n) {
    auto& part = parts_[n];
    part.homes = std::make_shared<HomeCalls>(cluster_->node(n), network_,
                                             HomeCallsOptions{.node = n, .threads = 4, .away_wait = 200ms});
    part.projections = std::make_unique<NodeProjections>(cluster_->node(n), *part.homes,
                                                         NodeProjectionsOptions{.data_dir = rows_of(n)});
    EXPECT_TRUE(
        part.projections->add_table_handler("counted", [](const RecordedEvent& event, actors::TableChanges& rows) {
          rows.upsert({{"position", static_cast<std::int64_t>(event.position.value)}});
        }));
    network_.put(n, part.homes);
  }
  void leave(std::uint32_t n) {
    network_.put(n, nullptr);
    auto& part = parts_[n];
    if (part.homes) part.homes->stop();
    if (part.projections) part.projections->close();
    part = {};
  }
  void stop(std::uint32_t n) {
    leave(n);
    cluster_->stop(n);
  }
  void start(std::uint32_t n) {
    cluster_->start(n);
    join(n);
  }
  [[nodiscard]] std::filesystem::path rows_of(std::uint32_t n) const {
    return folder_.path() / ("rows-" + std::to_string(n));
  }

  Projections& at(std::uint32_t n) { return parts_.at(n).projections->projections(); }
  Tables& tables_at(std::uint32_t n) { return parts_.at(n).projections->tables(); }
  std::uint32_t home_of(const std::string& name) {
    return cluster_->node(1).committer().owner(cluster_->node(1).shard_of({"$projection", name}));
  }
  std::string named_at(std::uint32_t home, const std::string& prefix) {
    for (int i = 0;; ++i)
      if (auto name = prefix + std::to_string(i); home_of(name) == home) return name;
  }
  GlobalPosition append(std::uint32_t by, const std::string& type, const std::string& payload = R"({"n":1})") {
    Event event;
    event.aggregate = AggregateId{"thing", std::to_string(++things_ % 7)};
    event.type = type;
    event.payload = payload;
    event.format = PayloadFormat::json;
    for (const auto until = std::chrono::steady_clock::now() + hosted_patience;;) {
      auto done = cluster_->node(by).append(Append{}.event(event));
      if (done) return done->last_position;
      if (std::chrono::steady_clock::now() > until) return ADD_FAILURE() << done.error().what, GlobalPosition{0};
      std::this_thread::sleep_for(10ms);
    }
  }
  /// What a reader of everything finds.
  std::vector<std::uint64_t> recomputed(std::uint32_t by, const Query& query, GlobalPosition up_to) {
    EXPECT_TRUE(cluster_->node(by).wait_for(up_to, hosted_patience));
    std::vector<std::uint64_t> positions;
    auto events = cluster_->node(by).read(query, ReadOptions{.up_to = up_to});
    for (const auto& event : events) positions.push_back(event.position.value);
    EXPECT_FALSE(events.error()) << events.error()->what;
    return positions;
  }
  std::vector<std::uint64_t> index_at(std::uint32_t by, const std::string& name, GlobalPosition at_least,
                                      IndexRead read = {}) {
    read.limit = 1'000;
    read.rows.at_least = at_least;
    read.rows.timeout = hosted_patience;
    const auto page = at(by).read_index(name, read);
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::uint64_t> positions;
    if (page)
      for (const auto& entry : page->entries) positions.push_back(entry.position.value);
    return positions;
  }
  /// All events of a type, by a value that is the same for all; where its home is follows from the name.
  Result<ProjectionInfo> create_named(std::uint32_t by, const std::string& name) {
    return at(by).create_value_index(name, {.types = {"A"}, .path = "$.n", .value = "integer"});
  }
  std::vector<std::uint64_t> named_index_at(std::uint32_t by, const std::string& name, GlobalPosition at_least) {
    const auto page =
        at(by).read_values(name, {.limit = 1'000, .rows = {.at_least = at_least, .timeout = hosted_patience}});
    EXPECT_TRUE(page) << page.error().what;
    std::vector<std::uint64_t> positions;
    if (page)
      for (const auto& entry : page->entries) positions.push_back(entry.position.value);
    return positions;
  }
  template <class Check>
  [[nodiscard]] bool in_time(Check check) {
    for (const auto until = std::chrono::steady_clock::now() + hosted_patience;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(10ms))
      if (check()) return true;
    return false;
  }

  TemporaryFolder folder_;
  std::uint64_t things_ = 0;
  std::unique_ptr<SmallCluster> cluster_ = std::make_unique<SmallCluster>(
      SmallCluster::Options{.nodes = 3, .shards = 6, .data_dir = folder_.path() / "nodes"});
  HomesInProcess network_;
  struct Part {
    std::shared_ptr<HomeCalls> homes;
    std::unique_ptr<NodeProjections> projections;
  };
  std::map<std::uint32_t, Part> parts_;
};

TEST_F(HomedProjectionsTest, AnIndexCreatedAtOneNodeIsReadAtEach) {
  const auto query = Query{}.types({"A"});
  for (int i = 0; i < 120; ++i) append(1 + i % 3, i % 3 == 1 ? "B" : "A");
  const auto made = at(1).create_index(query);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(at(2).create_index(query).value().name, made->name) << "the same query shares one";
  const auto last = append(2, "A");
  const auto expected = recomputed(2, query, last);
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(index_at(n, made->name, last), expected) << n;
    EXPECT_EQ(at(n).describe(made->name).value().kind, "index");
    ASSERT_TRUE(cluster_->node(n).wait_for(last, hosted_patience));
    const auto all = at(n).list();
    ASSERT_TRUE(all) << all.error().what;
    ASSERT_EQ(all->size(), 1u);
    EXPECT_TRUE(all->front().versions.back().complete) << "as its home tells, whoever is asked";
    EXPECT_GE(at(n).wait_until(made->name, last, hosted_patience).value(), last);
  }
  EXPECT_EQ(at(3).describe("other").error().code, ErrorCode::not_found);
  EXPECT_EQ(at(3).read_index(made->name, {.start = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(at(1).wait_until(made->name, last + 1, 50ms).error().code, ErrorCode::timeout);
}

// Rows whose checkpoint stands at an event that the cluster does not have there are of another history: of a disk, or
// of a whole cluster, whose copy was put back within one fork.
TEST_F(HomedProjectionsTest, RowsOfAnotherHistoryAreMadeAnew) {
  const auto name = named_at(2, "by-n-");
  ASSERT_TRUE(create_named(1, name));
  GlobalPosition last;
  for (int i = 0; i < 30; ++i) last = append(1 + i % 3, "A");
  const auto query = Query{}.types({"A"});
  EXPECT_EQ(named_index_at(2, name, last), recomputed(2, query, last));
  const auto& identity = cluster_->node(2).committer().store().identity();
  const storage::RocksProjectionOptions rows{.folder = rows_of(2) / "projections",
                                             .of = {{identity.store, identity.fork}, last}};
  const auto at_last = cluster_->node(1).event_at(last).value().id;
  leave(2);
  const auto put_back = [&](EventId event) {
    auto store = storage::open_projection_store(rows);
    ASSERT_TRUE(store) << store.error().what;
    ASSERT_EQ((*store)->families().size(), 1u);
    const auto family = (*store)->families().front();
    auto begin = (*store)->checkpoint(family).value();
    EXPECT_EQ(begin.position, last);
    EXPECT_EQ(begin.event, at_last) << "the checkpoint names the event that it stands at";
    begin.event = event;
    ASSERT_TRUE((*store)->drop_family(family));
    ASSERT_TRUE((*store)->create_family(family, begin));
  };
  put_back(EventId::derived({}, 1));
  join(2);
  EXPECT_EQ(named_index_at(2, name, last), recomputed(2, query, last));
  leave(2);
  put_back(at_last);
  join(2);
  EXPECT_THAT(named_index_at(2, name, last), ::testing::IsEmpty()) << "rows of this history are taken as they are";
}

// Pages of large events come over the link in parts, and are one page to who reads.
TEST_F(HomedProjectionsTest, LargeEventsComeInParts) {
  const auto made = at(2).create_index(Query{}.types({"Large"}));
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_TRUE(at(2).create_value_index("large", {.types = {"Large"}, .path = "$.n", .value = "integer"}));
  const std::string filler(300u << 10, 'x');
  GlobalPosition last;
  for (int i = 1; i <= 9; ++i) last = append(1, "Large", R"({"n":)" + std::to_string(i) + R"(,"x":")" + filler + "\"}");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    for (const auto direction : {Direction::forwards, Direction::backwards}) {
      const RowsAsked rows{.at_least = last, .timeout = hosted_patience, .events = true};
      const auto page = at(n).read_index(made->name, {.limit = 8, .direction = direction, .rows = rows});
      ASSERT_TRUE(page) << page.error().what;
      ASSERT_EQ(page->entries.size(), 8u);
      const auto values = at(n).read_values("large", {.limit = 8, .direction = direction, .rows = rows});
      ASSERT_TRUE(values) << values.error().what;
      ASSERT_EQ(values->entries.size(), 8u);
      for (std::size_t i = 0; i < 8; ++i) {
        const auto nth = direction == Direction::forwards ? i + 1 : 9 - i;
        EXPECT_EQ(page->entries[i].number, nth);
        EXPECT_EQ(page->entries[i].event->payload.size(), filler.size() + 14);
        EXPECT_EQ(values->entries[i].value, std::to_string(nth));
      }
      const auto rest = at(n).read_values("large", {.after = values->next, .direction = direction, .rows = rows});
      EXPECT_EQ(rest.value().entries.size(), 1u);
    }
  }
  EXPECT_GT(network_.largest_answer(), filler.size());
  EXPECT_LE(network_.largest_answer(), HomeCalls::answer_bytes_max + 1'000);
}

TEST_F(HomedProjectionsTest, ValuesAreReadAtTheNodesWatermark) {
  const auto name = named_at(3, "by-total-");
  ASSERT_TRUE(at(1).create_value_index(name, {.types = {"Sold"}, .path = "$.total", .value = "integer"}));
  for (int i = 0; i < 30; ++i) append(1, "Sold", R"({"total":)" + std::to_string(i % 10) + "}");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(cluster_->node(n).wait_for(cluster_->node(1).head().value(), hosted_patience));
    const auto page = at(n).read_values(name, {.from = "7", .limit = 5, .rows = {.timeout = hosted_patience}});
    ASSERT_TRUE(page) << page.error().what;
    std::vector<std::string> values;
    for (const auto& entry : page->entries) values.push_back(entry.value);
    EXPECT_THAT(values, ElementsAre("7", "7", "7", "8", "8"));
    const auto rest = at(n).read_values(name, {.from = "7", .after = page->next, .rows = {.timeout = hosted_patience}});
    EXPECT_EQ(rest.value().entries.size(), 4u);
  }
  EXPECT_EQ(at(1).create_value_index(name, {.types = {"Sold"}, .path = "$.total"}).error().code,
            ErrorCode::already_exists)
      << "there is one";
}

TEST_F(HomedProjectionsTest, TablesAreSelectedFromAnyNode) {
  const auto name = named_at(2, "orders-");
  const auto spec =
      R"({"fields":[{"name":"thing","type":"text","role":"key"},{"name":"total","type":"integer","role":"unique","nullable":true}],"on_violation":"park",
                        "rules":[{"types":["Sold"],"action":"upsert","key":"aggregate","fields":{"total":"$.total"}}]})";
  ASSERT_TRUE(at(1).create(name, "table", spec));
  GlobalPosition last;
  for (int i = 0; i < 14; ++i) last = append(3, "Sold", R"({"total":)" + std::to_string(i) + "}");
  const auto doubled = append(3, "Sold", R"({"total":12})");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(cluster_->node(n).wait_for(doubled, hosted_patience));
    const auto page = tables_at(n).select(name, {.where = "total >= 10", .order_by = {{"total"}}},
                                          {.at_least = doubled, .timeout = hosted_patience});
    ASSERT_TRUE(page) << page.error().what;
    EXPECT_EQ(page->rows.size(), 4u);
    EXPECT_TRUE(tables_at(n).explain(name, {.where = "total = 3"}));
    EXPECT_EQ(tables_at(n).describe_table(name).value().schema.fields.size(), 2u);
    EXPECT_EQ(tables_at(n).list_tables().value().size(), 1u);
    const auto parked = tables_at(n).parked(name);
    ASSERT_EQ(parked.value().size(), 1u) << n;
    EXPECT_EQ(parked->front().position, doubled);
  }
  EXPECT_EQ(tables_at(3).discard_parked(name, {}).value(), GlobalPosition{});
  EXPECT_EQ(tables_at(1).parked(name).value().size(), 1u) << "none are named: none go";
  const auto discarded = tables_at(3).discard_parked(name, {doubled});
  ASSERT_TRUE(discarded) << discarded.error().what;
  EXPECT_TRUE(at(1).wait_until(name, *discarded, hosted_patience));
  EXPECT_EQ(tables_at(1).parked(name).value().size(), 0u);
  EXPECT_EQ(tables_at(3).select("other", {}).error().code, ErrorCode::not_found);

  const auto counted = named_at(1, "counted-");
  const auto by_handler =
      R"({"fields":[{"name":"position","type":"integer","role":"key"}],"handler":{"name":"counted","revision":1,"query":{"items":[{"types":["Sold"]}]}}})";
  ASSERT_TRUE(at(3).create(counted, "table", by_handler));
  EXPECT_EQ(tables_at(2).select(counted, {}, {.at_least = doubled, .timeout = hosted_patience}).value().rows.size(),
            15u);
}

std::string spread_spec(std::uint32_t parts, const std::string& policy = "park") {
  return R"({"fields":[{"name":"key","type":"text","role":"key"},{"name":"total","type":"integer","role":"index","nullable":true}],"on_error":")" +
         policy + R"(","parts":)" + std::to_string(parts) +
         R"(,"rules":[{"types":["Sold"],"action":"increment","key":{"key":"$.k"},"fields":{"total":"$.n"}}]})";
}

class SpreadTable : public HomedProjectionsTest {
 protected:
  static constexpr std::uint32_t parts = 6;
  /// Node 3 has some of its parts, not all, and not its definition.
  SpreadTable() {
    for (int i = 0;; ++i) {
      name_ = "spread-" + std::to_string(i);
      std::uint32_t there = 0;
      for (std::uint32_t part = 0; part < parts; ++part) there += home_of(actors::part_name(name_, part)) == 3;
      if (there != 0 && there != parts && home_of(name_) != 3) break;
    }
  }
  GlobalPosition sell(std::uint32_t by, int count) {
    GlobalPosition last;
    for (int i = 0; i < count; ++i, ++sold_)
      last =
          append(by, "Sold", R"({"k":"k)" + std::to_string(sold_ % 31) + R"(","n":)" + std::to_string(sold_ % 7) + "}");
    return last;
  }
  std::vector<std::vector<TableValue>> rows_at(std::uint32_t n, const std::string& table, GlobalPosition at_least,
                                               TableSelect select = {}) {
    std::vector<std::vector<TableValue>> rows;
    do {
      const auto page = tables_at(n).select(table, select, {.at_least = at_least, .timeout = hosted_patience});
      EXPECT_TRUE(page) << (page ? "" : page.error().what);
      if (!page) break;
      rows.insert(rows.end(), page->rows.begin(), page->rows.end());
      select.continue_from = page->next;
    } while (!select.continue_from.empty());
    return rows;
  }
  /// A key whose row is in a part at home at node 3, or not.
  std::string key_at_three(bool there) {
    for (int i = 0; i < 31; ++i) {
      const auto key = "k" + std::to_string(i);
      std::string encoded;
      actors::table_keys::append_ordered(encoded, FieldType::text, TableValue(key));
      if ((home_of(actors::part_name(name_, actors::part_of_key(encoded, parts))) == 3) == there) return key;
    }
    return ADD_FAILURE() << "no such key", "";
  }

  std::string name_;
  int sold_ = 0;
};

TEST_F(SpreadTable, IsOneTableFromAnyNode) {
  sell(1, 40);
  const auto made = at(1).create(name_, "table", spread_spec(parts));
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_TRUE(at(2).create("whole", "table", spread_spec(1)));
  const auto last = sell(2, 40);
  for (std::uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(cluster_->node(n).wait_for(last, hosted_patience));
    EXPECT_EQ(rows_at(n, name_, last).size(), 31u);
    for (const auto& order : std::vector<std::vector<TableOrder>>{{}, {{"total", true}}}) {
      const TableSelect select{.where = "total > 3", .order_by = order, .limit = 4};
      EXPECT_EQ(rows_at(n, name_, last, select), rows_at(n, "whole", last, select)) << n;
    }
    const auto info = at(n).describe(name_);
    ASSERT_TRUE(info) << info.error().what;
    ASSERT_EQ(info->versions.size(), parts);
    for (std::uint32_t part = 0; part < parts; ++part) {
      EXPECT_EQ(info->versions[part].part, part);
      EXPECT_EQ(info->versions[part].home, home_of(actors::part_name(name_, part)));
    }
    EXPECT_EQ(at(n).list().value().size(), 2u);
    EXPECT_EQ(tables_at(n).list_tables().value().size(), 2u);
  }
  ASSERT_TRUE(at(3).ask(name_, Projections::Ask::pause));
  const auto all_are = [&](const std::string& state) {
    return in_time([&] {
      const auto info = at(2).describe(name_);
      return info && std::ranges::all_of(info->versions, [&](const auto& one) { return one.state == state; });
    });
  };
  EXPECT_TRUE(all_are("paused"));
  ASSERT_TRUE(at(2).ask(name_, Projections::Ask::resume));
  EXPECT_TRUE(all_are("live"));
  const auto before = at(2).describe(name_).value().versions.back().version;
  const auto changed = at(2).change(name_, spread_spec(parts, "fail"), {});
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_TRUE(in_time([&] {
    const auto info = at(1).describe(name_);
    return info &&
           std::ranges::all_of(info->versions, [&](const auto& one) { return one.version > before && one.serving; });
  })) << "all have it, and it is read";
  for (std::uint32_t n = 1; n <= 3; ++n) EXPECT_EQ(rows_at(n, name_, last), rows_at(n, "whole", last));
  ASSERT_TRUE(at(1).ask(name_, Projections::Ask::drop));
  EXPECT_TRUE(in_time([&] { return tables_at(3).select(name_, {}).error().code == ErrorCode::not_found; }));
}

TEST_F(SpreadTable, AHomeThatIsAwayIsNamedAndItsPartsAloneAreBuiltAnew) {
  ASSERT_TRUE(at(1).create(name_, "table", spread_spec(parts)));
  auto last = sell(1, 62);
  const auto before = rows_at(1, name_, last);
  EXPECT_EQ(before.size(), 31u);
  const auto handled = [&](std::uint32_t home) {
    std::uint64_t events = 0;
    const auto info = at(1).describe(name_);
    EXPECT_TRUE(info) << (info ? "" : info.error().what);
    if (info)
      for (const auto& one : info->versions) events += one.home == home ? one.events : 0;
    return events;
  };
  const auto elsewhere = handled(1) + handled(2);
  stop(3);
  const auto away = tables_at(1).select(name_, {});
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::unavailable);
  EXPECT_THAT(away.error().what, HasSubstr("of table \"" + name_ + "\""));
  EXPECT_EQ(tables_at(1).select(name_, {.where = "key = '" + key_at_three(true) + "'"}).error().code,
            ErrorCode::unavailable);
  const auto here = tables_at(2).select(name_, {.where = "key = '" + key_at_three(false) + "'"});
  ASSERT_TRUE(here) << here.error().what;
  EXPECT_EQ(here->rows.size(), 1u);
  const auto info = at(1).describe(name_);
  ASSERT_TRUE(info) << info.error().what;
  for (const auto& one : info->versions) EXPECT_EQ(one.error.has_value(), one.home == 3);

  std::filesystem::remove_all(rows_of(3));
  start(3);
  ASSERT_TRUE(cluster_->wait_until_open());
  last = append(2, "Marker");
  for (std::uint32_t n = 1; n <= 3; ++n) EXPECT_EQ(rows_at(n, name_, last), before);
  EXPECT_EQ(handled(1) + handled(2), elsewhere) << "nothing was built there again";
  EXPECT_GT(handled(3), 0u);
}

// Of two that change a definition at the same time through different nodes, one is told so.
TEST_F(HomedProjectionsTest, TablesAreListedWithTheOnesWhoseHomeIsAway) {
  const std::string spec =
      R"({"fields":[{"name":"id","type":"text","role":"key"}],"rules":[{"types":["A"],"action":"upsert","key":"aggregate"}]})";
  const auto here = named_at(1, "here-"), away = named_at(3, "away-");
  ASSERT_TRUE(at(1).create(here, "table", spec));
  ASSERT_TRUE(at(1).create(away, "table", spec));
  const auto last = append(1, "A");
  for (const auto& name : {here, away})
    ASSERT_TRUE(tables_at(1).select(name, {}, {.at_least = last, .timeout = hosted_patience}));
  ASSERT_TRUE(in_time([&] {
    const auto all = tables_at(1).list_tables();
    return all && all->size() == 2 && std::ranges::all_of(*all, [](const auto& one) { return one.state == "live"; });
  }));
  leave(3);  // its node still shows what is defined

  const auto tables = tables_at(1).list_tables();

  ASSERT_TRUE(tables) << tables.error().what;
  ASSERT_EQ(tables->size(), 2u);
  const auto& [gone, there] = std::pair(tables->front(), tables->back());
  EXPECT_EQ(gone.projection, away);
  EXPECT_EQ(gone.state, "waiting");
  EXPECT_THAT(gone.error, HasSubstr("home does not answer"));
  EXPECT_EQ(gone.schema.fields.size(), 1u);
  EXPECT_EQ(there.projection, here);
  EXPECT_EQ(there.state, "live");
  join(3);
}

TEST_F(HomedProjectionsTest, AChangeExpectsAVersion) {
  const auto name = named_at(1, "changed-");
  const auto made = create_named(2, name);
  ASSERT_TRUE(made) << made.error().what;
  const auto of = [&](const std::string& type) {
    auto spec = made->spec;
    return spec.replace(spec.find("\"A\""), 3, "\"" + type + "\"");
  };
  EXPECT_TRUE(at(3).change(name, of("B"), made->last));
  const auto late = at(2).change(name, of("C"), made->last);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::version_conflict);
  EXPECT_TRUE(at(2).ask(name, Projections::Ask::drop));
  EXPECT_EQ(at(3).describe(name).error().code, ErrorCode::not_found);
  EXPECT_EQ(at(3).read_values(name, {}).error().code, ErrorCode::not_found);
  EXPECT_TRUE(create_named(3, name));
}

// A definition that nobody told the home of (its append was answered to nobody) is found all the same.
TEST_F(HomedProjectionsTest, ADefinitionThatWasOnlyAppendedIsHosted) {
  const auto name = named_at(2, "silent-");
  Catalogue elsewhere(cluster_->node(1), "projection");
  const auto like = create_named(2, named_at(2, "told-"));
  ASSERT_TRUE(like) << like.error().what;
  ASSERT_TRUE(elsewhere.create(name, like->kind, like->spec));
  const auto hosted = [&] {
    for (const auto& info : parts_.at(2).projections->host().hosted())
      if (info.name == name) return true;
    return false;
  };
  EXPECT_TRUE(in_time(hosted));
  const auto last = append(1, "A");
  EXPECT_EQ(named_index_at(3, name, last), recomputed(3, Query{}.types({"A"}), last));
}

TEST_F(HomedProjectionsTest, AHomeThatIsAwayIsSaidAndGoesOnWhenItIsBack) {
  const auto query = Query{}.types({"A"});
  const auto name = named_at(3, "away-");
  ASSERT_TRUE(create_named(1, name));
  for (int i = 0; i < 40; ++i) append(1, "A");
  auto last = append(1, "A");
  EXPECT_EQ(named_index_at(1, name, last).size(), 41u);
  const auto seen = at(1).describe(name).value().versions.back().events;
  EXPECT_EQ(seen, 41u);
  stop(3);
  const auto away = at(1).describe(name);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::unavailable);
  start(3);
  ASSERT_TRUE(cluster_->wait_until_open());
  last = append(3, "A");
  EXPECT_EQ(named_index_at(2, name, last), recomputed(2, query, last));
  EXPECT_LT(at(1).describe(name).value().versions.back().events, 10u) << "it went on where it was";
}

TEST_F(HomedProjectionsTest, LostRowsAreBuiltAnew) {
  const auto query = Query{}.types({"A"});
  const auto name = named_at(3, "lost-");
  ASSERT_TRUE(create_named(1, name));
  for (int i = 0; i < 40; ++i) append(1, "A");
  auto last = append(1, "A");
  EXPECT_EQ(named_index_at(1, name, last).size(), 41u);
  stop(3);
  std::filesystem::remove_all(rows_of(3));
  start(3);
  ASSERT_TRUE(cluster_->wait_until_open());
  last = append(2, "A");
  EXPECT_EQ(named_index_at(2, name, last), recomputed(2, query, last));
  EXPECT_EQ(at(1).describe(name).value().versions.back().events, 42u);
}

// As after a restore: rows of another store, ahead of this one, of a definition with the same name and version.
TEST_F(HomedProjectionsTest, RowsOfAnotherStoreAreBuiltAnew) {
  const auto name = named_at(2, "foreign-");
  ASSERT_TRUE(create_named(1, name));
  for (int i = 0; i < 40; ++i) append(1, "A");
  EXPECT_EQ(named_index_at(1, name, append(1, "A")).size(), 41u);
  for (std::uint32_t n = 1; n <= 3; ++n) leave(n);
  cluster_.reset();
  cluster_ = std::make_unique<SmallCluster>(
      SmallCluster::Options{.nodes = 3, .shards = 6, .data_dir = folder_.path() / "restored"});
  for (std::uint32_t n = 1; n <= 3; ++n) join(n);
  ASSERT_TRUE(cluster_->wait_until_open());
  ASSERT_TRUE(create_named(1, name));
  const auto last = append(3, "A");
  for (std::uint32_t n = 1; n <= 3; ++n)
    EXPECT_EQ(named_index_at(n, name, last), recomputed(n, Query{}.types({"A"}), last));
}

/// A share that a test gives and takes.
class ToldShare final : public DefinitionShare {
 public:
  explicit ToldShare(EventStore& events) : events_(events) {}
  [[nodiscard]] bool is_here(const AggregateId&) const override { return here_now; }
  [[nodiscard]] bool is_elsewhere(const AggregateId&) const override { return elsewhere; }
  [[nodiscard]] Result<void> settle(const AggregateId&) override { return {}; }
  [[nodiscard]] Result<Here> here(const std::string& type) override {
    const bool covered = here_now && !opens_behind_the_look;
    Here all{.covers = [covered](const AggregateId&) { return covered; }};
    if (covered) all.definitions = events_.aggregates(type, std::nullopt, 100).value();
    here_now = here_now || opens_behind_the_look;
    return all;
  }
  std::atomic<bool> here_now{true}, elsewhere{false}, opens_behind_the_look{false};

 private:
  EventStore& events_;
};

// A home lets go at once what is not its own any more; rows stay while nobody else has it, and go when somebody has.
TEST_F(HomedProjectionsTest, WhatIsLetGoKeepsItsRowsUntilAnotherHasIt) {
  auto& events = cluster_->node(1);
  const auto share = std::make_shared<ToldShare>(events);
  ProjectionHostOptions options{
      .folder = folder_.path() / "told", .owner = {EventId::derived({}, 1), EventId::derived({}, 2)}, .share = share};
  ProjectionHost host(events, projection_kinds(events, {}, std::make_shared<TableHandlers>()), options);
  ASSERT_TRUE(host.create_value_index("told", {.types = {"A"}, .path = "$.n", .value = "integer"}));
  GlobalPosition last;
  for (int i = 0; i < 40; ++i) last = append(1, "A");
  ASSERT_TRUE(host.wait_until("told", last, hosted_patience));

  const auto given_back = [&] {
    EXPECT_TRUE(host.look_again());
    EXPECT_TRUE(host.hosted().empty());
    EXPECT_EQ(host.wait_until("told", last, hosted_patience).error().code, ErrorCode::wrong_shard);
    last = append(1, "A");
    share->here_now = true, share->elsewhere = false;
    EXPECT_TRUE(
        in_time([&] { return host.look_again() && host.wait_until("told", last, hosted_patience).has_value(); }));
    EXPECT_EQ(host.read_values("told", {.limit = 1'000, .rows = {.at_least = last}}).value().entries.size(),
              recomputed(1, Query{}.types({"A"}), last).size());
    return host.describe("told").value().versions.back().events;
  };
  share->here_now = false;
  EXPECT_EQ(given_back(), 1u) << "it went on where it was";
  share->here_now = false;
  EXPECT_TRUE(host.look_again());
  share->opens_behind_the_look = true;
  EXPECT_TRUE(host.look_again());
  share->opens_behind_the_look = false;
  share->here_now = false;
  EXPECT_EQ(given_back(), 1u) << "it came here while it was looked for: its rows are its own";
  share->here_now = false, share->elsewhere = true;
  EXPECT_EQ(given_back(), 43u) << "built anew";
}

// Nothing is defined on a shard that can move; what is asked of it goes to the new owner, and is hosted there from then
// on.
TEST_F(HomedProjectionsTest, AMovedShardTakesItsHomeWithIt) {
  const auto name = named_at(1, "moved-");
  const auto shard = cluster_->node(1).shard_of({"$projection", name});
  EXPECT_EQ(at(3).describe(name).error().code, ErrorCode::not_found);
  cluster_->move(shard, 2);
  ASSERT_TRUE(in_time([&] {
    return parts_.at(2).homes->is_home({"$projection", name}) && !parts_.at(1).homes->is_home({"$projection", name});
  }));
  ASSERT_TRUE(create_named(1, name));
  const auto last = append(1, "A");
  EXPECT_EQ(named_index_at(3, name, last).size(), 1u);
  EXPECT_EQ(parts_.at(2).projections->host().hosted().size(), 1u);
  EXPECT_EQ(parts_.at(1).projections->host().hosted().size(), 0u);
}

}  // namespace
}  // namespace evershard::cluster
