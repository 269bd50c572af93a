// Keys that lie at the coordinator: lent for a while, and used by nobody behind their end.

#include <gmock/gmock.h>

#include <thread>

#include "evershard/cluster/erasure/sealed_journal.hpp"
#include "evershard/cluster/erasure/sealing.hpp"
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
  const auto ada = lending_.node(1).key_for("ada").value(), bob = lending_.node(1).key_for("bob").value();
  // Before it was answered, not some time.
  const auto folder = KeyFolder::open(lending_.folder(), {}).value();
  EXPECT_EQ(folder->find(ada.id).value()->secret, ada.secret);

  EXPECT_NE(ada.id, bob.id);
  EXPECT_EQ(lending_.node(2).key_for("ada")->secret, ada.secret);
  EXPECT_EQ(lending_.node(2).find(bob.id).value()->secret, bob.secret);
  EXPECT_EQ(lending_.node(2).current("ada").value(), ada.id);
  EXPECT_EQ(lending_.node(2).current("nobody").value(), std::nullopt);
}

/// Says of a key that it is there before it is: what KeyFolder must not do.
class SlowKeys final : public SubjectKeys {
 public:
  Result<PayloadKey> key_for(std::string_view) override {
    std::this_thread::sleep_for(200ms);
    durable = true;
    return PayloadKey{};
  }
  Result<std::optional<PayloadKey>> find(const KeyId&) override { return std::nullopt; }
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
  const auto ada = lending_.node(1).key_for("ada").value();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(lending_.node(1).key_for("ada"));
    EXPECT_TRUE(lending_.node(1).find(ada.id).value());
  }
  EXPECT_EQ(lending_.asked, 1);
  EXPECT_TRUE(lending_.node(1).at_hand("ada") && lending_.node(1).at_hand(ada.id));

  lending_.pass(Lending::lease);
  EXPECT_FALSE(lending_.node(1).at_hand("ada") || lending_.node(1).at_hand(ada.id));
  EXPECT_TRUE(lending_.node(1).key_for("ada"));
  EXPECT_EQ(lending_.asked, 2);
}

TEST_F(LentKeys, ThoseOfAPageAreAskedForAtOnceAndMemoryIsBounded) {
  std::vector<KeyId> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(lending_.node(1).key_for("subject-" + std::to_string(i))->id);
  const int before = lending_.asked;
  lending_.node(2).fetch(ids);
  for (const auto& id : ids) EXPECT_TRUE(lending_.node(2).find(id).value());
  EXPECT_EQ(lending_.asked, before + 1);

  for (int i = 40; i < 200; ++i) EXPECT_TRUE(lending_.node(1).key_for("subject-" + std::to_string(i)));
  EXPECT_EQ(lending_.node(1).known(), 50u);
}

TEST_F(LentKeys, NobodyUsesOneThatWasDestroyed) {
  const auto ada = lending_.node(1).key_for("ada").value();
  destroy_at_once(2, ada.id);

  for (std::uint32_t node : {1u, 2u}) {
    EXPECT_EQ(lending_.node(node).find(ada.id).value(), std::nullopt) << node;
    EXPECT_EQ(lending_.node(node).current("ada").value(), std::nullopt);
  }
  const auto behind = lending_.node(1).key_for("ada").value();
  EXPECT_NE(behind.id, ada.id);
  EXPECT_EQ(lending_.node(2).key_for("ada")->id, behind.id);
  EXPECT_TRUE(lending_.node(1).destroy(ada.id));  // again: nothing happens
  EXPECT_EQ(lending_.node(2).key_for("ada")->id, behind.id);
}

// It may go on with it until what it was lent is over, and whoever destroys it is answered then.
TEST_F(LentKeys, WhoIsFrozenOrCutOffHasNoneBehindItsTime) {
  for (auto* how : {&lending_.frozen, &lending_.cut_off}) {
    lending_.pass(Lending::over);
    const auto ada = lending_.node(1).key_for("ada").value();
    ASSERT_TRUE(lending_.node(2).find(ada.id).value());
    *how = 2u;

    auto destroyed = destroying(1, ada.id);
    EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout) << "a node may still use it";
    EXPECT_TRUE(lending_.node(2).at_hand(ada.id));
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
  const auto ada = lending_.node(2).key_for("ada").value();
  lending_.start(2);  // says that it has forgotten what it never had

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout);
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
}

TEST_F(LentKeys, WhatAnEarlierProcessOfTheCoordinatorLentIsWaitedFor) {
  lending_.pass(Lending::over);
  const auto ada = lending_.node(2).key_for("ada").value();
  lending_.restart_keeper();

  auto destroyed = destroying(1, ada.id);
  EXPECT_EQ(destroyed.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(lending_.node(2).at_hand(ada.id));
  lending_.pass(Lending::over);
  EXPECT_TRUE(destroyed.get());
  EXPECT_EQ(lending_.node(2).find(ada.id).value(), std::nullopt);
}

// Told before it was destroyed, and arriving behind the word to forget it.
TEST_F(LentKeys, AnAnswerThatIsOvertakenIsNotUsed) {
  lending_.pass(Lending::over);
  const auto ada = lending_.node(1).key_for("ada").value();
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
  EXPECT_EQ(code_of(without.open(event)), "unavailable");        // what is stored: the setting was left out
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
  const auto ada = lending_.node(2).key_for("ada").value();
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
  void append(Append append, AppendChain, std::function<void(Result<Appended>)> done) override {
    const std::lock_guard lock(mutex_);
    types_.push_back(append.events[0].type);
    done(Appended{});
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId&, std::optional<GlobalPosition>) const override { return std::nullopt; }
  [[nodiscard]] Result<Page> stream(const AggregateId&, const StreamOptions&) const override { return Page{}; }
  [[nodiscard]] Result<Page> query(const Query&, const ReadOptions&) const override { return Page{}; }
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId&, std::string_view) const override { return std::nullopt; }
  [[nodiscard]] Result<void> put_snapshot(Snapshot) override { return {}; }
  [[nodiscard]] GlobalPosition watermark() const override { return {}; }
  [[nodiscard]] std::vector<std::string> types() const {
    const std::lock_guard lock(mutex_);
    return types_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> types_;
};

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
      sealed.append(std::move(append), {}, [&](const Result<Appended>& done) { answered += done ? 1 : 100; });
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
  queue.run([&] { go.get_future().wait(); });
  for (int i = 0; i < 100; ++i) queue.run([&, i] { done.push_back(i); });
  std::thread opening([&] { go.set_value(); });
  queue.stop();
  opening.join();
  EXPECT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_FALSE(queue.has_to(false));
  bool late = false;
  queue.run([&] { late = true; });
  EXPECT_TRUE(late) << "in the caller's thread";
  queue.stop();
}

}  // namespace
}  // namespace evershard::cluster
