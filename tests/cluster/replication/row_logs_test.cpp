// RowLogs: what a quorum had is with whoever writes next, whatever is lost on the way.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "evershard/cluster/replication/row_logs.hpp"

namespace evershard::cluster {
namespace {

using At = storage::RowLogAt;

constexpr ShardId logged{3};
const sharding::ReplicaSet trio{2, {1, 2, 3}};

At entry(std::uint64_t epoch, std::uint64_t number) { return {Epoch{epoch}, number}; }
RowLogs::Ends ends(std::map<std::uint64_t, std::uint64_t> numbers) {
  RowLogs::Ends ends;
  for (const auto& [epoch, number] : numbers) ends[Epoch{epoch}] = number;
  return ends;
}

TEST(RowLogs, WritesNothingBeforeAQuorumHasSaidWhatItHas) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, ends({{1, 4}}));
  EXPECT_FALSE(logs.ready(logged));
  logs.followed(2, logged, Epoch{1}, ends({{1, 4}}), ShardOffset{9}, trio);
  EXPECT_FALSE(logs.ready(logged)) << "that was under an earlier epoch: it may take more of its writer";
  logs.followed(2, logged, Epoch{2}, ends({{1, 4}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.ready(logged));
  EXPECT_EQ(logs.next(logged), entry(2, 1));
}

TEST(RowLogs, AsksWhoHasMore) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, ends({{1, 4}}));
  logs.followed(3, logged, Epoch{2}, ends({{1, 6}}), ShardOffset{9}, trio);
  EXPECT_FALSE(logs.ready(logged));
  const auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].node, 3u);
  EXPECT_EQ(asked[0].after, entry(1, 4));
  EXPECT_TRUE(logs.asks(asked[0]));
  EXPECT_TRUE(logs.to_ask().empty()) << "one question at a time";
  logs.again();
  ASSERT_EQ(logs.to_ask().size(), 1u);
  logs.given(asked[0], 5, ends({{1, 5}}));
  EXPECT_FALSE(logs.ready(logged)) << "it was a part";
  EXPECT_FALSE(logs.asks(asked[0])) << "a second answer to the same is of no use";
  logs.given(asked[0], 6, ends({{1, 6}}));
  EXPECT_TRUE(logs.ready(logged));
}

TEST(RowLogs, ANewerEntryOfAnotherWriterSaysNothingOfOlderOnes) {
  RowLogs logs;
  logs.begin(logged, Epoch{7}, ends({{5, 7}}));
  logs.followed(2, logged, Epoch{7}, ends({{5, 6}, {6, 3}}), ShardOffset{9}, trio);
  EXPECT_FALSE(logs.ready(logged)) << "it has what another one wrote";
  auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].after, entry(6, 0));
  logs.given(asked[0], 3, ends({{5, 7}, {6, 3}}));
  ASSERT_TRUE(logs.ready(logged));
  const auto sent = logs.to_send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].after, entry(5, 6)) << "the oldest first";
  const auto at = logs.next(logged);
  logs.written(logged, ends({{5, 7}, {6, 3}, {7, 1}}));
  logs.followed(2, logged, Epoch{7}, ends({{5, 6}, {6, 3}, {7, 1}}), ShardOffset{9}, trio);
  EXPECT_FALSE(logs.quorum_has(logged, at, trio)) << "not what was here before it";
  logs.followed(2, logged, Epoch{7}, ends({{5, 7}, {6, 3}, {7, 1}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.quorum_has(logged, at, trio));
}

// A follower that starts again counts what is on its disk: the writer must not ask for what is on none.
TEST(RowLogs, WhatALaterEntryHasTakenThePlaceOfIsAskedOfNobody) {
  RowLogs logs;
  logs.begin(logged, Epoch{6}, ends({{5, 8}}));
  logs.followed(2, logged, Epoch{6}, ends({{5, 8}}), ShardOffset{9}, trio);
  ASSERT_TRUE(logs.ready(logged));
  const auto at = logs.next(logged);
  logs.written(logged, ends({{6, 1}}));
  logs.followed(2, logged, Epoch{6}, ends({{6, 1}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.quorum_has(logged, at, trio));
  EXPECT_TRUE(logs.to_send().empty());
}

// Who has an entry says so, whatever its own snapshot is: nobody would ask where this writer dies before it has logged
// what it took.
TEST(RowLogs, NothingIsSentBeforeWhatIsOwedIsLogged) {
  RowLogs logs;
  logs.begin(logged, Epoch{3}, ends({{1, 4}}));
  logs.followed(2, logged, Epoch{3}, ends({{1, 2}, {2, 1}}), ShardOffset{9}, trio);
  const auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  logs.owe(logged);
  EXPECT_FALSE(logs.owes(logged)) << "it may log nothing yet";
  logs.given(asked[0], 1, ends({{1, 4}}));  // what was here is of a later version, and stays
  ASSERT_TRUE(logs.ready(logged));
  EXPECT_TRUE(logs.owes(logged));
  EXPECT_TRUE(logs.to_send().empty());
  logs.written(logged, ends({{1, 3}, {3, 1}}));
  logs.paid(logged);
  EXPECT_FALSE(logs.owes(logged));
  EXPECT_EQ(logs.to_send().size(), 1u);

  logs.owe(logged);
  logs.begin(logged, Epoch{4}, ends({{1, 4}}));
  logs.followed(2, logged, Epoch{4}, ends({{1, 2}}), ShardOffset{9}, trio);
  EXPECT_EQ(logs.to_send().size(), 1u) << "of another opening: all is compared anew";
}

// It wrote the shard, and died before anybody had its last entries.
TEST(RowLogs, AsksWhoTurnsUpLateForWhatNobodyElseHasBeforeItIsSentAnything) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, ends({{1, 4}}));
  logs.followed(2, logged, Epoch{2}, ends({{1, 4}}), ShardOffset{9}, trio);
  ASSERT_TRUE(logs.ready(logged));
  const auto at = logs.next(logged);
  logs.written(logged, ends({{1, 4}, {2, 1}}));
  logs.followed(2, logged, Epoch{2}, ends({{1, 4}, {2, 1}}), ShardOffset{9}, trio);
  logs.followed(3, logged, Epoch{2}, ends({{1, 6}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.ready(logged)) << "nobody waits for that";
  EXPECT_TRUE(logs.quorum_has(logged, at, trio));
  EXPECT_TRUE(logs.to_send().empty()) << "its entries might go by it unseen";
  const auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].node, 3u);
  EXPECT_EQ(asked[0].after, entry(1, 4));
  ASSERT_TRUE(logs.asks(asked[0]));
  logs.given(asked[0], 6, ends({{1, 5}, {2, 2}}));  // of the last one a newer entry has taken the place
  EXPECT_TRUE(logs.to_ask().empty()) << "that one has been seen";
  auto sent = logs.to_send();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].node, 2u);
  EXPECT_EQ(sent[0].after, entry(1, 4));
  EXPECT_EQ(sent[1].node, 3u);
  EXPECT_EQ(sent[1].after, entry(2, 0));
}

TEST(RowLogs, WhatALateFollowerHasAndCannotBeTakenKeepsNothingElseFromIt) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, ends({{1, 4}}));
  logs.followed(2, logged, Epoch{2}, ends({{1, 6}}), ShardOffset{9}, trio);
  auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  logs.not_taken(asked[0]);
  EXPECT_FALSE(logs.ready(logged)) << "it may have been answered";
  logs.again();
  asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  logs.given(asked[0], 6, ends({{1, 6}}));
  ASSERT_TRUE(logs.ready(logged));
  logs.followed(3, logged, Epoch{2}, ends({{1, 9}}), ShardOffset{9}, trio);
  logs.written(logged, ends({{1, 6}, {2, 1}}));
  asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  logs.not_taken(asked[0]);
  EXPECT_TRUE(logs.to_ask().empty());
  EXPECT_EQ(logs.to_send().size(), 2u);
}

TEST(RowLogs, SendsAFollowerWhatItDoesNotHaveAPartAtATime) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, ends({{1, 4}}));
  logs.followed(2, logged, Epoch{2}, ends({{1, 2}}), ShardOffset{9}, trio);
  const auto sent = logs.to_send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].after, entry(1, 2));
  EXPECT_EQ(sent[0].tail, ShardOffset{9});
  EXPECT_TRUE(logs.to_send().empty());
  logs.followed(2, logged, Epoch{2}, ends({{1, 2}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.to_send().empty()) << "it is under way";
  logs.again();
  EXPECT_EQ(logs.to_send().size(), 1u);
  logs.followed(2, logged, Epoch{2}, ends({{1, 4}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.to_send().empty());
}

TEST(RowLogs, CountsAQuorumWithTheWriter) {
  RowLogs logs;
  const sharding::ReplicaSet five{3, {1, 2, 3, 4, 5}};
  logs.begin(logged, Epoch{2}, {});
  for (const std::uint32_t node : {2, 3}) logs.followed(node, logged, Epoch{2}, {}, ShardOffset{9}, five);
  const auto at = logs.next(logged);
  logs.written(logged, ends({{2, 1}}));
  EXPECT_FALSE(logs.quorum_has(logged, at, five));
  logs.followed(2, logged, Epoch{2}, ends({{2, 1}}), ShardOffset{9}, five);
  EXPECT_FALSE(logs.quorum_has(logged, at, five));
  logs.followed(9, logged, Epoch{2}, ends({{2, 1}}), ShardOffset{9}, five);
  EXPECT_FALSE(logs.quorum_has(logged, at, five)) << "it is none of the set";
  logs.followed(5, logged, Epoch{2}, ends({{2, 1}}), ShardOffset{9}, five);
  EXPECT_TRUE(logs.quorum_has(logged, at, five));
}

TEST(RowLogs, WaitsForNobodyWhoIsNotThereOrFarBehind) {
  RowLogs logs;
  logs.begin(logged, Epoch{2}, {});
  for (const std::uint32_t node : {2, 3}) logs.followed(node, logged, Epoch{2}, {}, ShardOffset{9}, trio);
  const auto at = logs.next(logged);
  logs.written(logged, ends({{2, 1}}));
  logs.followed(2, logged, Epoch{2}, ends({{2, 1}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.quorum_has(logged, at, trio));
  EXPECT_FALSE(logs.all_have(logged, at));
  logs.written(logged, ends({{2, 41}}));
  EXPECT_TRUE(logs.all_have(logged, entry(2, 41))) << "it is being filled";
  EXPECT_FALSE(logs.all_have(logged, entry(2, 2)));
  logs.lost(2), logs.lost(3);
  EXPECT_TRUE(logs.all_have(logged, entry(2, 2)));
  EXPECT_TRUE(logs.ready(logged)) << "what was there at a quorum stays here";
}

TEST(RowLogs, CountsNobodyWhoMayHaveForgottenWhatItSaidItHad) {
  RowLogs logs;
  logs.begin(logged, Epoch{7}, ends({{6, 3}}));
  logs.followed(2, logged, Epoch{7}, ends({}), ShardOffset{9}, trio, false);
  EXPECT_FALSE(logs.ready(logged)) << "it is a new disk: the other one may have more";
  logs.followed(3, logged, Epoch{7}, ends({{6, 4}}), ShardOffset{9}, trio);
  const auto asked = logs.to_ask();
  ASSERT_EQ(asked.size(), 1u);
  logs.given(asked[0], 4, ends({{6, 4}}));
  ASSERT_TRUE(logs.ready(logged));

  auto sent = logs.to_send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_FALSE(sent[0].whole);
  logs.followed(2, logged, Epoch{7}, ends({{6, 4}}), ShardOffset{9}, trio, false);
  sent = logs.to_send();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].whole) << "it has all, and does not know it";
  logs.followed(2, logged, Epoch{7}, ends({{6, 4}}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.to_send().empty());
}

TEST(RowLogs, OneThatDoesNotAnswerKeepsNobodyElseFromBeingAsked) {
  RowLogs logs;
  logs.begin(logged, Epoch{3}, ends({}));
  logs.followed(2, logged, Epoch{3}, ends({{1, 4}}), ShardOffset{9}, trio);
  logs.followed(3, logged, Epoch{3}, ends({{2, 1}}), ShardOffset{9}, trio);
  std::set<std::uint32_t> asked;
  for (int n = 0; n != 3; ++n) {
    const auto wanted = logs.to_ask();
    ASSERT_EQ(wanted.size(), 1u);
    asked.insert(wanted.front().node);
    logs.again();
  }
  EXPECT_EQ(asked, (std::set<std::uint32_t>{2, 3}));
}

TEST(RowLogs, AWriterWithANewDiskAsksAllThereAre) {
  RowLogs logs;
  logs.begin(logged, Epoch{7}, ends({}), false);
  logs.followed(2, logged, Epoch{7}, ends({}), ShardOffset{9}, trio);
  EXPECT_FALSE(logs.ready(logged));
  logs.followed(3, logged, Epoch{7}, ends({}), ShardOffset{9}, trio);
  EXPECT_TRUE(logs.ready(logged));
  ASSERT_EQ(logs.to_mark().size(), 1u);
  logs.marked(logged);
  EXPECT_TRUE(logs.to_mark().empty());

  RowLogs first;
  first.begin(logged, Epoch{1}, ends({}), false);
  first.followed(2, logged, Epoch{1}, ends({}), ShardOffset{9}, trio, false);
  EXPECT_TRUE(first.ready(logged)) << "nobody wrote before";
}

/// Nodes with their disks, and messages that come in any sequence, late, or never. Writers follow each other, chosen
/// at random, some of them with less than a quorum had; old ones go on for a while. A disk is exchanged for an empty
/// one now and then, never the second before the first has all again.
class Replicas {
 public:
  Replicas(std::uint64_t seed, std::uint32_t nodes) : random_(seed), set_{nodes / 2 + 1, {}}, nodes_(nodes) {
    for (std::uint32_t n = 1; n <= nodes; ++n) set_.nodes.push_back(n);
  }

  void run(std::size_t steps) {
    for (std::size_t i = 0; i != steps; ++i) step();
  }
  /// I-Rows: what was answered is on the disk of a writer that is ready.
  void check() const {
    for (const auto& node : nodes_) {
      if (!node.logs.ready(logged) || node.epoch != epoch_) continue;
      for (const auto& [answered, with] : answered_) {
        ASSERT_TRUE(std::ranges::includes(node.has, with)) << answered.epoch.value << "/" << answered.number;
      }
    }
  }
  std::size_t answered() const { return answered_.size(); }
  /// All hear of the newest opening, and nothing is lost any more: they end with the same entries.
  void end_equal() {
    if (epoch_.value == 0) return;
    well_ = true;
    for (std::uint32_t number = 1; number <= nodes_.size(); ++number) follow(number);
    const auto equal = [&] {
      return std::ranges::all_of(nodes_, [&](const Node& one) { return one.has == node(opened_).has; });
    };
    for (int round = 0; round != 200 && !equal(); ++round) {
      for (const auto from : set_.nodes) say(from, opened_);
      while (!under_way_.empty()) {
        for (const auto& message : std::exchange(under_way_, {})) message();
        look(opened_);
      }
      node(opened_).logs.again();
      look(opened_);
    }
    ASSERT_TRUE(equal());
  }

 private:
  struct Node {
    RowLogs logs;
    Epoch epoch{};  ///< followed, or its own
    bool writes = false;
    bool whole = false;
    std::uint64_t process = 0;
    std::set<At> has{};
    std::map<At, std::set<At>> waiting{};  ///< with all that it had before
    [[nodiscard]] RowLogs::Ends ends() const {
      RowLogs::Ends ends;
      for (const auto& at : has) ends[at.epoch] = at.number;
      return ends;
    }
    [[nodiscard]] bool joins(At after) const {
      const auto all = ends();
      const auto found = all.find(after.epoch);
      return (found == all.end() ? 0 : found->second) == after.number;
    }
  };
  [[nodiscard]] std::uint32_t any(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  [[nodiscard]] Node& node(std::uint32_t number) { return nodes_[number - 1]; }

  void say(std::uint32_t from, std::uint32_t to) {
    const auto& here = node(from);
    if (here.writes) return;
    later([this, from, to, epoch = here.epoch, end = here.ends(), whole = here.whole, process = here.process] {
      Node& there = node(to);
      if (there.writes && node(from).process == process)
        there.logs.followed(from, logged, epoch, end, ShardOffset{9}, set_, whole);
    });
  }
  void later(std::function<void()> message) {
    if (well_ || any(8) != 0) under_way_.push_back(std::move(message));
  }
  /// As a part of the log that joins on.
  std::vector<At> behind(const Node& of, At after) {
    std::vector<At> part(of.has.upper_bound(after), of.has.upper_bound({after.epoch, ~std::uint64_t{0}}));
    if (part.size() > 1 && any(2) == 0) part.resize(1 + any(static_cast<std::uint32_t>(part.size()) - 1));
    return part;
  }
  void step() {
    const auto number = 1 + any(static_cast<std::uint32_t>(nodes_.size()));
    Node& here = node(number);
    switch (any(8)) {
      case 0:
        if (any(12) == 0) {  // the coordinator opens it there
          ++epoch_;
          opened_ = number;
          follow(number);
        }
        break;
      case 1:
        follow(number);
        break;
      case 2:
        if (here.writes && here.logs.ready(logged)) {
          const auto at = here.logs.next(logged);
          here.has.insert(at);
          here.logs.written(logged, here.ends());
          here.waiting[at] = here.has;
        }
        break;
      case 3:
        for (const auto to : set_.nodes) say(number, to);
        break;
      case 4:
        if (any(20) == 0) return lose_disk(number);
        if (here.writes) here.logs.again();
        break;
      default:
        if (under_way_.empty()) break;
        const auto at = under_way_.begin() + any(static_cast<std::uint32_t>(under_way_.size()));
        const auto message = std::move(*at);
        under_way_.erase(at);
        message();
    }
    if (here.writes) look(number);
  }
  /// It hears of the newest opening.
  void follow(std::uint32_t number) {
    Node& here = node(number);
    if (here.epoch == epoch_) return;
    here.epoch = epoch_;
    here.waiting.clear();
    here.logs.end(logged);
    here.writes = number == opened_;
    if (here.writes) here.logs.begin(logged, epoch_, here.ends(), here.whole);
  }
  void lose_disk(std::uint32_t number) {
    const auto whole = static_cast<std::size_t>(std::ranges::count_if(nodes_, &Node::whole));
    if (whole < nodes_.size()) return;
    Node& here = node(number);
    const auto process = here.process + 1;
    here = {};
    here.process = process;
    for (auto& other : nodes_)
      if (any(2) == 0) other.logs.lost(number);
  }
  void look(std::uint32_t number) {
    Node& here = node(number);
    for (const auto& marked : here.logs.to_mark()) {
      here.whole = true;
      here.logs.marked(marked.first);
    }
    for (const auto& asked : here.logs.to_ask())
      later([this, number, asked, process = here.process] {
        const auto part = behind(node(asked.node), asked.after);
        later([this, number, asked, part, process] {
          Node& to = node(number);
          if (process != to.process || !to.writes || !to.logs.asks(asked) || !to.joins(asked.after)) return;
          to.has.insert(part.begin(), part.end());
          to.logs.given(asked, part.empty() ? asked.after.number : part.back().number, to.ends());
        });
      });
    for (const auto& sent : here.logs.to_send())
      later([this, number, sent, part = sent.whole ? std::vector<At>() : behind(here, sent.after),
             process = node(sent.node).process] {
        Node& to = node(sent.node);
        if (process != to.process || to.writes || to.epoch != sent.epoch) return;
        if (sent.whole)
          to.whole = true;
        else if (to.joins(sent.after))
          to.has.insert(part.begin(), part.end());
        say(sent.node, number);
      });
    std::erase_if(here.waiting, [&](const auto& of) {
      const bool has = here.logs.quorum_has(logged, of.first, set_);
      if (has) answered_.insert(of);
      return has;
    });
  }

  std::mt19937_64 random_;
  sharding::ReplicaSet set_;
  std::vector<Node> nodes_;
  Epoch epoch_{};
  std::uint32_t opened_ = 0;
  std::map<At, std::set<At>> answered_;
  std::vector<std::function<void()>> under_way_;
  bool well_ = false;
};

TEST(RowLogs, WhatWasAnsweredIsWithEveryLaterWriter) {
  std::size_t answered = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Replicas replicas(seed, seed % 3 == 0 ? 5 : 3);
    for (int i = 0; i != 60; ++i) {
      replicas.run(50);
      replicas.check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    replicas.end_equal();
    if (::testing::Test::HasFatalFailure()) return;
    replicas.check();
    answered += replicas.answered();
  }
  EXPECT_GT(answered, 4'000u) << "else nothing was looked at";
}

}  // namespace
}  // namespace evershard::cluster
