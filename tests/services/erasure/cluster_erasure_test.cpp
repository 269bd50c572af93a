// An erasure on a cluster, step by step: broken off anywhere, it is finished by whoever comes next, on whatever node.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/local/local_events.hpp"
#include "evershard/local/node.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "evershard/services/retention/cluster_erasure.hpp"
#include "tests/local/small_store.hpp"

namespace evershard::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FailingKeys final : public SubjectKeys {
 public:
  explicit FailingKeys(std::unique_ptr<SubjectKeys> keys) : keys_(std::move(keys)) {}
  Result<HeldKey> key_for(std::string_view subject) override { return keys_->key_for(subject); }
  Result<std::optional<HeldKey>> find(const KeyId& id) override { return keys_->find(id); }
  Result<std::optional<KeyId>> current(std::string_view subject) override { return keys_->current(subject); }
  Result<void> destroy(const KeyId& id) override {
    if (fails) return refuse(*fails);
    return keys_->destroy(id);
  }
  std::optional<Error> fails;

 private:
  const std::unique_ptr<SubjectKeys> keys_;
};

/// Two nodes that share a log and keys.
class ClusterErasures : public ::testing::Test {
 protected:
  ClusterErasures() {
    keys_ = std::make_shared<FailingKeys>(KeyFolder::open(scratch_.path() / "keys", {}).value());
    id_ = keys_->key_for("ada")->id;
  }
  [[nodiscard]] ClusterErasure node() {
    return ClusterErasure(
        log_, limits_, keys_,
        [this](const KeyId& key, const RetentionOrder& order, const Progress&) -> Result<RetentionResult> {
          if (!order.dry_run) {
            EXPECT_EQ(keys_->find(key).value(), std::nullopt) << "what is still sealed then would stay";
          }
          if (away_) return refuse(ErrorCode::unavailable, "shard 3 has no node");
          if (key == cannot_take_out_) return refuse(ErrorCode::corruption, "a record of it is damaged");
          taken_out_.push_back(key);
          RetentionResult result;
          result.events = 7;
          return result;
        },
        {});
  }
  [[nodiscard]] std::vector<std::string> logged() {
    std::vector<std::string> types;
    auto stream = log_.read(AggregateId{"$retention", "log"});
    for (const auto& event : stream) types.push_back(event.type);
    return types;
  }
  ScratchDir scratch_;
  std::shared_ptr<Node> store_ = Node::open({.store = {.shards = 2}}).value();
  LocalEvents log_{store_};
  std::shared_ptr<FailingKeys> keys_;
  KeyId id_;
  Limits limits_;
  bool away_ = false;
  std::optional<KeyId> cannot_take_out_;
  std::vector<KeyId> taken_out_;
};

TEST_F(ClusterErasures, IsOrderedDoneAndRecorded) {
  auto one = node();
  const auto would = one.erase("ada", {.dry_run = true}, {});
  ASSERT_TRUE(would);
  EXPECT_THAT(logged(), IsEmpty());
  EXPECT_EQ(keys_->current("ada").value(), id_);

  const auto erased = one.erase("ada", {.by = "dpo"}, {});
  ASSERT_TRUE(erased) << erased.error().what;
  EXPECT_EQ(erased->events, 7u);
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone"));
  EXPECT_EQ(code_of(one.erase("ada", {}, {})), "not_found");
  EXPECT_EQ(code_of(one.erase("nobody", {}, {})), "not_found");
  EXPECT_EQ(code_of(one.erase("", {}, {})), "invalid_argument");
  EXPECT_EQ(taken_out_.size(), 2u);  // a dry run, and it
}

TEST_F(ClusterErasures, IsFinishedByTheNextOneOnAnotherNode) {
  auto one = node(), two = node();
  keys_->fails = Error(ErrorCode::unavailable, "the coordinator is away");
  EXPECT_EQ(code_of(one.erase("ada", {}, {})), "unavailable");
  EXPECT_EQ(code_of(two.finish({})), "unavailable");
  EXPECT_EQ(keys_->current("ada").value(), id_);

  keys_->fails.reset();
  away_ = true;
  EXPECT_EQ(code_of(two.finish({})), "unavailable");
  EXPECT_EQ(keys_->current("ada").value(), std::nullopt);
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered"));

  away_ = false;
  EXPECT_TRUE(two.finish({}));
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone"));
  EXPECT_TRUE(one.finish({}));
  EXPECT_THAT(taken_out_, ElementsAre(id_));
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone"));
}

TEST_F(ClusterErasures, TheNextErasureFinishesItFirst) {
  auto one = node();
  const auto bob = keys_->key_for("bob")->id;
  away_ = true;
  const auto erased = one.erase("ada", {}, {});
  EXPECT_EQ(code_of(erased), "unavailable");
  EXPECT_THAT(erased.error().what, ::testing::HasSubstr("the key is destroyed"));
  away_ = false;
  EXPECT_EQ(code_of(one.erase("bob", {}, {})), "ok");
  EXPECT_THAT(taken_out_, ElementsAre(id_, bob));
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone", "$ErasureOrdered", "$ErasureDone"));
  auto two = node();
  EXPECT_TRUE(two.finish({}));
  EXPECT_EQ(taken_out_.size(), 2u);
}

// With its key gone, who is told that nothing was removed is told wrong.
TEST_F(ClusterErasures, OneWhoseEntriesDoNotFitIsRefusedBeforeItsKeyGoes) {
  limits_.payload_bytes_max = 1'500;
  auto one = node();
  EXPECT_EQ(code_of(one.erase("ada", {.reason = std::string(900, 'x')}, {})), "too_large");
  EXPECT_EQ(keys_->current("ada").value(), id_);
  EXPECT_THAT(logged(), IsEmpty());
  EXPECT_EQ(code_of(one.erase("ada", {.reason = std::string(200, 'x')}, {})), "ok");
}

// A node may be away for days: what others want erased does not wait for it.
TEST_F(ClusterErasures, OneThatCannotBeFinishedKeepsNobodyElsesKey) {
  auto one = node();
  ASSERT_TRUE(keys_->key_for("bob"));
  const auto carol = keys_->key_for("carol")->id;
  away_ = true;
  EXPECT_EQ(code_of(one.erase("ada", {}, {})), "unavailable");
  EXPECT_EQ(code_of(one.erase("bob", {}, {})), "unavailable");
  EXPECT_EQ(keys_->current("bob").value(), std::nullopt) << "what is still on the disk of who is away opens for nobody";
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureOrdered"));
  cannot_take_out_ = id_;
  away_ = false;
  EXPECT_EQ(code_of(one.erase("carol", {}, {})), "ok");
  EXPECT_EQ(taken_out_.back(), carol);
  EXPECT_THAT(logged(),
              ElementsAre("$ErasureOrdered", "$ErasureOrdered", "$ErasureDone", "$ErasureOrdered", "$ErasureDone"))
      << "bob's, and carol's";
  EXPECT_EQ(code_of(one.finish({})), "corruption") << "ada's is told";
}

// Both at once, on two nodes: recorded once.
TEST_F(ClusterErasures, FinishedTwiceIsRecordedOnce) {
  std::unique_ptr<ClusterErasure> two;
  bool nested = false;
  ClusterErasure one(log_, {}, keys_,
                     [&](const KeyId& key, const RetentionOrder&, const Progress&) -> Result<RetentionResult> {
                       if (away_) return refuse(ErrorCode::unavailable, "away");
                       taken_out_.push_back(key);
                       if (!std::exchange(nested, true)) {
                         EXPECT_TRUE(two->finish({}));
                       }
                       return RetentionResult{};
                     },
                     {});
  two = std::unique_ptr<ClusterErasure>(new ClusterErasure(node()));
  EXPECT_TRUE(one.erase("ada", {}, {}));
  EXPECT_EQ(taken_out_.size(), 2u);
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone"));
}

TEST_F(ClusterErasures, WithoutKeysItWaitsForThem) {
  auto one = node();
  keys_->fails = Error(ErrorCode::invalid_argument, "no keys");
  EXPECT_EQ(code_of(one.erase("ada", {}, {})), "invalid_argument");
  EXPECT_TRUE(one.finish({}));  // runs and vacuums go on
  keys_->fails.reset();
  EXPECT_TRUE(one.finish({}));
  EXPECT_THAT(logged(), ElementsAre("$ErasureOrdered", "$ErasureDone"));
}

}  // namespace
}  // namespace evershard::cluster
