// DueHost: by which clock what is due is done, and by which it waits.

#include "evershard/services/timers/due_host.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evershard/local/local.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "tests/services/copy/damaged_store.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

/// One thing that is due at `due`, and cannot be done: it is to be tried again.
class DueAndFailing final : public DueWork {
 public:
  explicit DueAndFailing(Timestamp due) : due_(due) {}
  [[nodiscard]] Query query() const override { return Query{}.types({"Due"}); }
  [[nodiscard]] Result<void> event(const RecordedEvent& event) override {
    queue_.set({{0, event.position.value}, event.position, event.shard, due_});
    return {};
  }
  [[nodiscard]] actors::PacedQueue& queue() override { return queue_; }
  [[nodiscard]] Send fire(const actors::DueTimer& timer, const Result<RecordedEvent>&, Timestamp now) override {
    ++tries_;
    queue_.try_again(timer, now);
    return nullptr;
  }
  [[nodiscard]] int tries() const { return tries_; }

 private:
  const Timestamp due_;
  actors::PacedQueue queue_;
  std::atomic<int> tries_{0};
};

template <class Is>
bool in_time(Is is) {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(5ms))
    if (is()) return true;
  return false;
}

TEST(DueHost, TriesAgainSoonWhenAClockThatWasAheadIsSetRight) {
  auto store = Local::open({}).value();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Due", "")));
  constexpr auto hour = std::chrono::microseconds(1h);
  std::atomic<std::int64_t> ahead{hour.count()};
  DueAndFailing work({Timestamp::now().micros - 1});
  DueHost host(store, work, {.now = [&] { return Timestamp{Timestamp::now().micros + ahead}; }});
  host.begin();
  ASSERT_TRUE(in_time([&] { return work.tries() >= 1; }));

  ahead = 0;
  const int before = work.tries();
  EXPECT_TRUE(in_time([&] { return work.tries() > before + 1; })) << "it waits for an hour";
  host.stop();
}

TEST(DueHost, PassesOverWhatIsDamagedAndDoesWhatStandsBesideIt) {
  auto store = Local::open({}).value();
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(store.append(Append{}.event("order-1", i % 2 == 0 ? "Due" : "Other", "")));
  testing::DamagedStore damaged(store, {3, 5});
  std::mutex mutex;
  std::vector<std::string> warned;
  DueAndFailing work({Timestamp::now().micros - 1});
  DueHost host(damaged, work, {.warn = [&](const Error& error) {
                 const std::lock_guard lock(mutex);
                 warned.push_back(error.what);
               }});
  host.begin();
  EXPECT_TRUE(host.wait_for(GlobalPosition{9}, 60s));
  EXPECT_TRUE(in_time([&] { return work.tries() >= 3; })) << "nothing is done where one event is damaged";
  EXPECT_EQ(host.locked([&] { return work.queue().size(); }), 3u) << "1, 7 and 9";
  EXPECT_EQ(host.damaged(), 2u);
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Due", "")));
  EXPECT_TRUE(in_time([&] { return host.locked([&] { return work.queue().size(); }) == 4; })) << "it goes on";
  host.stop();
  const std::lock_guard lock(mutex);
  ASSERT_EQ(warned.size(), 2u);
  EXPECT_NE(warned[0].find("event 3"), std::string::npos) << warned[0];
}

TEST(DueHost, MakesWhatIsScheduledWhereTheNewestScheduleCannotBeRead) {
  auto store = Local::open({.makes_scheduled = false}).value();
  for (const auto* id : {"a", "b"})
    ASSERT_TRUE(
        store.scheduled().schedule({.id = id,
                                    .due = Timestamp{Timestamp::now().micros + std::chrono::microseconds(1h).count()},
                                    .append = Append{}.event("order-1", "Placed", "{}")}));
  const auto newest = store.head().value();
  testing::DamagedStore damaged(store, {newest.value});
  ScheduledHost host(damaged, Limits{}, {});
  host.begin_if_any();
  EXPECT_TRUE(in_time([&] { return host.figures().pending == 1; }));
  EXPECT_EQ(host.figures().damaged, 1u);
  const auto page = host.list({});
  ASSERT_TRUE(page) << page.error().what;
  ASSERT_EQ(page->scheduled.size(), 1u);
  EXPECT_EQ(page->scheduled[0].id, "a");
  host.stop();
}

}  // namespace
}  // namespace evershard::cluster
