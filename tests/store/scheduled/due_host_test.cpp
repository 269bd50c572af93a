// DueHost: by which clock what is due is done, and by which it waits.

#include "evershard/store/timers/due_host.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "evershard/store/local/local.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

/// One thing that is due at `due`, and cannot be done: it is to be tried again.
class DueAndFailing final : public DueWork {
 public:
  explicit DueAndFailing(Timestamp due) : due_(due) {}
  [[nodiscard]] Query query() const override { return Query{}.types({"Due"}); }
  [[nodiscard]] Result<void> event(const RecordedEvent& event) override {
    queue_.set({{0, 1}, event.position, event.shard, due_});
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
  for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;
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

}  // namespace
}  // namespace evershard::cluster
