// The same answers from a cluster of three nodes as from a store in one process: random operations on both, compared.
//
// A failure names its seed: EVERSHARD_SEED=<seed> repeats that one round, EVERSHARD_ROUNDS=<n> runs more of them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <evershard/local.hpp>
#include <memory>
#include <optional>
#include <random>

#include "tests/cluster/node/small_cluster.hpp"
#include "tests/doors/remote/dice.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string shown(const Error& error) {
  std::string text = std::string(name_of(error.code));
  // Of several aggregates that are not where they are expected, each store names one.
  if (error.code == ErrorCode::version_conflict) return text;
  if (!error.details) return text + ": " + error.what;
  const auto& d = *error.details;
  if (d.aggregate) text += " | aggregate " + d.aggregate->text();
  if (d.actual) text += " | actual " + std::to_string(d.actual->value);
  if (d.condition) text += " | condition " + std::to_string(*d.condition);
  if (d.position) text += " | position " + std::to_string(d.position->value);
  return text;
}

/// Offsets are each store's own: what a cut refuses leaves a gap in a cluster's. So are ids that the store made.
RecordedEvent comparable(RecordedEvent event, bool with_id) {
  event.offset = ShardOffset{0};
  if (!with_id) event.id = EventId{};
  return event;
}

class ClusterAndLocal : public ::testing::Test {
 protected:
  /// Both anew: a seed is the whole story.
  void begin(std::uint64_t seed) {
    dice = std::make_unique<Dice>(seed);
    local = *Local::open({.shards = shard_count});
    cluster = std::make_unique<SmallCluster>(SmallCluster::Options{.shards = shard_count});
    accepted.clear();
    named_from.clear();
    head = GlobalPosition{0};
    ASSERT_TRUE(cluster->wait_until_open());
  }
  ClusterNode& node() { return cluster->node(1 + static_cast<std::uint32_t>(dice->below(3))); }

  template <class T>
  static void expect_equal(const Result<T>& expected, const Result<T>& answer) {
    ASSERT_EQ(expected.has_value(), answer.has_value()) << "local: " << (expected ? "ok" : shown(expected.error()))
                                                        << "; cluster: " << (answer ? "ok" : shown(answer.error()));
    if (!expected) {
      ASSERT_EQ(shown(expected.error()), shown(answer.error()))
          << expected.error().what << " / " << answer.error().what;
    } else if constexpr (!std::is_void_v<T>) {
      ASSERT_TRUE(*expected == *answer);
    }
  }

  void act() {
    const auto choice = dice->below(100);
    if (choice < 50)
      append();
    else if (choice < 68)
      read_query();
    else if (choice < 76)
      read_stream();
    else if (choice < 90)
      look_up();
    else
      put_snapshot();
  }

  void append() {
    auto append =
        !accepted.empty() && dice->one_in(6) ? accepted[dice->below(accepted.size())] : dice->append(head.value);
    auto& asked = node();
    ASSERT_TRUE(asked.wait_for(head, 60s));
    const auto expected = local.append(append);
    const auto answer = asked.append(append);
    // Of several reasons to refuse, each store names one.
    const auto is_conflict = [](const Result<Appended>& result) {
      return !result &&
             (result.error().code == ErrorCode::version_conflict || result.error().code == ErrorCode::condition_failed);
    };
    if (is_conflict(answer) && answer.error().code == ErrorCode::condition_failed) {
      ASSERT_NO_FATAL_FAILURE(expect_honest(append, answer.error()));
    }
    if (is_conflict(expected) && is_conflict(answer)) {
      const auto& a = expected.error();
      const auto& b = answer.error();
      if (a.code != b.code || (a.details && b.details && a.details->condition != b.details->condition)) return;
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(expected, answer));
    if (!answer) return;
    head = std::max(head, answer->last_position);
    ++stored;
    const bool named = append.request_id || std::any_of(append.events.begin(), append.events.end(),
                                                        [](const Event& e) { return e.id.given(); });
    if (named) accepted.push_back(std::move(append));
    named_from.resize(head.value + 1);
    for (auto position = answer->first_position; position <= answer->last_position; ++position)
      named_from[position.value] = named;
  }

  void compare(EventStream expected, EventStream answer) {
    for (;;) {
      const auto a = expected.next();
      const auto b = answer.next();
      ASSERT_EQ(a.has_value(), b.has_value())
          << "local: " << (a ? "ok" : shown(a.error())) << "; cluster: " << (b ? "ok" : shown(b.error()));
      if (!a) {
        ASSERT_EQ(shown(a.error()), shown(b.error()));
        return;
      }
      ASSERT_EQ(a->has_value(), b->has_value());
      if (!*a) break;
      const bool named = named_from[(*a)->position.value];
      ASSERT_TRUE(comparable(**a, named) == comparable(**b, named))
          << "position " << (*a)->position.value << " and " << (*b)->position.value;
    }
  }

  /// I-Honest: what a refusal names is there, and matches.
  void expect_honest(const Append& append, const Error& error) {
    ASSERT_TRUE(error.details && error.details->condition && error.details->position);
    ASSERT_LT(*error.details->condition, append.conditions.size());
    const auto& condition = append.conditions[*error.details->condition];
    ASSERT_GT(*error.details->position, condition.after);
    const auto event = local.event_at(*error.details->position);
    ASSERT_TRUE(event) << event.error().what;
    ASSERT_TRUE(condition.query.matches(*event));
  }

  void read_query() {
    const auto query = dice->query();
    ReadOptions options;
    if (dice->one_in(2)) options.after = dice->position(head.value);
    if (dice->one_in(3)) options.before = dice->position(head.value);
    if (dice->one_in(3)) options.up_to = dice->position(head.value);
    if (dice->one_in(3)) options.limit = dice->below(30);
    if (dice->one_in(2)) options.direction = Direction::backwards;
    if (dice->one_in(3)) options.per_aggregate = dice->below(4);
    if (options.per_aggregate && dice->one_in(2)) {
      if (options.direction == Direction::forwards)
        options.per_aggregate_from = GlobalPosition{dice->below(std::max<std::uint64_t>(options.after.value, 1))};
      else if (options.before && options.before->value < 1u << 30)
        options.per_aggregate_from = *options.before + dice->below(5);
    }
    auto& asked = node();
    ASSERT_TRUE(asked.wait_for(head, 60s));
    compare(local.read(query, options), asked.read(query, options));
  }

  void read_stream() {
    const auto aggregate = dice->aggregate();
    StreamOptions options;
    if (dice->one_in(2)) options.from = SeqNr(dice->below(30));
    if (dice->one_in(3)) options.up_to = dice->position(head.value);
    if (dice->one_in(3)) options.limit = dice->below(10);
    if (dice->one_in(2)) options.direction = Direction::backwards;
    auto& asked = node();
    ASSERT_TRUE(asked.wait_for(head, 60s));
    compare(local.read(aggregate, options), asked.read(aggregate, options));
  }

  void look_up() {
    auto& asked = node();
    ASSERT_TRUE(asked.wait_for(head, 60s));
    const auto id = dice->aggregate();
    const auto up_to = dice->one_in(2) ? std::optional(dice->position(head.value)) : std::nullopt;
    ASSERT_NO_FATAL_FAILURE(expect_equal(local.aggregate(id, up_to), asked.aggregate(id, up_to)));
    const auto type = dice->one_in(2) ? std::optional(id.type) : std::nullopt;
    const auto after = dice->one_in(2) ? std::optional(dice->aggregate()) : std::nullopt;
    const auto limit = dice->below(9);
    ASSERT_NO_FATAL_FAILURE(expect_equal(local.aggregates(type, after, limit), asked.aggregates(type, after, limit)));
    const auto version = SeqNr(dice->below(6));
    const auto as_of = dice->position(head.value);
    ASSERT_NO_FATAL_FAILURE(expect_snapshot(local.snapshot(id), asked.snapshot(id)));
    ASSERT_NO_FATAL_FAILURE(expect_snapshot(local.snapshot(id, version), asked.snapshot(id, version)));
    ASSERT_NO_FATAL_FAILURE(expect_snapshot(local.snapshot_as_of(id, as_of), asked.snapshot_as_of(id, as_of)));
    const auto all = local.snapshots(id), all_asked = asked.snapshots(id);
    ASSERT_EQ(all.has_value(), all_asked.has_value());
    if (all) {
      ASSERT_EQ(all->size(), all_asked->size());
    }
  }

  static void expect_snapshot(Result<std::optional<RecordedSnapshot>> expected,
                              Result<std::optional<RecordedSnapshot>> answer) {
    // When they were taken differs, and with it when they expire.
    for (auto* one : {&expected, &answer}) {
      if (!*one || !**one) continue;
      (**one)->taken_at = Timestamp{};
      (**one)->expires_at.reset();
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(expected, answer));
  }

  void put_snapshot() {
    const auto snapshot = dice->snapshot();
    auto& asked = node();
    ASSERT_TRUE(asked.wait_for(head, 60s));
    ASSERT_NO_FATAL_FAILURE(expect_equal(local.put_snapshot(snapshot), asked.put_snapshot(snapshot)));
  }

  static constexpr std::uint32_t shard_count = 4;
  Local local = *Local::open({.shards = shard_count});
  std::unique_ptr<SmallCluster> cluster;
  std::unique_ptr<Dice> dice;
  std::vector<Append> accepted;
  std::vector<bool> named_from;  ///< by position: the ids are the caller's
  GlobalPosition head;
  int stored = 0;
};

TEST_F(ClusterAndLocal, GiveTheSameAnswers) {
  const auto given = environment("EVERSHARD_SEED");
  const auto rounds = !given.empty()                             ? 1
                      : !environment("EVERSHARD_ROUNDS").empty() ? std::stoi(environment("EVERSHARD_ROUNDS"))
                                                                 : 2;
  for (int round = 0; round < rounds; ++round) {
    const auto seed = given.empty() ? std::random_device{}() : std::stoull(given);
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(begin(seed));
    for (int operation = 0; operation < 300; ++operation) {
      SCOPED_TRACE("operation " + std::to_string(operation));
      ASSERT_NO_FATAL_FAILURE(act());
    }
    for (std::uint32_t n = 1; n <= 3; ++n) {
      ASSERT_TRUE(cluster->node(n).wait_for(head, 60s));
      ASSERT_NO_FATAL_FAILURE(compare(local.read(Query::all()), cluster->node(n).read(Query::all())));
    }
  }
  EXPECT_GT(stored, 20 * rounds) << "hardly anything is accepted";
}

}  // namespace
}  // namespace evershard::cluster
