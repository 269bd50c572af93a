// What an operator does with a cluster of processes: asks how it is, gives up a node that is gone for good, makes a
// lost cut log anew.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool before_long(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + 120s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

class OperatedCluster : public ::testing::Test {
 protected:
  OperatedCluster() {
    std::ofstream(secret()) << "a secret of more than sixteen bytes\n";
    ::chmod(secret().c_str(), 0600);
  }
  [[nodiscard]] std::string secret() const { return (folder_.path() / "secret").string(); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  void start_coordinator(const std::string& data) {
    coordinator_ = std::make_unique<Process>(std::vector<std::string>{EVERSHARD_PROGRAM, "coordinator", "--data",
                                                                      in(data), "--listen", "127.0.0.1:0", "--nodes",
                                                                      "2", "--shards", "4", "--secret-file", secret()});
    coordinator_at_ = coordinator_->ready();
  }
  void start_node(int number) {
    auto& node = nodes_[number];
    node = std::make_unique<Process>(
        std::vector<std::string>{EVERSHARD_PROGRAM, "node", "--node", std::to_string(number), "--data",
                                 in("node-" + std::to_string(number)), "--coordinator", coordinator_at_, "--shards",
                                 "4", "--secret-file", secret(), "--listen", "127.0.0.1:0", "--http-listen", "none"});
    door_[number] = node->ready();
  }
  void stop_all() {
    for (auto& [number, node] : nodes_) {
      node->signal(SIGTERM);
      EXPECT_EQ(node->wait().status, 0);
    }
    nodes_.clear();
    coordinator_->signal(SIGTERM);
    EXPECT_EQ(coordinator_->wait().status, 0);
    coordinator_.reset();
  }
  static Finished command(std::vector<std::string> words) {
    words.insert(words.begin(), EVERSHARD_PROGRAM);
    return run(words);
  }
  [[nodiscard]] std::string status() { return command({"cluster", "status", "--server", door_[1]}).out; }
  static std::size_t times(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }
  void append_some(const std::string& prefix) {
    for (int i = 0; i < 8; ++i) {
      Finished done;
      EXPECT_TRUE(before_long([&] {  // 6: the shard's writer is not there just now, and nothing was stored
        done = command({"append", "--server", door_[1], "--aggregate", "order-" + prefix + std::to_string(i), "--type",
                        "Placed", "--payload", "{}"});
        return done.status != 6;
      }));
      ASSERT_EQ(done.status, 0) << done.err;
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Process> coordinator_;
  std::map<int, std::unique_ptr<Process>> nodes_;
  std::string coordinator_at_;
  std::map<int, std::string> door_;
};

TEST_F(OperatedCluster, IsAskedGivenUpInPartAndMadeAnew) {
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  EXPECT_TRUE(before_long([&] {
    const auto is = status();
    return times(is, "\"kind\":\"cluster\"") == 1 && times(is, "\"door\":\"" + door_[2] + "\"") == 1 &&
           times(is, "\"coordinator_up\":true") == 1 && times(is, "\"up\":true") == 2;
  })) << status();
  const auto table = command({"cluster", "status", "--server", door_[2], "--format", "table"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("asked at     node 2"), HasSubstr("NODE  STATE"),
                               HasSubstr("SHARD  NODE  REPLICAS  STATE")));
  append_some("a");

  const auto there = command({"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]});
  EXPECT_EQ(there.status, 5) << there.err;
  EXPECT_THAT(there.err, HasSubstr("is of node 2, which is here and has it"));

  nodes_[2]->signal(SIGKILL);
  nodes_[2]->wait();
  nodes_.erase(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"up\":false") == 1; })) << status();
  EXPECT_TRUE(before_long([&] { return times(status(), "\"state\":\"down\"") == 2; })) << status();

  const auto named = command({"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]});
  EXPECT_EQ(named.status, 8);
  EXPECT_THAT(named.err, AllOf(HasSubstr("nothing was done"), HasSubstr("would lose its events at offsets 1 to"),
                               HasSubstr("--accept-loss ")));
  std::vector<std::string> words{"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]};
  for (auto at = named.err.find("--accept-loss "); at != std::string::npos;
       at = named.err.find("--accept-loss ", at + 1)) {
    const auto from = at + std::string("--accept-loss ").size();
    words.insert(words.end(), {"--accept-loss", named.err.substr(from, named.err.find_first_of(" \n)`", from) - from)});
  }
  const auto done = command(words);
  ASSERT_EQ(done.status, 0) << done.err;
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  const auto log = command({"cluster", "log", "--server", door_[1]});
  EXPECT_THAT(log.out, AllOf(HasSubstr("\"cause\":\"leads\""), HasSubstr("\"cause\":\"assigned\""),
                             HasSubstr("\"from\":2,\"to\":1,\"shards\":")))
      << log.err;
  append_some("b");
  const auto over = command({"query", "--server", door_[1], "--type", "Placed"});
  EXPECT_EQ(over.status, 8) << over.err;
  EXPECT_THAT(over.err, HasSubstr("for good"));
  const auto behind = command({"query", "--server", door_[1], "--type", "Placed", "--after", "8"});
  EXPECT_EQ(behind.status, 0) << behind.err;
  EXPECT_EQ(times(behind.out, "\"position\""), 8u);
  stop_all();

  // The coordinator's directory is gone, and so is node 2's.
  std::filesystem::remove_all(in("order"));
  const auto looked = command({"recover", "--cut-log", "--data", in("order"), "--from", in("node-1"), "--yes"});
  EXPECT_EQ(looked.status, 8);
  EXPECT_THAT(looked.err, HasSubstr("positions have no event in these directories"));
  EXPECT_FALSE(std::filesystem::exists(in("order")));
  const auto made =
      command({"recover", "--cut-log", "--data", in("order"), "--from", in("node-1"), "--yes", "--accept-unknown"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("\"watermark\":16"));
  start_coordinator("order");
  start_node(1);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("c");
  const auto again = command({"query", "--server", door_[1], "--type", "Placed", "--after", "8"});
  EXPECT_EQ(times(again.out, "\"position\""), 16u) << again.err;
  EXPECT_THAT(again.out, HasSubstr("\"position\":17,"));
  stop_all();
}

// docs/backup.md and docs/cluster-faults.md tell people to do it: of a stopped node, of a backup of it, and of the
// coordinator's.
TEST_F(OperatedCluster, IsVerifiedAndMendedDirectoryByDirectory) {
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("a");
  const auto backed_up = command({"backup", in("backup"), "--server", door_[1]});
  ASSERT_EQ(backed_up.status, 0) << backed_up.err;
  const auto busy = command({"verify", "--data", in("node-1"), "--format", "json"});
  EXPECT_EQ(busy.status, 6) << busy.out << busy.err;
  stop_all();

  for (const auto& [name, what] : {std::pair{"node-1", "\"node\":1"}, std::pair{"node-2", "\"node\":2"},
                                   std::pair{"backup", "\"node\":1"}, std::pair{"order", "a coordinator's cut log"}}) {
    const auto verified = command({"verify", "--data", in(name), "--format", "json"});
    EXPECT_EQ(verified.status, 0) << name << verified.err;
    EXPECT_THAT(verified.out, AllOf(HasSubstr(what), HasSubstr("\"errors\":0"))) << name;
  }
  const auto table = command({"verify", "--data", in("node-2"), "--format", "table"});
  EXPECT_THAT(table.out, HasSubstr("a node's part of a cluster's store, node 2's"));
  const auto around = command({"verify", "--data", folder_.path().string(), "--format", "json"});
  EXPECT_EQ(around.status, 4);
  EXPECT_THAT(around.err, HasSubstr("name one of them: backup, node-1, node-2, order"));

  // A healthy part is found healthy; one whose indexes are gone is mended, and is of its cluster still.
  for (const auto& name : {"node-1", "node-2"}) {
    const auto looked = command({"recover", "--data", in(name), "--yes", "--cut-back", "--format", "json"});
    EXPECT_EQ(looked.status, 0) << looked.err;
    EXPECT_THAT(looked.out, HasSubstr("\"steps\":[]"));
    EXPECT_FALSE(std::filesystem::exists(in(name) + "/db.damaged-1"));
  }
  const auto sealed = command({"recover", "--data", in("order"), "--format", "json"});
  EXPECT_EQ(sealed.status, 5);
  EXPECT_THAT(sealed.err, HasSubstr("a coordinator's cut log"));
  std::filesystem::remove(in("node-2") + "/MARK");
  const auto plan = command({"recover", "--data", in("node-2"), "--format", "json"});
  EXPECT_EQ(plan.status, 8) << plan.out;
  EXPECT_FALSE(std::filesystem::exists(in("node-2") + "/MARK")) << "it only looked";
  const auto mended = command({"recover", "--data", in("node-2"), "--yes", "--format", "json"});
  EXPECT_EQ(mended.status, 0) << mended.err;
  EXPECT_THAT(mended.out, AllOf(HasSubstr("\"done\":true"), HasSubstr("\"node\":2"), HasSubstr("writes MARK")));

  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("b");
  Finished all;
  EXPECT_TRUE(before_long([&] {  // the other node hears of what was appended a moment later
    all = command({"query", "--server", door_[2], "--type", "Placed"});
    return times(all.out, "\"position\"") == 16;
  })) << all.out
      << all.err;
  stop_all();
}

// As an old copy of its disk would be: it is of its cluster still, and what its shards have lost is told and accepted
// by name.
TEST_F(OperatedCluster, GoesOnWithWhatIsLeftOfANodesLog) {
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  for (const auto* round : {"a", "b", "c"}) append_some(round);
  stop_all();
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(in("node-2") + "/db"))
    if (entry.path().extension() == ".log" && entry.file_size() > 0) newest = std::max(newest, entry.path());
  ASSERT_FALSE(newest.empty());
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) / 2);

  const auto verified = command({"verify", "--data", in("node-2"), "--format", "json"});
  EXPECT_EQ(verified.status, 8);
  EXPECT_THAT(verified.err, HasSubstr("acknowledged commits are lost"));
  const auto mended = command({"recover", "--data", in("node-2"), "--yes", "--format", "json"});
  ASSERT_EQ(mended.status, 0) << mended.err;
  EXPECT_THAT(mended.out, AllOf(HasSubstr("\"node\":2"), HasSubstr("\"more_may_be_lost\":true")));
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "has lost data: offset") != 0; })) << status();
  std::string refused;  // one may have lost nothing
  std::istringstream lines(status());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"state\":\"refused\"") == std::string::npos) continue;
    const auto at = line.find("\"shard\":") + 8;
    refused += (refused.empty() ? "" : ",") + line.substr(at, line.find(',', at) - at);
  }
  std::vector<std::string> words{"cluster", "assign", refused, "--to", "2", "--server", door_[1]};
  const auto named = command(words);
  EXPECT_EQ(named.status, 8) << named.err;
  for (auto at = named.err.find("--accept-loss "); at != std::string::npos;
       at = named.err.find("--accept-loss ", at + 1)) {
    const auto from = at + std::string("--accept-loss ").size();
    words.insert(words.end(), {"--accept-loss", named.err.substr(from, named.err.find_first_of(" \n)`", from) - from)});
  }
  const auto done = command(words);
  ASSERT_EQ(done.status, 0) << done.err;
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("d");
  stop_all();
}

/// Truncated and removed in a store of one process, over an export: the same events of each aggregate are gone here.
TEST_F(OperatedCluster, TakesInWhatIsGoneInTheStoreThatItImports) {
  const auto store = in("store");
  const auto in_store = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--data", store});
    const auto done = command(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  };
  in_store({"init", "--shards", "4"});
  {
    std::ofstream lines(in("lines"));
    for (int i = 0; i < 4; ++i)
      for (const auto* name : {"order-1", "order-2", "order-3", "cart-1"})
        lines << R"({"aggregate":")" << name << R"(","type":"Placed","payload":{}})"
              << "\n";
  }
  in_store({"append", "--jsonl", in("lines")});
  in_store({"retention", "truncate", "order-1", "3", "--uncovered", "--yes"});
  in_store({"retention", "remove", "order-2", "--yes"});
  in_store({"export", in("events")});
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();

  const auto imported = command({"import", in("events"), "--server", door_[1], "--in-flight", "1"});

  ASSERT_EQ(imported.status, 0) << imported.err;
  const auto exported = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "export");
    const auto done = command(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return std::regex_replace(done.out, std::regex(R"("shard":\d+,"offset":\d+)"), "");
  };
  const auto wanted = exported({"--data", store});
  EXPECT_EQ(times(wanted, "\"state\":\"removed\""), 2u + 4u + 4u) << "four of them of the log";
  std::string there;
  EXPECT_TRUE(before_long([&] { return (there = exported({"--server", door_[2]})) == wanted; })) << there;
  const auto gone = command({"read", "order-2", "--server", door_[2]});
  EXPECT_THAT(gone.err, HasSubstr("was removed at position"));
  const auto listed = command({"aggregate", "list", "--type", "order", "--server", door_[2], "--format", "jsonl"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("order-1"), HasSubstr("order-3"), Not(HasSubstr("order-2")))) << listed.err;
  const auto again = command({"import", in("events"), "--server", door_[2]});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(exported({"--server", door_[1]}), wanted) << "the same import once more stores nothing";
  stop_all();
  for (const auto* node : {"node-1", "node-2"}) EXPECT_EQ(command({"verify", "--data", in(node)}).status, 0) << node;
}

TEST_F(OperatedCluster, ReadsItsConfigurationFromFiles) {
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(in(name)) << text;
    return in(name);
  };
  const auto order =
      write("order.conf",
            "[order]\ndata = " + in("order") +
                "\nlisten = 127.0.0.1:0\nshards = 4\n[cluster]\ncluster = shop\nsecret-file = " + secret() + "\n");
  coordinator_ =
      std::make_unique<Process>(std::vector<std::string>{EVERSHARD_PROGRAM, "coordinator", "--config", order});
  coordinator_at_ = coordinator_->ready();
  ASSERT_FALSE(coordinator_at_.empty());
  // A flag goes before the environment, that before the file.
  const auto node = write("node.conf", "data = " + in("node-1") +
                                           "\nlisten = 127.0.0.1:0\nhttp-listen = none\nshards = 4\nnode = "
                                           "9\ncoordinator = 127.0.0.1:1\ncluster = wrong\nsecret-file = " +
                                           secret() + "\n");
  nodes_[1] = std::make_unique<Process>(
      std::vector<std::string>{"/usr/bin/env", "EVERSHARD_NODE=8", "EVERSHARD_CLUSTER=shop", EVERSHARD_PROGRAM, "node",
                               "--config", node, "--node", "1", "--coordinator", coordinator_at_});
  door_[1] = nodes_[1]->ready();
  ASSERT_FALSE(door_[1].empty());
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("a");

  const auto wrong =
      run({EVERSHARD_PROGRAM, "coordinator", "--config", write("wrong.conf", "[cluster]\nsecret-fil = x\n")});
  EXPECT_EQ(wrong.status, 5);
  EXPECT_THAT(wrong.err, HasSubstr("line 2: there is no setting \"secret-fil\"; did you mean secret-file?"));
  const auto near = run({"/usr/bin/env", "EVERSHARD_SECRET_FIEL=x", EVERSHARD_PROGRAM, "node", "--check"});
  EXPECT_EQ(near.status, 5);
  EXPECT_THAT(near.err, HasSubstr("did you mean EVERSHARD_SECRET_FILE?"));
  const auto checked = run({EVERSHARD_PROGRAM, "node", "--config", node, "--check"});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out,
              HasSubstr("\"name\":\"node\",\"value\":\"9\",\"default\":\"0\",\"source\":\"" + node + ", line 5\""));
  stop_all();
}

TEST_F(OperatedCluster, KnowsItsNodesByTheirCertificates) {
  // As docs/internals/link.md says.
  const auto openssl = [&](const std::string& words) {
    return std::system(("cd " + folder_.path().string() +
                        " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes " + words +
                        " 2>/dev/null")
                           .c_str());
  };
  ASSERT_EQ(openssl("-days 30 -subj /CN=peers-ca -keyout peers-ca.key -out peers-ca.pem"), 0);
  for (const auto* member : {"coordinator", "node/1"}) {
    const std::string file = *member == 'c' ? "coordinator" : "node-1";
    ASSERT_EQ(openssl("-days 30 -CA peers-ca.pem -CAkey peers-ca.key -subj /CN=" + file +
                      " -addext basicConstraints=critical,CA:FALSE -addext "
                      "subjectAltName=IP:127.0.0.1,URI:evershard://evershard/" +
                      member + " -keyout " + file + ".key -out " + file + ".pem"),
              0);
  }
  const auto papers = [&](std::vector<std::string> words, const std::string& file) {
    words.insert(words.end(), {"--peers-ca", in("peers-ca.pem"), "--peers-cert", in(file + ".pem"), "--peers-key",
                               in(file + ".key")});
    return words;
  };
  coordinator_ = std::make_unique<Process>(
      papers({EVERSHARD_PROGRAM, "coordinator", "--data", in("order"), "--listen", "127.0.0.1:0", "--shards", "4"},
             "coordinator"));
  coordinator_at_ = coordinator_->ready();
  const auto node = [&](int number) {
    return papers(
        {EVERSHARD_PROGRAM, "node", "--node", std::to_string(number), "--data", in("node-" + std::to_string(number)),
         "--coordinator", coordinator_at_, "--shards", "4", "--listen", "127.0.0.1:0", "--http-listen", "none"},
        "node-1");
  };
  nodes_[1] = std::make_unique<Process>(node(1));
  door_[1] = nodes_[1]->ready();
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << nodes_[1]->errors();
  append_some("a");

  const auto second = run(node(2));
  EXPECT_EQ(second.status, 5);
  EXPECT_THAT(second.err,
              HasSubstr("is for \"evershard://evershard/node/1\", not for \"evershard://evershard/node/2\""));
  // It may start with a certificate that says nothing, if it is told to; the cluster does not take it.
  ASSERT_EQ(openssl("-days 30 -CA peers-ca.pem -CAkey peers-ca.key -subj /CN=any -addext subjectAltName=IP:127.0.0.1 "
                    "-keyout any.key -out any.pem"),
            0);
  auto words = node(2);
  for (auto& word : words) {
    if (word == in("node-1.pem")) word = in("any.pem");
    if (word == in("node-1.key")) word = in("any.key");
  }
  words.push_back("--peers-unbound-certs");
  {
    Process unbound(words);
    EXPECT_TRUE(before_long([&] {
      return unbound.errors().find("the peer refused: its certificate names no member of a cluster, not for") !=
             std::string::npos;
    })) << unbound.errors();
    EXPECT_THAT(unbound.errors(), HasSubstr("insecure, as asked for"));
    EXPECT_TRUE(before_long([&] { return coordinator_->errors().find("link refused") != std::string::npos; }));
  }
  EXPECT_EQ(times(status(), "\"node\":2"), 0u) << status();
  // So does who asks the coordinator: with the option it is the coordinator that refuses.
  std::vector<std::string> asks{"cluster",      "status",           "--coordinator", coordinator_at_,
                                "--peers-cert", in("any.pem"),      "--peers-key",   in("any.key"),
                                "--peers-ca",   in("peers-ca.pem"), "--timeout",     "3s"};
  std::string told;
  EXPECT_TRUE(before_long([&] { return times(told = command(asks).err, "names no member") != 0; })) << told;
  EXPECT_THAT(told, Not(HasSubstr("the peer refused")));
  asks.emplace_back("--peers-unbound-certs");
  EXPECT_TRUE(before_long([&] {
    return times(told = command(asks).err, "the peer refused: its certificate names no member") != 0;
  })) << told;

  // Told to, both read their files anew; what cannot be read stays in force.
  for (const auto& [process, file] :
       {std::pair{nodes_[1].get(), "node-1.key"}, std::pair{coordinator_.get(), "coordinator.key"}}) {
    std::ofstream(in(file)) << "no key";
    process->signal(SIGHUP);
    EXPECT_TRUE(before_long([&, process = process, file = file] {
      return process->errors().find("files not reloaded") != std::string::npos &&
             process->errors().find(file) != std::string::npos;
    })) << process->errors();
  }
  append_some("b");
  stop_all();
}

TEST(ClusterLaunch, KeepsTheShardsThatTheClusterHas) {
  const TemporaryFolder folder;
  const std::vector<std::string> again{EVERSHARD_PROGRAM,      "cluster",  "launch",     "1", "--data",
                                       folder.path().string(), "--listen", "127.0.0.1:0"};
  auto first = again;
  first.insert(first.end(), {"--shards", "3"});
  for (const auto& words : {first, again}) {
    Process launched(words);
    const auto lines = launched.lines(3, 120s);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines.back(), HasSubstr("ready "));
    launched.signal(SIGTERM);
    EXPECT_EQ(launched.wait().status, 0);
  }
  auto other = again;
  other.insert(other.end(), {"--shards", "5"});
  const auto refused = run(other);
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, HasSubstr("is of 3 shards, not 5"));
}

/// What stands behind a word on a line: "http" of "node 1 HOST:PORT pid 7 http HOST:PORT".
std::string behind(const std::string& line, const std::string& word) {
  std::istringstream words(line);
  for (std::string at, next; words >> at;)
    if (at == word && words >> next) return next;
  return {};
}

TEST(ClusterLaunch, ServesThePageAndTheHttpInterfaceOfEachNode) {
  const TemporaryFolder folder;
  const std::vector<std::string> words{EVERSHARD_PROGRAM,      "cluster",  "launch",     "2", "--data",
                                       folder.path().string(), "--listen", "127.0.0.1:0"};
  Process launched(words);
  const auto lines = launched.lines(4, 120s);
  ASSERT_EQ(lines.size(), 4u);

  for (const auto& line : {lines[1], lines[2]}) {
    const auto page = behind(line, "http");
    ASSERT_FALSE(page.empty()) << line;
    const auto shown = HttpClient(page).ask("GET", "/");
    EXPECT_EQ(shown.status, 200);
    EXPECT_THAT(shown.body, HasSubstr("<html"));
    const auto cluster = HttpClient(page).ask("GET", "/api/v1/cluster");
    EXPECT_EQ(cluster.status, 200) << cluster.body;
  }
  EXPECT_EQ(behind(lines[3], "http"), behind(lines[1], "http")) << "as serve says it: " << lines[3];

  // Whoever is started again is found where it was.
  ::kill(std::stoi(behind(lines[1], "pid")), SIGKILL);
  ASSERT_EQ(launched.lines(6, 120s).size(), 6u) << "ended, and started again";
  EXPECT_TRUE(before_long([&] {
    HttpClient again(behind(lines[1], "http"));
    return again.connected() && again.ask("GET", "/").status == 200;
  }));
  launched.signal(SIGTERM);
  EXPECT_EQ(launched.wait().status, 0);

  auto none = words;
  none.insert(none.end(), {"--http-listen", "none"});
  Process plain(none);
  const auto said = plain.lines(4, 120s);
  ASSERT_EQ(said.size(), 4u);
  for (const auto& line : said) EXPECT_TRUE(behind(line, "http").empty()) << line;
  plain.signal(SIGTERM);
  EXPECT_EQ(plain.wait().status, 0);
  auto beyond = words;
  beyond.insert(beyond.end(), {"--http-listen", "127.0.0.1:65535"});
  const auto refused = run(beyond);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("there are not 2 ports"));
}

TEST(ClusterLaunch, OutlivesItsCoordinatorAndAMemberOfItsEtcd) {
  const TemporaryFolder folder;
  const std::vector<std::string> again{EVERSHARD_PROGRAM,      "cluster",  "launch",     "1", "--data",
                                       folder.path().string(), "--listen", "127.0.0.1:0"};
  auto words = again;
  words.insert(words.end(), {"--cut-log", "etcd", "--shards", "3"});
  const auto first_of = [](const std::vector<std::string>& lines, const std::string& what) {
    const auto found = std::ranges::find_if(lines, [&](const auto& line) { return line.starts_with(what + ' '); });
    return found == lines.end() ? std::string() : *found;
  };
  const auto append = [](const std::string& door) {
    return run({EVERSHARD_PROGRAM, "append", "--server", door, "--aggregate", "order-1", "--type", "Placed",
                "--payload", "{}", "--timeout", "60s"});
  };
  {
    Process launched(words);
    const auto lines = launched.lines(7, 120s);  // three of etcd, two coordinators, a node, and that it is ready
    ASSERT_EQ(lines.size(), 7u);
    const auto door = behind(lines.back(), "ready");
    EXPECT_EQ(append(door).status, 0);
    ::kill(std::stoi(behind(first_of(lines, "coordinator"), "pid")), SIGKILL);
    ::kill(std::stoi(behind(first_of(lines, "etcd"), "pid")), SIGKILL);
    const auto appended = append(door);
    EXPECT_EQ(appended.status, 0) << appended.err;
    ASSERT_EQ(launched.lines(11, 120s).size(), 11u) << "both ended, and were started again";
    launched.signal(SIGTERM);
    EXPECT_EQ(launched.wait().status, 0);
  }
  {
    Process launched(again);  // where the cut log lies is seen from the directory
    const auto lines = launched.lines(7, 120s);
    ASSERT_EQ(lines.size(), 7u);
    const auto read =
        run({EVERSHARD_PROGRAM, "read", "order-1", "--server", behind(lines.back(), "ready"), "--format", "json"});
    EXPECT_EQ(std::ranges::count(read.out, '\n'), 4) << read.out << read.err;
    launched.signal(SIGTERM);
    EXPECT_EQ(launched.wait().status, 0);
  }
  auto elsewhere = again;
  elsewhere.insert(elsewhere.end(), {"--cut-log", "local"});
  auto refused = run(elsewhere);
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, HasSubstr("--cut-log etcd"));
  refused = run(words, {}, {.environment = {{"PATH", "/nowhere"}}});
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("etcd-server"));
}

TEST(ClusterLaunch, SealsWithTheKeysItIsGiven) {
  const TemporaryFolder folder, keys;
  std::filesystem::permissions(keys.path(), std::filesystem::perms::owner_all);
  const std::vector<std::string> words{
      EVERSHARD_PROGRAM,      "cluster",  "launch",      "2",      "--data",
      folder.path().string(), "--listen", "127.0.0.1:0", "--keys", keys.path().string()};
  Process launched(words);
  const auto lines = launched.lines(4, 120s);
  ASSERT_EQ(lines.size(), 4u);
  const auto door = [&](std::size_t node) {
    const auto words_of = lines[node];
    const auto begin = words_of.find(' ', words_of.find(' ') + 1) + 1;
    return words_of.substr(begin, words_of.find(' ', begin) - begin);
  };
  Finished written;
  EXPECT_TRUE(before_long([&] {
    written = run({EVERSHARD_PROGRAM, "append", "--server", door(1), "--aggregate", "order-1", "--type", "Placed",
                   "--payload", "\"St James's Square\"", "--subject", "ada"});
    return written.status != 6;
  }));
  EXPECT_EQ(written.status, 0) << written.err;
  Finished read;
  EXPECT_TRUE(before_long([&] {
    read = run({EVERSHARD_PROGRAM, "read", "order-1", "--server", door(2), "--format", "json"});
    return read.status == 0;
  })) << read.err;
  EXPECT_THAT(read.out, HasSubstr("St James's Square"));
  EXPECT_THAT(read.out, HasSubstr("\"subject\":\"ada\""));
  launched.signal(SIGTERM);
  EXPECT_EQ(launched.wait().status, 0);

  // Others may read them: it does not start.
  std::filesystem::permissions(keys.path(), std::filesystem::perms::owner_all | std::filesystem::perms::group_read);
  const auto refused = run(words);
  EXPECT_NE(refused.status, 0);
  std::ifstream log(folder.path() / "coordinator.log");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(log), {}), HasSubstr("chmod 700"));
}

TEST(ClusterCommands, RefuseAStoreInOneProcess) {
  const auto directory = run({EVERSHARD_PROGRAM, "cluster", "status", "--data", "anything"});
  EXPECT_EQ(directory.status, 5);
  EXPECT_THAT(directory.err, HasSubstr("it has no cluster"));
  const TemporaryFolder folder;
  Process server({EVERSHARD_PROGRAM, "serve", "--data", (folder.path() / "data").string(), "--listen", "127.0.0.1:0",
                  "--http-listen", "none"});
  const auto address = server.ready();
  ASSERT_FALSE(address.empty()) << server.errors();
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"cluster", "status"}, {"cluster", "assign", "1", "--to", "2"}}) {
    std::vector<std::string> all{EVERSHARD_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--server", address});
    const auto refused = run(all);
    EXPECT_EQ(refused.status, 5) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("it has no cluster"));
  }
  const auto none = run({EVERSHARD_PROGRAM, "cluster", "status"});
  EXPECT_EQ(none.status, 2);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

}  // namespace
}  // namespace evershard::testing
