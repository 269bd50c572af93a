// Chains: an append that was decided on top of another one holds only if nobody else's came in its place.

#include "evershard/actors/core/committer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "tests/actors/core/one_thread.hpp"

namespace evershard::actors {
namespace {

using ::testing::HasSubstr;

class Chains : public ::testing::Test {
 protected:
  using Answer = std::future<Result<Appended>>;

  /// To `order-1`, which is expected to be at a version.
  Answer send(ExpectedVersion expected, AppendChain chain) {
    return send(one("order-1").expect("order-1", expected), chain);
  }
  Answer send(Append append, AppendChain chain = {}) {
    auto promise = std::make_shared<std::promise<Result<Appended>>>();
    auto answer = promise->get_future();
    committer_.append_async(std::move(append), chain,
                            [promise](Result<Appended> told) { promise->set_value(std::move(told)); });
    return answer;
  }
  static std::string code(Answer& answer) {
    const auto result = answer.get();
    return result ? "ok" : std::string(name_of(result.error().code));
  }

  SteeredStore store_{4};
  Committer committer_{store_, [] {
                         CommitterOptions options;
                         options.group.state.recent_entries_max = 64;
                         return options;
                       }()};
};

TEST_F(Chains, HoldWhereNobodyElseAppends) {
  store_.hold_commits();
  auto first = send(Version::none(), {7, false});
  auto second = send(Version::exactly(1), {7, true});
  auto third = send(Version::exactly(2), {7, true});
  store_.release_commits();

  EXPECT_EQ(code(first) + code(second) + code(third), "okokok");
  auto later = send(Version::exactly(3), {7, true});
  EXPECT_EQ(code(later), "ok");
}

// The outsider's event stands where the first one's should: the version that the second expects holds by chance.
TEST_F(Chains, BreakAtAnOutsidersAppendInThePlaceOfAnEarlierOne) {
  store_.hold_commits();
  auto outsider = send(one("order-1"));
  auto first = send(Version::none(), {7, false});
  auto second = send(Version::exactly(1), {7, true});
  store_.release_commits();

  EXPECT_EQ(code(outsider), "ok");
  EXPECT_EQ(code(first), "version_conflict");
  const auto refused = second.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::version_conflict);
  EXPECT_THAT(refused.error().what, HasSubstr("that its writer has seen"));
  EXPECT_EQ(store_.view().watermark, GlobalPosition{1});
}

TEST_F(Chains, BreakAtAnOutsidersAppendBetweenTwo) {
  store_.hold_commits();
  auto first = send(Version::none(), {7, false});
  auto outsider = send(one("order-1"));
  auto second = send(Version::exactly(1), {7, true});
  auto third = send(Version::exactly(2), {7, true});
  store_.release_commits();

  EXPECT_EQ(code(first) + code(outsider), "okok");
  EXPECT_EQ(code(second), "version_conflict");
  EXPECT_EQ(code(third), "version_conflict") << "it expects the second one's event, and there is the outsider's";
}

TEST_F(Chains, BreakAtAnotherIncarnationsAppend) {
  auto of_another_life = send(Version::none(), {6, false});
  EXPECT_EQ(code(of_another_life), "ok");

  auto follows = send(Version::exactly(1), {7, true});
  EXPECT_EQ(code(follows), "version_conflict");
  auto begins = send(Version::exactly(1), {7, false});
  EXPECT_EQ(code(begins), "ok");
}

// An append to several aggregates is an outsider's too.
TEST_F(Chains, BreakAtAnAppendThatWritesToOthersBesides) {
  auto first = send(Version::none(), {7, false});
  EXPECT_EQ(code(first), "ok");
  auto outsider = send(one("order-2").event("order-1", "Placed", "p"));
  EXPECT_EQ(code(outsider), "ok");

  auto second = send(Version::exactly(2), {7, true});
  EXPECT_EQ(code(second), "version_conflict");
}

TEST_F(Chains, AreNotBrokenByAppendsToOthers) {
  store_.hold_commits();
  auto first = send(Version::none(), {7, false});
  auto other = send(one("order-2"));
  auto second = send(Version::exactly(1), {7, true});
  store_.release_commits();

  EXPECT_EQ(code(first) + code(other) + code(second), "okokok");
}

// Nobody knows any more who wrote last: then it is not taken for granted. Whoever sent it loads again and goes on.
TEST_F(Chains, BreakWhereMemoryHasForgottenThem) {
  auto first = send(Version::none(), {7, false});
  EXPECT_EQ(code(first), "ok");
  for (int i = 0; i < 400; ++i) {
    auto other = send(one("other-" + std::to_string(i)));
    ASSERT_EQ(code(other), "ok");
  }

  auto second = send(Version::exactly(1), {7, true});
  EXPECT_EQ(code(second), "version_conflict");
  auto again = send(Version::exactly(1), {8, false});
  EXPECT_EQ(code(again), "ok");
}

}  // namespace
}  // namespace evershard::actors
