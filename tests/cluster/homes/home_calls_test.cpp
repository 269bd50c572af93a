// Calls to the home of a definition: they reach the owner of its shard, wherever that is, and say honestly what became
// of them.

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "evershard/cluster/homes/home_calls.hpp"
#include "tests/cluster/homes/homes_in_process.hpp"
#include "tests/cluster/node/small_cluster.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto home_patience = 60s;

class Homes : public ::testing::Test {
 protected:
  Homes() {
    for (std::uint32_t n = 1; n <= 3; ++n) join(n);
    EXPECT_TRUE(cluster_.wait_until_open());
  }
  ~Homes() override {
    for (std::uint32_t n = 1; n <= 3; ++n) leave(n);
  }
  void join(std::uint32_t n) {
    homes_[n] = std::make_shared<HomeCalls>(
        cluster_.node(n), network_,
        HomeCallsOptions{.node = n, .threads = 2, .waiting_max = 2, .away_change_wait = 10s});
    homes_[n]->serve(
        "echo", [n](const HomeCall& call) -> Result<std::string> { return std::to_string(n) + ":" + call.request; });
    homes_[n]->serve("count", [this](const HomeCall&) -> Result<std::string> { return std::to_string(++counted_); });
    homes_[n]->serve("refuse", [](const HomeCall& call) -> Result<std::string> {
      ErrorDetails details;
      details.aggregate = call.aggregate;
      details.actual = SeqNr{7};
      return refuse(ErrorCode::version_conflict, "größer", std::move(details));
    });
    homes_[n]->serve("unavailable", [this](const HomeCall&) -> Result<std::string> {
      ++counted_;
      return refuse(ErrorCode::unavailable, "it stands");
    });
    homes_[n]->serve("wait", [this](const HomeCall&) -> Result<std::string> {
      ++held_;
      while (holding_) std::this_thread::sleep_for(1ms);
      return std::string();
    });
    network_.put(n, homes_[n]);
  }
  void leave(std::uint32_t n) {
    network_.put(n, nullptr);
    if (homes_[n] != nullptr) homes_[n]->stop();
    homes_.erase(n);
  }
  AggregateId of_node(std::uint32_t n, int nth = 0) {
    for (int i = 0;; ++i) {
      AggregateId id{"$projection", "p" + std::to_string(i)};
      if (cluster_.node(1).committer().owner(cluster_.node(1).shard_of(id)) == n && nth-- == 0) return id;
    }
  }
  Result<std::string> call(std::uint32_t from, const AggregateId& id, std::string method, std::string request = {},
                           std::chrono::milliseconds time = home_patience,
                           HomeCalls::Again again = HomeCalls::Again::not_done) {
    return homes_.at(from)->call({std::move(method), id, std::move(request), time}, again);
  }

  std::atomic<int> counted_{0}, held_{0};
  std::atomic<bool> holding_{true};
  SmallCluster cluster_{{.nodes = 3, .shards = 6}};
  HomesInProcess network_;
  std::map<std::uint32_t, std::shared_ptr<HomeCalls>> homes_;
};

TEST_F(Homes, AreReachedFromEveryNode) {
  for (std::uint32_t owner = 1; owner <= 3; ++owner)
    for (std::uint32_t from = 1; from <= 3; ++from)
      EXPECT_EQ(call(from, of_node(owner), "echo", "x").value(), std::to_string(owner) + ":x");
}

// No thread of either node waits: both have two.
TEST_F(Homes, AnAnswerMayComeLaterToWhoDoesNotWait) {
  std::mutex mutex;
  std::vector<std::function<void(Result<std::string>)>> to_answer;
  homes_.at(2)->serve_later("later", [&](const HomeCall& call, std::function<void(Result<std::string>)> done) {
    EXPECT_EQ(call.request, "x");
    const std::lock_guard lock(mutex);
    to_answer.push_back(std::move(done));
  });
  const auto waiting = [&] {
    const std::lock_guard lock(mutex);
    return to_answer.size();
  };
  ASSERT_TRUE(call(1, of_node(2), "echo")) << "it is open there";
  constexpr std::size_t many = 10;
  std::vector<std::future<Result<HomeAnswered>>> answers;
  for (std::size_t i = 0; i < many; ++i) {
    auto answer = std::make_shared<std::promise<Result<HomeAnswered>>>();
    answers.push_back(answer->get_future());
    homes_.at(1)->ask_once({"later", of_node(2), "x", home_patience},
                           [answer](Result<HomeAnswered> outcome) { answer->set_value(std::move(outcome)); });
    while (waiting() <= i) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(call(1, of_node(2), "echo")) << "they are in nobody's way";
  for (std::size_t i = 0; i < many; ++i) to_answer[i](std::to_string(i));
  for (std::size_t i = 0; i < many; ++i) {
    const auto answer = answers[i].get();
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->response, std::to_string(i));
  }
}

TEST_F(Homes, WhoAsksOnceIsToldThatItIsNotThere) {
  std::optional<Result<HomeAnswered>> told;
  homes_.at(2)->ask_once({"echo", of_node(2), "x", home_patience},
                         [&](Result<HomeAnswered> o) { told = std::move(o); });
  ASSERT_TRUE(told && *told) << "at once: it is this node itself";
  EXPECT_EQ((*told)->kind, HomeAnswered::Kind::not_here);
}

TEST_F(Homes, AnErrorArrivesAsItWasSaid) {
  for (const std::uint32_t from : {1u, 2u}) {
    const auto refused = call(from, of_node(2), "refuse");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::version_conflict);
    EXPECT_EQ(refused.error().what, "größer");
    EXPECT_EQ(refused.error().details->aggregate, of_node(2));
    EXPECT_EQ(refused.error().details->actual, SeqNr{7});
  }
}

// What a handler says is the answer, whatever its code: only where nothing was done is it asked again.
TEST_F(Homes, AHandlersUnavailableIsNotTriedAgain) {
  EXPECT_EQ(call(1, of_node(2), "unavailable", {}, home_patience, HomeCalls::Again::always).error().what, "it stands");
  EXPECT_EQ(counted_, 1);
}

TEST_F(Homes, AMethodThatIsNotKnownIsUnavailable) {
  EXPECT_EQ(call(1, of_node(2), "later").error().code, ErrorCode::unavailable);
}

TEST_F(Homes, AnAnswerThatIsLostLeavesTheOutcomeUnknown) {
  ASSERT_TRUE(call(1, of_node(2), "echo")) << "else the answer that is lost may be that its shard is not open yet";
  network_.lose_answer_of(2);
  EXPECT_EQ(call(1, of_node(2), "count").error().code, ErrorCode::timeout);
  EXPECT_EQ(counted_, 1) << "what may not be done twice is not asked twice";
  network_.lose_answer_of(2);
  EXPECT_EQ(call(1, of_node(2), "count", {}, home_patience, HomeCalls::Again::always).value(), "3");
}

TEST_F(Homes, AHomeThatIsAwayIsWaitedForInTime) {
  leave(2);
  const auto gone = call(1, of_node(2), "echo", "x", 3s);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::unavailable) << "nothing was done";
  auto later = std::async(std::launch::async, [&] { return call(1, of_node(2), "echo", "x"); });
  EXPECT_EQ(later.wait_for(100ms), std::future_status::timeout);
  join(2);
  EXPECT_EQ(later.get().value(), "2:x");
}

// A thread of a door waits for a read, and its caller.
TEST_F(Homes, AReadIsToldThatItsHomeIsAwayAndWhoseItIs) {
  const auto there = of_node(2);
  ASSERT_TRUE(call(1, there, "echo", "x"));
  leave(2);
  const auto began = std::chrono::steady_clock::now();

  const auto away = call(1, there, "echo", "x", home_patience, HomeCalls::Again::read);

  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::unavailable);
  EXPECT_THAT(away.error().what, ::testing::HasSubstr("node 2, is away"));
  EXPECT_THAT(away.error().what, ::testing::HasSubstr(there.text()));
  EXPECT_LT(std::chrono::steady_clock::now() - began, home_patience / 2);
}

// Nobody waits for half a minute to be told which node it is that is down.
TEST_F(Homes, AChangeIsToldThatItsHomeIsAwayAndWhoseItIs) {
  const auto there = of_node(2);
  leave(2);
  const auto began = std::chrono::steady_clock::now();

  const auto away = call(1, there, "echo", "x", home_patience, HomeCalls::Again::not_done);

  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::unavailable) << "nothing was done";
  EXPECT_THAT(away.error().what, ::testing::HasSubstr("node 2, is away"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, home_patience / 2);
}

TEST_F(Homes, MoveWithTheirShard) {
  const auto id = of_node(1);
  EXPECT_EQ(call(3, id, "echo").value(), "1:");
  EXPECT_TRUE(homes_[1]->is_home(id));
  std::atomic<int> told{0};
  homes_[2]->watch(this, [&](const NodeCommitter::OpenShards& open) {
    told += open.contains(cluster_.node(1).shard_of(id)) ? 1 : 0;
  });
  cluster_.move(cluster_.node(1).shard_of(id), 2);
  const auto until = std::chrono::steady_clock::now() + home_patience;
  while (call(3, id, "echo").value() != "2:" && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(5ms);
  EXPECT_EQ(call(1, id, "echo").value(), "2:");
  while (homes_[1]->is_home(id) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(homes_[1]->is_home(id));
  EXPECT_TRUE(homes_[2]->is_home(id));
  while (told == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_GE(told, 1);
  homes_[2]->watch(this, {});
}

// Whoever was told of the old owner is told so, and nothing is done there.
TEST_F(Homes, TheWrongNodeDoesNothing) {
  std::promise<Result<HomeAnswered>> promise;
  homes_[3]->answer({"count", of_node(1), {}, 10s},
                    [&](Result<HomeAnswered> answered) { promise.set_value(std::move(answered)); });
  EXPECT_EQ(promise.get_future().get().value().kind, HomeAnswered::Kind::not_here);
  EXPECT_EQ(counted_, 0);
}

TEST_F(Homes, TakeNoMoreCallsThanTheyMay) {
  const auto id = of_node(2);
  ASSERT_TRUE(call(1, id, "echo"));  // the shard is open there: from here on nobody is told that it is not
  std::vector<std::future<Result<HomeAnswered>>> answers;
  const auto ask = [&] {
    auto promise = std::make_shared<std::promise<Result<HomeAnswered>>>();
    answers.push_back(promise->get_future());
    homes_[2]->answer({"wait", id, {}, home_patience},
                      [promise](Result<HomeAnswered> answered) { promise->set_value(std::move(answered)); });
  };
  ask(), ask();
  while (held_ != 2) std::this_thread::sleep_for(1ms);
  ask(), ask();
  ask();
  EXPECT_EQ(answers.back().get().error().code, ErrorCode::overloaded);
  answers.pop_back();
  holding_ = false;
  for (auto& answer : answers) EXPECT_EQ(answer.get().value().kind, HomeAnswered::Kind::answered);
}

TEST_F(Homes, StoppingAnswersWhoWaits) {
  const auto id = of_node(2);
  auto waiting = std::async(std::launch::async, [&] { return call(1, id, "wait"); });
  while (held_ != 1) std::this_thread::sleep_for(1ms);
  homes_[1]->stop();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::timeout);
  EXPECT_EQ(call(1, id, "echo").error().code, ErrorCode::unavailable);
  holding_ = false;
}

}  // namespace
}  // namespace evershard::cluster
