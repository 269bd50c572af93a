// One node's commit path, told by hand what a coordinator says.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "evershard/actors/core/part_of.hpp"
#include "evershard/actors/core/prepare.hpp"
#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/open.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using sharding::Cut;
using sharding::Opening;
using sharding::Segment;

constexpr std::uint32_t scripted_shards = 4;
constexpr ShardId own_shard{0}, other_shard{1};
constexpr NodeProcess scripted_self{1, 77};

std::string aggregate_of(ShardId shard) {
  for (int i = 0;; ++i) {
    const AggregateId id{"order", std::to_string(i)};
    if (sharding::shard_of(sharding::stream_hash(id), scripted_shards) == shard) return id.text();
  }
}

/// What the node says to its coordinator; no other node answers but for its one event, where there is one.
class HeardByCoordinator final : public NodeNetwork {
 public:
  void to_coordinator(ToCoordinator message) override {
    const std::lock_guard lock(mutex_);
    heard_.push_back(std::move(message));
    came_.notify_all();
  }
  /// The first one of this kind from the last one taken on that `fits`.
  template <class T, class Fits>
  T wait_for(Fits fits) {
    std::unique_lock lock(mutex_);
    std::optional<T> found;
    came_.wait_for(lock, 60s, [&] {
      for (; !found && next_ < heard_.size(); ++next_) {
        if (const auto* said = std::get_if<T>(&heard_[next_]); said != nullptr && fits(*said)) found = *said;
      }
      return found.has_value();
    });
    EXPECT_TRUE(found) << "the node did not say it";
    return found.value_or(T{});
  }

  void forward(std::uint32_t, Append, NodeDone<Appended> done) override { done(refuse(alone())); }
  void ask_part(std::uint32_t, std::shared_ptr<const actors::Attempt>, actors::PartAsked,
                std::function<void(actors::PartAnswer)>) override {}
  void read(std::uint32_t, NodePageAsked asked, NodeDone<NodePage> done) override {
    NodePage page;
    {
      const std::lock_guard lock(mutex_);
      if (!elsewhere_) return done(refuse(alone()));
      ++reads_;
      came_.notify_all();
      if (asked.after < elsewhere_->position && elsewhere_->position <= asked.up_to && asked.query.matches(*elsewhere_))
        page.events.push_back(*elsewhere_);
    }
    page.complete_to = asked.up_to;
    page.end = true;
    done(std::move(page));
  }
  void has_elsewhere(RecordedEvent event) {
    const std::lock_guard lock(mutex_);
    elsewhere_ = std::move(event);
  }
  void wait_for_read() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, 60s, [&] { return reads_ != 0; }));
  }
  void read_stream(std::uint32_t, NodeStreamAsked, NodeDone<NodePage> done) override { done(refuse(alone())); }
  void head(std::uint32_t, NodeHeadAsked, NodeDone<AggregateInfo> done) override { done(refuse(alone())); }
  void snapshots(std::uint32_t, NodeSnapshotsAsked, NodeDone<std::vector<RecordedSnapshot>> done) override {
    done(refuse(alone()));
  }
  void put_snapshot(std::uint32_t, Snapshot, GlobalPosition, NodeDone<void> done) override { done(refuse(alone())); }
  void aggregates(std::uint32_t, NodeAggregatesAsked, NodeDone<std::vector<AggregateInfo>> done) override {
    done(refuse(alone()));
  }

 private:
  static Error alone() { return {ErrorCode::unavailable, "there is no other node"}; }
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<ToCoordinator> heard_;
  std::size_t next_ = 0;
  std::optional<RecordedEvent> elsewhere_;
  std::size_t reads_ = 0;
};

/// A node with shard 0, opened by cut 1.
class NodeCommitterTest : public ::testing::Test {
 protected:
  NodeCommitterTest() {
    options_.data_dir = folder_.path() / "node";
    options_.shards = scripted_shards;
    options_.disk_reserve_bytes = 0;
    options_.env = disk_.env();
    options_.member = storage::ClusterMember{1, EventId::random(), EventId::random(), 4711, Timestamp::now()};
    const auto hello = start(scripted_self);
    node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{1}});
    welcome(scripted_self, hello.session);
    Cut first;
    first.number = CutNumber{1};
    first.coordinator = Epoch{1};
    first.first_position = GlobalPosition{1};
    first.openings.push_back(Opening{own_shard, Epoch{1}, 1, ShardOffset{1}});
    node_->receive(Announce{first, GlobalPosition{0}, false});
    network_.wait_for<Held>([](const Held& held) { return held.cut == CutNumber{1}; });
  }

  /// The process begins, or begins anew. Returns: what it says first.
  Hello start(NodeProcess self) {
    node_.reset();
    store_.reset();
    store_ = storage::open_node_store(options_).value();
    NodeCommitterOptions committing;
    committing.self = self;
    committing.append_timeout = committing.wait_max = 60s;
    node_ = std::make_unique<NodeCommitter>(*store_, network_, committing);
    node_->connected();
    return network_.wait_for<Hello>([&](const Hello& hello) { return hello.from == self; });
  }
  void welcome(NodeProcess self, std::uint64_t session, CutNumber last_cut = CutNumber{0},
               sharding::ShardMap map = sharding::ShardMap(scripted_shards)) {
    Welcome welcome;
    welcome.to = self;
    welcome.session = session;
    welcome.coordinator = Epoch{1};
    welcome.last_cut = last_cut;
    welcome.watermark = store_->view().watermark;
    welcome.map = std::move(map);
    node_->receive(welcome);
  }
  void wait_for_watermark(GlobalPosition position) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (store_->view().watermark != position && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(5ms);
    ASSERT_EQ(store_->view().watermark, position);
  }
  std::future<Result<Appended>> send(Append append) {
    auto promise = std::make_shared<std::promise<Result<Appended>>>();
    auto answer = promise->get_future();
    node_->append_async(std::move(append), [promise](Result<Appended> done) { promise->set_value(std::move(done)); });
    return answer;
  }
  /// Waits until the node has reported it.
  std::future<Result<Appended>> send(Append append, ShardOffset at) {
    auto answer = send(std::move(append));
    network_.wait_for<actors::WriterReport>([&](const actors::WriterReport& said) {
      return said.report.shard == own_shard && said.report.first == at && !said.report.appends.empty();
    });
    return answer;
  }
  std::future<Result<Appended>> append(const std::string& payload, ShardOffset at) {
    return send(Append().event(aggregate_of(own_shard), "Placed", payload), at);
  }
  static Cut cut_of_own(CutNumber number, GlobalPosition first_position, ShardOffset first) {
    Cut cut;
    cut.number = number;
    cut.coordinator = Epoch{1};
    cut.first_position = first_position;
    cut.segments.push_back(Segment{own_shard, Epoch{1}, first, first + 1, {}});
    return cut;
  }
  static Cut openings(CutNumber number, std::vector<Opening> openings) {
    Cut cut;
    cut.number = number;
    cut.coordinator = Epoch{1};
    cut.first_position = GlobalPosition{1};
    cut.openings = std::move(openings);
    return cut;
  }
  /// Where the log stands: node 1 has shard 0, node 2 shard 1.
  static sharding::CutLogState checkpoint(CutNumber number, GlobalPosition watermark, ShardOffset own_next) {
    sharding::CutLogState state(scripted_shards);
    state.epoch = Epoch{1};
    state.last_cut = number;
    state.watermark = watermark;
    state.shards[own_shard.value] = {
        Epoch{1}, 1, own_next, GlobalPosition{0}, Epoch{own_next == ShardOffset{1} ? 0u : 1u}, ShardOffset{0}};
    state.shards[other_shard.value] = {Epoch{1}, 2, ShardOffset{3}, watermark, Epoch{1}, ShardOffset{2}};
    return state;
  }
  [[nodiscard]] bool fails() {
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         !node_->failed() && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(5ms);
    return node_->failed().has_value();
  }
  static void expect_at(std::future<Result<Appended>>& answer, GlobalPosition position) {
    ASSERT_EQ(answer.wait_for(60s), std::future_status::ready) << "it was not answered";
    const auto done = answer.get();
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->first_position, position);
  }

  TemporaryFolder folder_;
  storage::FaultEnv disk_;
  storage::StoreOptions options_;
  HeardByCoordinator network_;
  std::unique_ptr<storage::NodeStore> store_;
  std::unique_ptr<NodeCommitter> node_;
};

// It arrives while nobody writes its shard yet, and the opening brings no event: nothing says that there is more to
// see.
TEST_F(NodeCommitterTest, KnowsARequestAgainThatCameBeforeItsWriterWasOpened) {
  const auto request = Append().event(aggregate_of(own_shard), "Placed", "").request(EventId::random());
  auto first = send(request, ShardOffset{1});
  node_->receive(Announce{cut_of_own(CutNumber{2}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});
  expect_at(first, GlobalPosition{1});

  constexpr NodeProcess restarted{1, 78};
  sharding::ShardMap map(scripted_shards);
  EXPECT_TRUE(map.assign(own_shard, {2, "", Epoch{1}}));
  welcome(restarted, start(restarted).session, CutNumber{2}, map);
  auto again = send(request);
  node_->receive(Opens{restarted, Epoch{1}, own_shard, Epoch{2}});
  auto opening = openings(CutNumber{3}, {Opening{own_shard, Epoch{2}, 1, ShardOffset{2}}});
  opening.first_position = GlobalPosition{2};
  node_->receive(Announce{opening, GlobalPosition{1}, false});

  ASSERT_EQ(again.wait_for(60s), std::future_status::ready) << "it was written once more, and waits for its cut";
  const auto known = again.get();
  ASSERT_TRUE(known) << known.error().what;
  EXPECT_TRUE(known->duplicate);
  EXPECT_EQ(known->first_position, GlobalPosition{1});
}

// A node that was away finds cuts of its own between others that were folded.
TEST_F(NodeCommitterTest, TakesACutThatIsLeftOfAFoldedLog) {
  auto first = append("first", ShardOffset{1});
  // Cut 2 gave two positions to another shard and was folded; cut 3 is left; cuts 4 and 5 were folded again.
  sharding::CutsFound found;
  found.cuts.push_back(cut_of_own(CutNumber{3}, GlobalPosition{3}, ShardOffset{1}));
  found.folded = checkpoint(CutNumber{5}, GlobalPosition{5}, ShardOffset{2});
  node_->receive(Cuts{scripted_self, CutNumber{1}, found, GlobalPosition{0}, false});
  expect_at(first, GlobalPosition{3});

  auto second = append("second", ShardOffset{2});
  node_->receive(Announce{cut_of_own(CutNumber{6}, GlobalPosition{6}, ShardOffset{2}), GlobalPosition{0}, false});
  expect_at(second, GlobalPosition{6});

  EXPECT_FALSE(node_->failed()) << node_->failed()->what;
  const auto head = node_->reader().head({AggregateId::parse(aggregate_of(own_shard)).value(), GlobalPosition{6}});
  ASSERT_TRUE(head) << head.error().what;
  EXPECT_EQ(head->version, SeqNr{2});
  EXPECT_EQ(head->last_position, GlobalPosition{6});
}

TEST_F(NodeCommitterTest, GoesOnBehindACheckpointThatIsOneCutAhead) {
  sharding::CutsFound found;
  found.folded = checkpoint(CutNumber{2}, GlobalPosition{2}, ShardOffset{1});
  node_->receive(Cuts{scripted_self, CutNumber{1}, found, GlobalPosition{0}, false});
  auto first = append("first", ShardOffset{1});
  node_->receive(Announce{cut_of_own(CutNumber{3}, GlobalPosition{3}, ShardOffset{1}), GlobalPosition{0}, false});

  expect_at(first, GlobalPosition{3});
  EXPECT_EQ(node_->owner(other_shard), 2u) << "the opening was folded with its cut";
}

// Its process ended between the report and the cut: the cut comes to the next process, before any opening does.
TEST_F(NodeCommitterTest, TakesACutOfWhatAnEarlierProcessWrote) {
  auto first = append("first", ShardOffset{1});
  constexpr NodeProcess restarted{1, 78};
  welcome(restarted, start(restarted).session, CutNumber{1});
  node_->receive(Announce{cut_of_own(CutNumber{2}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});
  wait_for_watermark(GlobalPosition{1});

  EXPECT_FALSE(node_->failed()) << node_->failed()->what;
  const auto hello = start({1, 79});
  ASSERT_EQ(hello.shards.size(), 1u);
  EXPECT_EQ(hello.shards.front().covered, ShardOffset{2}) << "a damaged shard is covered no further";
  EXPECT_EQ(hello.shards.front().tail, ShardOffset{2});
}

// Refused by another node's event, and looked up again, since its shard was opened meanwhile: that event still counts.
TEST_F(NodeCommitterTest, LooksUpAConditionAgainFromItsBeginning) {
  Cut others;
  others.number = CutNumber{2};
  others.coordinator = Epoch{1};
  others.first_position = GlobalPosition{1};
  others.segments.push_back(Segment::elsewhere(3));
  node_->receive(Announce{others, GlobalPosition{0}, false});
  wait_for_watermark(GlobalPosition{3});
  RecordedEvent event;
  event.position = GlobalPosition{2};
  event.shard = other_shard;
  event.type = "Placed";
  event.tags = {"taken"};
  network_.has_elsewhere(event);

  constexpr NodeProcess restarted{1, 78};
  sharding::ShardMap map(scripted_shards);
  for (std::uint16_t shard = 0; shard != scripted_shards; ++shard)
    EXPECT_TRUE(map.assign(ShardId{shard}, {shard == own_shard.value ? 1u : 2u, "", Epoch{1}}));
  welcome(restarted, start(restarted).session, CutNumber{2}, map);
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       node_->owner(other_shard) == 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  ASSERT_NE(node_->owner(other_shard), 0u);
  std::promise<Result<Appended>> promise;
  auto answer = promise.get_future();
  node_->append_async(
      Append().event(aggregate_of(own_shard), "Placed", "").fail_if(Query().tags({"taken"}), GlobalPosition{0}),
      [&promise](Result<Appended> done) { promise.set_value(std::move(done)); });
  network_.wait_for_read();
  node_->receive(Opens{restarted, Epoch{1}, own_shard, Epoch{2}});
  Cut opening;
  opening.number = CutNumber{3};
  opening.coordinator = Epoch{1};
  opening.first_position = GlobalPosition{4};
  opening.openings.push_back(Opening{own_shard, Epoch{2}, 1, ShardOffset{1}});
  opening.segments.push_back(Segment::elsewhere(1));
  node_->receive(Announce{opening, GlobalPosition{4}, false});

  ASSERT_EQ(answer.wait_for(60s), std::future_status::ready) << "it was taken";
  const auto done = answer.get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::condition_failed) << done.error().what;
}

TEST_F(NodeCommitterTest, KeepsTheNewestOwnerItHasHeardOf) {
  Cut moved;
  moved.number = CutNumber{2};
  moved.coordinator = Epoch{1};
  moved.first_position = GlobalPosition{1};
  moved.openings.push_back(Opening{other_shard, Epoch{2}, 3, ShardOffset{3}});
  node_->receive(Announce{moved, GlobalPosition{0}, false});
  // An answer from before that.
  sharding::CutsFound late;
  late.folded = checkpoint(CutNumber{1}, GlobalPosition{0}, ShardOffset{1});
  node_->receive(Cuts{scripted_self, CutNumber{1}, late, GlobalPosition{0}, false});
  auto first = append("first", ShardOffset{1});
  node_->receive(Announce{cut_of_own(CutNumber{3}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});

  expect_at(first, GlobalPosition{1});
  EXPECT_EQ(node_->owner(other_shard), 3u);
}

// What a group keeps would overtake what it kept before, and waits for nobody else.
TEST_F(NodeCommitterTest, WritesTheStateOfItsOwnShardsWhileAllWhoAskOthersWait) {
  auto first = append("first", ShardOffset{1});
  node_->receive(Announce{cut_of_own(CutNumber{2}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});
  expect_at(first, GlobalPosition{1});
  const auto aggregate = AggregateId::parse(aggregate_of(own_shard)).value();
  const auto state = [&](const std::string& payload) {
    return Snapshot{.aggregate = aggregate, .version = SeqNr{1}, .payload = payload, .keep = {}, .ttl = {}};
  };
  std::atomic<int> waited{0};
  for (int i = 0; i < 64; ++i)
    node_->put_snapshot(state("elsewhere"), GlobalPosition{1'000}, [&](const Result<void>&) { ++waited; });

  for (int i = 0; i < 10; ++i) {
    std::promise<Result<void>> promise;
    auto kept = promise.get_future();
    node_->put_snapshot_here(state(std::to_string(i)), Epoch{1},
                             [&](Result<void> done) { promise.set_value(std::move(done)); });
    const auto done = kept.get();
    ASSERT_TRUE(done) << done.error().what;
  }
  EXPECT_EQ(waited, 0);
  const auto there = node_->reader().snapshots({aggregate, NodeSnapshotsAsked::Which::latest, 0, GlobalPosition{1}});
  ASSERT_TRUE(there && there->size() == 1);
  EXPECT_EQ(there->front().payload, "9");
  node_.reset();
}

// I-Live: whoever the cut would have answered is told that the outcome is unknown.
TEST_F(NodeCommitterTest, AnswersEverybodyWhenACutCannotBeWritten) {
  auto placed = append("first", ShardOffset{1});
  disk_.fill_disk();
  node_->receive(Announce{cut_of_own(CutNumber{2}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});

  ASSERT_EQ(placed.wait_for(60s), std::future_status::ready) << "it was not answered";
  const auto done = placed.get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::timeout) << done.error().what;
  EXPECT_TRUE(fails());
  disk_.free_disk();
}

// I-Live: an answer that names no attempt is nobody's, and the append waits for it for good.
TEST_F(NodeCommitterTest, SaysWhichPartIsLostWhenItStops) {
  auto of = std::make_shared<actors::Attempt>();
  actors::Preparer preparer(*store_, Limits{});
  const auto aggregate = aggregate_of(own_shard);
  // It rests on what is missing: answered once a cut was made since, and none is made.
  ASSERT_TRUE(preparer.prepare(
      Append().event(aggregate, "Placed", "").expect(aggregate, ExpectedVersion::exactly(SeqNr{7})), of->prepared));
  std::promise<actors::PartAnswer> promise;
  auto answer = promise.get_future();
  node_->take_part(of, {own_shard, actors::part_of(of->prepared.append), 4'711, 3},
                   [&promise](actors::PartAnswer said) { promise.set_value(std::move(said)); });
  network_.wait_for<actors::WriterReport>([](const actors::WriterReport& said) { return said.ask != 0; });
  node_->stop();

  ASSERT_EQ(answer.wait_for(60s), std::future_status::ready) << "it was not answered";
  const auto lost = answer.get();
  EXPECT_EQ(lost.kind, actors::PartAnswer::Kind::lost);
  EXPECT_EQ(lost.attempt, 4'711u);
  EXPECT_EQ(lost.try_number, 3u);
  EXPECT_EQ(lost.shard, own_shard);
}

// An operator thinks better of it while a cut is being put.
TEST_F(NodeCommitterTest, TakesAShardThatOneCutGivesAwayAndBack) {
  node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{3}});
  node_->receive(Announce{
      openings(CutNumber{2}, {{own_shard, Epoch{2}, 2, ShardOffset{1}}, {own_shard, Epoch{3}, 1, ShardOffset{1}}}),
      GlobalPosition{0}, false});
  network_.wait_for<Held>([](const Held& held) { return held.cut == CutNumber{2}; });
  auto first = append("first", ShardOffset{1});
  auto cut = cut_of_own(CutNumber{3}, GlobalPosition{1}, ShardOffset{1});
  cut.segments.front().epoch = Epoch{3};
  node_->receive(Announce{cut, GlobalPosition{0}, false});

  expect_at(first, GlobalPosition{1});
}

TEST_F(NodeCommitterTest, TakesAShardThatComesBack) {
  node_->receive(
      Announce{openings(CutNumber{2}, {{own_shard, Epoch{2}, 2, ShardOffset{1}}}), GlobalPosition{0}, false});
  node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{3}});
  node_->receive(
      Announce{openings(CutNumber{3}, {{own_shard, Epoch{3}, 1, ShardOffset{1}}}), GlobalPosition{0}, false});
  network_.wait_for<Held>([](const Held& held) { return held.cut == CutNumber{3}; });
  auto first = append("first", ShardOffset{1});
  auto cut = cut_of_own(CutNumber{4}, GlobalPosition{1}, ShardOffset{1});
  cut.segments.front().epoch = Epoch{3};
  node_->receive(Announce{cut, GlobalPosition{0}, false});

  expect_at(first, GlobalPosition{1});
}

// Indexes, and what the process remembers, know of events that readers were told are gone.
TEST_F(NodeCommitterTest, WaitsToBeStartedAgainWhereItsDiskHasWhatWasGivenUp) {
  auto first = append("first", ShardOffset{1});
  node_->receive(Announce{cut_of_own(CutNumber{2}, GlobalPosition{1}, ShardOffset{1}), GlobalPosition{0}, false});
  expect_at(first, GlobalPosition{1});
  node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{2}});
  auto losing = openings(CutNumber{3}, {{own_shard, Epoch{2}, 1, ShardOffset{2}, ShardOffset{1}, ShardOffset{2}}});
  losing.first_position = GlobalPosition{2};
  node_->receive(Announce{losing, GlobalPosition{0}, false});
  ASSERT_TRUE(fails());
  EXPECT_EQ(node_->failed()->code, ErrorCode::unavailable);
  EXPECT_NE(node_->failed()->what.find("what was given up of shard 0 as lost is on this disk: start this node again"),
            std::string::npos)
      << node_->failed()->what;
}

// What was written and had no place when the shard went lies on the disk: the next process takes it up, this one
// cannot.
TEST_F(NodeCommitterTest, WaitsToBeStartedAgainWhereWhatComesBackWasLeftBehind) {
  auto left = append("left", ShardOffset{1});
  node_->receive(
      Announce{openings(CutNumber{2}, {{own_shard, Epoch{2}, 2, ShardOffset{1}}}), GlobalPosition{0}, false});
  ASSERT_EQ(left.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(left.get().error().code, ErrorCode::fenced);
  node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{3}});
  node_->receive(
      Announce{openings(CutNumber{3}, {{own_shard, Epoch{3}, 1, ShardOffset{1}}}), GlobalPosition{0}, false});
  ASSERT_TRUE(fails());
  EXPECT_EQ(node_->failed()->code, ErrorCode::unavailable);
  EXPECT_NE(node_->failed()->what.find("shard 0 was another node's and comes back"), std::string::npos)
      << node_->failed()->what;

  const auto hello = start({1, 78});
  const auto told = std::ranges::find(hello.shards, own_shard, &ShardTold::shard);
  ASSERT_NE(told, hello.shards.end());
  EXPECT_EQ(told->tail, ShardOffset{2}) << "it is there";
}

// An append that was looked up before a shard goes on behind a loss may be decided after it, in the same view: its
// heads are right all the same, since a loss that a process outlives takes away nothing that has its place here. What
// had none goes, with all that was remembered of it.
TEST_F(NodeCommitterTest, ALossLeavesTheHeadsOfWhatHasItsPlace) {
  for (std::uint64_t n = 1; n != 3; ++n) {
    auto placed = append("placed", ShardOffset{n});
    node_->receive(Announce{cut_of_own(CutNumber{1 + n}, GlobalPosition{n}, ShardOffset{n}), GlobalPosition{0}, false});
    expect_at(placed, GlobalPosition{n});
  }
  auto unordered = append("without a place", ShardOffset{3});
  const auto looked_up = [&] {
    actors::Prepared prepared;
    const actors::Preparer preparer(*store_, Limits{});
    EXPECT_TRUE(preparer.prepare(Append()
                                     .event(aggregate_of(own_shard), "Placed", "x")
                                     .expect(aggregate_of(own_shard), ExpectedVersion::exactly(SeqNr{2})),
                                 prepared));
    return prepared;
  };
  const auto before = looked_up();

  node_->receive(Opens{scripted_self, Epoch{1}, own_shard, Epoch{2}});
  auto losing = openings(CutNumber{4}, {{own_shard, Epoch{2}, 1, ShardOffset{5}, ShardOffset{3}, ShardOffset{5}}});
  losing.first_position = GlobalPosition{3};
  node_->receive(Announce{losing, GlobalPosition{0}, false});
  ASSERT_EQ(unordered.wait_for(60s), std::future_status::ready);
  EXPECT_FALSE(unordered.get());
  network_.wait_for<Held>([](const Held& held) { return held.cut == CutNumber{4}; });

  const auto after = looked_up();
  EXPECT_EQ(before.view, after.view) << "no view tells them apart";
  EXPECT_EQ(before.view, GlobalPosition{2});
  ASSERT_EQ(before.heads.size(), 1u);
  ASSERT_EQ(after.heads.size(), 1u);
  EXPECT_EQ(before.heads[0].version, SeqNr{2});
  EXPECT_EQ(after.heads[0].version, before.heads[0].version);
  EXPECT_EQ(after.heads[0].last_position, before.heads[0].last_position);
  auto behind = append("behind the loss", ShardOffset{5});
  auto cut = cut_of_own(CutNumber{5}, GlobalPosition{3}, ShardOffset{5});
  cut.segments.front().epoch = Epoch{2};
  node_->receive(Announce{cut, GlobalPosition{0}, false});
  ASSERT_EQ(behind.wait_for(60s), std::future_status::ready);
  const auto done = behind.get();
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->versions.front().version, SeqNr{3});
}

}  // namespace
}  // namespace evershard::cluster
