// An aggregate's state, followed: over the store in this process.

#include <evershard/local.hpp>
#include <evershard/state_feed.hpp>
#include <thread>

#include "tests/local/accounts.hpp"

namespace evershard {
namespace {

/// `20 v3 @7`; `-`: nothing changed in the time; or the error.
std::string next_of(StateFeed<SmallBank>& feed, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
  const auto state = feed.next(timeout);
  if (!state) return std::string(name_of(state.error().code));
  if (!*state) return "-";
  return std::to_string((*state)->state.balance) + " v" + std::to_string((*state)->version.value) + " @" +
         std::to_string((*state)->position.value);
}
constexpr std::chrono::milliseconds at_once(0);

template <class Reply>
void must(const Answer<Reply>& answer) {
  EXPECT_TRUE(answer.replied()) << shown(answer);
}

struct States : ::testing::Test {
  States() : store(Local::open().value()) { EXPECT_TRUE(store.host<SmallBank>()); }
  AggregateRef<SmallBank> account(std::string_view value = "1") { return store.get<SmallBank>(value); }
  Local store;
};

TEST_F(States, BeginWithTheStateAsItIs) {
  StateFeed<SmallBank> before(store, "1");
  EXPECT_EQ(next_of(before), "0 v0 @0");
  must(account().ask(Deposit{5}));
  StateFeed<SmallBank> after(store, "1");
  EXPECT_EQ(next_of(after), "5 v1 @1");
  EXPECT_EQ(next_of(after, at_once), "-");
  EXPECT_EQ(next_of(before), "5 v1 @1");
}

TEST_F(States, AreThoseAfterEachAppend) {
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  must(account().ask(Deposit{5}));
  must(account("2").ask(Deposit{100}));
  must(account().ask(DepositTwice{10}));  // two events, one change
  must(account().ask(Withdraw{1}));
  EXPECT_EQ(next_of(feed), "5 v1 @1");
  EXPECT_EQ(next_of(feed), "25 v3 @4");
  EXPECT_EQ(next_of(feed), "24 v4 @5");
  EXPECT_EQ(next_of(feed, at_once), "-");
}

TEST_F(States, SlowReadersMayHaveTheNewestOnly) {
  StateFeed<SmallBank> feed(store, "1", {.newest = true});
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  for (int i = 0; i < 900; ++i) account().ask_async(Deposit{1}, [](auto&&) {});
  must(account().ask(Deposit{1}));
  std::string last;
  int told = 0;
  for (auto seen = next_of(feed); seen != "-"; seen = next_of(feed)) {
    last = seen;
    ++told;
    if (last == "901 v901 @901") break;
  }
  EXPECT_EQ(last, "901 v901 @901");
  EXPECT_LT(told, 100);
}

TEST_F(States, GoOnFromASnapshot) {
  must(account().ask(Deposit{5}));
  must(account().ask(DepositAndSnap{5}));
  must(account().ask(Deposit{7}));
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "17 v3 @3");
  must(account().ask(Deposit{1}));
  EXPECT_EQ(next_of(feed), "18 v4 @4");
}

TEST_F(States, EventsThatOnlyConcernTheAggregateAreNotItsOwn) {
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  Event event;
  event.aggregate = AggregateId{"order", "1"};
  event.type = "ordered";
  event.also = {{"account", "1"}};
  ASSERT_TRUE(store.append(Append{}.event(event)));
  must(account().ask(Deposit{5}));
  EXPECT_EQ(next_of(feed), "5 v1 @2");
}

TEST_F(States, ComeWhileOneWaits) {
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    must(account().ask(Deposit{5}));
  });
  EXPECT_EQ(next_of(feed), "5 v1 @1");
  later.join();
}

TEST_F(States, BeginAnewWhereTheAggregateWasRemoved) {
  must(account().ask(Deposit{5}));
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "5 v1 @1");
  ASSERT_TRUE(store.retention().remove_aggregate({"account", "1"}, {}));
  must(account().ask(Deposit{3}));
  std::string last;
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       std::chrono::steady_clock::now() < until;) {
    const auto seen = next_of(feed, std::chrono::milliseconds(300));
    if (seen != "-")
      last = seen;
    else if (last.starts_with("3 v"))
      break;  // and nothing comes behind it
  }
  EXPECT_TRUE(last.starts_with("3 v")) << last;
}

TEST_F(States, SayWhatCannotBeApplied) {
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  ASSERT_TRUE(store.append(Append{}.event("account-1", "never_heard_of", "")));
  EXPECT_EQ(next_of(feed), "corruption");
  EXPECT_EQ(next_of(feed), "corruption");  // it was read anew
}

TEST_F(States, RefuseWhatIsNoAggregate) {
  StateFeed<SmallBank> feed(store, "");
  EXPECT_EQ(next_of(feed), "invalid_argument");
}

TEST_F(States, CanBeCancelled) {
  StateFeed<SmallBank> feed(store, "1");
  EXPECT_EQ(next_of(feed), "0 v0 @0");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    feed.cancel();
  });
  EXPECT_EQ(next_of(feed), "cancelled");
  EXPECT_EQ(next_of(feed), "cancelled");
  other.join();
}

// Whoever writes, and however: each state told is one that the stored events give at that version.
TEST_F(States, AreNeverWrong) {
  std::thread writer([this] {
    for (int i = 0; i < 400; ++i) must(i % 7 == 0 ? account().ask(DepositTwice{i}) : account().ask(Deposit{i}));
  });
  StateFeed<SmallBank> feed(store, "1");
  std::uint64_t last = 0;
  while (last < 458) {  // 400, and 58 twice
    const auto state = feed.next(std::chrono::seconds(60));
    ASSERT_TRUE(state && *state);
    EXPECT_GE((*state)->version.value, last);
    last = (*state)->version.value;
    const auto stored = account().state_at((*state)->position);
    ASSERT_TRUE(stored);
    EXPECT_EQ((*state)->state.balance, stored->state.balance) << last;
    EXPECT_EQ((*state)->version, stored->version);
  }
  writer.join();
}

}  // namespace
}  // namespace evershard
