// Live aggregates of one process, whose keys somebody else destroys: as one that is broken off between the key's end
// and all that follows does.

#include <chrono>
#include <memory>
#include <thread>

#include "evershard/services/erasure/key_folder.hpp"
#include "tests/local/small_store.hpp"
#include "tests/services/erasure/sealed_bank.hpp"

namespace evershard {
namespace {

constexpr auto erasing_patience = std::chrono::seconds(60);

std::string said(const Answer<small::Balance>& answer) {
  return answer.failed() ? std::string(name_of(answer.error().code)) : std::to_string(answer->n);
}

class LiveErasure : public ::testing::Test {
 protected:
  LiveErasure() {
    open();
    keys_ = cluster::KeyFolder::open(scratch_.path() / "keys", scratch_.path() / "data").value();
  }
  void open() {
    LocalOptions options;
    options.data_dir = scratch_.path() / "data";
    options.keys_dir = scratch_.path() / "keys";
    store_ = std::make_unique<Local>(open_store(std::move(options)));
    EXPECT_TRUE(store_->host<SealedBank>());
  }
  void destroy() { ASSERT_TRUE(keys_->destroy(keys_->current("ada").value().value())); }
  [[nodiscard]] std::uint64_t figure(std::string_view name) {
    const auto stats = store_->stats().value();
    for (const auto& [key, count] : stats.details)
      if (key == "aggregates." + std::string(name)) return count;
    return 0;
  }

  ScratchDir scratch_;
  std::unique_ptr<Local> store_;
  std::unique_ptr<cluster::KeyFolder> keys_;
};

TEST_F(LiveErasure, NoSnapshotOfWhatIsErasedIsReadable) {
  auto one = store_->get<SealedBank>("1");
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "10");
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "20");
  destroy();

  EXPECT_EQ(said(one.ask(small::Deposit{10})), "not_found");  // a snapshot is due with it

  EXPECT_EQ(store_->snapshot({"account", "1"}).value(), std::nullopt);
  EXPECT_EQ(store_->head().value(), GlobalPosition{2});
}

TEST_F(LiveErasure, NeitherIsOneThatIsAskedFor) {
  auto one = store_->get<SealedBank>("1");
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "10");
  ASSERT_TRUE(store_->take_snapshot({"account", "1"}, erasing_patience));
  destroy();
  EXPECT_EQ(code_of(store_->take_snapshot({"account", "1"}, erasing_patience)), "not_found");
  EXPECT_EQ(store_->snapshot({"account", "1"}).value(), std::nullopt);
}

TEST_F(LiveErasure, AllThatHaveSomethingOfSomebodysLeaveMemoryOnceItIsNoticed) {
  auto one = store_->get<SealedBank>("1"), two = store_->get<SealedBank>("2");
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "10");
  EXPECT_EQ(said(two.ask(small::Deposit{10})), "10");
  destroy();
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "not_found");
  // The other one has written nothing since.
  auto left = said(two.ask(small::Look{}));
  for (const auto until = std::chrono::steady_clock::now() + erasing_patience;
       left != "not_found" && std::chrono::steady_clock::now() < until; left = said(two.ask(small::Look{})))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(left, "not_found");
}

TEST_F(LiveErasure, ASubjectThatWasErasedBeforeItWasOpenedDisturbsNobody) {
  ASSERT_TRUE(keys_->key_for("ada"));
  destroy();
  store_.reset();
  open();
  auto one = store_->get<SealedBank>("1");
  EXPECT_EQ(said(one.ask(small::Deposit{10})), "10");
  for (int i = 2; i <= 7; ++i) EXPECT_EQ(said(one.ask(small::Deposit{10})), std::to_string(10 * i));
  EXPECT_EQ(figure("loads"), 1u);
  EXPECT_EQ(store_->snapshot({"account", "1"}).value()->version, SeqNr{6});
}

}  // namespace
}  // namespace evershard
