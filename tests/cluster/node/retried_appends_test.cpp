// RetriedAppends: sent again to the next writer, and answered once.

#include "evershard/cluster/node/retried_appends.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <vector>

namespace evershard::cluster {
namespace {

using Clock = RetriedAppends::Clock;
constexpr ShardId retried_shard{3};

/// Writers, a network and a clock as a test says.
struct RetriedFixture {
  struct Sent {
    std::uint32_t node;
    NodeDone<Appended> done;
  };
  std::uint32_t writer = 1;
  bool stopping = false;
  std::vector<Sent> sent;
  std::deque<std::function<void()>> later;
  std::vector<Result<Appended>> answers;
  std::shared_ptr<RetriedAppends> retried = std::make_shared<RetriedAppends>(
      RetriedAppends::Shell{[this](ShardId) { return writer; },
                            [this](std::uint32_t node, ShardId shard, Append, NodeDone<Appended> done) {
                              EXPECT_EQ(shard, retried_shard);
                              sent.push_back({node, std::move(done)});
                            },
                            [this](Clock::duration, std::function<void()> call) {
                              if (!stopping) later.push_back(std::move(call));
                              return !stopping;
                            }});

  void append(Clock::duration time = std::chrono::hours(1)) {
    retried->append(Append{}, retried_shard, Clock::now() + time,
                    [this](Result<Appended> result) { answers.push_back(std::move(result)); });
  }
  void pass() {
    auto call = std::move(later.front());
    later.pop_front();
    call();
  }
};

TEST(RetriedAppends, AnswersWhatCannotChange) {
  RetriedFixture at;
  at.append();
  at.append();
  at.sent[0].done(Appended{});
  at.sent[1].done(refuse(ErrorCode::version_conflict, "no"));

  ASSERT_EQ(at.answers.size(), 2u);
  EXPECT_TRUE(at.answers[0].has_value());
  EXPECT_EQ(at.answers[1].error().code, ErrorCode::version_conflict);
  EXPECT_TRUE(at.later.empty());
}

TEST(RetriedAppends, IsSentToTheNextWriterAtOnceWhateverBecameOfTheFirst) {
  RetriedFixture at;
  at.append();
  at.writer = 2;
  at.retried->writer_changed(retried_shard);
  ASSERT_EQ(at.sent.size(), 2u);
  EXPECT_EQ(at.sent[1].node, 2u);

  at.sent[0].done(refuse(ErrorCode::timeout, "its link has ended"));  // a later try is under way
  EXPECT_TRUE(at.answers.empty());
  EXPECT_TRUE(at.later.empty());
  at.sent[1].done(Appended{});
  ASSERT_EQ(at.answers.size(), 1u);
  EXPECT_TRUE(at.answers[0].has_value());
}

TEST(RetriedAppends, TheFirstWritersAnswerCountsThoughItIsLate) {
  RetriedFixture at;
  at.append();
  at.writer = 2;
  at.retried->writer_changed(retried_shard);
  at.sent[0].done(Appended{});
  ASSERT_EQ(at.answers.size(), 1u);

  at.sent[1].done(Appended{});
  EXPECT_EQ(at.answers.size(), 1u);
}

TEST(RetriedAppends, IsSentAgainAfterAWhileWhereNobodyElseWrites) {
  RetriedFixture at;
  at.append();
  at.sent[0].done(refuse(ErrorCode::unavailable, "not open yet"));
  ASSERT_EQ(at.later.size(), 1u);
  at.pass();
  ASSERT_EQ(at.sent.size(), 2u);
  EXPECT_EQ(at.sent[1].node, 1u);

  at.sent[1].done(refuse(ErrorCode::unavailable, "not open yet"));
  at.writer = 2;
  at.retried->writer_changed(retried_shard);
  at.pass();  // it was sent since
  ASSERT_EQ(at.sent.size(), 3u);
  EXPECT_EQ(at.sent[2].node, 2u);
}

TEST(RetriedAppends, ItsTimeOverTheLastErrorIsTheAnswer) {
  RetriedFixture at;
  at.append(Clock::duration::zero());
  at.sent[0].done(refuse(ErrorCode::unavailable, "gone"));

  ASSERT_EQ(at.answers.size(), 1u);
  EXPECT_EQ(at.answers[0].error().code, ErrorCode::unavailable);
}

// Else it would be sent, refused and sent again, on one stack.
TEST(RetriedAppends, WhoIsStoppingIsAskedOnce) {
  RetriedFixture at;
  at.append();
  at.stopping = true;
  at.sent[0].done(refuse(ErrorCode::unavailable, "the node is stopping"));
  ASSERT_EQ(at.answers.size(), 1u);
  EXPECT_EQ(at.sent.size(), 1u);

  at.stopping = false;
  at.append();
  at.retried->close();
  at.sent[1].done(refuse(ErrorCode::unavailable, "the node is stopping"));
  EXPECT_EQ(at.answers.size(), 2u);
}

TEST(RetriedAppends, WithoutAWriterItWaitsForOne) {
  RetriedFixture at;
  at.writer = 0;
  at.append();
  EXPECT_TRUE(at.sent.empty());
  EXPECT_TRUE(at.answers.empty());

  at.writer = 3;
  at.retried->writer_changed(retried_shard);
  ASSERT_EQ(at.sent.size(), 1u);
  EXPECT_EQ(at.sent[0].node, 3u);
}

}  // namespace
}  // namespace evershard::cluster
