// Sealing: what readers see of it, and what appends are told when it lags behind. Both stores.

#include "tests/contract/store_contract.hpp"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Append> some_appends(int from, int count) {
  std::vector<Append> appends;
  for (int i = from; i < from + count; ++i)
    appends.push_back(one("order-" + std::to_string(i % 17), "type" + std::to_string(i % 3), std::to_string(i),
                          {"mod5:" + std::to_string(i % 5)}));
  return appends;
}

void expect_all_there(const Store& store, int count) {
  auto events = everything(store);
  ASSERT_EQ(events.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(events[static_cast<std::size_t>(i)].payload, std::to_string(i));
    EXPECT_EQ(events[static_cast<std::size_t>(i)].position, GlobalPosition{static_cast<std::uint64_t>(i) + 1});
  }
  std::vector<std::string> tagged, stream;
  for (int i = 0; i < count; ++i) {
    if (i % 5 == 2) tagged.push_back(std::to_string(i));
    if (i % 17 == 4) stream.push_back(std::to_string(i));
  }
  EXPECT_EQ(payloads_of(matching(store, Query().tags({"mod5:2"}))), tagged);
  EXPECT_EQ(payloads_of(stream_of(store, "order-4")), stream);
}

TEST_P(StoreContract, SealsATailOfAnySize) {
  for (int size : {1, 2, 127, 128, 129, 400}) {
    if (durable()) std::filesystem::remove_all(options().data_dir);
    open();
    ASSERT_TRUE(writer().commit(some_appends(0, size)));

    ASSERT_TRUE(store().seal());

    EXPECT_EQ(store().view().mark, GlobalPosition{static_cast<std::uint64_t>(size)});
    EXPECT_EQ(store().stats().tail_events, 0u);
    expect_all_there(store(), size);
  }
}

TEST_P(StoreContract, HasNothingToSealInAnEmptyTail) {
  open();

  ASSERT_TRUE(store().seal());
  ASSERT_TRUE(writer().commit(some_appends(0, 3)));
  ASSERT_TRUE(store().seal());
  ASSERT_TRUE(store().seal());

  EXPECT_EQ(store().stats().sealed_runs, 1u);
  expect_all_there(store(), 3);
}

TEST_P(StoreContract, SealsByItselfWhenATailIsFull) {
  open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer().commit(some_appends(100 * i, 100)));

  for (int i = 0; i < 30'000 && store().stats().sealed_runs == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));

  EXPECT_GE(store().stats().sealed_runs, 1u);
  EXPECT_GE(store().view().mark, GlobalPosition{1'000});
  expect_all_there(store(), 2'000);
}

TEST_P(StoreContract, LeavesAViewAsItWasWhileTailsAreSealed) {
  open();
  ASSERT_TRUE(writer().commit(some_appends(0, 50)));
  auto before = store().view();

  ASSERT_TRUE(store().seal());
  ASSERT_TRUE(writer().commit(some_appends(50, 50)));
  ASSERT_TRUE(store().seal());

  EXPECT_EQ(before.mark, GlobalPosition{0});
  EXPECT_EQ(everything(store(), before).size(), 50u);
  auto query = all_of(Reader(store()).open(before, Query().tags({"mod5:2"}), ReadOptions{}));
  EXPECT_EQ(query.size(), 10u);
  expect_all_there(store(), 100);
}

TEST_P(StoreContract, SealsOnlyWhatIsCommitted) {
  open();
  ASSERT_TRUE(writer().commit(some_appends(0, 10)));
  auto batch = writer().prepare(some_appends(10, 10));
  auto staged = store().stage(batch->commit);
  std::atomic<bool> sealed{false};

  std::thread sealing([&] {
    EXPECT_TRUE(store().seal());
    sealed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));

  EXPECT_FALSE(sealed);  // the staged events share the tail, so it waits for them
  EXPECT_EQ(store().view().mark, GlobalPosition{0});
  EXPECT_EQ(everything(store()).size(), 10u);
  ASSERT_TRUE(store().commit(*staged));
  sealing.join();
  EXPECT_EQ(store().view().mark, GlobalPosition{20});
  expect_all_there(store(), 20);
}

TEST_P(StoreContract, EndsSealingThatCannotEndWhenItIsClosed) {
  open();
  auto batch = writer().prepare(some_appends(0, 10));
  auto staged = store().stage(batch->commit);
  ASSERT_TRUE(store().commit(*staged));
  auto next = writer().prepare(some_appends(10, 10));
  auto never_committed = store().stage(next->commit);
  Result<void> sealed;

  std::thread sealing([&] { sealed = store().seal(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  store().close();
  sealing.join();

  ASSERT_FALSE(sealed);
  EXPECT_THAT(sealed.error().code, ::testing::AnyOf(ErrorCode::cancelled, ErrorCode::unavailable))
      << "the latter where a busy machine began it behind the end";
}

TEST_P(StoreContract, SlowsAndRefusesAppendsWhenSealingLagsBehind) {
  std::atomic<bool> hold{true};
  auto held = options();
  held.tail_events = 100;
  held.at_step = [&](const char* step) {
    while (step == std::string_view(steps::seal_begin) && hold)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  open(held);
  std::vector<Admission::Kind> seen;
  std::uint32_t delay = 0, last_delay = 0;
  int count = 0;

  for (; count < 30; ++count) {
    auto admission = store().admission();
    if (seen.empty() || seen.back() != admission.kind) seen.push_back(admission.kind);
    if (admission.kind == Admission::Kind::full) break;
    if (admission.kind == Admission::Kind::slow) {
      EXPECT_GT(admission.delay_us, last_delay);
      last_delay = delay = admission.delay_us;
    }
    ASSERT_TRUE(writer().commit(some_appends(10 * count, 10)));
  }

  EXPECT_THAT(seen, ElementsAre(Admission::Kind::open, Admission::Kind::slow, Admission::Kind::full));
  EXPECT_EQ(count, 20);
  EXPECT_GT(delay, 0u);
  EXPECT_THAT(store().admission().what, ::testing::HasSubstr("200 events"));
  hold = false;
  ASSERT_TRUE(store().seal());
  EXPECT_EQ(store().admission().kind, Admission::Kind::open);
  expect_all_there(store(), 200);
}

TEST_P(StoreContract, IsReadByManyWhileItCommitsAndSeals) {
  auto small = options();
  small.tail_events = 400;
  open(small);
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  auto read = [&](int reader) {
    while (!stop || reads < 20) {
      auto view = store().view();
      auto events = reader % 2 == 0 ? everything(store(), view)
                                    : all_of(Reader(store()).open(view, Query().tags({"mod5:2"}), ReadOptions{}));
      auto expected = reader % 2 == 0 ? view.watermark.value : (view.watermark.value + 2) / 5;
      ASSERT_EQ(events.size(), expected);
      for (std::size_t i = 0; i < events.size(); ++i)
        ASSERT_EQ(events[i].payload, std::to_string(reader % 2 == 0 ? i : 5 * i + 2));
      ++reads;
    }
  };

  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read, i);
  std::thread sealing([&] {
    while (!stop) {
      EXPECT_TRUE(store().seal());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  int batches = 0;
  for (; batches < 150 || (batches < 5'000 && store().stats().sealed_runs < 3); ++batches)
    ASSERT_TRUE(writer().commit(some_appends(20 * batches, 20)));
  stop = true;
  for (auto& reader : readers) reader.join();
  sealing.join();

  EXPECT_GE(store().stats().sealed_runs, 3u);
  expect_all_there(store(), 20 * batches);
}

TEST_P(StoreContract, CommitsInOneThreadWhileAnotherStages) {
  auto small = options();
  small.tail_events = 300;
  open(small);
  constexpr int batches = 200;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<std::unique_ptr<PreparedBatch>, std::unique_ptr<StagedCommit>>> waiting;

  std::thread committer([&] {
    for (int i = 0; i < batches; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !waiting.empty(); });
      auto [batch, staged] = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      changed.notify_all();
      ASSERT_TRUE(store().commit(*staged));
    }
  });
  for (int i = 0; i < batches; ++i) {
    auto batch = writer().prepare(some_appends(10 * i, 10));
    auto staged = store().stage(batch->commit);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting.size() < 2; });
    waiting.emplace_back(std::move(batch), std::move(staged));
    lock.unlock();
    changed.notify_all();
  }
  committer.join();

  expect_all_there(store(), 10 * batches);
}

TEST_P(StoreContract, CallsItsStepsInOrder) {
  std::mutex mutex;
  std::vector<std::string> called;
  auto watched = options();
  watched.at_step = [&](const char* step) {
    std::lock_guard lock(mutex);
    if (called.empty() || called.back() != step) called.emplace_back(step);
  };
  open(watched);
  called.clear();

  ASSERT_TRUE(writer().commit(some_appends(0, 5)));
  ASSERT_TRUE(store().seal());
  store().close();

  EXPECT_EQ(called.front(), steps::stage_done);
  auto at = [&](const char* step) { return std::find(called.begin(), called.end(), step) - called.begin(); };
  std::vector<const char*> order = {steps::stage_done,   steps::commit_begin,  steps::commit_written,
                                    steps::commit_shown, steps::seal_begin,    steps::seal_file,
                                    steps::seal_written, steps::seal_ingested, steps::seal_shown};
  for (std::size_t i = 1; i < order.size(); ++i) EXPECT_LT(at(order[i - 1]), at(order[i])) << order[i];
  EXPECT_LT(at(order.back()), static_cast<std::ptrdiff_t>(called.size()));
}

}  // namespace
}  // namespace evershard::storage
