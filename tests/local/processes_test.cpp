// Processes in a store, with its threads: over its end and a new beginning.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/local.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "evershard/local/local_events.hpp"
#include "evershard/local/maintenance.hpp"
#include "evershard/local/node.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/services/processes/process_host.hpp"
#include "evershard/services/processes/store_processes.hpp"
#include "tests/actors/process/transfers.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/services/copy/damaged_store.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::bank {
namespace {

class ProcessesInAStore : public ::testing::Test {
 protected:
  void open() {
    store_.emplace(Local::open({.data_dir = folder_.path() / "data"}).value());
    ASSERT_TRUE(store_->host<Account>());
    ASSERT_TRUE(store_->host<Desk>());
    const auto runs = store_->run<Transfers>(options_);
    ASSERT_TRUE(runs) << runs.error().what;
  }
  void SetUp() override {
    credits_that_throw = 0;
    open();
  }
  void close() { store_.reset(); }
  [[nodiscard]] std::int64_t balance(const std::string& account) {
    return store_->get<Account>(account).state()->state.balance;
  }
  [[nodiscard]] std::string stage(const std::string& transfer) {
    return store_->get<ProcessAggregate<Transfers>>(transfer).state()->state.state.stage;
  }
  [[nodiscard]] bool comes_to(const std::function<bool()>& there) {
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(2ms))
      if (there()) return true;
    return false;
  }
  [[nodiscard]] ProcessStatus status() { return store_->process_status().at(0); }
  [[nodiscard]] bool done() {
    const auto at = status();
    return at.waiting == 0 && at.read_to == store_->head().value();
  }
  void request(const std::string& transfer, const std::string& from, const std::string& to, std::int64_t amount) {
    ASSERT_TRUE(store_->get<Desk>("1").ask(Request{transfer, from, to, amount}, {.command_id = transfer}));
  }

  TemporaryFolder folder_;
  ProcessOptions options_{.checkpoint_every = 20ms};
  std::optional<Local> store_;
};

TEST_F(ProcessesInAStore, CarryOutWhatFollows) {
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 100}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  request("t1", "ann", "bob", 30);
  request("t2", "ann", "bob", 300);
  request("t3", "ann", "nobody", 20);
  EXPECT_TRUE(comes_to([&] { return stage("t1") == "finished"; }));
  EXPECT_TRUE(comes_to([&] { return stage("t2") == "refused"; }));
  EXPECT_TRUE(comes_to([&] { return stage("t3") == "taken_back" && balance("ann") == 70; }));
  EXPECT_EQ(balance("bob"), 35);
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
}

TEST_F(ProcessesInAStore, GoOnWhereTheyWere) {
  for (int n = 0; n != 10; ++n)
    ASSERT_TRUE(store_->get<Account>("a" + std::to_string(n)).ask(Open{"-", "-", "-", 1'000}));
  int transfers = 0;
  for (int times = 0; times != 4; ++times) {
    for (int n = 0; n != 60; ++n, ++transfers)
      request("t" + std::to_string(transfers), "a" + std::to_string(transfers % 10),
              "a" + std::to_string((transfers + 3) % 11), transfers % 40);  // a10 is not open
    if (times == 1) std::this_thread::sleep_for(100ms);
    close();  // whatever is under way
    open();
  }
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
  std::int64_t sum = 0;
  for (int n = 0; n != 10; ++n) sum += balance("a" + std::to_string(n));
  EXPECT_EQ(sum, 10'000);
  for (int n = 0; n < transfers; n += 13) {
    const bool to_nobody = (n + 3) % 11 == 10;
    EXPECT_EQ(stage("t" + std::to_string(n)), to_nobody ? "taken_back" : "finished") << n;
  }
  const auto before = status().position;
  EXPECT_TRUE(comes_to([&] { return status().position >= before; }));
  std::this_thread::sleep_for(60ms);
  close();
  open();
  EXPECT_TRUE(comes_to([&] { return status().runs_here; }));
  EXPECT_GE(status().position, before) << "what was kept of how far it is";
}

// What is written next stands at positions that the process has passed in the other history.
TEST_F(ProcessesInAStore, FallBackWithAStoreThatIsRestored) {
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 1'000}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  request("t1", "ann", "bob", 30);
  ASSERT_TRUE(comes_to([&] { return stage("t1") == "finished" && done(); }));
  const auto parts = store_->head().value();
  for (int n = 2; n != 12; ++n) request("t" + std::to_string(n), "ann", "bob", 1);
  ASSERT_TRUE(comes_to([&] { return stage("t11") == "finished" && done() && status().position > parts + 10; }));
  close();  // the last checkpoint is kept
  ASSERT_TRUE(restore(folder_.path() / "data", folder_.path() / "again", {.up_to = parts}));
  std::filesystem::remove_all(folder_.path() / "data");
  std::filesystem::rename(folder_.path() / "again", folder_.path() / "data");
  {
    auto looked_at = Local::open({.data_dir = folder_.path() / "data"}).value();
    EXPECT_THAT(looked_at.processes().process("transfer")->state.trouble,
                ::testing::HasSubstr("lies beyond the head of the store"));
  }
  open();
  request("u1", "ann", "bob", 70);
  EXPECT_TRUE(comes_to([&] { return stage("u1") == "finished"; })) << status().trouble;
  EXPECT_EQ(balance("ann"), 900) << "what was done before is not done again";
  EXPECT_EQ(stage("t1"), "finished");
}

TEST_F(ProcessesInAStore, AreRunOnceAndBehindTheirRules) {
  const auto again = store_->run<Transfers>();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  ProcessOptions none;
  none.waiting_max = 0;
  close();
  store_.emplace(Local::open({.data_dir = folder_.path() / "data"}).value());
  const auto refused = store_->run<Transfers>(none);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("more than 0"));
  EXPECT_TRUE(store_->run<Transfers>()) << "what was refused left nothing";
}

// So many events come at once that they do not fit: the rest is read when there is room.
TEST_F(ProcessesInAStore, TakeNoMoreThanFits) {
  close();
  store_.emplace(Local::open({.data_dir = folder_.path() / "data"}).value());
  ASSERT_TRUE(store_->host<Account>());
  ASSERT_TRUE(store_->host<Desk>());
  for (int n = 0; n != 300; ++n) request("t" + std::to_string(n), "ann", "bob", 1);
  ProcessOptions few;
  few.waiting_max = 5;
  few.waiting_bytes_max = 100;
  ASSERT_TRUE(store_->run<Transfers>(few));
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
  EXPECT_EQ(stage("t0"), "refused");
  EXPECT_EQ(stage("t299"), "refused");
}

TEST_F(ProcessesInAStore, AreSeenAndMendedFromOutside) {
  auto& seen = store_->processes();
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 100}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  credits_that_throw = 1'000'000;
  request("t1", "ann", "bob", 30);
  // What it says of itself is kept every 20 ms.
  ProcessInfo info;
  EXPECT_TRUE(comes_to([&] {
    const auto now = seen.process("transfer");
    if (!now || now->state.failures.empty()) return false;
    info = *now;
    return true;
  }));
  EXPECT_EQ(info.state.failures.at(0).instance, "t1");
  EXPECT_EQ(info.state.failures.at(0).type, "credit");
  EXPECT_FALSE(info.state.trouble.empty());
  EXPECT_FALSE(info.state.runs_at.empty());
  EXPECT_TRUE(info.said_at);
  EXPECT_TRUE(info.running);
  EXPECT_GT(info.lag(), 0u);
  EXPECT_EQ(seen.processes()->size(), 1u);
  const auto instances = seen.instances("transfer", "", 10);
  ASSERT_TRUE(instances) << instances.error().what;
  ASSERT_EQ(instances->size(), 1u);
  EXPECT_EQ(instances->at(0).failures.size(), 1u);

  const auto code = [](const auto& result) { return result ? std::optional<ErrorCode>() : result.error().code; };
  using Action = ProcessControl::Action;
  EXPECT_EQ(code(seen.process("nobody")), ErrorCode::not_found);
  EXPECT_EQ(code(seen.instances("nobody", "", 10)), ErrorCode::not_found);
  EXPECT_EQ(code(seen.instances("transfer", "", 0)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(seen.control("nobody", {Action::stop})), ErrorCode::not_found);
  EXPECT_EQ(code(seen.control("transfer", {.action = Action::stop, .instance = "t9"})), ErrorCode::not_found);
  const auto place = info.state.failures.at(0).place;
  for (const auto& wrong : {ProcessPlace{ProcessPlace::What::command, place.position, 9},
                            ProcessPlace{ProcessPlace::What::effect, place.position, 0},
                            ProcessPlace{ProcessPlace::What::event, place.position, 0},
                            ProcessPlace{ProcessPlace::What::command, GlobalPosition{100'000}, 0}})
    EXPECT_EQ(code(seen.control("transfer", {.action = Action::skip, .place = wrong})), ErrorCode::not_found)
        << wrong.text();
  EXPECT_EQ(code(seen.control("transfer", {.action = Action::replay, .place = place})), ErrorCode::invalid_argument);

  ASSERT_TRUE(seen.control("transfer", {Action::stop}));
  EXPECT_TRUE(comes_to([&] { return seen.process("transfer")->state.stopped; }));
  close();
  open();
  EXPECT_TRUE(comes_to([&] { return status().runs_here && status().stopped; })) << "as it was kept";
  auto& again = store_->processes();
  ASSERT_TRUE(again.control("transfer", {.action = Action::skip, .place = place}));
  ASSERT_TRUE(again.control("transfer", {Action::resume}));
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
  credits_that_throw = 0;
  EXPECT_EQ(balance("ann"), 70);
  EXPECT_EQ(balance("bob"), 5) << "it was skipped";

  // Its timer, by which it reminds.
  const auto timers = again.timers({.type = "transfer"});
  ASSERT_TRUE(timers) << timers.error().what;
  ASSERT_EQ(timers->timers.size(), 1u);
  EXPECT_EQ(timers->pending, 1u);
  EXPECT_EQ(timers->timers[0].aggregate.text(), "transfer-t1");
  EXPECT_EQ(again.timers({.aggregate = AggregateId{"transfer", "t1"}})->timers, timers->timers);
  EXPECT_TRUE(again.timers({.type = "account"})->timers.empty());
  EXPECT_EQ(code(again.timers({.limit = 0})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(again.timers({.after = "x"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(again.cancel_timer({"transfer", "t1"}, "nothing")), ErrorCode::not_found);
  EXPECT_EQ(code(again.cancel_timer({"transfer", "t9"}, "late")), ErrorCode::not_found);
  EXPECT_TRUE(again.cancel_timer({"transfer", "t1"}, timers->timers[0].timer.name));
  EXPECT_TRUE(again.timers({})->timers.empty());
  EXPECT_EQ(code(again.cancel_timer({"transfer", "t1"}, timers->timers[0].timer.name)), ErrorCode::not_found);
  EXPECT_EQ(store_->get<ProcessAggregate<Transfers>>("t1").state()->state.state.reminded, 0)
      << "the instance goes on behind what was written for it";
}

TEST_F(ProcessesInAStore, OneThatFailsOnItsFirstEventIsSeenAndMendedToo) {
  auto& seen = store_->processes();
  request("t1", "nobody", "bob", 30);  // refused, and over
  ASSERT_TRUE(comes_to([&] { return stage("t1") == "refused"; }));
  // The process throws at a credit of somebody else, so nothing is written for t0.
  ASSERT_TRUE(
      store_->append(Append{}.event("account-zed", "credited", Codec<Credited>::encode({"t0", "ann", "bob", 1}))));
  ASSERT_TRUE(comes_to([&] { return seen.process("transfer")->state.failures.size() == 1; }));
  const auto names = [&](const std::string& after, std::size_t limit) {
    std::vector<std::string> all;
    const auto page = seen.instances("transfer", after, limit);
    for (const auto& one : page.value()) all.push_back(one.instance);
    return all;
  };
  EXPECT_THAT(names("", 10), ::testing::ElementsAre("t0", "t1"));
  EXPECT_THAT(names("", 1), ::testing::ElementsAre("t0"));
  EXPECT_THAT(names("t0", 1), ::testing::ElementsAre("t1"));
  EXPECT_EQ(seen.instances("transfer", "", 1)->at(0).version, SeqNr{0});
  EXPECT_EQ(seen.instances("transfer", "", 1)->at(0).failures.size(), 1u);
  using Action = ProcessControl::Action;
  EXPECT_TRUE(seen.control("transfer", {.action = Action::retry, .instance = "t0"}));
  ASSERT_TRUE(seen.control("transfer", {.action = Action::stop, .instance = "t0"}));
  EXPECT_TRUE(comes_to([&] { return seen.instances("transfer", "", 1)->at(0).stopped; }));
  EXPECT_TRUE(seen.control("transfer", {.action = Action::resume, .instance = "t0"}));
}

TEST_F(ProcessesInAStore, PassOverWhatWasSkippedAlsoWhereTheyLookAtItAgain) {
  auto& seen = store_->processes();
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 100}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  credits_that_throw = 1'000'000;
  request("t1", "ann", "bob", 30);
  request("t2", "ann", "bob", 7);
  const auto failures = [&] {
    std::map<std::string, ProcessPlace> places;
    for (const auto& failing : status().failures) places[failing.instance] = failing.place;
    return places;
  };
  ASSERT_TRUE(comes_to([&] { return failures().size() == 2; }));
  // The one in front holds up how far the process is: the other is looked at again by who runs it next.
  ASSERT_TRUE(seen.control("transfer", {.action = ProcessControl::Action::skip, .place = failures().at("t2")}));
  ASSERT_TRUE(comes_to([&] { return seen.process("transfer")->state.skipped.size() == 1; }));
  ASSERT_TRUE(comes_to([&] { return failures().size() == 1; }));
  close();
  credits_that_throw = 0;
  open();
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
  EXPECT_EQ(balance("bob"), 35);
  EXPECT_TRUE(comes_to([&] { return store_->processes().process("transfer")->state.skipped.empty(); }))
      << "it is forgotten once the process is behind it";
}

std::mutex told_mutex;
std::map<std::string, int> told_to_listener;

/// Hears of requests, and writes nothing.
struct Listener {
  static constexpr std::string_view type = "listener";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Events = Types<>;
  static std::string key(const Requested& event) { return event.transfer; }
  static Reaction<Listener> on(const State&, const Requested& event) {
    const std::lock_guard lock(told_mutex);
    ++told_to_listener[event.transfer];
    return ignore();
  }
};

// It was read, and waits: its instance would write it down anew.
TEST_F(ProcessesInAStore, WhatIsRemovedWhileItWaitsIsNotToldNorSent) {
  ASSERT_TRUE(store_->run<Listener>(options_));
  using Action = ProcessControl::Action;
  const auto listener = [&] { return store_->process_status().at(1); };
  ASSERT_TRUE(comes_to([&] { return store_->processes().process("listener").has_value(); }));
  ASSERT_TRUE(store_->processes().control("listener", {Action::stop}));
  ASSERT_TRUE(comes_to([&] { return listener().stopped; }));
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 100}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  credits_that_throw = 1'000'000;
  request("t1", "ann", "bob", 30);
  ASSERT_TRUE(store_->get<Desk>("2").ask(Request{"t2", "ann", "bob", 7}, {.command_id = "t2"}));
  ASSERT_TRUE(comes_to([&] { return status().failures.size() == 2 && listener().waiting == 2; }));

  ASSERT_TRUE(store_->retention().remove_aggregate({"desk", "1"}, {}));
  ASSERT_TRUE(store_->retention().remove_aggregate({"transfer", "t1"}, {}));
  credits_that_throw = 0;
  ASSERT_TRUE(store_->processes().control("transfer", {Action::retry}));
  ASSERT_TRUE(store_->processes().control("listener", {Action::resume}));

  EXPECT_TRUE(comes_to([&] { return balance("bob") != 5 && listener().waiting == 0 && status().waiting == 0; }))
      << status().trouble;
  EXPECT_EQ(balance("bob"), 5 + 7) << "what the removed instance wanted is gone with it";
  const std::lock_guard lock(told_mutex);
  EXPECT_EQ(told_to_listener, (std::map<std::string, int>{{"t2", 1}}));
}

TEST_F(ProcessesInAStore, WhatFailsOrIsStoppedLeavesTheOthersTheirRoom) {
  close();
  options_.waiting_max = 20;
  open();
  ASSERT_TRUE(store_->get<Account>("ann").ask(Open{"-", "-", "-", 10'000}));
  ASSERT_TRUE(store_->get<Account>("bob").ask(Open{"-", "-", "-", 0}));
  credits_that_throw = 1'000'000;
  for (int n = 0; n != 80; ++n) request("t" + std::to_string(n), "ann", "bob", 30);
  EXPECT_TRUE(comes_to([&] { return status().failures.size() > 70; }));
  ASSERT_TRUE(store_->processes().control("transfer", {.action = ProcessControl::Action::stop, .instance = "t1"}));
  for (int n = 0; n != 60; ++n) {
    ASSERT_TRUE(store_->get<Desk>("1").ask(Request{"t1", "ann", "bob", 1}, {.command_id = "more" + std::to_string(n)}));
  }
  request("free", "nobody", "bob", 30);
  EXPECT_TRUE(comes_to([&] { return stage("free") == "refused"; })) << "one that does not fail goes on";
  credits_that_throw = 0;
  ASSERT_TRUE(store_->processes().control("transfer", {ProcessControl::Action::retry}));
  EXPECT_TRUE(comes_to([&] { return balance("bob") >= 79 * 30; }));
  ASSERT_TRUE(store_->processes().control("transfer", {.action = ProcessControl::Action::resume, .instance = "t1"}));
  EXPECT_TRUE(comes_to([&] { return done(); })) << status().trouble;
}

/// Another version of Transfers, with the same rules.
struct LaterTransfers : Transfers {
  static constexpr std::string_view type = "transfer_later";
};

TEST_F(ProcessesInAStore, ALaterVersionRunsBesideTheFormer) {
  for (int n = 0; n != 10; ++n)
    ASSERT_TRUE(store_->get<Account>("a" + std::to_string(n)).ask(Open{"-", "-", "-", 1'000}));
  int transfers = 0;
  for (int times = 0; times != 4; ++times) {
    if (times != 0) {
      ASSERT_TRUE(store_->run<LaterTransfers>({.checkpoint_every = 20ms, .beside = {"transfer"}}));
    }
    for (int n = 0; n != 40; ++n, ++transfers)
      request("t" + std::to_string(transfers), "a" + std::to_string(transfers % 10),
              "a" + std::to_string((transfers + 3) % 10), 1 + transfers % 5);
    close();  // whatever is under way
    open();
  }
  ASSERT_TRUE(store_->run<LaterTransfers>({.checkpoint_every = 20ms, .beside = {"transfer"}}));
  int former = 0, later = 0;
  for (int n = 0; n != transfers; ++n) {
    const auto name = "t" + std::to_string(n);
    const auto stage_later = [&] {
      return store_->get<ProcessAggregate<LaterTransfers>>(name).state()->state.state.stage;
    };
    ASSERT_TRUE(comes_to([&] { return stage(name) == "finished" || stage_later() == "finished"; })) << name;
    const bool of_later = stage_later() == "finished";
    EXPECT_NE(of_later, stage(name) == "finished") << name;
    ++(of_later ? later : former);
  }
  EXPECT_GE(former, 40);
  EXPECT_GT(later, 0);
  std::int64_t all = 0;
  for (int n = 0; n != 10; ++n) all += balance("a" + std::to_string(n));
  EXPECT_EQ(all, 10'000);
}

TEST_F(ProcessesInAStore, OneThatNobodyRunsIsKnownByThat) {
  EXPECT_TRUE(comes_to([&] {
    const auto now = store_->processes().process("transfer");
    return now && now->said_at && now->running;
  }));
  close();
  store_.emplace(Local::open({.data_dir = folder_.path() / "data"}).value());
  const auto ended = store_->processes().process("transfer");
  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_FALSE(ended->running);
  EXPECT_FALSE(ended->state.runs_at.empty()) << "where it ran";
  EXPECT_EQ(store_->processes().processes()->at(0).running, false);
  close();
  open();
  EXPECT_TRUE(comes_to([&] {
    const auto now = store_->processes().process("transfer");
    return now && now->running;
  }));
}

// Both were read together: the second is looked at once more when it is its turn.
TEST(ProcessesBesideRemovals, WhatIsRemovedWhileAnotherIsToldIsNotTold) {
  TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "data"}).value();
  ASSERT_TRUE(store.host<Account>());
  ASSERT_TRUE(store.host<Desk>());
  for (const std::string account : {"ann", "bob"}) {
    ASSERT_TRUE(store.get<Account>(account).ask(Open{"-", "-", "-", 100}));
  }
  ASSERT_TRUE(store.get<Desk>("1").ask(Request{"t1", "ann", "bob", 30}, {.command_id = "t1"}));
  ASSERT_TRUE(store.get<Desk>("2").ask(Request{"t2", "ann", "bob", 7}, {.command_id = "t2"}));
  const auto transfers = make_process<Transfers>().value();
  ASSERT_TRUE(store.host_kind(transfers->kind, {}));
  std::atomic<bool> removed{false};
  cluster::ProcessHost host(store.all_names(),
                            [&]() -> AggregateDoor& {
                              if (!removed.exchange(true)) {
                                EXPECT_TRUE(store.retention().remove_aggregate({"desk", "2"}, {}));
                              }
                              return store;
                            },
                            {.rewritten = [&] { return store.rewritten(); }});
  ASSERT_TRUE(host.run(transfers, {.checkpoint_every = 20ms}, {}));
  const auto done = [&] {
    const auto info = store.processes().process("transfer");
    return removed && info && info->state.figures.waiting == 0 && info->state.position >= GlobalPosition(8);
  };
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until && !(done() && store.get<Account>("bob").state()->state.balance != 100);
       std::this_thread::sleep_for(2ms)) {
  }
  EXPECT_TRUE(done());
  EXPECT_EQ(store.get<Account>("bob").state()->state.balance, 130);
}

/// Counts who is looked at again.
class LookedAt final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  Result<RecordedEvent> event_at(GlobalPosition position) override {
    ++looks;
    return ForwardingStore::event_at(position);
  }
  std::atomic<int> looks{0};
};

// Each is begun before the next one is looked at, else nearly all of them are looked at again and again.
TEST(ProcessesBesideRemovals, OfManyEachIsLookedAtOnceWhereThingsAreRemovedAllTheTime) {
  constexpr int requests = 40;
  TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "data"}).value();
  ASSERT_TRUE(store.host<Account>());
  ASSERT_TRUE(store.host<Desk>());
  for (const std::string account : {"ann", "bob"}) {
    ASSERT_TRUE(store.get<Account>(account).ask(Open{"-", "-", "-", 100}));
  }
  for (int n = 0; n != requests; ++n) {
    const auto name = "t" + std::to_string(n);
    ASSERT_TRUE(store.get<Desk>("1").ask(Request{name, "ann", "bob", 1}, {.command_id = name}));
  }
  const auto transfers = make_process<Transfers>().value();
  ASSERT_TRUE(store.host_kind(transfers->kind, {}));
  LookedAt events(store.all_names());
  std::atomic<std::uint64_t> removals{0};
  cluster::ProcessHost host(events,
                            [&]() -> AggregateDoor& {
                              ++removals;
                              return store;
                            },
                            {.rewritten = [&] { return removals.load(); }});
  ASSERT_TRUE(host.run(transfers, {.checkpoint_every = 20ms}, {}));
  const auto balance = [&] { return store.get<Account>("bob").state()->state.balance; };
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until && balance() != 100 + requests; std::this_thread::sleep_for(2ms)) {
  }
  EXPECT_EQ(balance(), 100 + requests);
  EXPECT_GT(events.looks, requests / 2);
  EXPECT_LT(events.looks, requests * 8) << "each of some steps of each";
}

/// As where its program was killed, or its machine went away.
TEST(ProcessesBesideDamage, PassOverWhatIsDamagedSayItAndCountIt) {
  TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "data"}).value();
  ASSERT_TRUE(store.host<Account>());
  ASSERT_TRUE(store.host<Desk>());
  for (const std::string account : {"ann", "bob"}) {
    ASSERT_TRUE(store.get<Account>(account).ask(Open{"-", "-", "-", 100}));
  }
  ASSERT_TRUE(store.get<Desk>("1").ask(Request{"t1", "ann", "bob", 30}, {.command_id = "t1"}));
  const auto damaged = store.head().value();
  ASSERT_TRUE(store.get<Desk>("2").ask(Request{"t2", "ann", "bob", 7}, {.command_id = "t2"}));
  const auto transfers = make_process<Transfers>().value();
  ASSERT_TRUE(store.host_kind(transfers->kind, {}));
  evershard::testing::DamagedStore seen(store.all_names(), {damaged.value});
  cluster::ProcessHost host(seen, [&]() -> AggregateDoor& { return store; }, {});
  ASSERT_TRUE(host.run(transfers, {.checkpoint_every = 20ms}, {}));
  const auto balance = [&] { return store.get<Account>("bob").state()->state.balance; };
  std::string told;
  std::uint64_t counted = 0;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until && (balance() != 107 || told.empty());
       std::this_thread::sleep_for(2ms)) {
    const auto info = store.processes().process("transfer");
    if (!info) continue;
    told = info->state.trouble;
    counted = info->state.figures.damaged;
  }
  EXPECT_EQ(balance(), 107) << "the event beside it was reacted to";
  EXPECT_THAT(told, ::testing::HasSubstr("1 event that cannot be read was passed over, at position " +
                                         std::to_string(damaged.value)));
  EXPECT_EQ(counted, 1u);
  EXPECT_THAT(host.status().at(0).trouble, ::testing::HasSubstr("its checksum is wrong"));
}

TEST(ProcessesThatSayNothing, AreRunByNobody) {
  const auto node = cluster::Node::open({}).value();
  cluster::LocalEvents events(node);
  cluster::StoreProcesses seen(events);
  const auto running = [&](std::chrono::microseconds taken_ago) {
    Event taken;
    taken.aggregate = AggregateId{std::string(process_log_type), "p"};
    taken.type = process_taken_type;
    taken.occurred_at = Timestamp{Timestamp::now().micros - taken_ago.count()};
    const auto there = events.append(Append{}.event(std::move(taken)));
    EXPECT_TRUE(there) << there.error().what;
    EXPECT_TRUE(events.wait_for(there->last_position, 60s));
    const auto process = seen.process("p");
    EXPECT_TRUE(process) << process.error().what;
    return process && process->running;
  };
  EXPECT_FALSE(running(1min));
  EXPECT_TRUE(running(10s));
}

}  // namespace
}  // namespace evershard::bank
