// What of live aggregates is there when the store is opened again.

#include "tests/local/accounts.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;

class DurableAccounts : public Accounts {
 protected:
  void open_again() {
    store_.reset();
    open();
  }
};

INSTANTIATE_TEST_SUITE_P(Durable, DurableAccounts, ::testing::Values(true));

TEST_P(DurableAccounts, KnowTheirCommandsAgain) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(account().ask(Deposit{1}, {.command_id = "c" + std::to_string(i)}));
  const auto two = account("2").ask(DepositTwice{5}, {.command_id = "c0"});
  ASSERT_EQ(shown(two), "10");

  open_again();

  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(shown(account().ask(Deposit{1}, {.command_id = "c" + std::to_string(i)})),
              std::to_string(i + 1) + " again");
  const auto again = account("2").ask(DepositTwice{5}, {.command_id = "c0"});
  EXPECT_EQ(shown(again), "10 again");
  EXPECT_EQ(again.position(), two.position());
  EXPECT_EQ(again.version(), two.version());
  EXPECT_EQ(store().head(), GlobalPosition{32});
}

// The id was sealed into sorted files long ago.
TEST_P(DurableAccounts, KnowTheirCommandsAgainAfterSealing) {
  ASSERT_TRUE(account().ask(Deposit{7}, {.command_id = "a"}));
  ASSERT_TRUE(store().flush());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(account(std::to_string(i)).ask(Deposit{1}));
  ASSERT_TRUE(store().flush());

  open_again();

  EXPECT_EQ(shown(account().ask(Deposit{7}, {.command_id = "a"})), "7 again");
}

TEST_P(DurableAccounts, LoadFromTheirSnapshots) {
  for (int i = 0; i < 57; ++i) ASSERT_TRUE(account().ask(Deposit{1}));

  open_again();

  EXPECT_EQ(shown(account().ask(Look{})), "57");
  EXPECT_EQ(figure(store(), "snapshots_used", 1), 1u);
  EXPECT_EQ(figure(store(), "replayed", 7), 7u);
  EXPECT_EQ(account().state_at(GlobalPosition{30})->state.balance, 30);
}

TEST_P(DurableAccounts, BeginAnewWhereTheyWereRemovedLiveOrNot) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(account().ask(Deposit{1}, {.command_id = "c" + std::to_string(i)}));

  ASSERT_TRUE(store().retention().remove_aggregate(one, {}));  // while it is live, with its state in memory

  EXPECT_EQ(shown(account().ask(Deposit{5})), "5");
  EXPECT_EQ(store().aggregate(one)->version, SeqNr{32});
  EXPECT_EQ(shown(account().ask(Deposit{1}, {.command_id = "c3"})), "4 again");  // what was answered is not done twice
  open_again();
  EXPECT_EQ(shown(account().ask(Deposit{1})), "6");
  EXPECT_EQ(account().state_at(GlobalPosition{10}).error().code, ErrorCode::not_found);
}

/// Also for who only asks: nothing is refused by the store then, and the state in memory would go on answering.
TEST_P(DurableAccounts, ShowNothingOfARemovedStateToWhoOnlyLooks) {
  ASSERT_TRUE(account("1").ask(Deposit{30}));
  ASSERT_TRUE(account("2").ask(Deposit{40}));
  ASSERT_EQ(shown(account("2").ask(Look{})), "40");

  ASSERT_TRUE(store().retention().remove_aggregate(one, {}));
  EXPECT_EQ(shown(account("1").ask(Look{})), "0");
  EXPECT_EQ(shown(account("1").ask(Withdraw{5})), "no: only 0");
  EXPECT_EQ(account("1").state()->state.balance, 0);

  RetentionPolicy all_of_them{.name = "accounts", .kind = RetentionPolicy::Kind::remove, .type = "account", .keep = 1s};
  ASSERT_TRUE(store().retention().set_retention_policy(all_of_them, {}));
  const auto there = [&] { return store().aggregate({"account", "2"}).has_value(); };
  for (int tries = 0; tries < 600 && there(); ++tries) {
    std::this_thread::sleep_for(50ms);
    ASSERT_TRUE(store().retention().apply_retention({}));
  }
  ASSERT_FALSE(there());
  EXPECT_EQ(shown(account("2").ask(Look{})), "0");
}

/// With keys; accounts' events are written past them, with a subject.
class ErasedAccounts : public ::testing::Test {
 protected:
  ErasedAccounts() {
    LocalOptions options;
    options.data_dir = dir_.path() / "store";
    options.keys_dir = dir_.path() / "keys";
    store_.emplace(open_store(std::move(options)));
    EXPECT_TRUE(store_->host<Bank>());
  }
  void deposit(const std::string& subject) {
    Event event;
    event.aggregate = one;
    event.type = "deposited";
    event.payload = "1";
    event.format = PayloadFormat::text;
    event.subject = subject;
    ASSERT_TRUE(store_->append(Append{}.event(event)));
  }
  std::string look() { return shown(store_->get<Bank>("1").ask(Look{})); }

  ScratchDir dir_;
  std::optional<Local> store_;
};

TEST_F(ErasedAccounts, AreTakenOutOfMemoryAlsoWhereTheErasureIsFinishedLater) {
  for (int i = 0; i < 3; ++i) deposit("ada");
  ASSERT_EQ(look(), "3");
  const auto stopped = store_->retention().erase_subject("ada", {}, [](std::uint64_t, std::uint64_t) { return false; });
  ASSERT_FALSE(stopped);
  ASSERT_EQ(stopped.error().code, ErrorCode::cancelled);

  ASSERT_TRUE(store_->vacuum());

  EXPECT_EQ(look(), "not_found");
}

TEST_F(ErasedAccounts, AreTakenOutOfMemoryWhereTheirSnapshotAloneIsErased) {
  for (int i = 0; i < 3; ++i) deposit("");
  ASSERT_TRUE(store_->put_snapshot({one, SeqNr{3}, "99/3", PayloadFormat::text, 1, {}, {}, "ada"}));
  ASSERT_EQ(look(), "99");

  ASSERT_TRUE(store_->retention().erase_subject("ada", {}));

  EXPECT_EQ(look(), "3");
}

TEST_P(DurableAccounts, GoOnFromTheirSnapshotWhenTheyAreTruncated) {
  for (int i = 0; i < 57; ++i) ASSERT_TRUE(account().ask(Deposit{1}));
  const auto snapshot = store().snapshot(one);
  ASSERT_TRUE(snapshot && *snapshot);
  const SeqNr before = (*snapshot)->version + 1;

  ASSERT_TRUE(store().retention().truncate_aggregate(one, before, {}));

  EXPECT_EQ(shown(account().ask(Deposit{1})), "58");
  open_again();
  EXPECT_EQ(shown(account().ask(Look{})), "58");
  TruncateOptions uncovered;
  uncovered.uncovered = true;
  ASSERT_TRUE(store().retention().truncate_aggregate(one, SeqNr{59}, uncovered));
  open_again();
  const auto lost = account().ask(Look{});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::not_found) << lost.error().what;
}

TEST_P(DurableAccounts, ReplayWhenTheirStateHasAnotherShape) {
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(account().ask(Deposit{1}));
  store_.reset();
  LocalOptions options;
  options.data_dir = dir_.path() / "store";
  auto next = open_store(options);
  ASSERT_TRUE((next.host<BankOf<2, 10>>()));

  auto renewed = next.get<BankOf<2, 10>>("1");
  EXPECT_EQ(shown(renewed.ask(Look{})), "25");

  EXPECT_EQ(figure(next, "snapshots_skipped", 1), 1u);
  EXPECT_EQ(figure(next, "replayed", 25), 25u);
  ASSERT_TRUE(renewed.snapshot());
  EXPECT_EQ((*next.snapshot(one))->schema_revision, 2u);
}

TEST_P(DurableAccounts, KeepWhatWasAnsweredBeforeClosing) {
  std::vector<std::future<Answer<Balance>>> pending;
  for (int i = 0; i < 300; ++i)
    pending.push_back(account(std::to_string(i % 20)).ask_future(Deposit{1}, {.command_id = "c" + std::to_string(i)}));
  store().close();
  std::vector<std::string> told;
  for (auto& one_of_them : pending) {
    ASSERT_EQ(one_of_them.wait_for(0s), std::future_status::ready) << "close() answers everything";
    told.push_back(shown(one_of_them.get()));
  }

  open_again();

  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto again = shown(account(std::to_string(i % 20)).ask(Deposit{1}, {.command_id = "c" + std::to_string(i)}));
    if (told[i] == "unavailable") {
      EXPECT_FALSE(again.ends_with("again")) << i << ": it was told that nothing was done";
    } else if (told[i] != "timeout") {
      EXPECT_EQ(again, told[i] + " again");
    }
  }
  EXPECT_EQ(store().head(), GlobalPosition{300});
}

}  // namespace
}  // namespace evershard
