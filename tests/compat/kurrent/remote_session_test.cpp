// A consumer at one node of a subscription on another, and a home that goes: over homes that a test has in its hand.

#include "evershard/compat/kurrent/remote_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "evershard/compat/kurrent/home_consumer.hpp"

namespace evershard::kurrent {
namespace {

using namespace std::chrono_literals;

/// What was asked, and is answered when the test says so.
class AskedHomes final : public serving::Homes {
 public:
  void serve(std::string, Handler) override {}
  void serve_later(std::string, LateHandler) override {}
  Result<std::string> call(Asked, bool) override { return refuse(ErrorCode::unavailable, "not asked"); }
  void ask(Asked what, Done done) override { asked.emplace_back(std::move(what), std::move(done)); }
  Result<std::uint64_t> term(const AggregateId&) override { return refuse(ErrorCode::wrong_shard, "elsewhere"); }
  Result<void> settled(const AggregateId&) override { return {}; }
  Result<void> keep(Snapshot, std::uint64_t) override { return {}; }
  void watch(std::function<void()>) override {}

  [[nodiscard]] std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const auto& [what, done] : asked) all.push_back(what.method);
    return all;
  }
  Asked answer(const std::string& method, Result<std::string> reply) {
    const auto found = std::ranges::find_if(asked, [&](const auto& one) { return one.first.method == method; });
    EXPECT_NE(found, asked.end()) << method << " was not asked";
    if (found == asked.end()) return {};
    auto [what, done] = std::move(*found);
    asked.erase(found);
    done(std::move(reply));
    return what;
  }
  std::deque<std::pair<Asked, Done>> asked;
};

class ToldConsumer final : public PersistentConsumer {
 public:
  void joined() override { ++joins; }
  void give(esps::ReadResp event, std::uint64_t at) override {
    given.push_back(std::move(event));
    read_at = at;
  }
  void drop(const Dropped& how) override { drops.push_back(how); }
  int joins = 0;
  std::vector<esps::ReadResp> given;
  std::uint64_t read_at = 0;
  std::vector<Dropped> drops;
};

esps::ReadResp event_numbered(std::uint64_t revision, std::size_t bytes = 0) {
  esps::ReadResp response;
  response.mutable_event()->mutable_event()->set_stream_revision(revision);
  response.mutable_event()->mutable_event()->set_data(std::string(bytes, 'x'));
  return response;
}

EventId id_numbered(std::uint8_t number) {
  EventId id;
  id.bytes[0] = number;
  return id;
}

template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

class RemoteSessionTest : public ::testing::Test {
 protected:
  void join() {
    session->start();
    homes::Joined joined;
    joined.set_session(77);
    homes_.answer(home_calls::join, reply_of({}, joined.SerializeAsString()));
    ASSERT_EQ(consumer->joins, 1);
  }
  AskedHomes homes_;
  std::uint64_t rewritten_ = 1;
  std::shared_ptr<ToldConsumer> consumer = std::make_shared<ToldConsumer>();
  std::shared_ptr<RemoteSession> session =
      std::make_shared<RemoteSession>(homes_, SubscriptionName{"order-1", "g"}, consumer,
                                      PersistentConsumer::Told{"from", "me", "one", 5}, [this] { return rewritten_; });
};

TEST_F(RemoteSessionTest, AsksForMoreAndSettlesBeside) {
  ASSERT_NO_FATAL_FAILURE(join());
  EXPECT_EQ(homes_.methods(), std::vector<std::string>{home_calls::take});
  session->acknowledge({id_numbered(1)});
  session->acknowledge({id_numbered(2)});
  session->refuse_events({id_numbered(3)}, PersistentSubscription::Nack::park, "bad");
  EXPECT_EQ(homes_.asked.size(), 2u) << "one call settles at a time";
  homes::Taken taken;
  *taken.add_events() = event_numbered(4);
  homes_.answer(home_calls::take, reply_of({}, taken.SerializeAsString()));
  ASSERT_EQ(consumer->given.size(), 1u);
  auto settled = parsed<homes::Settle>(homes_.answer(home_calls::settle, reply_of({}, {})).request);
  EXPECT_EQ(settled.settled_size(), 1);
  settled = parsed<homes::Settle>(homes_.answer(home_calls::settle, reply_of({}, {})).request);
  ASSERT_EQ(settled.settled_size(), 2);
  EXPECT_EQ(settled.settled(1).how(), homes::Settle::PARK);
  EXPECT_EQ(settled.settled(1).reason(), "bad");
  EXPECT_EQ(homes_.methods(), std::vector<std::string>{home_calls::take});
  session->leave();
  settled = parsed<homes::Settle>(homes_.answer(home_calls::settle, reply_of({}, {})).request);
  EXPECT_TRUE(settled.leaves());
  EXPECT_EQ(settled.session(), 77u);
  EXPECT_TRUE(consumer->drops.empty());
}

// What is removed while the answer is under way, or was where the event had waited, is looked at before it goes out.
TEST_F(RemoteSessionTest, SaysWhenAnEventWasRead) {
  ASSERT_NO_FATAL_FAILURE(join());
  rewritten_ = 2;
  homes::Taken taken;
  *taken.add_events() = event_numbered(4);
  homes_.answer(home_calls::take, reply_of({}, taken.SerializeAsString()));
  EXPECT_EQ(consumer->read_at, 1u);
  homes_.answer(home_calls::take, reply_of({}, taken.SerializeAsString()));
  EXPECT_EQ(consumer->read_at, 2u);
  taken.set_look_again(true);
  homes_.answer(home_calls::take, reply_of({}, taken.SerializeAsString()));
  EXPECT_GT(consumer->read_at, 2u) << "of no moment that was";
}

TEST_F(RemoteSessionTest, WhoseHomeDoesNotAnswerHasMoved) {
  ASSERT_NO_FATAL_FAILURE(join());
  session->acknowledge({id_numbered(1)});
  homes_.answer(home_calls::take, refuse(ErrorCode::unavailable, "gone"));
  ASSERT_EQ(consumer->drops.size(), 1u);
  EXPECT_TRUE(consumer->drops[0].moved);
  homes_.answer(home_calls::settle, refuse(ErrorCode::timeout, "who knows"));
  EXPECT_EQ(consumer->drops.size(), 1u) << "he is told once";
}

TEST_F(RemoteSessionTest, OnlyTheSubscriptionItselfRefusesForGood) {
  session->start();
  homes_.answer(home_calls::join, refuse(ErrorCode::wrong_shard, "not here"));
  ASSERT_EQ(consumer->drops.size(), 1u);
  EXPECT_TRUE(consumer->drops[0].moved);
  const auto second = std::make_shared<RemoteSession>(homes_, SubscriptionName{"order-1", "g"}, consumer,
                                                      PersistentConsumer::Told{}, [this] { return rewritten_; });
  second->start();
  homes_.answer(home_calls::join, reply_of(subscription_absent({"order-1", "g"}), {}));
  ASSERT_EQ(consumer->drops.size(), 2u);
  EXPECT_FALSE(consumer->drops[1].moved);
  EXPECT_EQ(consumer->drops[1].why.exception, "persistent-subscription-does-not-exist");
}

TEST_F(RemoteSessionTest, WhoLeftBeforeHeJoinedSaysGoodbye) {
  session->start();
  session->leave();
  homes::Joined joined;
  joined.set_session(5);
  homes_.answer(home_calls::join, reply_of({}, joined.SerializeAsString()));
  EXPECT_EQ(consumer->joins, 0);
  const auto settled = parsed<homes::Settle>(homes_.answer(home_calls::settle, reply_of({}, {})).request);
  EXPECT_TRUE(settled.leaves());
  EXPECT_EQ(settled.session(), 5u);
}

/// What the home answers, as it was asked.
struct Replies {
  serving::Homes::Done done() {
    return [this](Result<std::string> reply) {
      auto answer = answer_in(std::move(reply));
      all.push_back(parsed<homes::Taken>(std::get<Answer>(answer).bytes));
    };
  }
  std::vector<homes::Taken> all;
};

TEST(HomeConsumer, GivesWhenItIsAskedAndWaitsWhereThereIsNothing) {
  const HomeConsumer::Clock::time_point now{};
  HomeConsumer consumer(now, [] { return std::uint64_t{0}; });
  Replies replies;
  consumer.give(event_numbered(1), 0);
  consumer.give(event_numbered(2), 0);
  consumer.take(now, replies.done());
  ASSERT_EQ(replies.all.size(), 1u);
  EXPECT_EQ(replies.all[0].events_size(), 2);
  consumer.take(now, replies.done());
  EXPECT_EQ(replies.all.size(), 1u);
  consumer.give(event_numbered(3), 0);
  ASSERT_EQ(replies.all.size(), 2u);
  EXPECT_EQ(replies.all[1].events(0).event().event().stream_revision(), 3u);
  consumer.take(now, replies.done());
  EXPECT_FALSE(consumer.look(now + nothing_after - 1ms));
  EXPECT_EQ(replies.all.size(), 2u);
  EXPECT_FALSE(consumer.look(now + nothing_after));
  ASSERT_EQ(replies.all.size(), 3u) << "that there is nothing, before nobody listens";
  EXPECT_EQ(replies.all[2].events_size(), 0);
  EXPECT_FALSE(consumer.look(now + nothing_after + silence_max - 1ms));
  EXPECT_TRUE(consumer.look(now + nothing_after + silence_max)) << "nobody asks any more";
}

TEST(HomeConsumer, SaysWhereSomethingWasRemovedSinceItWasGiven) {
  const HomeConsumer::Clock::time_point now{};
  std::uint64_t rewritten = 0;
  HomeConsumer consumer(now, [&] { return rewritten; });
  Replies replies;
  consumer.give(event_numbered(1), 0);
  ++rewritten;
  consumer.take(now, replies.done());
  consumer.give(event_numbered(2), 1);
  consumer.take(now, replies.done());
  ASSERT_EQ(replies.all.size(), 2u);
  EXPECT_TRUE(replies.all[0].look_again());
  EXPECT_FALSE(replies.all[1].look_again());
}

TEST(HomeConsumer, AnswersInPagesAndThenItsEnd) {
  const HomeConsumer::Clock::time_point now{};
  HomeConsumer consumer(now, [] { return std::uint64_t{0}; });
  Replies replies;
  for (std::uint64_t i = 0; i < 3; ++i) consumer.give(event_numbered(i, taken_bytes_max * 2 / 3), 0);
  consumer.drop({subscription_absent({"order-1", "g"}), true});
  for (int i = 0; i < 3; ++i) consumer.take(now, replies.done());
  ASSERT_EQ(replies.all.size(), 3u);
  for (const auto& taken : replies.all) EXPECT_EQ(taken.events_size(), 1);
  EXPECT_FALSE(replies.all[1].has_ended());
  EXPECT_TRUE(replies.all[2].has_ended());
  EXPECT_TRUE(replies.all[2].moved());
}

}  // namespace
}  // namespace evershard::kurrent
