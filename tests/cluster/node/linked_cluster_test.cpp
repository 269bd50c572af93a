// Nodes and a coordinator over real connections on loopback.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "evershard/cluster/peers/coordinator_links.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/rocks_cut_log.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint32_t linked_shards = 4;

LinkOptions link_of(NodeNumber number, NodeRole role) {
  LinkOptions link;
  link.who = {"test", linked_shards, sharding::hash_id, number, role, 0};
  link.secret = "a secret of more than sixteen bytes, thirty-two perhaps";
  return link;
}

/// One node: its links, its store, itself.
struct LinkedNode {
  LinkedNode(std::uint32_t number, std::uint16_t coordinator_port, const std::filesystem::path& folder) {
    NodeLinksOptions options;
    options.link = link_of(on_links(number), NodeRole::node);
    options.coordinator_host = "127.0.0.1";
    options.coordinator_port = coordinator_port;
    links = NodeLinks::open(options).value();
    const auto identity = links->identity(std::chrono::seconds(10)).value();
    storage::StoreOptions store_options;
    store_options.data_dir = folder / std::to_string(number);
    store_options.shards = identity.shards;
    store_options.disk_reserve_bytes = 0;
    store_options.member = storage::ClusterMember{number, identity.store, identity.fork, identity.term_key, identity.created_at};
    store = storage::open_node_store(store_options).value();
    ClusterNodeOptions node_options;
    node_options.committer.self = {number, std::random_device{}()};
    node_options.committer.address = "127.0.0.1:" + std::to_string(links->port());
    node_options.committer.again_every = std::chrono::milliseconds(100);
    node = std::make_unique<ClusterNode>(*store, *links, node_options);
    links->attach(*node);
  }
  ~LinkedNode() {
    links->detach();
    node->committer().stop();
    links.reset();
    node.reset();
  }

  std::unique_ptr<storage::NodeStore> store;
  std::unique_ptr<NodeLinks> links;
  std::unique_ptr<ClusterNode> node;
};

struct LinkedCoordinator {
  explicit LinkedCoordinator(const std::filesystem::path& folder, std::uint16_t port = 0) {
    log = storage::open_cut_log({.data_dir = folder / "coordinator", .shards = linked_shards}).value();
    CoordinatorLinksOptions options;
    options.link = link_of(coordinator_on_links, NodeRole::coordinator);
    options.listen_port = port;
    options.identity = log->identity();
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
  for (int tries = 0; tries < 100 && !done; ++tries) {
    done = node.append(append);
    if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return done;
}

TEST(LinkedCluster, IsOneStoreOverRealConnections) {
  TemporaryFolder folder;
  auto coordinator = std::make_unique<LinkedCoordinator>(folder.path());
  const auto port = coordinator->links->port();
  std::vector<std::unique_ptr<LinkedNode>> nodes;
  for (std::uint32_t n = 1; n <= 3; ++n) nodes.push_back(std::make_unique<LinkedNode>(n, port, folder.path()));
  for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (all_owned(*nodes[0]->node) && all_owned(*nodes[1]->node) && all_owned(*nodes[2]->node)) break;

  std::vector<std::string> expected;
  GlobalPosition last;
  const auto append = [&](std::size_t node) {
    const auto payload = std::to_string(expected.size());
    auto one = Append().event("order-" + payload, "Placed", payload, {"x"}).event("account-" + payload, "Charged", payload, {"x"});
    one.request_id = EventId::random();
    one.fail_if(Query().tags({"order:" + payload}), GlobalPosition{0});
    const auto done = until_done(*nodes[node]->node, one);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->last_position, done->first_position + 1) << "I-Together";
    EXPECT_EQ(done->first_position, GlobalPosition{expected.size() + 1}) << "I-Dense";
    expected.push_back(payload);
    expected.push_back(payload);
    last = done->last_position;
  };
  const auto check = [&] {
    for (const auto& node : nodes) {
      std::vector<std::string> read;
      auto stream = node->node->read(Query().tags({"x"}), {.at_least = last});
      for (const auto& event : stream) read.push_back(event.payload);
      EXPECT_FALSE(stream.error()) << stream.error()->what;
      EXPECT_EQ(read, expected);
    }
  };
  for (std::size_t i = 0; i < 9; ++i) append(i % 3);
  check();

  // The coordinator goes, and comes back on its log.
  coordinator.reset();
  coordinator = std::make_unique<LinkedCoordinator>(folder.path(), port);
  for (std::size_t i = 0; i < 3; ++i) append(i % 3);
  check();

  // A node goes, and comes back on its disk.
  nodes[1].reset();
  nodes[1] = std::make_unique<LinkedNode>(2, port, folder.path());
  for (std::size_t i = 0; i < 3; ++i) append(i % 3);
  check();
}

}  // namespace
}  // namespace evershard::cluster
