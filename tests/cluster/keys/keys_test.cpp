// Keys that lie at the coordinator: lent for a while, and used by nobody behind their end.

#include <gmock/gmock.h>

#include <thread>

#include "evershard/services/erasure/sealed_events.hpp"
#include "evershard/services/erasure/sealed_journal.hpp"
#include "evershard/services/erasure/sealing.hpp"
#include "tests/cluster/keys/lending.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto lending_patience = 60s;

Append order_of(const std::string& subject, std::string payload = "Ada, 12 St James's Square") {
  Event event;
  event.aggregate = AggregateId{"order", "1"};
  event.type = "Placed";
  event.payload = std::move(payload);
  event.format = PayloadFormat::text;
  event.subject = subject;
  return Append{}.event(event);
}

RecordedEvent recorded(const Append& append) {
  RecordedEvent event;
  event.position = GlobalPosition{7};
  event.aggregate = append.events[0].aggregate;
  event.type = append.events[0].type;
  event.payload = append.events[0].payload;
  event.format = append.events[0].format;
  return event;
}

class LentKeys : public ::testing::Test {
 protected:
  /// What destroys a key at a node; whether it is answered yet.
  std::future<Result<void>> destroying(std::uint32_t by, KeyId id) {
    return std::async(std::launch::async, [this, by, id] { return lending_.node(by).destroy(id); });
  }
  /// Answered without any time going by.
  void destroy_at_once(std::uint32_t by, const KeyId& id) {
    lending_.pass(Lending::over);  // what was lent before it began is over
    for (auto& [number, node] : lending_.nodes) EXPECT_TRUE(node->find(id).value());
    auto destroyed = destroying(by, id);
    if (destroyed.wait_for(lending_patience) != std::future_status::ready) {
      ADD_FAILURE() << "not answered, although everybody could have forgotten it";
      lending_.pass(Lending::over);
    }
    EXPECT_TRUE(destroyed.get());
  }
  Lending lending_;
};

TEST_F(LentKeys, ASubjectHasOneKeyOnAllNodesAndItIsDurable) {
  const auto ada = copied(lending_.node(1).key_for("ada")), bob = copied(lending_.node(1).key_for("bob"));
  // Before it was answered, not some time.
  const auto folder = KeyFolder::open(lending_.folder(), {}).value();
  EXPECT_EQ(folder->find(ada.id).value()->secret(), ada.secret);

  EXPECT_NE(ada.id, bob.id);
  EXPECT_EQ(lending_.node(2).key_for("ada")->secret(), ada.secret);
  EXPECT_EQ(lending_.node(2).find(bob.id).value()->secret(), bob.secret);
  EXPECT_EQ(lending_.node(2).current("ada").value(), ada.id);
  EXPECT_EQ(lending_.node(2).current("nobody").value(), std::nullopt);
}

/// Says of a key that it is there before it is: what KeyFolder must not do.
class SlowKeys final : public SubjectKeys {
 public:
  Result<HeldKey> key_for(std::string_view) override {
    std::this_thread::sleep_for(200ms);
    durable = true;
    return HeldKey(PayloadKey{});
  }
  Result<std::optional<HeldKey>> find(const KeyId&) override { return std::nullopt; }
  Result<std::optional<KeyId>> current(std::string_view) override { return std::nullopt; }
  Result<void> destroy(const KeyId&) override { return {}; }
  std::atomic<bool> durable{false};
};

TEST_F(LentKeys, AKeyIsToldWhenItIsDurable) {
  auto slow = std::make_unique<SlowKeys>();
  auto& keys = *slow;
  lending_.keeper = std::make_unique<KeyKeeper>(std::move(slow), HaveForgotten{});
  ASSERT_TRUE(lending_.node(1).key_for("ada"));
  EXPECT_TRUE(keys.durable);
}

TEST_F(LentKeys, AreAskedForOnceALease) {
  const auto ada = copied(lending_.node(1).key_for("ada"));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(lending_.node(1).key_for("ada"));
    EXPECT_TRUE(lending_.node(1).find(ada.id).value());
  }
  EXPECT_EQ(lending_.asked, 1);
  EXPECT_TRUE(lending_.node(1).key_at_hand("ada") && lending_.node(1).found_at_hand(ada.id));

  lending_.pass(Lending::lease);
  EXPECT_FALSE(lending_.node(1).key_at_hand("ada") || lending_.node(1).found_at_hand(ada.id));
  EXPECT_TRUE(lending_.node(1).key_for("ada"));
  EXPECT_EQ(lending_.asked, 2);
}

TEST_F(LentKeys, ThoseOfAPageAreAskedForAtOnceAndMemoryIsBounded) {
  std::vector<KeyId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(lending_.node(1).key_for("subject-" + std::to_string(i))->id);
  const int before = lending_.asked;
  lending_.node(2).fetch({.ids = ids});
  for (const auto& id : ids) EXPECT_TRUE(lending_.node(2).find(id).value());
  EXPECT_EQ(lending_.asked, before + 1);

  for (int i = 40; i < 200; ++i) EXPECT_TRUE(lending_.node(1).key_for("subject-" + std::to_string(i)));
  EXPECT_EQ(lending_.node(1).known(), 50u);
}

TEST_F(LentKeys, NobodyUsesOneThatWasDestroyed) {
  const auto ada = copied(lending_.node(1).key_for("ada"));
  destroy_at_once(2, ada.id);

  for (std::uint32_t node : {1u, 2u}) {
    EXPECT_EQ(lending_.node(node).find(ada.id).value(), std::nullopt) << node;
    EXPECT_EQ(lending_.node(node).current("ada").value(), std::nullopt);
  }
  const auto behind = copied(lending_.node(1).key_for("ada"));
  EXPECT_NE(behind.id, ada.id);
  EXPECT_EQ(lending_.node(2).key_for("ada")->id, behind.id);
  EXPECT_TRUE(lending_.node(1).destroy(ada.id));  // again: nothing happens
  EXPECT_EQ(lending_.node(2).key_for("ada")->id, behind.id);
}

// It may go on with it until what it was lent is over, and whoever destroys it is answered then.
TEST_F(LentKeys, WhoIsFrozenOrCutOffHasNoneBehindItsTime) {
  for (auto* how : {&lending_.frozen, &lending_.cut_off}) {
    lending_.pass(Lending::over);
    const auto ada = copied(lending_.node(1).key_for("ada"));
    ASSERT_TRUE(lending_.node(2).find(ada.id).value());
    *how = 2u;

    auto destroyed = destroying(1, ada.id);
    EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout) << "a node may still use it";
    EXPECT_TRUE(lending_.node(2).found_at_hand(ada.id));
    lending_.pass(Lending::over);
    ASSERT_EQ(destroyed.wait_for(lending_patience), std::future_status::ready);
    EXPECT_TRUE(destroyed.get());

    const auto found = lending_.node(2).find(ada.id);
    EXPECT_TRUE(!found || !*found) << "it opens what is erased";
    *how = 0u;
    EXPECT_EQ(lending_.node(2).find(ada.id).value(), std::nullopt);
  }
}

TEST_F(LentKeys, AnEarlierProcessOfANodeIsWaitedForToo) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(2).key_for("ada"));
  lending_.start(2);  // says that it has forgotten what it never had

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout);
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
}

TEST_F(LentKeys, WhatAnEarlierProcessOfTheCoordinatorLentIsWaitedFor) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(2).key_for("ada"));
  lending_.restart_keeper();

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(lending_.node(2).found_at_hand(ada.id));
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
  EXPECT_EQ(lending_.node(2).find(ada.id).value(), std::nullopt);
}

// Who leads now does not know to whom it lent, and it goes on: behind the change it lends nothing any more.
TEST_F(LentKeys, WhatTheCoordinatorThatLedBeforeLentIsWaitedFor) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(2).key_for("ada"));
  const auto before = lending_.lead_anew();

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(lending_.node(2).found_at_hand(ada.id)) << "which may be linked to the other one still";
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
  EXPECT_FALSE(lending_.node(2).found_at_hand(ada.id));

  std::promise<KeysAnswered> told;
  before->answer(2, {.what = KeysAsked::What::find, .holder = 7, .ids = {ada.id}},
                 [&](const Result<KeysAnswered>& answered) { told.set_value(answered.value()); });
  const auto keys = told.get_future().get().keys;
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_FALSE(keys.front().secret);
  EXPECT_EQ(keys.front().error->code, ErrorCode::unavailable);
}

// It looked at the key while it led, was frozen, and answers when the key's end was answered.
TEST_F(LentKeys, WhatAFrozenCoordinatorSaysWhenAnotherOneLeadsIsNotUsed) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(1).key_for("ada"));
  const auto go = lending_.hold_answers();
  const int on_the_way = lending_.on_the_way;
  auto found = std::async(std::launch::async, [&] { return lending_.node(2).find(ada.id); });
  while (lending_.on_the_way == on_the_way) std::this_thread::sleep_for(1ms);
  lending_.hold_no_more();
  const auto frozen = lending_.lead_anew();

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout) << "its answer would still be used";
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
  go->set_value();

  EXPECT_EQ(found.get().value(), std::nullopt);
}

// Once that is over: who was told of keys since has forgotten them, and nobody else has any.
TEST_F(LentKeys, AChangeOfLeaderIsWaitedForOnce) {
  const auto ada = copied(lending_.node(1).key_for("ada"));
  const auto before = lending_.lead_anew();
  destroy_at_once(2, ada.id);
}

// Told before it was destroyed, and arriving behind the word to forget it.
TEST_F(LentKeys, AnAnswerThatIsOvertakenIsNotUsed) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(1).key_for("ada"));
  const auto go = lending_.hold_answers();
  const int before = lending_.on_the_way;
  auto found = std::async(std::launch::async, [&] { return lending_.node(2).find(ada.id); });
  while (lending_.on_the_way == before) std::this_thread::sleep_for(1ms);
  lending_.hold_no_more();

  ASSERT_TRUE(lending_.node(1).destroy(ada.id));
  go->set_value();

  EXPECT_EQ(found.get().value(), std::nullopt);
}

TEST_F(LentKeys, WhatIsOverBeforeItArrivesIsNotUsed) {
  const auto go = lending_.hold_answers();
  auto made = std::async(std::launch::async, [&] { return lending_.node(1).key_for("ada"); });
  while (lending_.on_the_way == 0) std::this_thread::sleep_for(1ms);
  lending_.hold_no_more();
  lending_.pass(Lending::lease);
  const int before = lending_.asked;
  go->set_value();
  EXPECT_TRUE(made.get());
  EXPECT_EQ(lending_.asked, before + 1);
}

TEST_F(LentKeys, WithoutTheCoordinatorNothingIsSealedOrOpened) {
  const Sealing one(lending_.nodes.at(1)), two(lending_.nodes.at(2));
  auto sealed = order_of("ada");
  ASSERT_TRUE(one.seal(sealed));
  lending_.cut_off = 2u;

  auto more = order_of("bob");
  EXPECT_EQ(two.seal(more).error().code, ErrorCode::unavailable);
  auto event = recorded(sealed);
  EXPECT_EQ(two.open(event).error().code, ErrorCode::unavailable);
  auto plain = recorded(order_of(""));
  EXPECT_TRUE(two.open(plain));
  auto without = order_of("");
  EXPECT_TRUE(two.seal(without));

  lending_.cut_off = 0u;
  ASSERT_TRUE(two.open(event));
  EXPECT_EQ(event.payload, "Ada, 12 St James's Square");
  EXPECT_EQ(event.subject, "ada");
}

TEST_F(LentKeys, ACoordinatorWithoutKeysIsNamed) {
  const Sealing with(lending_.nodes.at(1));
  auto sealed = order_of("ada");
  ASSERT_TRUE(with.seal(sealed));
  Lending none(false);
  const Sealing without(none.nodes.at(1));

  auto append = order_of("ada");
  const auto refused = without.seal(append);
  EXPECT_EQ(code_of(refused), "invalid_argument");
  EXPECT_THAT(refused.error().what, HasSubstr("`keys`"));
  auto copied = sealed;
  EXPECT_EQ(code_of(without.seal(copied)), "invalid_argument");  // what only looks sealed
  auto event = recorded(sealed);
  EXPECT_EQ(code_of(without.open(event)), "unavailable");  // what is stored: the setting was left out
  EXPECT_EQ(code_of(none.node(1).current("ada")), "invalid_argument");
  EXPECT_EQ(code_of(none.node(1).destroy({})), "invalid_argument");
}

TEST_F(LentKeys, WhatOnlyLooksSealedIsRefused) {
  const Sealing sealing(lending_.nodes.at(1));
  auto sealed = order_of("ada");
  ASSERT_TRUE(sealing.seal(sealed));
  auto again = sealed;
  EXPECT_TRUE(sealing.seal(again));
  auto damaged = sealed;
  damaged.events[0].payload.back() ^= 1;
  EXPECT_EQ(code_of(sealing.seal(damaged)), "invalid_argument");
  Lending other;
  EXPECT_EQ(code_of(Sealing(other.nodes.at(1)).seal(again)), "invalid_argument");
}

TEST_F(LentKeys, WhoeverWaitsIsToldThatTheNodeStops) {
  const auto go = lending_.hold_answers();
  auto made = std::async(std::launch::async, [&] { return lending_.node(1).key_for("ada"); });
  while (lending_.on_the_way == 0) std::this_thread::sleep_for(1ms);
  lending_.node(1).stop();
  EXPECT_EQ(code_of(made.get()), "unavailable");
  EXPECT_EQ(code_of(lending_.node(1).key_for("bob")), "unavailable");
  go->set_value();
}

TEST_F(LentKeys, ACoordinatorThatStopsAnswersWhoDestroys) {
  const auto ada = copied(lending_.node(2).key_for("ada"));
  lending_.frozen = 2u;
  auto destroyed = destroying(1, ada.id);
  while (lending_.told_to_forget == 0) std::this_thread::sleep_for(1ms);
  lending_.keeper->stop();
  EXPECT_EQ(code_of(destroyed.get()), "timeout");
  lending_.restart_keeper();
  EXPECT_EQ(lending_.node(1).find(ada.id).value(), std::nullopt);
}

class NotedJournal final : public actors::AggregateJournal {
 public:
  void append(Append append, AppendChain, std::uint64_t, std::function<void(Result<Appended>)> done) override {
    const std::lock_guard lock(mutex_);
    types_.push_back(append.events[0].type);
    done(Appended{});
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId&,
                                                                 std::optional<GlobalPosition>) const override {
    return std::nullopt;
  }
  [[nodiscard]] Result<Page> stream(const AggregateId&, const StreamOptions&) const override { return Page{}; }
  [[nodiscard]] Result<Page> query(const Query&, const ReadOptions&) const override { return Page{}; }
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId&,
                                                                       std::string_view) const override {
    return std::nullopt;
  }
  [[nodiscard]] Result<void> put_snapshot(Snapshot, std::uint64_t) override { return {}; }
  [[nodiscard]] GlobalPosition watermark() const override { return {}; }
  [[nodiscard]] std::vector<std::string> types() const {
    const std::lock_guard lock(mutex_);
    return types_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> types_;
};

/// An append with an event and a snapshot that are Ada's, decided over a state that was loaded at `loaded_at`. Returns:
/// how it was answered
std::string decided(actors::AggregateJournal& journal, std::uint64_t loaded_at, std::size_t snapshots = 1) {
  auto append = order_of("");
  if (snapshots != 0)
    append.snapshots.push_back(
        {{"order", "1"}, SeqNr{0}, "Ada, 12 St James's Square", PayloadFormat::text, 1, {}, {}, "ada"});
  else
    append.events[0].subject = "ada";
  std::promise<std::string> answered;
  journal.append(std::move(append), {}, loaded_at,
                 [&](const Result<Appended>& done) { answered.set_value(code_of(done)); });
  return answered.get_future().get();
}

// A live aggregate has what it read in memory. Whatever this node knows of it, nothing of that is sealed under the
// subject's next key.
TEST_F(LentKeys, AStateOfBeforeAnErasureIsNotSealed) {
  for (auto* how : {&lending_.frozen, &lending_.cut_off}) {
    lending_.pass(Lending::over);
    NotedJournal journal;
    SealingQueue queue;
    SealedJournal sealed(journal, std::make_shared<const Sealing>(lending_.nodes.at(2)), &queue);
    const auto ada = copied(lending_.node(2).key_for("ada"));
    const auto loaded_at = sealed.erasures();
    EXPECT_EQ(decided(sealed, loaded_at), "ok");

    *how = 2u;
    auto destroyed = destroying(1, ada.id);
    EXPECT_EQ(destroyed.wait_for(100ms), std::future_status::timeout);
    lending_.pass(Lending::over);
    ASSERT_TRUE(destroyed.get());
    *how = 0u;
    // Nobody told this node: it asks for the subject's key, and is given the next one.
    EXPECT_EQ(decided(sealed, loaded_at), "version_conflict");
    EXPECT_EQ(decided(sealed, loaded_at, 0), "version_conflict") << "an event may have it, too";
    EXPECT_EQ(code_of(sealed.put_snapshot({{"order", "1"}, SeqNr{1}, "Ada", PayloadFormat::text, 1, {}, {}, "ada"},
                                          loaded_at)),
              "version_conflict");
    EXPECT_EQ(code_of(sealed.put_snapshot({{"order", "1"}, SeqNr{1}, "nobody", PayloadFormat::text, 1, {}, {}, ""},
                                          loaded_at)),
              "ok");

    const auto loaded_again_at = sealed.erasures();
    EXPECT_EQ(decided(sealed, loaded_again_at), "ok");
    EXPECT_NE(copied(lending_.node(2).key_for("ada")).id, ada.id);
  }
}

TEST_F(LentKeys, AnotherProcessOfTheCoordinatorMayHaveDestroyedIt) {
  NotedJournal journal;
  SealedJournal sealed(journal, std::make_shared<const Sealing>(lending_.nodes.at(2)));
  const auto ada = copied(lending_.node(2).key_for("ada"));
  const auto loaded_at = sealed.erasures();
  lending_.cut_off = 2u;
  auto destroyed = destroying(1, ada.id);
  lending_.pass(Lending::over);
  ASSERT_TRUE(destroyed.get());
  lending_.restart_keeper();
  lending_.pass(Lending::over);
  lending_.cut_off = 0u;

  EXPECT_EQ(decided(sealed, loaded_at), "version_conflict");
  EXPECT_EQ(decided(sealed, sealed.erasures()), "ok");
}

TEST_F(LentKeys, WhatWasToldBeforeADestructionIsAskedForAgain) {
  lending_.pass(Lending::over);
  const auto ada = copied(lending_.node(2).key_for("ada")), bob = copied(lending_.node(2).key_for("bob"));
  lending_.frozen = 2u;
  auto destroyed = destroying(1, ada.id);
  while (lending_.told_to_forget == 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(lending_.node(2).found_at_hand(ada.id)) << "lent, and not told";

  ASSERT_TRUE(lending_.node(2).key_for("carol"));  // says that something was destroyed

  EXPECT_FALSE(lending_.node(2).found_at_hand(ada.id));
  EXPECT_EQ(lending_.node(2).find(ada.id).value(), std::nullopt);
  EXPECT_TRUE(lending_.node(2).find(bob.id).value());
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
}

/// Destroys a key, and makes the next one, just while it is asked for.
class ErasedMeanwhile final : public SubjectKeys {
 public:
  Result<HeldKey> key_for(std::string_view) override {
    erasures_ = 1;
    return HeldKey(PayloadKey{});
  }
  Result<std::optional<HeldKey>> find(const KeyId&) override { return std::nullopt; }
  Result<std::optional<KeyId>> current(std::string_view) override { return std::nullopt; }
  Result<void> destroy(const KeyId&) override { return {}; }
  [[nodiscard]] std::uint64_t erasures() const override { return erasures_; }

 private:
  std::atomic<std::uint64_t> erasures_{0};
};

TEST_F(LentKeys, AKeyIsToldWithWhatWasDestroyedBeforeItWasMade) {
  KeyKeeper keeper(std::make_unique<ErasedMeanwhile>(), HaveForgotten{});
  std::promise<KeysAnswered> told;
  keeper.answer(1, {.what = KeysAsked::What::key_for, .holder = 7, .subjects = {"ada"}},
                [&](const Result<KeysAnswered>& answered) { told.set_value(answered.value()); });
  EXPECT_EQ(told.get_future().get().destroyed.count, 1u);
}

// Who holds a state that it read with a key is told of the key's end, also when it has no key any more, and when nobody
// could tell it.
TEST_F(LentKeys, WhoHasReadIsToldOfErasures) {
  const auto ada = copied(lending_.node(2).key_for("ada"));
  std::atomic<int> told{0};
  lending_.node(2).watch_erasures([&] { ++told; });
  lending_.pass(Lending::over);
  ASSERT_TRUE(lending_.node(1).destroy(ada.id));
  for (const auto until = std::chrono::steady_clock::now() + lending_patience;
       told == 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(told, 1);

  const auto bob = copied(lending_.node(2).key_for("bob"));
  lending_.cut_off = 2u;
  auto destroyed = destroying(1, bob.id);
  lending_.pass(Lending::over);
  ASSERT_TRUE(destroyed.get());
  lending_.node(2).look_again();  // not yet
  lending_.cut_off = 0u;
  for (const auto until = std::chrono::steady_clock::now() + lending_patience;
       told == 1 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(told, 2);
  lending_.node(2).watch_erasures({});
}

TEST_F(LentKeys, WhatIsInSomebodysHandsIsWaitedFor) {
  auto key = std::make_optional(lending_.node(2).key_for("ada").value());
  lending_.pass(Lending::over);
  auto forgotten = std::async(std::launch::async, [&, id = key->id] {
    return lending_.node(2).forget({{id}, {0, 0}});
  });
  EXPECT_EQ(forgotten.wait_for(100ms), std::future_status::timeout);
  EXPECT_EQ(lending_.node(2).known(), 0u);
  key.reset();
  EXPECT_EQ(forgotten.wait_for(lending_patience), std::future_status::ready);
}

TEST_F(LentKeys, WhatIsOverLeavesMemory) {
  ASSERT_TRUE(lending_.node(1).key_for("ada"));
  ASSERT_EQ(lending_.node(1).known(), 1u);
  lending_.pass(Lending::lease);
  for (const auto until = std::chrono::steady_clock::now() + lending_patience;
       lending_.node(1).known() != 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(lending_.node(1).known(), 0u);
}

// Each page of each reader would wait for it.
TEST(CoordinatorThatIsAway, IsWaitedForOnceAndNoticedWhenItIsBack) {
  class Slow final : public KeyNetwork {
   public:
    void ask(KeysAsked what, std::chrono::milliseconds, KeysDone done) override {
      if (what.what != KeysAsked::What::erasures) ++asked;
      const std::lock_guard lock(mutex);
      if (there) return lending.keeper->answer(1, std::move(what), std::move(done));
      held.push_back(std::move(done));
    }
    Lending lending;
    std::mutex mutex;
    bool there = false;
    std::vector<KeysDone> held;
    std::atomic<int> asked{0};
  } network;
  CoordinatorKeys keys(network, {.time = std::chrono::milliseconds(50), .now = network.lending.clock()});
  EXPECT_EQ(code_of(keys.key_for("ada")), "unavailable");
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(code_of(keys.find({})), "unavailable");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 100s) << "a second and more each";
  EXPECT_LE(network.asked, 2) << "once, and whether it is there again";

  std::vector<KeysDone> held;
  {
    const std::lock_guard lock(network.mutex);
    network.there = true;
    held = std::exchange(network.held, {});
  }
  for (const auto& done : held) done(refuse(ErrorCode::timeout, "no answer"));
  Result<HeldKey> key = keys.key_for("ada");
  for (const auto until = std::chrono::steady_clock::now() + lending_patience;
       !key && std::chrono::steady_clock::now() < until; key = keys.key_for("ada"))
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(key) << key.error().what;
}

/// A coordinator whose disk has stalled: it says at once how much it erased, and nothing of keys.
class StalledDisk final : public KeyNetwork {
 public:
  void ask(KeysAsked what, std::chrono::milliseconds, KeysDone done) override {
    if (what.what == KeysAsked::What::erasures) {
      KeysAnswered answered;
      answered.destroyed = {7, 0};
      ++looks;
      return done(answered);
    }
    const std::lock_guard lock(mutex);
    ++asked;
    held.push_back(std::move(done));
  }
  std::atomic<int> looks{0}, asked{0};
  std::mutex mutex;
  std::vector<KeysDone> held;
};

template <class Is>
void until_it_is(const Is& is) {
  for (const auto until = std::chrono::steady_clock::now() + lending_patience;
       !is() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(is());
}

TEST(CoordinatorThatIsAway, IsWaitedForOnceWhereOnlyItsDiskIs) {
  StalledDisk network;
  CoordinatorKeys keys(network, {.time = 10ms});
  EXPECT_EQ(code_of(keys.key_for("ada")), "unavailable");
  until_it_is([&] { return network.looks > 0; });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(code_of(keys.key_for("ada")), "unavailable");
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_LE(network.asked, 2) << "once, and whether it is there again";
}

/// Looks at what was erased are answered by the test.
class HeldLooks final : public KeyNetwork {
 public:
  void ask(KeysAsked what, std::chrono::milliseconds, KeysDone done) override {
    if (what.what != KeysAsked::What::erasures) return lending.keeper->answer(1, std::move(what), std::move(done));
    const std::lock_guard lock(mutex);
    held.push_back(std::move(done));
    ++looks;
  }
  Lending lending;
  std::atomic<int> looks{0};
  std::mutex mutex;
  std::vector<KeysDone> held;
};

TEST(CoordinatorThatIsAway, IsLookedAtAgainWhereItComesBackMeanwhile) {
  HeldLooks network;
  CoordinatorKeys keys(network, {.look_time = 1h});
  keys.look_again();
  until_it_is([&] { return network.looks == 1; });
  keys.look_again();
  {
    const std::lock_guard lock(network.mutex);
    network.held.front()(KeysAnswered{});
  }
  until_it_is([&] { return network.looks == 2; });
}

TEST(CoordinatorThatIsAway, KeepsNoKeyInMemory) {
  HeldLooks network;
  CoordinatorKeys keys(network, {.look_time = 1h, .now = network.lending.clock()});
  keys.look_again();
  until_it_is([&] { return network.looks == 1; });
  ASSERT_TRUE(keys.key_for("ada"));
  EXPECT_EQ(keys.known(), 1u);
  network.lending.pass(Lending::lease);
  until_it_is([&] { return keys.known() == 0; });
}

// What carries the questions goes next.
TEST(CoordinatorThatIsAway, IsAskedNoMoreOnceItIsStopped) {
  class Slow final : public KeyNetwork {
   public:
    void ask(KeysAsked, std::chrono::milliseconds, KeysDone done) override {
      asking = true;
      std::this_thread::sleep_for(200ms);
      asking = false;
      done(refuse(ErrorCode::unavailable, "no connection"));
    }
    std::atomic<bool> asking{false};
  } network;
  CoordinatorKeys keys(network);
  keys.look_again();
  until_it_is([&] { return network.asking.load(); });
  keys.stop();
  EXPECT_FALSE(network.asking);
  keys.look_again();
  keys.stop();
}

// Many processes come and go; who is quiet may still have a state that it read.
TEST(KeyKeeperTest, WhoIsQuietIsToldOfErasuresAndGoneProcessesAreNot) {
  ScratchDir scratch;
  std::mutex mutex;
  std::vector<std::uint32_t> told;
  std::atomic<std::int64_t> now{1'000'000};
  KeyKeeper keeper(KeyFolder::open(scratch.path() / "keys", {}).value(),
                   [&](std::uint32_t node, const KeysForget&, const std::function<void(Result<KeysForgotten>)>&) {
                     const std::lock_guard lock(mutex);
                     told.push_back(node);
                   },
                   {.now = [&] { return std::chrono::milliseconds(now.load()); }});
  const auto asks = [&](std::uint32_t node, KeysAsked asked) {
    std::promise<KeyId> id;
    keeper.answer(node, std::move(asked),
                  [&](const Result<KeysAnswered>& answered) { id.set_value(answered.value().keys.front().id); });
    return id.get_future().get();
  };
  const auto ada = asks(1, {.what = KeysAsked::What::key_for, .holder = 1, .subjects = {"ada"}});
  for (std::uint64_t process = 0; process != 200; ++process) {
    now += Lending::over.count();
    asks(2, {.what = KeysAsked::What::find, .holder = 1'000 + process, .ids = {ada}});
  }
  now += Lending::over.count();
  asks(3, {.what = KeysAsked::What::destroy, .holder = 7, .ids = {ada}});
  const std::lock_guard lock(mutex);
  EXPECT_THAT(told, ::testing::UnorderedElementsAre(1u, 2u));
}

// A cell's actor has others to serve.
TEST_F(LentKeys, WhoAppendsDoesNotWaitForAKeyAndOrderIsKept) {
  NotedJournal journal;
  std::atomic<int> answered{0};
  {
    SealingQueue queue;
    SealedJournal sealed(journal, std::make_shared<const Sealing>(lending_.nodes.at(1)), &queue);
    const auto send = [&](const std::string& type, const std::string& subject) {
      auto append = order_of(subject);
      append.events[0].type = type;
      sealed.append(std::move(append), {}, sealed.erasures(),
                    [&](const Result<Appended>& done) { answered += done ? 1 : 100; });
    };
    send("first", "");
    EXPECT_EQ(answered, 1) << "what needs no key is not handed over";
    const auto go = lending_.hold_answers();
    send("second", "ada");
    send("third", "");
    send("fourth", "ada");
    EXPECT_THAT(journal.types(), ElementsAre("first"));
    lending_.hold_no_more();
    go->set_value();
    queue.stop();  // before what its work needs
  }
  EXPECT_THAT(journal.types(), ElementsAre("first", "second", "third", "fourth"));
  EXPECT_EQ(answered, 4);
}

// Who closes it gives up what carries its appends next.
TEST(SealingQueueTest, IsEmptyOnceItIsStopped) {
  SealingQueue queue;
  std::promise<void> go;
  std::vector<int> done;
  EXPECT_TRUE(queue.run({}, [&] { go.get_future().wait(); }));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(queue.run({}, [&, i] { done.push_back(i); }));
  std::thread opening([&] { go.set_value(); });
  queue.stop();
  opening.join();
  EXPECT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_FALSE(queue.busy());
  bool late = false;
  EXPECT_TRUE(queue.run({}, [&] { late = true; }));
  EXPECT_TRUE(late) << "in the caller's thread";
  queue.stop();
}

TEST(SealingQueueTest, NothingOvertakesWhatIsInItWhileItStops) {
  SealingQueue queue;
  std::promise<void> go;
  std::vector<int> done;
  EXPECT_TRUE(queue.run({}, [&] {
    go.get_future().wait();
    done.push_back(1);
  }));
  std::thread stopping([&] { queue.stop(); });
  std::this_thread::sleep_for(100ms);  // it stops by then, or the queue is as ever
  EXPECT_TRUE(queue.run({}, [&] { done.push_back(2); }));
  go.set_value();
  stopping.join();
  EXPECT_THAT(done, ElementsAre(1, 2));
}

TEST(SealingQueueTest, IsBounded) {
  SealingQueue queue({.events_max = 3, .bytes_max = 1'000});
  std::promise<void> go;
  std::atomic<int> done{0};
  ASSERT_TRUE(queue.run(order_of("ada"), [&] { go.get_future().wait(); }));
  ASSERT_TRUE(queue.run(order_of("ada"), [&] { ++done; }));
  EXPECT_EQ(code_of(queue.run(order_of("ada", std::string(2'000, 'x')), [&] { ++done; })), "overloaded");
  ASSERT_TRUE(queue.run(order_of("ada"), [&] { ++done; }));
  EXPECT_EQ(code_of(queue.run(order_of("ada"), [&] { ++done; })), "overloaded");
  go.set_value();
  queue.stop();
  EXPECT_EQ(done, 2);
}

TEST_F(LentKeys, KeysOfAllThatWaitsAreAskedForAtOnce) {
  NotedJournal journal;
  std::atomic<int> answered{0};
  {
    SealingQueue queue({.fetch = [&](KeysWanted wanted) { lending_.node(1).fetch(std::move(wanted)); }});
    SealedJournal sealed(journal, std::make_shared<const Sealing>(lending_.nodes.at(1)), &queue);
    const auto send = [&](const std::string& subject) {
      sealed.append(order_of(subject), {}, sealed.erasures(),
                    [&](const Result<Appended>& done) { answered += done ? 1 : 100; });
    };
    const auto go = lending_.hold_answers();
    send("first");
    while (lending_.on_the_way == 0) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 60; ++i) send("subject-" + std::to_string(i % 30));
    lending_.hold_no_more();
    go->set_value();
    queue.stop();
  }
  EXPECT_EQ(answered, 61);
  EXPECT_EQ(lending_.asked, 2);
}

/// What one thread appended is there before what it appends next, whichever way it goes.
TEST_F(LentKeys, ABlockingAppendComesBehindWhatItsThreadSent) {
  const auto scratch = std::make_unique<ScratchDir>();
  LocalOptions options;
  options.data_dir = scratch->path() / "data";
  auto store = open_store(std::move(options));
  std::atomic<bool> sent{false};
  {
    SealingQueue queue;
    SealedEvents events(store, std::make_shared<const Sealing>(lending_.nodes.at(1)), &queue);
    const auto go = lending_.hold_answers();
    auto first = order_of("");
    first.events[0].type = "First";
    auto second = order_of("");
    second.events[0].type = "Second";
    events.append_async(order_of("ada"),
                        [](const Result<Appended>&) {});  // its key is waited for; a store without keys refuses it then
    events.append_async(std::move(first), [](const Result<Appended>&) {});
    std::thread opening([&] {
      while (lending_.on_the_way == 0) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(store.head().value(), GlobalPosition{0});
      lending_.hold_no_more();
      sent = true;
      go->set_value();
    });
    const auto done = events.append(std::move(second));
    EXPECT_TRUE(sent) << "it did not wait";
    EXPECT_TRUE(done) << done.error().what;
    opening.join();
    queue.stop();
  }
  EXPECT_EQ(store.event_at(GlobalPosition{1}).value().type, "First");
  EXPECT_EQ(store.event_at(GlobalPosition{2}).value().type, "Second");
}

}  // namespace
}  // namespace evershard::cluster
