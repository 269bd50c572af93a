// A server's projections answer what those of the store itself do.

#include <gmock/gmock.h>

#include <chrono>
#include <semaphore>
#include <string>
#include <thread>

#include "evershard/tables.hpp"
#include "evershard/v1/projections.pb.h"
#include "evershard/v1/tables.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"
#include "tests/local/trailing_index.hpp"

namespace evershard {
namespace {

namespace pb = evershard::v1;
using Ask = Projections::Ask;

TEST(RemoteProjections, AnswerWhatTheStoresOwnDo) {
  ServedStore served;
  auto remote = served.connect();
  auto& here = served.local.projections();
  auto& there = remote.projections();
  for (int i = 0; i < 30; ++i) {
    Event event;
    event.aggregate = AggregateId{"a", std::to_string(i % 3)};
    event.type = i % 2 == 0 ? "A" : "B";
    event.payload = R"({"n":)" + std::to_string(i % 7 - 3) + "}";
    event.tags = {"t"};
    ASSERT_TRUE(remote.append(Append{}.event(std::move(event))));
  }
  const auto index = there.create_index(Query{}.types({"A"}).tags({"t"}));
  ASSERT_TRUE(index) << index.error().what;
  ASSERT_TRUE(there.create_value_index("n", {.types = {"A", "B"}, .path = "$.n", .value = "integer"}));
  ASSERT_TRUE(there.wait_until("n", *remote.head(), std::chrono::seconds(60)));
  ASSERT_TRUE(there.wait_until(index->name, *remote.head(), std::chrono::seconds(60)));

  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    for (const bool events : {false, true}) {
      IndexRead read{.start = 4, .limit = 5, .direction = direction, .rows = {.events = events}};
      EXPECT_EQ(*there.read_index(index->name, read), *here.read_index(index->name, read));
      ValueRead values{.from = "-1", .to = "2", .limit = 7, .direction = direction, .rows = {.events = events}};
      const auto first = there.read_values("n", values);
      ASSERT_TRUE(first) << first.error().what;
      EXPECT_EQ(*first, *here.read_values("n", values));
      EXPECT_EQ(first->entries.size(), 7u);
      values.after = first->next;
      EXPECT_EQ(*there.read_values("n", values), *here.read_values("n", values));
    }
  }
  EXPECT_EQ(*there.describe("n"), *here.describe("n"));
  EXPECT_EQ(*there.list(), *here.list());
  EXPECT_EQ(there.list()->size(), 2u);
  ASSERT_TRUE(there.ask("n", Ask::pause));
  EXPECT_TRUE(here.describe("n")->paused);
  ASSERT_TRUE(there.ask("n", Ask::resume));
  ASSERT_TRUE(there.change("n", R"({"types":["A"],"path":"$.n","value":"number"})", {}));
  ASSERT_TRUE(there.ask("n", Ask::rebuild));
  ASSERT_TRUE(there.ask("n", Ask::reset));
  ASSERT_TRUE(there.ask("n", Ask::drop));
  EXPECT_EQ(here.describe("n").error().code, ErrorCode::not_found);
}

TEST(RemoteProjections, RefusalsComeTyped) {
  ServedStore served;
  auto remote = served.connect();
  auto& there = remote.projections();
  EXPECT_EQ(there.describe("none").error().code, ErrorCode::not_found);
  EXPECT_EQ(there.ask("none", Ask::drop).error().code, ErrorCode::not_found);
  EXPECT_EQ(there.create_index(Query{}).error().code, ErrorCode::invalid_query);
  EXPECT_EQ(there.create_value_index("a b", {.types = {"A"}, .path = "$.n"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(there.create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "colour"}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(there.create("x", "none", "{}").error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(there.create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
  EXPECT_EQ(there.create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}).error().code,
            ErrorCode::already_exists);
  EXPECT_TRUE(there.create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}, IfThere::give));
  EXPECT_EQ(there.create_value_index("n", {.types = {"A"}, .path = "$.n"}, IfThere::give).error().code,
            ErrorCode::already_exists);
  EXPECT_EQ(there.change("n", "{}", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(there.change("n", R"({"types":["A"],"path":"$.m","value":"text"})", SeqNr{9}).error().code,
            ErrorCode::version_conflict);
  EXPECT_EQ(there.read_values("n", {.equal = "x"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(there.read_values("n", {.limit = 1'001}).error().code, ErrorCode::too_large);
  EXPECT_EQ(there.read_index("n", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(there.wait_until("n", GlobalPosition{1'000}, std::chrono::milliseconds(50)).error().code,
            ErrorCode::timeout);
  const auto reserved = remote.append(Append{}.event("$projection-n", "$ProjectionDropped", "{}"));
  ASSERT_FALSE(reserved);
  EXPECT_EQ(reserved.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(reserved.error().what, testing::HasSubstr("reserved"));
}

/// A table whose handler does not return until it is let go.
class StuckTable {
 public:
  explicit StuckTable(Local& store) {
    EXPECT_TRUE(store.add_table_handler(
        "stuck", [held = held_](const RecordedEvent&, TableChanges&) { held->acquire(), held->release(); }));
    EXPECT_TRUE(store.projections().create(
        "stuck", "table",
        R"({"fields":[{"name":"k","type":"text","role":"key"}],"handler":{"name":"stuck","revision":1,"query":{"items":[{"types":["T"]}]}}})"));
    // Rows that have never caught up are read by nobody who names no position: these have, and then they stand still.
    EXPECT_TRUE(store.projections().wait_until("stuck", *store.head(), std::chrono::seconds(60)));
    EXPECT_TRUE(store.append(Append{}.event("n-1", "T", "{}")));
  }
  ~StuckTable() { held_->release(); }

 private:
  std::shared_ptr<std::binary_semaphore> held_ = std::make_shared<std::binary_semaphore>(0);
};

TEST(RemoteProjections, WhoWaitsForOneThatIsBehindHoldsUpNobodyAndNotTheEnd) {
  ServedStore served;
  const StuckTable stuck(served.local);
  pb::WaitForProjectionRequest wait;
  wait.set_name("stuck");
  wait.mutable_at_least()->set_position(served.local.head()->value);
  wait.mutable_at_least()->set_timeout_ms(600'000);
  pb::SelectRequest select;
  select.set_table("stuck");
  *select.mutable_at_least() = wait.at_least();
  std::vector<grpc::Status> answers(6);
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    callers.emplace_back([&, i, address = served.address()] {
      const auto channel = raw::channel(address);
      answers[i] = i % 2 == 0 ? raw::unary(*channel, "/evershard.v1.Projections/WaitForProjection",
                                           wait.SerializeAsString(), nullptr, {}, std::chrono::minutes(10))
                              : raw::unary(*channel, "/evershard.v1.Tables/Select", select.SerializeAsString(), nullptr,
                                           {}, std::chrono::minutes(10));
    });
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (served.door->calls() < answers.size() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  auto remote = served.connect({.timeout = std::chrono::seconds(60)});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(remote.projections().describe("stuck")) << "threads of the pool wait: " << i;
  EXPECT_EQ(remote.projections().wait_until("stuck", *remote.head(), std::chrono::milliseconds(100)).error().code,
            ErrorCode::timeout);

  const auto began = std::chrono::steady_clock::now();
  served.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
  callers.clear();
  for (const auto& answer : answers)
    EXPECT_EQ(answer.error_code(), grpc::StatusCode::UNAVAILABLE) << answer.error_message();
}

TEST(RemoteProjections, WhoGoesWhileHeWaitsIsForgotten) {
  ServedStore served;
  const StuckTable stuck(served.local);
  pb::WaitForProjectionRequest wait;
  wait.set_name("stuck");
  wait.mutable_at_least()->set_position(served.local.head()->value);
  wait.mutable_at_least()->set_timeout_ms(600'000);
  const auto channel = raw::channel(served.address());
  for (const auto patience : {10, 60, 300}) {
    const auto answer = raw::unary(*channel, "/evershard.v1.Projections/WaitForProjection", wait.SerializeAsString(),
                                   nullptr, {}, std::chrono::milliseconds(patience));
    EXPECT_EQ(answer.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (served.door->calls() != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(served.door->calls(), 0u);
}

// An index that trails a store that is appended to would be chased for ever.
TEST(RemoteProjections, ValuesAreThoseOfTheMomentTheReadBegan) {
  ServedStore served;
  append_events(served.local, 5);
  TrailingIndex index(served.local);
  served.served->own_projections = &index;
  const auto began = *served.local.head();

  const auto page = served.connect().projections().read_values("n", {});

  ASSERT_TRUE(page) << page.error().what;
  EXPECT_EQ(page->watermark, began);
  EXPECT_EQ(index.asked(), std::vector(4, std::optional(began)));
}

/// What each listing waited for.
class ListedDocuments final : public Documents {
 public:
  Result<DocumentDefinition> define(const std::string&, const std::string&, std::optional<SeqNr>, bool) override {
    return no();
  }
  Result<void> drop(const std::string&) override { return no(); }
  Result<std::vector<DocumentDefinition>> definitions() override { return no(); }
  Result<ProjectionInfo> describe(const std::string&) override { return no(); }
  Result<Document> get(const AggregateId&, DocumentRead, std::optional<GlobalPosition>,
                       std::chrono::milliseconds) override {
    return no();
  }
  Result<DocumentPage> list(const DocumentListing& listing) override {
    asked = listing.at_least;
    return DocumentPage{};
  }
  Result<void> remove(const AggregateId&) override { return no(); }
  std::optional<GlobalPosition> asked;

 private:
  static Refused no() { return refuse(ErrorCode::invalid_argument, "not here"); }
};

TEST(RemoteProjections, EveryReadWaitsForWhatTheClientHasSeen) {
  ServedStore served;
  const StuckTable stuck(served.local);
  TrailingIndex index(served.local, 0);
  served.served->own_projections = &index;
  ListedDocuments documents;
  served.served->documents = &documents;
  auto remote = served.connect();
  const auto seen = remote.append(Append{}.event("n-1", "T", "{}"))->last_position;
  const TableReading short_wait{.timeout = std::chrono::milliseconds(100)};

  EXPECT_EQ(remote.tables().select("stuck", {}, short_wait).error().code, ErrorCode::timeout);
  ASSERT_TRUE(remote.projections().read_index("n", {}));
  ASSERT_TRUE(remote.projections().read_values("n", {}));
  EXPECT_EQ(index.asked(), std::vector(2, std::optional(seen)));
  ASSERT_TRUE(remote.documents().list({.type = "order"}));
  EXPECT_EQ(documents.asked, seen);

  const auto none = GlobalPosition{0};
  EXPECT_TRUE(remote.tables().select("stuck", {}, {.at_least = none, .timeout = short_wait.timeout}))
      << "what its caller says counts";
  ASSERT_TRUE(remote.projections().read_index("n", {.rows = {.at_least = none}}));
  EXPECT_EQ(index.asked().back(), none);
  auto careless = served.connect({.read_own_writes = false});
  ASSERT_TRUE(careless.append(Append{}.event("n-1", "T", "{}")));
  EXPECT_TRUE(careless.tables().select("stuck", {}, short_wait));
  ASSERT_TRUE(careless.projections().read_index("n", {}));
  EXPECT_EQ(index.asked().back(), std::nullopt);
}

TEST(RemoteProjections, ForEverIsNoShortTimeAndNoTimeIsEnoughToAsk) {
  constexpr auto ever = std::chrono::milliseconds::max();
  ServedStore served;
  auto& here = served.local.projections();
  ASSERT_TRUE(here.create_value_index("n", {.types = {"T"}, .path = "$.n", .value = "integer"}));
  ASSERT_TRUE(here.create(
      "t", "table",
      R"({"fields":[{"name":"k","type":"text","role":"key"}],"rules":[{"types":["T"],"action":"upsert","key":"aggregate","fields":{}}]})"));
  ASSERT_TRUE(served.local.documents().define("order", R"({"events":{"T":{"merge":true}}})"));
  const auto head = *served.local.head();
  auto remote = served.connect();
  auto& there = remote.projections();

  EXPECT_TRUE(there.wait_until("n", head, ever));
  EXPECT_TRUE(there.read_values("n", {.rows = {.at_least = head, .timeout = ever}}));
  EXPECT_TRUE(remote.documents().list({.type = "order", .at_least = head, .timeout = ever}));
  EXPECT_TRUE(remote.tables().select("t", {}, {.at_least = head, .timeout = ever}));
  const auto at_once =
      served.connect().tables().select("t", {}, {.at_least = head, .timeout = std::chrono::milliseconds(0)});
  EXPECT_TRUE(at_once) << at_once.error().what;
}

TEST(RemoteProjections, WhereThereAreNoneEachCallSaysSo) {
  ServedStore served;
  served.served->own_projections = nullptr;  // as where none are wanted
  auto remote = served.connect({.timeout = std::chrono::seconds(20), .unavailable_timeout = std::chrono::seconds(1)});
  const auto refused = remote.projections().create_index(Query::all());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().what, testing::HasSubstr("keeps no projections"));
}

}  // namespace
}  // namespace evershard
