// Nodes and a coordinator over real connections on loopback.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/cluster/peers/joined_store.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/order/rebuild_cut_log.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint32_t linked_shards = 4;
constexpr auto linked_patience = std::chrono::seconds(60);

template <class Is>
bool in_time(const Is& is) {
  for (const auto until = std::chrono::steady_clock::now() + linked_patience; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (is()) return true;
  return is();
}

/// What peers that no session came of were told, from any thread.
struct Refusals {
  std::mutex mutex;
  std::vector<std::string> texts;
  [[nodiscard]] bool any(const std::string& part) {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
  }
  auto note() {
    return [this](const std::string& whom, const Error& why) {
      const std::lock_guard lock(mutex);
      texts.push_back(whom + ": " + why.what);
    };
  }
};

LinkOptions link_of(NodeNumber number, NodeRole role, LinkVersions versions) {
  LinkOptions link;
  link.versions = versions;
  link.who = {"test", linked_shards, sharding::hash_id, number, role, 0};
  link.secret = "a secret of more than sixteen bytes, thirty-two perhaps";
  link.limits.dead_after = std::chrono::seconds(20);  // a thread that stands still for a while is not gone
  return link;
}

storage::Identity identity_of(NodeLinks& links) {
  auto identity = links.identity(linked_patience);
  if (!identity) throw std::runtime_error(identity.error().what);
  return *std::move(identity);
}

/// One node: its links, its store, itself.
struct LinkedNode {
  LinkedNode(std::uint32_t number, std::uint16_t coordinator_port, const std::filesystem::path& folder,
             LinkVersions versions = {}, std::uint16_t listen_port = 0) {
    NodeLinksOptions options;
    options.listen_port = listen_port;
    options.refused = refusals.note();
    options.link = link_of(on_links(number), NodeRole::node, versions);
    options.coordinators = {{"127.0.0.1", coordinator_port}};
    links = NodeLinks::open(options).value();
    const auto identity = identity_of(*links);
    storage::StoreOptions store_options;
    store_options.data_dir = folder / std::to_string(number);
    store_options.shards = identity.shards;
    store_options.disk_reserve_bytes = 0;
    store_options.member =
        storage::ClusterMember{number, identity.store, identity.fork, identity.term_key, identity.created_at};
    store = storage::open_node_store(store_options).value();
    ClusterNodeOptions node_options;
    node_options.committer.self = {number, std::random_device{}()};
    node_options.committer.address = "127.0.0.1:" + std::to_string(links->port());
    node_options.committer.again_every = std::chrono::milliseconds(100);
    node_options.committer.append_timeout = node_options.timeout = linked_patience;
    node = std::make_unique<ClusterNode>(*store, *links, node_options);
    links->attach(*node);
  }
  ~LinkedNode() {
    links->detach();
    node->committer().stop();
    links.reset();
    node.reset();
  }

  Refusals refusals;
  std::unique_ptr<storage::NodeStore> store;
  std::unique_ptr<NodeLinks> links;
  std::unique_ptr<ClusterNode> node;
};

struct LinkedCoordinator {
  explicit LinkedCoordinator(const std::filesystem::path& folder, std::uint16_t port = 0, LinkVersions versions = {}) {
    log = storage::open_cut_log({.data_dir = folder / "coordinator", .shards = linked_shards}).value();
    CoordinatorLinksOptions options;
    options.link = link_of(coordinator_on_links, NodeRole::coordinator, versions);
    options.listen_port = port;
    options.identity = log->identity();
    options.refused = refusals.note();
    links = CoordinatorLinks::open(options).value();
    CoordinatorHostOptions host_options;
    host_options.coordinator.nodes_expected = 3;
    host_options.coordinator.ordering.cuts_held_max = 64;
    host = CoordinatorHost::lead(*log, *links, host_options).value();
    links->attach(*host);
  }
  ~LinkedCoordinator() {
    links->detach();
    host.reset();
    links.reset();
  }

  Refusals refusals;
  std::unique_ptr<storage::DurableCutLog> log;
  std::unique_ptr<CoordinatorLinks> links;
  std::unique_ptr<CoordinatorHost> host;
};

bool all_owned(ClusterNode& node) {
  for (const auto owner : node.committer().owners())
    if (owner == 0) return false;
  return true;
}

Result<Appended> until_done(ClusterNode& node, const Append& append) {
  Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
  static_cast<void>(in_time([&] { return (done = node.append(append)).has_value(); }));
  return done;
}

/// Three nodes and a coordinator, and what was appended to them, all of which every node serves.
class LinkedCluster : public testing::Test {
 protected:
  void SetUp() override {
    coordinator = std::make_unique<LinkedCoordinator>(folder.path());
    port = coordinator->links->port();
    for (std::uint32_t n = 1; n <= 3; ++n) nodes.push_back(std::make_unique<LinkedNode>(n, port, folder.path()));
    ASSERT_TRUE(
        in_time([&] { return std::ranges::all_of(nodes, [](const auto& node) { return all_owned(*node->node); }); }));
  }
  void append(std::size_t node) {
    const auto payload = std::to_string(expected.size());
    auto one = Append()
                   .event("order-" + payload, "Placed", payload, {"x"})
                   .event("account-" + payload, "Charged", payload, {"x"});
    one.request_id = EventId::random();
    one.fail_if(Query().tags({"order:" + payload}), GlobalPosition{0});
    const auto done = until_done(*nodes[node]->node, one);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->last_position, done->first_position + 1) << "I-Together";
    EXPECT_EQ(done->first_position, GlobalPosition{expected.size() + 1}) << "I-Dense";
    expected.push_back(payload);
    expected.push_back(payload);
    last = done->last_position;
  }
  void append_and_check(int appends = 3) {
    for (int i = 0; i < appends; ++i) append(static_cast<std::size_t>(i) % 3);
    for (const auto& node : nodes) {
      std::vector<std::string> read;
      auto stream = node->node->read(Query().tags({"x"}), {.at_least = last});
      for (const auto& event : stream) read.push_back(event.payload);
      EXPECT_FALSE(stream.error()) << stream.error()->what;
      EXPECT_EQ(read, expected);
    }
  }
  void restart_coordinator(LinkVersions versions = {}) {
    coordinator.reset();
    coordinator = std::make_unique<LinkedCoordinator>(folder.path(), port, versions);
  }
  void restart_node(std::uint32_t number, LinkVersions versions = {}) {
    nodes[number - 1].reset();
    nodes[number - 1] = std::make_unique<LinkedNode>(number, port, folder.path(), versions);
  }

  TemporaryFolder folder;
  std::unique_ptr<LinkedCoordinator> coordinator;
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<LinkedNode>> nodes;
  std::vector<std::string> expected;
  GlobalPosition last;
};

TEST_F(LinkedCluster, IsOneStoreOverRealConnections) {
  append_and_check(9);
  restart_coordinator();
  append_and_check();
  restart_node(2);
  append_and_check();
}

// What one thread sends to one aggregate is decided in that order, wherever the aggregate's shard is.
TEST_F(LinkedCluster, KeepsTheOrderOfWhatOneThreadSends) {
  constexpr std::uint64_t rounds = 60, aggregates = 24;
  std::mutex mutex;
  std::condition_variable answered;
  std::uint64_t left = rounds * aggregates;
  std::vector<std::string> refusals;
  for (std::uint64_t round = 0; round != rounds; ++round) {
    for (std::uint64_t i = 0; i != aggregates; ++i) {
      const auto aggregate = "account-" + std::to_string(i);
      auto one = Append()
                     .event(aggregate, "Charged", std::to_string(round))
                     .expect(aggregate, ExpectedVersion::exactly(SeqNr{round}));
      nodes[0]->node->append_async(std::move(one), [&, round](const Result<Appended>& done) {
        const std::lock_guard lock(mutex);
        if (!done) refusals.push_back("round " + std::to_string(round) + ": " + done.error().what);
        if (--left == 0) answered.notify_all();
      });
    }
  }
  std::unique_lock lock(mutex);
  answered.wait(lock, [&] { return left == 0; });
  EXPECT_THAT(refusals, testing::IsEmpty());
}

// Two coordinators on copies of one log, both of epoch 2: a node that was started again at the copy's, and nodes that
// stayed, reach each other.
TEST_F(LinkedCluster, GivesNoPositionTwiceWhereTwoCoordinatorsLeadCopiesOfOneLog) {
  append_and_check();
  const auto at = nodes[0]->links->port();
  nodes[0].reset();
  coordinator.reset();
  std::filesystem::create_directory(folder.path() / "copy");
  std::filesystem::copy(folder.path() / "coordinator", folder.path() / "copy" / "coordinator",
                        std::filesystem::copy_options::recursive);
  coordinator = std::make_unique<LinkedCoordinator>(folder.path(), port);
  LinkedCoordinator other(folder.path() / "copy");
  ASSERT_EQ(coordinator->log->state().epoch, other.log->state().epoch);
  nodes[0] = std::make_unique<LinkedNode>(1, other.links->port(), folder.path(), LinkVersions{}, at);

  std::map<GlobalPosition, std::string> acknowledged;
  std::size_t apart = 0;
  std::string refusal;
  const auto until = std::chrono::steady_clock::now() + 2 * linked_patience;
  for (std::size_t i = 0; (acknowledged.size() < 20 || apart < 5) && std::chrono::steady_clock::now() < until; ++i) {
    const auto name = "order-x" + std::to_string(i);
    const auto done = nodes[1]->node->append(Append().event(name, "Placed", "{}"));
    if (done) {
      const auto [was, is_new] = acknowledged.emplace(done->first_position, name);
      ASSERT_TRUE(is_new) << name << " and " << was->second << " both at " << done->first_position.value;
    } else if (done.error().code == ErrorCode::fenced) {
      ++apart;
      refusal = done.error().what;
    }
  }

  EXPECT_GE(acknowledged.size(), 20u) << "nodes of one history go on";
  EXPECT_GE(apart, 5u);
  EXPECT_THAT(refusal, testing::HasSubstr("node 1 answers nothing of node 2: epoch 2 was led by"));
  EXPECT_TRUE(in_time([&] { return nodes[0]->refusals.any("node 2: node 1 answers nothing of node 2"); }))
      << testing::PrintToString(nodes[0]->refusals.texts);
  nodes[0].reset();

  // The other way: who has applied cuts of the one is not taken by the other, and takes nothing of it.
  const auto before = nodes[2]->store->view().watermark;
  nodes[2].reset();
  nodes[2] = std::make_unique<LinkedNode>(3, other.links->port(), folder.path());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_FALSE(all_owned(*nodes[2]->node)) << "it was welcomed";
  EXPECT_EQ(nodes[2]->store->view().watermark, before);
  restart_node(3);
  ASSERT_TRUE(nodes[2]->node->wait_for(acknowledged.rbegin()->first, linked_patience))
      << "its own coordinator's goes on";
}

constexpr LinkVersions next_release{link_version + 1, link_version};
constexpr LinkVersions release_after_next{link_version + 2, link_version + 1};

// One process after the other, in any sequence, forward and back.
TEST_F(LinkedCluster, IsUpgradedWhileItRuns) {
  append_and_check();
  restart_node(2, next_release);  // a node of the new release, the rest of the old one
  append_and_check();
  restart_coordinator(next_release);
  append_and_check();
  restart_node(3, next_release);
  restart_node(1, next_release);
  append_and_check();
  restart_node(1, next_release);  // and back
  append_and_check();
}

// Releases that are not neighbours say so on both sides, at once, and disturb nobody.
TEST_F(LinkedCluster, RefusesAReleaseThatIsNoNeighbour) {
  append_and_check();
  Refusals told;
  NodeLinksOptions options;
  options.link = link_of(on_links(4), NodeRole::node, release_after_next);
  options.coordinators = {{"127.0.0.1", port}};
  options.refused = told.note();
  auto stranger = NodeLinks::open(options).value();
  Result<storage::Identity> identity = refuse(ErrorCode::unavailable, "not asked");
  static_cast<void>(in_time([&] {  // a greeting that is not answered in time says something else
    identity = stranger->identity(std::chrono::seconds(1));
    return identity || identity.error().what.find("differs") != std::string::npos;
  }));
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().what, testing::HasSubstr("protocol version"));
  static_cast<void>(
      in_time([&] { return told.any("protocol version") && coordinator->refusals.any("protocol version"); }));
  EXPECT_TRUE(told.any("the peer refused: the protocol version differs: 1 to 1 here, 2 to 3 at the peer"))
      << testing::PrintToString(told.texts);
  EXPECT_TRUE(coordinator->refusals.any("1 to 1 here, 2 to 3 at the peer"))
      << testing::PrintToString(coordinator->refusals.texts);
  append_and_check();
  stranger.reset();
}

TEST_F(LinkedCluster, SaysHowManyShardsThereAreToANodeThatWasNotTold) {
  append_and_check();
  Refusals told;
  NodeLinksOptions options;
  options.link = link_of(on_links(4), NodeRole::node, {});
  options.coordinators = {{"127.0.0.1", port}};
  options.refused = told.note();
  const auto nothing = folder.path() / "nothing", of_node = folder.path() / "1";
  const auto shards = [&](std::uint32_t said, const std::filesystem::path& at) {
    auto with = options;
    with.link.who.shards = said;
    return shards_to_join(std::move(with), at, std::chrono::seconds(60));
  };

  EXPECT_EQ(shards(0, nothing), linked_shards) << "the coordinator's";
  nodes[0].reset();
  EXPECT_EQ(shards(0, of_node), linked_shards) << "its own";
  EXPECT_EQ(shards(linked_shards, of_node), linked_shards);
  const auto other = shards(linked_shards + 1, of_node);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().what, testing::HasSubstr("has 4 shards, the node was told 5"));

  // What is due in a backup is its store's to do, and a node would do it.
  const auto backup = folder.path() / "backup";
  std::filesystem::copy(of_node, backup, std::filesystem::copy_options::recursive);
  EXPECT_EQ(shards(0, backup), linked_shards) << "a copy of the disk is as good as the disk";
  std::ofstream(backup / storage::StoreCopy::backup_mark) << '\n';
  const auto of_backup = shards(0, backup);
  ASSERT_FALSE(of_backup);
  EXPECT_EQ(of_backup.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(of_backup.error().what, testing::HasSubstr("is a backup"));
  EXPECT_THAT(of_backup.error().what, testing::HasSubstr("evershard restore"));

  restart_node(1);
  // Open in another process, or here: told at once, not when nobody answers.
  const auto began = std::chrono::steady_clock::now();
  {
    auto with = options;
    const auto open = shards_to_join(with, folder.path() / "1", std::chrono::seconds(60));
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error().code, ErrorCode::unavailable);
    EXPECT_THAT(open.error().what, testing::HasSubstr("is open already"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));

  // Nothing of its own, and told another number: the coordinator refuses it.
  EXPECT_EQ(shards(linked_shards + 1, nothing), linked_shards + 1);
  options.link.who.shards = linked_shards + 1;
  auto stranger = NodeLinks::open(options).value();
  Result<storage::Identity> identity = refuse(ErrorCode::unavailable, "not asked");
  static_cast<void>(in_time([&] {  // a greeting that is not answered in time says something else
    identity = stranger->identity(std::chrono::seconds(1));
    return identity || identity.error().what.find("differs") != std::string::npos;
  }));
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().what, testing::HasSubstr("the shard count differs"));
  append_and_check();
}

/// A coordinator and three nodes that are stopped and started together.
struct LinkedWhole {
  explicit LinkedWhole(const std::filesystem::path& at) : folder(at) { start(); }
  void start() {
    coordinator = std::make_unique<LinkedCoordinator>(folder);
    for (std::uint32_t n = 1; n <= 3; ++n)
      nodes.push_back(std::make_unique<LinkedNode>(n, coordinator->links->port(), folder));
    for (const auto& node : nodes) EXPECT_TRUE(in_time([&] { return all_owned(*node->node); }));
  }
  void stop() {
    nodes.clear();
    coordinator.reset();
  }
  const std::filesystem::path folder;
  std::unique_ptr<LinkedCoordinator> coordinator;
  std::vector<std::unique_ptr<LinkedNode>> nodes;
};

/// Shards that are being opened are waited for.
std::vector<std::pair<GlobalPosition, std::string>> positions_of(ClusterNode& node) {
  std::vector<std::pair<GlobalPosition, std::string>> read;
  std::optional<Error> error;
  EXPECT_TRUE(in_time([&] {
    read.clear();
    auto stream = node.read(Query::all());
    for (const auto& event : stream) read.emplace_back(event.position, event.payload);
    error = stream.error();
    return !error;
  })) << error->what;
  return read;
}

TEST(LostCutLog, IsMadeAnewFromTheNodes) {
  TemporaryFolder folder;
  LinkedWhole cluster(folder.path());
  GlobalPosition last;
  for (int i = 0; i < 40; ++i) {
    const auto name = std::to_string(i);
    auto append = Append().event("order-" + name, "Placed", name).event("account-" + name, "Charged", name);
    append.request_id = EventId::random();
    const auto done = until_done(*cluster.nodes[static_cast<std::size_t>(i) % 3]->node, append);
    ASSERT_TRUE(done) << done.error().what;
    last = done->last_position;
  }
  // Everybody stands at the same cut, so that nothing is unknown.
  for (const auto& node : cluster.nodes) ASSERT_TRUE(node->node->wait_for(last, linked_patience));
  const auto before = positions_of(*cluster.nodes[0]->node);
  ASSERT_EQ(before.size(), last.value);
  cluster.stop();
  const auto state = storage::open_cut_log({.data_dir = folder.path() / "coordinator"}).value()->state();
  std::filesystem::rename(folder.path() / "coordinator", folder.path() / "lost");

  const std::vector<std::filesystem::path> folders{folder.path() / "1", folder.path() / "2", folder.path() / "3"};
  const auto rebuilt = storage::look_for_cut_log(folders);
  ASSERT_TRUE(rebuilt) << rebuilt.error().what;
  EXPECT_EQ(rebuilt->order.unknown_positions, 0u);
  EXPECT_EQ(rebuilt->order.state.watermark, state.watermark);
  for (std::size_t s = 0; s != state.shards.size(); ++s) {
    if (state.shards[s].next == ShardOffset{1}) continue;
    EXPECT_EQ(rebuilt->order.state.shards[s].node, state.shards[s].node) << s;
    EXPECT_EQ(rebuilt->order.state.shards[s].next, state.shards[s].next) << s;
    EXPECT_EQ(rebuilt->order.state.shards[s].epoch, state.shards[s].epoch) << s;
    EXPECT_EQ(rebuilt->order.state.shards[s].written, state.shards[s].written) << s;
    EXPECT_EQ(rebuilt->order.state.shards[s].last_position, state.shards[s].last_position) << s;
  }
  EXPECT_GT(storage::look_for_cut_log({folders[0], folders[1]})->order.unknown_positions, 0u)
      << "one directory is missing";
  ASSERT_TRUE(storage::write_cut_log(folder.path() / "coordinator", *rebuilt));
  EXPECT_EQ(storage::write_cut_log(folder.path() / "coordinator", *rebuilt).error().code, ErrorCode::invalid_argument)
      << "there is one now";

  cluster.start();
  ASSERT_TRUE(cluster.nodes[2]->node->wait_for(last, linked_patience));
  EXPECT_EQ(positions_of(*cluster.nodes[2]->node), before) << "every event keeps its position";
  const auto done = until_done(*cluster.nodes[1]->node, Append().event("order-next", "Placed", "next"));
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->first_position, last + 1);
}

}  // namespace
}  // namespace evershard::cluster
