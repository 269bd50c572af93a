// The shard writers of a node on its store: journaled, covered by cuts, read, and opened again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "evershard/actors/core/prepare.hpp"
#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/sharding/node_cut.hpp"
#include "evershard/storage/open.hpp"
#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/ordered_model.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/sharding/fresh_state.hpp"

namespace evershard::actors {
namespace {

/// One node that owns all four shards, and its coordinator.
class NodeOnStore {
 public:
  NodeOnStore() : ordering_(sharding::fresh(4), {}) { open(); }

  void open() {
    writers_.reset();
    preparer_.reset();
    store_.reset();
    storage::StoreOptions options;
    options.data_dir = folder_.path() / "store";
    options.shards = 4;
    options.disk_reserve_bytes = 0;
    storage::ClusterMember member;
    member.node = 1;
    member.store.bytes.fill(7);
    member.fork = member.store;
    member.term_key = 4711;
    options.member = member;
    auto opened = storage::open_node_store(options);
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    preparer_ = std::make_unique<Preparer>(*store_, Limits{});
    const auto order = store_->recovered();
    ShardWriters::Start start{order.last_cut, order.watermark, {}, store_->take_unordered()};
    for (std::uint16_t s = 0; s != 4; ++s)
      start.shards.push_back({ShardId{s}, order.shards[s].epoch, order.shards[s].next});
    ShardWriters::Options writers;
    writers.node = 1;
    writers.key = member.term_key;
    writers_ = std::make_unique<ShardWriters>(std::move(start), writers);
    WriterActions actions;
    writers_->session_begun(actions);
    for (std::uint16_t s = 0; s != 4; ++s) ASSERT_TRUE(ordering_.open(ShardId{s}, 1, writers_->tail(ShardId{s})));
    carry_out(std::move(actions));
    for (auto at = writers_->last_cut().value; at < log_.size(); ++at) apply(log_[at]);
    cut();
  }

  std::uint64_t send(Append append) {
    const std::uint64_t client = ++clients_;
    auto attempt = std::make_shared<Attempt>();
    attempt->client = client;
    attempt->ack = append.ack;
    auto stored = preparer_->prepare(std::move(append), attempt->prepared);
    WriterActions actions;
    if (!stored) {
      answers[client] = refuse(stored.error());
    } else if (*stored) {
      answers[client] = **stored;
    } else {
      writers_->take(attempt, actions);
    }
    carry_out(std::move(actions));
    return client;
  }
  void write() {
    while (writers_->any()) {
      const auto batch = writers_->close();
      auto staged = store_->stage_journal(batch.journal);
      ASSERT_TRUE(store_->commit(*staged));
      WriterActions actions;
      writers_->synced(batch, actions);
      carry_out(std::move(actions));
    }
  }
  bool cut() {
    const auto cut = ordering_.make_cut();
    if (!cut) return false;
    log_.push_back(*cut);
    apply(*cut);
    return true;
  }
  void rest() {
    do write();
    while (cut());
  }

  std::vector<std::string> aggregates() {
    std::vector<std::string> found;
    std::vector<RecordedEvent> events;
    const storage::Reader reader(*store_);
    EXPECT_TRUE(reader.open(store_->view(), Query::all(), {})->next(1'000, 1u << 20, events));
    for (const auto& event : events) {
      EXPECT_EQ(event.position.value, found.size() + 1);
      found.push_back(event.aggregate->text() + "/" + std::to_string(event.seq_nr.value));
    }
    return found;
  }

  std::map<std::uint64_t, std::optional<Result<Appended>>> answers;
  int recovered = 0;

 private:
  void apply(const sharding::Cut& cut) {
    WriterActions actions;
    writers_->announce(ordering_.window_from(), true, true);
    writers_->apply(cut, actions);
    carry_out(std::move(actions), &cut);
  }
  void carry_out(WriterActions actions, const sharding::Cut* cut = nullptr) {
    for (const auto& effects : actions.cuts) {
      const auto own = [&](const sharding::Segment& s) {
        return std::count(effects.own.begin(), effects.own.end(), s.shard) != 0;
      };
      auto staged = store_->stage_cut(sharding::cut_of_node(*cut, own, cut->openings));
      ASSERT_TRUE(store_->commit(*staged));
      ASSERT_EQ(store_->view().watermark, effects.watermark);
      for (const auto& written : effects.covered) recovered += written->recovered;
    }
    for (const auto& report : actions.reports) {
      const auto result = ordering_.report(report.report);
      ASSERT_TRUE(result == sharding::Reported::taken || result == sharding::Reported::stale);
      if (!report.report.appends.empty()) continue;
      WriterActions promised;
      const auto& state = ordering_.state();
      writers_->cut_promised(report.report.shard, report.report.epoch, report.ask, state.last_cut + 1,
                             state.coordinator, promised);
      carry_out(std::move(promised));
    }
    for (const auto& look_up : actions.look_ups) {
      preparer_->window_begins(look_up.window_from);
      auto found = preparer_->look_up(look_up.attempt->prepared, look_up.confirm);
      WriterActions then;
      writers_->looked_up(look_up.attempt, std::move(found), then);
      carry_out(std::move(then));
    }
    for (auto& answer : actions.answers) answers[answer.client] = std::move(answer.result);
    ASSERT_TRUE(actions.lost.empty()) << actions.lost[0].second.what;
  }

  TemporaryFolder folder_;
  sharding::Ordering ordering_;
  std::vector<sharding::Cut> log_;
  std::unique_ptr<storage::NodeStore> store_;
  std::unique_ptr<Preparer> preparer_;
  std::unique_ptr<ShardWriters> writers_;
  std::uint64_t clients_ = 0;
};

const std::string order_a = aggregate_on(0, 4), order_b = aggregate_on(1, 4), order_c = aggregate_on(2, 4);

// What was not looked for in the view is judged from where the coordinator's window begins.
TEST(ShardWritersStore, IdsOfAnotherWritersShardWereNotLookedFor) {
  const TemporaryFolder folder;
  storage::StoreOptions options;
  options.data_dir = folder.path() / "store";
  options.shards = 4;
  options.disk_reserve_bytes = 0;
  const auto store = storage::open_store(options);
  ASSERT_TRUE(store) << store.error().what;
  const Preparer node(
      **store, Limits{}, false, [](ShardId shard) { return shard == ShardId{1}; }, [] { return true; });
  const auto whole = [&](Append append) {
    Prepared prepared;
    EXPECT_TRUE(node.prepare(std::move(append.request(EventId::random())), prepared));
    return prepared.names_whole;
  };

  EXPECT_TRUE(whole(one(order_a)));
  EXPECT_FALSE(whole(one(order_a).event(order_b, "Placed", "")));
  EXPECT_FALSE(whole(one(order_b)));
}

TEST(ShardWritersStore, OrdersWhatItJournaledAndAnswersFromTheStore) {
  NodeOnStore node;
  const auto request = EventId::random();
  const auto plain = node.send(one(order_a).expect(order_a, Version::none()));
  const auto several = node.send(one(order_b)
                                     .event(order_a, "Paid", "")
                                     .event(order_c, "Placed", "")
                                     .expect(order_a, Version::exactly(1))
                                     .request(request));
  const auto conditional = node.send(one(order_c, "Booked", {"seat:1"}).fail_if(Query{}.tags({"seat:1"})));
  node.rest();
  const auto refused = node.send(one(order_b, "Booked", {"seat:1"}).fail_if(Query{}.tags({"seat:1"})));
  const auto missing = node.send(one(order_b).expect(order_b, Version::exactly(9)));
  const auto retry = node.send(one(order_b)
                                   .event(order_a, "Paid", "")
                                   .event(order_c, "Placed", "")
                                   .expect(order_a, Version::exactly(1))
                                   .request(request));
  node.rest();

  EXPECT_EQ(position(node.answers[plain]), 1u);
  EXPECT_EQ(position(node.answers[several]), 2u);
  EXPECT_EQ(position(node.answers[conditional]), 5u);
  EXPECT_EQ(code(node.answers[refused]), ErrorCode::condition_failed);
  EXPECT_EQ(code(node.answers[missing]), ErrorCode::version_conflict);
  EXPECT_EQ(position(node.answers[retry]), 2u);
  EXPECT_THAT(node.aggregates(),
              testing::ElementsAre(order_a + "/1", order_b + "/1", order_a + "/2", order_c + "/1", order_c + "/2"));
}

TEST(ShardWritersStore, GoesOnAfterItIsOpenedAgain) {
  NodeOnStore node;
  const auto request = EventId::random(), tentative = EventId::random();
  const auto over_several = [&] { return one(order_b).event(order_a, "Paid", "").request(request); };
  const auto conditional = [&] {
    auto append = one(order_c, "Booked", {"seat:1"}).fail_if(Query{}.tags({"seat:1"})).request(tentative);
    append.command = CommandRecord{*AggregateId::parse(order_c), "book-1", "done"};
    return append;
  };
  node.send(one(order_a));
  node.rest();
  node.send(one(order_a));
  node.send(over_several());
  node.send(conditional());
  node.write();

  node.open();
  const auto joins = node.send(over_several());
  const auto waits = node.send(one(order_c).expect(order_c, Version::exactly(1)));
  const auto again = node.send(conditional());
  auto other = one(order_c);
  other.command = CommandRecord{*AggregateId::parse(order_c), "book-1", "done"};
  const auto command = node.send(std::move(other));
  node.rest();

  EXPECT_EQ(node.recovered, 4);
  EXPECT_NE(position(node.answers[joins]), 0u);
  EXPECT_NE(position(node.answers[again]), 0u);
  EXPECT_NE(position(node.answers[waits]), 0u);
  EXPECT_EQ(code(node.answers[command]), ErrorCode::duplicate_event);
  node.open();
  EXPECT_EQ(node.aggregates().size(), 6u);
  EXPECT_EQ(position(node.answers[node.send(over_several())]), position(node.answers[joins]));
}

}  // namespace
}  // namespace evershard::actors
