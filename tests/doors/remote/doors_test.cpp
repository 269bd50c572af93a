// Several addresses of one store: doors that are gone, that stop, that come back, that are another store's; and what is
// decided about them.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "evershard/doors/remote/connection.hpp"
#include "evershard/doors/remote/door_choice.hpp"
#include "evershard/doors/remote/shard_directory.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using remote::DoorChoice;
using remote::ShardDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Whose = DoorChoice::Whose;

const DoorChoice::Clock::time_point zero{};

DoorChoice doors(std::size_t count, Whose whose = Whose::unknown) {
  DoorChoice choice;
  for (std::size_t i = 0; i < count; ++i) choice.is(choice.add(), whose);
  return choice;
}

TEST(DoorChoice, TakesTheFirstThatSaysThatItIsOurs) {
  auto choice = doors(3);
  EXPECT_FALSE(choice.current());
  EXPECT_EQ(choice.to_meet(zero), 0u);
  choice.failed(0, zero, 100ms);
  EXPECT_EQ(choice.to_meet(zero), 1u);
  choice.is(1, Whose::foreign);
  EXPECT_EQ(choice.to_meet(zero), 2u);
  EXPECT_EQ(choice.to_meet(zero + 100ms), 0u) << "it has rested";
  choice.is(2, Whose::ours);
  EXPECT_EQ(choice.current(), 2u);
  EXPECT_FALSE(choice.to_meet(zero + 1s)) << "one that works is enough";
}

TEST(DoorChoice, KeepsToWhatWorksAndMovesOnOnce) {
  auto choice = doors(3, Whose::ours);
  EXPECT_EQ(choice.current(), 0u);
  for (int calls = 0; calls < 5; ++calls) choice.failed(0, zero, 1s);
  EXPECT_EQ(choice.current(), 1u);
  choice.worked(1);
  choice.failed(1, zero + 10ms, 1s);
  EXPECT_EQ(choice.current(), 2u);
  choice.failed(2, zero + 20ms, 1s);
  EXPECT_EQ(choice.current(), 2u) << "the others rest";
  choice.failed(2, zero + 1'005ms, 1s);
  EXPECT_EQ(choice.current(), 0u);
}

TEST(DoorChoice, AWordAloneMendsNoDoorThatWasTried) {
  auto choice = doors(1, Whose::ours);
  choice.failed(0, zero, 1s);
  (void)choice.add();
  choice.is(0, Whose::ours);
  EXPECT_EQ(choice.to_meet(zero), 1u);
  choice.worked(0);
  EXPECT_FALSE(choice.to_meet(zero));
}

TEST(DoorChoice, OneThatTurnsOutToBeAnothersIsLeftForOneThatIsOurs) {
  auto choice = doors(3, Whose::ours);
  ASSERT_EQ(choice.current(), 0u);
  choice.is(0, Whose::foreign);
  EXPECT_EQ(choice.current(), 1u);
}

TEST(DoorChoice, NeverAsksAnotherStores) {
  auto choice = doors(2, Whose::foreign);
  EXPECT_TRUE(choice.all_foreign());
  EXPECT_FALSE(choice.current());
  EXPECT_FALSE(choice.to_meet(zero + 1h));
}

Membership said_by(std::uint32_t here, std::vector<std::uint32_t> owners, std::uint64_t epoch) {
  Membership said{"shop", "fork", static_cast<std::uint32_t>(owners.size()), 1, here, {{1, "a:1"}, {2, "b:1"}},
                  owners, {}};
  said.epochs.assign(owners.size(), Epoch{epoch});
  return said;
}

TEST(ShardDirectory, BelievesTheNewestEpochOfEachShard) {
  ShardDirectory directory;
  ASSERT_TRUE(directory.learn(said_by(1, {1, 2}, 5)));
  ASSERT_TRUE(directory.learn(said_by(2, {2, 2}, 4)));
  EXPECT_EQ(directory.owner(ShardId(0)), 1u) << "an older word";
  ASSERT_TRUE(directory.learn(said_by(2, {2, 1}, 6)));
  EXPECT_EQ(directory.owner(ShardId(0)), 2u);
  EXPECT_EQ(directory.owner(ShardId(1)), 1u);
  EXPECT_EQ(directory.owner(ShardId(7)), 0u);
}

TEST(ShardDirectory, RefusesAnotherStoreACopyAndAnotherNumberOfShards) {
  ShardDirectory directory;
  ASSERT_TRUE(directory.learn(said_by(1, {1, 2}, 5)));
  for (const auto how : {0, 1, 2}) {
    auto other = said_by(1, {1, 2}, 9);
    if (how == 0) other.store_id = "another";
    if (how == 1) other.fork_id = "a copy";
    if (how == 2) other.shards = 3;
    const auto learned = directory.learn(other);
    ASSERT_FALSE(learned);
    EXPECT_EQ(learned.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(learned.error().what, HasSubstr("another store"));
  }
}

TEST(ShardDirectory, AnAppendLiesWhereItsFirstEventDoes) {
  ShardDirectory directory;
  EXPECT_FALSE(directory.shard_of(Append{}.event("order-1", "T", "x"))) << "nobody has said yet";
  ASSERT_TRUE(directory.learn(said_by(1, std::vector<std::uint32_t>(16, 1), 1)));
  EXPECT_EQ(directory.shard_of(Append{}.event("a-1", "T", "x").event("order-1", "T", "x")), ShardId(3))
      << "docs/internals/sharding.md";
  EXPECT_FALSE(directory.shard_of(Append{}.event("", "T", "x"))) << "it has no name yet";
  EXPECT_TRUE(directory.shard_of(Append{}.event("", "T", "x").request(EventId::random())));
  auto newer = said_by(1, std::vector<std::uint32_t>(16, 1), 1);
  newer.hash = 2;
  ShardDirectory other;
  ASSERT_TRUE(other.learn(newer));
  EXPECT_FALSE(other.is_cluster()) << "a hash of a release to come";
}

TEST(Addresses, AreTakenApartAndRefusedWhereOneIsEmpty) {
  EXPECT_THAT(*remote::addresses_of({.server = "a:1, b:2,a:1"}), ElementsAre("a:1", "b:2"));
  EXPECT_THAT(*remote::addresses_of({.servers = {"c:1", "d:1,e:1"}}), ElementsAre("c:1", "d:1", "e:1"));
  for (const std::string wrong : {"", "a:1,", ",a:1", "a:1,,b:1", "a:1, ,b:1"}) {
    const auto refused = Remote::connect({.server = wrong});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
}

/// Two doors of one store, of which one at least is open: each with what it stands on, since a door that stops ends its
/// watch.
class TwoDoors {
 public:
  TwoDoors() { start_second(); }
  ~TwoDoors() { stop_second(); }
  void start_second() {
    watch_ = std::make_unique<serving::HeadWatch>(first.local);
    served_ = std::make_unique<serving::Served>(
        serving::Served{first.local, first.local, first.pool, *watch_, [this] { return first.access; },
                        [] { return Result<RegisteredTypes>(RegisteredTypes{}); }});
    auto opened = door::Door::start(*served_, {.listen = {listen_}});
    for (int tries = 0; tries < 6'000 && !opened; ++tries) {  // the port may be busy for a moment
      std::this_thread::sleep_for(10ms);
      opened = door::Door::start(*served_, {.listen = {listen_}});
    }
    ASSERT_TRUE(opened) << opened.error().what;
    second_ = *std::move(opened);
    listen_ = second_->addresses().front();
  }
  void stop_second() { second_.reset(); }
  [[nodiscard]] Remote connect(RemoteOptions options = {}) const {
    options.servers = {first.address(), listen_};
    return first.connect(std::move(options));
  }

  ServedStore first;

 private:
  std::unique_ptr<serving::HeadWatch> watch_;
  std::unique_ptr<serving::Served> served_;
  std::unique_ptr<door::Door> second_;
  std::string listen_ = "127.0.0.1:0";
};

/// Stops and starts both, one after the other, until the end; ever more slowly, so that a slow machine gets something
/// done in between, too.
class Restarting {
 public:
  explicit Restarting(TwoDoors& doors)
      : thread_([this, &doors] {
          for (auto pause = 60ms; !over_; pause += pause / 8) {
            std::this_thread::sleep_for(std::min(pause, 2'000ms));
            doors.first.stop();
            std::this_thread::sleep_for(std::min(pause, 2'000ms));
            doors.first.start();
            std::this_thread::sleep_for(std::min(pause, 2'000ms));
            doors.stop_second();
            std::this_thread::sleep_for(std::min(pause, 2'000ms));
            doors.start_second();
          }
        }) {}
  ~Restarting() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(RemoteDoors, AppendsKeepTheirOrderAndAreStoredOnceWhileDoorsComeAndGo) {
  TwoDoors doors;
  auto remote = doors.connect({.timeout = 60s});
  std::vector<std::future<Result<Appended>>> answers;
  {
    const Restarting restarting(doors);
    for (std::uint64_t i = 0; i < 2'000; ++i) {
      answers.push_back(
          remote.append_future(Append{}.event("a-1", "T", "x").expect("a-1", Version::exactly(SeqNr(i)))));
      if (i % 10 == 0) std::this_thread::sleep_for(1ms);
    }
    for (std::uint64_t i = 0; i < answers.size(); ++i) {
      const auto answer = answers[i].get();
      ASSERT_TRUE(answer) << i << ": " << answer.error().what;
      ASSERT_EQ(answer->first_position.value, i + 1);
    }
  }
  EXPECT_EQ(doors.first.local.head()->value, 2'000u);
  EXPECT_EQ(remote.seen().value, 2'000u);
}

TEST(RemoteDoors, ReadsAndFollowsGoOnWithoutAGapOrADouble) {
  TwoDoors doors;
  constexpr std::uint64_t events = 3'000;
  append_events(doors.first.local, events, 2'000);
  auto remote = doors.connect({.timeout = 60s});
  const Restarting restarting(doors);
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    std::uint64_t next = direction == Direction::forwards ? 1 : events;
    auto stream = remote.read(Query::all(), ReadOptions{.direction = direction});
    for (const auto& event : stream) {
      ASSERT_EQ(event.position.value, next);
      next += direction == Direction::forwards ? 1u : static_cast<std::uint64_t>(-1);
      if (next % 500 == 0) std::this_thread::sleep_for(30ms);
    }
    ASSERT_FALSE(stream.error()) << stream.error()->what;
    EXPECT_EQ(next, direction == Direction::forwards ? events + 1 : 0);
  }
  std::uint64_t next = 1;
  auto feed = remote.follow(Query::all(), FollowOptions{.page_events_max = 100});
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (next <= events && std::chrono::steady_clock::now() < until) {
    const auto item = feed.next(1s);
    ASSERT_TRUE(item) << item.error().what;
    for (const auto& event : item->events) ASSERT_EQ(event.position.value, next++);
  }
  EXPECT_EQ(next, events + 1);
}

TEST(RemoteDoors, TheFirstAddressThatWorksIsTakenAndKept) {
  TwoDoors doors;
  auto remote = *Remote::connect({.servers = {"127.0.0.1:1", doors.first.address()}, .timeout = 30s});
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  EXPECT_EQ(remote.head()->value, 1u);
  EXPECT_TRUE(remote.stats());
}

// Long enough for many tries: gRPC's later ones must be looked at too, or the last of them has no reason.
TEST(RemoteDoors, NobodyAtTheOnlyAddressIsSaidWithTheReason) {
  auto remote = *Remote::connect({.server = "127.0.0.1:1", .timeout = 2s});
  const auto head = remote.head();
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, ErrorCode::unavailable);
  EXPECT_THAT(head.error().what, HasSubstr("nobody listens there"));
  auto stream = remote.read(Query::all());
  const auto page = stream.next_page();
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().what, HasSubstr("nobody listens there"));
}

TEST(RemoteDoors, NobodyAtAnyAddressIsUnavailableAndNamed) {
  auto remote = *Remote::connect({.server = "127.0.0.1:1,127.0.0.1:2", .timeout = 300ms});
  const auto head = remote.head();
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, ErrorCode::unavailable);
  EXPECT_THAT(head.error().what, HasSubstr("127.0.0.1:"));
  EXPECT_EQ(remote.append(Append{}.event("a-1", "T", "x")).error().code, ErrorCode::unavailable);
  auto stream = remote.read(Query::all());
  EXPECT_EQ(stream.next_page().error().code, ErrorCode::unavailable);
}

TEST(RemoteDoors, AnotherStoreIsNeverSentWhatWasMeantForTheFirstOne) {
  ServedStore ours;
  ServedStore foreign;
  auto remote = ours.connect({.servers = {ours.address(), foreign.address()}, .timeout = 2s});
  foreign.stop();  // the first store is the one that answers first: on a busy machine that may be the second address
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  foreign.start();
  ours.stop();
  const auto lost = remote.append(Append{}.event("a-1", "T", "x"));
  ASSERT_FALSE(lost);
  EXPECT_FALSE(remote.head());
  EXPECT_EQ(foreign.local.head()->value, 0u);
  ours.start();
  EXPECT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  EXPECT_EQ(foreign.local.head()->value, 0u);
}

TEST(RemoteSeen, IsTheGreatestPositionThatWasToldAndReadsWaitForIt) {
  ServedStore served;
  auto remote = served.connect();
  EXPECT_EQ(remote.seen().value, 0u);
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", "x").event("a-1", "T", "y")));
  EXPECT_EQ(remote.seen().value, 2u);
  append_events(served.local, 3);
  EXPECT_EQ(positions_of(remote.read(Query::all())).size(), 5u);
  EXPECT_EQ(remote.seen().value, 5u);

  auto heir = served.connect({.timeout = 1'500ms, .seen = GlobalPosition(6)});
  EXPECT_EQ(heir.head().error().code, ErrorCode::timeout) << "somebody has seen more than is here";
  EXPECT_EQ(heir.aggregate(*AggregateId::parse("a-1")).error().code, ErrorCode::timeout);
  EXPECT_EQ(heir.read(Query::all()).next_page().error().code, ErrorCode::timeout);
  EXPECT_EQ(heir.read("a-1").next_page().error().code, ErrorCode::timeout);
  EXPECT_TRUE(heir.read(Query::all(), {.at_least = GlobalPosition(1)}).next_page())
      << "what the caller says itself counts";
  auto later = std::async(std::launch::async,
                          [&] { return served.connect({.timeout = 30s, .seen = GlobalPosition(6)}).head(); });
  append_events(served.local, 1);
  EXPECT_EQ(later.get()->value, 6u);

  auto careless = served.connect({.timeout = 30s, .read_own_writes = false, .seen = GlobalPosition(99)});
  EXPECT_EQ(careless.head()->value, 6u);
  careless.see(GlobalPosition(3));
  EXPECT_EQ(careless.seen().value, 99u);
}

}  // namespace
}  // namespace evershard
