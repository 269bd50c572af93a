// HeldCursors: a cursor is there for who comes back soon, and gone for who does not.

#include "evershard/local/held_cursors.hpp"

#include <atomic>
#include <thread>

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

std::atomic<int> alive{0};

class CountedCursor final : public storage::EventCursor {
 public:
  CountedCursor() { ++alive; }
  ~CountedCursor() override { --alive; }
  Result<void> visit(std::size_t, std::size_t, const RecordedVisitor&) override { return {}; }
  Result<std::size_t> next_positions(std::size_t, std::vector<GlobalPosition>&) override { return 0; }
  bool at_end() const override { return true; }
};

TEST(HeldCursors, GiveBackTheCursorThatWasLeft) {
  HeldCursors held(60s);
  auto first = std::make_unique<CountedCursor>();
  auto second = std::make_unique<CountedCursor>();
  auto* const one = first.get();
  auto* const two = second.get();

  const auto one_left = held.leave(std::move(first));
  const auto two_left = held.leave(std::move(second));

  EXPECT_EQ(held.take(two_left).get(), two);
  EXPECT_EQ(held.take(one_left).get(), one);
  EXPECT_EQ(held.take(one_left), nullptr);
  EXPECT_EQ(held.take(0), nullptr);
}

TEST(HeldCursors, LetGoOfWhatNobodyComesBackFor) {
  HeldCursors held(20ms);

  const auto ticket = held.leave(std::make_unique<CountedCursor>());
  for (int i = 0; i < 6'000 && alive > 0; ++i) std::this_thread::sleep_for(10ms);

  EXPECT_EQ(alive, 0);
  EXPECT_EQ(held.take(ticket), nullptr);
}

TEST(HeldCursors, WakeUpAgainForLaterReads) {
  HeldCursors held(5ms);
  (void)held.leave(std::make_unique<CountedCursor>());
  for (int i = 0; i < 6'000 && alive > 0; ++i) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(20ms);

  (void)held.leave(std::make_unique<CountedCursor>());
  for (int i = 0; i < 6'000 && alive > 0; ++i) std::this_thread::sleep_for(10ms);

  EXPECT_EQ(alive, 0);
}

TEST(HeldCursors, KeepNothingOnceClosed) {
  HeldCursors held(60s);
  const auto before = held.leave(std::make_unique<CountedCursor>());

  held.close();
  const auto after = held.leave(std::make_unique<CountedCursor>());

  EXPECT_EQ(after, 0u);
  EXPECT_EQ(held.take(before), nullptr);
  EXPECT_EQ(alive, 0);
}

TEST(HeldCursors, AreSharedByManyReads) {
  HeldCursors held(1ms);
  std::atomic<int> mistaken{0};

  std::vector<std::thread> reads;
  for (int i = 0; i < 4; ++i) {
    reads.emplace_back([&] {
      for (int page = 0; page < 2'000; ++page) {
        auto cursor = std::make_unique<CountedCursor>();
        auto* const mine = cursor.get();
        auto back = held.take(held.leave(std::move(cursor)));
        mistaken += back && back.get() != mine;
      }
    });
  }
  for (auto& read : reads) read.join();
  held.close();

  EXPECT_EQ(mistaken, 0);
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace evershard::cluster
