// Which answers a client takes, by the table that the clients of all languages share; and what it does with a server
// that goes on in another history.

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "evershard/sharding/heard_leaderships.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using History = nlohmann::json;

const std::string x = "00000000-0000-4000-8000-00000000000a", y = "00000000-0000-4000-8000-00000000000b";

/// With the identities in place of their letters.
std::string spelled(std::string led, const History& identities) {
  for (const auto& [letter, identity] : identities.items()) {
    for (std::size_t at = 0; (at = led.find(':' + letter, at)) != std::string::npos; at += 2)
      led.replace(at + 1, 1, identity.get<std::string>());
  }
  return led;
}

TEST(Histories, AreToldApartAsTheTableSays) {
  std::ifstream file(EVERSHARD_CLIENT_TABLES "/histories.json");
  const auto table = History::parse(file);
  const std::map<ErrorCode, std::string> words{
      {ErrorCode::fenced, "other"}, {ErrorCode::unavailable, "older"}, {ErrorCode::invalid_argument, "malformed"}};
  for (const auto& one : table["cases"]) {
    sharding::HeardLeaderships heard;
    for (const auto& answer : one["answers"]) {
      const auto taken = heard.hear(spelled(answer[0], table["identities"]));
      EXPECT_EQ(taken ? "taken" : words.at(taken.error().code), answer[1].get<std::string>())
          << one["of"] << ": " << answer[0];
    }
  }
}

/// One store behind two doors, each of which says whose order it follows.
class LedDoors : public ::testing::Test {
 protected:
  LedDoors() {
    served_.served->led = [this] { return first_led_; };
    second_.led = [this] { return second_led_; };
    second_.fork = served_.served->fork;
    other_ = door::Door::start(second_, {.listen = {"127.0.0.1:0"}}).value();
  }
  Remote connect(std::chrono::milliseconds timeout = 20s, std::chrono::milliseconds unavailable_timeout = 300ms) {
    return served_.connect({.servers = {served_.address(), other_->addresses().front()},
                            .timeout = timeout,
                            .unavailable_timeout = unavailable_timeout});
  }
  void lead_first(const std::string& led) { first_led_ = std::make_shared<const std::string>(led); }
  void lead_second(const std::string& led) { second_led_ = std::make_shared<const std::string>(led); }

  ServedStore served_;
  serving::HeadWatch watch_{served_.local};
  serving::Served second_{served_.local,
                          served_.local,
                          served_.pool,
                          watch_,
                          [this] { return served_.access; },
                          [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  std::shared_ptr<const std::string> first_led_ = std::make_shared<const std::string>("2:" + x),
                                     second_led_ = first_led_;
  std::unique_ptr<door::Door> other_;
};

Append one_more() { return Append{}.event("order-1", "Placed", "{}"); }

TEST_F(LedDoors, OfOneHistoryAreUsedBoth) {
  auto store = connect(60s, 60s);
  EXPECT_TRUE(store.append(one_more()));
  served_.stop();
  lead_second("2:" + x + ",3:" + y);
  EXPECT_TRUE(store.append(one_more())) << "another coordinator leads";
  EXPECT_EQ(store.head().value().value, 2u);
}

TEST_F(LedDoors, OfAnotherHistoryAreNotUsedAndStoreNothing) {
  auto store = connect();
  ASSERT_TRUE(store.append(one_more()));
  ASSERT_TRUE(store.head());
  served_.stop();
  lead_second("2:" + y + ",3:" + y);

  EXPECT_FALSE(store.append(one_more()));
  EXPECT_FALSE(store.head());
  auto read = store.read(Query::all());
  EXPECT_FALSE(read.next());
  auto feed = store.follow(Query::all());
  for (int n = 0; n != 3; ++n) {
    const auto item = feed.next(200ms);
    EXPECT_TRUE(!item || item->events.empty());
  }
  EXPECT_EQ(served_.local.head().value().value, 1u);
}

// Behind one address too, as of a load balancer.
TEST_F(LedDoors, OfAnotherHistorySayWhy) {
  auto store = served_.connect({.timeout = 20s, .unavailable_timeout = 300ms});
  ASSERT_TRUE(store.head());
  lead_first("2:" + y);

  const auto append = store.append(one_more());
  ASSERT_FALSE(append);
  EXPECT_THAT(append.error().what, HasSubstr("two histories"));
  const auto head = store.head();
  ASSERT_FALSE(head);
  EXPECT_THAT(head.error().what, HasSubstr("two histories"));
  auto read = store.read(Query::all());
  const auto event = read.next();
  ASSERT_FALSE(event);
  EXPECT_THAT(event.error().what, HasSubstr("two histories"));
  EXPECT_EQ(served_.local.head().value().value, 0u);
}

TEST_F(LedDoors, OfAnOlderLeadershipAreLeftOutUntilTheyHaveHeardOfTheNewer) {
  lead_first("2:" + x + ",3:" + y);
  auto store = served_.connect({.timeout = 20s, .unavailable_timeout = 300ms});
  ASSERT_TRUE(store.head());
  lead_first("2:" + x);
  const auto behind = store.head();
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, ErrorCode::unavailable);
  EXPECT_THAT(behind.error().what, HasSubstr("has not heard of the newer coordinator yet"));
  lead_first("2:" + x + ",3:" + y);
  EXPECT_TRUE(store.head());
}

// The answers of a stream that was begun before say so themselves.
TEST_F(LedDoors, AStreamThatIsOpenIsNotTakenAnyMore) {
  auto store = served_.connect({.timeout = 20s, .unavailable_timeout = 300ms});
  ASSERT_TRUE(store.append(one_more()));
  auto feed = store.follow(Query::all());
  ASSERT_TRUE(feed.next(20s));
  lead_first("2:" + x + ",3:" + x);
  ASSERT_TRUE(store.head());
  lead_first("2:" + x);
  const auto append = store.append(one_more());
  ASSERT_FALSE(append);
  EXPECT_EQ(append.error().code, ErrorCode::timeout) << "it was stored, and whether it stays nobody knows";
  EXPECT_THAT(append.error().what, HasSubstr("has not heard of the newer coordinator yet"));
  std::size_t given = 0;
  for (int n = 0; n != 5; ++n)
    if (const auto item = feed.next(200ms)) given += item->events.size();
  EXPECT_EQ(given, 0u);
  lead_first("2:" + x + ",3:" + x);
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       given == 0 && std::chrono::steady_clock::now() < until;)
    if (const auto item = feed.next(500ms)) given += item->events.size();
  EXPECT_EQ(given, 1u) << "it goes on";
}

/// The server is put back to an earlier position, at the same address: another fork.
class RestoredServer : public ::testing::Test {
 protected:
  void restore() {
    served_.stop();
    served_.fork = "another-fork";
    served_.start();
  }
  ServedStore served_;
};

TEST_F(RestoredServer, TakesNothingOfAClientOfSeveralAddresses) {
  auto store = served_.connect({.servers = {served_.address(), "127.0.0.1:1"}, .timeout = 30s});
  ASSERT_TRUE(store.append(one_more()));
  restore();

  const auto append = store.append(one_more());
  ASSERT_FALSE(append);
  EXPECT_EQ(append.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(append.error().what, HasSubstr("fork another-fork now"));
  EXPECT_EQ(store.head().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(served_.local.head().value().value, 1u) << "nothing was stored in the other history";
}

TEST_F(RestoredServer, EndsReadsAndFollowsOfAClientOfOneAddress) {
  append_events(served_.local, 20'000, 1'000);
  auto store = served_.connect({.timeout = 30s});
  auto read = store.read(Query::all());
  ASSERT_TRUE(read.next());
  auto feed = store.follow(Query::all(), {.page_events_max = 10});
  ASSERT_TRUE(feed.next(30s));
  restore();

  std::optional<Error> ended;
  for (auto event = read.next(); !ended; event = read.next()) {
    if (!event)
      ended = event.error();
    else if (!*event)
      break;
  }
  ASSERT_TRUE(ended) << "pages of two forks are no read";
  EXPECT_THAT(ended->what, HasSubstr("fork another-fork now"));
  for (ended.reset(); !ended;)
    if (const auto item = feed.next(5s); !item) ended = item.error();
  EXPECT_THAT(ended->what, HasSubstr("fork another-fork now"));

  auto later = store.follow(Query::all(), {.after = GlobalPosition{1'000}});
  auto item = later.next(30s);
  ASSERT_FALSE(item) << "position 1,000 is of the fork that was";
  EXPECT_EQ(item.error().code, ErrorCode::invalid_argument);
  const auto appended = store.append(one_more());
  ASSERT_TRUE(appended) << "what is at the one address is what was asked for";
  auto behind = store.follow(Query::all(), {.after = appended->last_position});
  ASSERT_TRUE(store.append(one_more()));
  auto next = behind.next(5s);
  while (next && next->kind != FeedItem::Kind::events) next = behind.next(5s);
  ASSERT_TRUE(next) << "that position is of the fork that there is: " << next.error().what;
  EXPECT_EQ(next->events.front().position, appended->last_position + 1);
}

/// Its cluster begins with an empty cut log: epochs begin low again, with other coordinators.
TEST_F(RestoredServer, LeaderEpochsOfTheForkThatWasSayNothingOfItToAClientOfOneAddress) {
  auto led = std::make_shared<const std::string>("7:" + x + ",8:" + x);
  served_.served->led = [&] { return led; };
  auto store = served_.connect({.timeout = 20s, .unavailable_timeout = 1s});
  ASSERT_TRUE(store.append(one_more()));
  restore();
  led = std::make_shared<const std::string>("7:" + y);
  served_.served->led = [&] { return led; };

  const auto appended = store.append(one_more());
  ASSERT_TRUE(appended) << appended.error().what;
  EXPECT_TRUE(store.head());
  led = std::make_shared<const std::string>("7:" + x);
  EXPECT_FALSE(store.head()) << "of the fork that there is two histories are told apart";
}

// A worker's stay lasts for days, and its stream says once whose order the node follows.
TEST_F(LedDoors, AWorkersStayEndsWhereItsNodeComesToAnotherHistory) {
  auto store = served_.connect({.timeout = 20s, .unavailable_timeout = 300ms});
  ASSERT_TRUE(store.append(one_more()));
  ASSERT_TRUE(
      store.groups().create_group({.name = "g", .query = Query{}.types({"Placed"}), .after = GlobalPosition(0)}));
  auto worker = store.groups().join_group("g").value();
  const auto first = worker.next(20s);
  ASSERT_TRUE(first && *first);

  lead_first("2:" + x + ",3:" + x);
  EXPECT_TRUE(worker.acknowledge(**first)) << "the next coordinator of this history: nothing has changed";
  ASSERT_TRUE(store.append(one_more()));
  const auto second = worker.next(20s);
  ASSERT_TRUE(second && *second);
  EXPECT_GT((*second)->event.position, (*first)->event.position);

  ASSERT_TRUE(store.head());
  lead_first("2:" + x + ",3:" + y);
  ASSERT_TRUE(served_.local.append(one_more()));
  for (int n = 0; n != 5; ++n) {
    const auto next = worker.next(200ms);
    EXPECT_FALSE(next && *next) << "of another history";
  }
}

}  // namespace
}  // namespace evershard
