// Timers of live aggregates in a store: by its clock, over its end and a new beginning.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/local.hpp>
#include <thread>

#include "evershard/protocol/timers.hpp"
#include "tests/actors/timers/order.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::timed {
namespace {

class TimersInAStore : public testing::Test {
 protected:
  void open() {
    store_.emplace(Local::open({.data_dir = folder_.path() / "data"}).value());
    ASSERT_TRUE(store_->host<Order>());
  }
  void SetUp() override { open(); }
  void close() { store_.reset(); }
  [[nodiscard]] AggregateRef<Order> order(const std::string& id = "1") { return store_->get<Order>(id); }
  [[nodiscard]] bool comes_to(const std::function<bool()>& there) {
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(2ms))
      if (there()) return true;
    return false;
  }
  [[nodiscard]] std::uint64_t figure(std::string_view name) {
    const auto stats = store_->stats().value();
    for (const auto& [of, value] : stats.details)
      if (of == name) return value;
    return ~std::uint64_t{0};
  }
  [[nodiscard]] std::vector<RecordedEvent> changes() {
    std::vector<RecordedEvent> events;
    auto stream = store_->read(Query{}.types({std::string(timers_changed_type)}));
    for (const auto& event : stream) events.push_back(event);
    EXPECT_FALSE(stream.error());
    return events;
  }

  /// An order whose timer is ended by what is asked next. The machine may be so slow that it fires before: then it is
  /// tried again, with more time. Returns: the order, behind whose timer's time another one has fired.
  [[nodiscard]] std::string ended_before_it_fires(const std::function<bool(const std::string&)>& end) {
    for (std::int64_t ms = 60; ms < 10'000; ms *= 3) {
      const auto id = std::to_string(ms);
      const auto fired = figure("timers.fired");
      EXPECT_TRUE(order(id).ask(PlaceBriefly{ms}).replied());
      const bool ended = end(id);
      EXPECT_TRUE(order("behind-" + id).ask(PlaceBriefly{ms}).replied());
      EXPECT_TRUE(comes_to([&] { return order("behind-" + id).state()->state.cancelled == 1; }));
      EXPECT_TRUE(comes_to([&] { return figure("timers.pending") == 0; }));
      if (ended && figure("timers.fired") == fired + 1) return id;
    }
    ADD_FAILURE() << "it fires though it was ended";
    return "none";
  }

  TemporaryFolder folder_;
  std::optional<Local> store_;
};

TEST_F(TimersInAStore, FireByThemselvesAndNotEarly) {
  ASSERT_TRUE(order().ask(PlaceBriefly{40}).replied());
  ASSERT_TRUE(comes_to([&] { return order().state()->state.cancelled == 1; }));
  const auto events = changes();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE(events[1].occurred_at.micros - events[0].occurred_at.micros, 40'000);
  EXPECT_EQ(decode_timers_changed(events[1].payload)->fired, "overdue");
  EXPECT_TRUE(comes_to([&] { return figure("timers.pending") == 0 && figure("timers.fired") == 1; }));
}

TEST_F(TimersInAStore, DoNotFireOnceTheyAreCancelled) {
  const auto paid = ended_before_it_fires([&](const auto& id) { return order(id).ask(Pay{}).replied(); });
  EXPECT_EQ(order(paid).state()->state, (State{1, 1, 0, 0}));
}

TEST_F(TimersInAStore, ThatCameDueWhileNobodyRanFireAtOnceAndOnce) {
  ASSERT_TRUE(order().ask(PlaceBriefly{50}).replied());
  ASSERT_TRUE(order("2").ask(Place{60}).replied());
  close();
  std::this_thread::sleep_for(80ms);  // it is due by then, however long this takes
  for (int times = 0; times != 3; ++times) {
    open();
    ASSERT_TRUE(comes_to([&] { return order().state()->state.cancelled == 1; }));
    EXPECT_TRUE(comes_to([&] { return figure("timers.pending") == 1; })) << "the other one";
    close();
  }
  open();
  EXPECT_EQ(order().state()->version, SeqNr{4}) << "placed, set, cancelled, fired";
  EXPECT_EQ(order("2").state()->state.cancelled, 0);
}

TEST_F(TimersInAStore, OfManyAggregatesAtOnce) {
  constexpr int orders = 3'000;
  std::vector<std::future<Answer<Done>>> placed;
  for (int n = 0; n != orders; ++n) placed.push_back(order(std::to_string(n)).ask_future(PlaceBriefly{200}));
  for (auto& answer : placed) ASSERT_TRUE(answer.get().replied());
  EXPECT_TRUE(comes_to([&] { return figure("timers.fired") == orders; })) << figure("timers.fired");
  EXPECT_TRUE(comes_to([&] { return figure("timers.pending") == 0; }));
  EXPECT_EQ(changes().size(), 2u * orders);
  for (int n = 0; n < orders; n += 500) EXPECT_EQ(order(std::to_string(n)).state()->state.cancelled, 1);
}

TEST_F(TimersInAStore, OfARemovedAggregateDoNotFire) {
  const auto id = ended_before_it_fires([&](const auto& placed) {
    const auto removed = store_->retention().remove_aggregate({"order", placed}, {});
    return removed.has_value();
  });
  EXPECT_EQ(order(id).state()->state, State{});
  EXPECT_TRUE(order(id).ask(PlaceBriefly{10'000'000}).replied()) << "it begins anew";
}

// Events of types that nobody knows make an aggregate unusable. These are the store's own.
TEST_F(TimersInAStore, AreInItsStreamAndNotInItsState) {
  ASSERT_TRUE(order().ask(Place{5}).replied());
  close();
  open();
  EXPECT_EQ(order().state()->state, (State{1, 0, 0, 0}));
  EXPECT_EQ(order().state()->version, SeqNr{2});
}

}  // namespace
}  // namespace evershard::timed
