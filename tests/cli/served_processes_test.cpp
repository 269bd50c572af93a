// Processes of a program that serves with its own command line: they run in `serve`, killed at any moment, and in the
// nodes of a cluster.

#include <evershard/remote.hpp>

#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/actors/process/transfers.hpp"
#include "tests/cli/program.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int transfers = 24;
constexpr auto served_patience = 120s;

/// A busy machine may be too slow for one call: the same command again takes effect once.
template <class C>
::testing::AssertionResult ask_over(Remote& remote, const std::string& aggregate, const C& command,
                                    const std::string& id) {
  const auto dash = aggregate.find('-');
  for (const auto until = std::chrono::steady_clock::now() + served_patience;;) {
    const auto answer = remote.ask({aggregate.substr(0, dash), aggregate.substr(dash + 1)}, std::string(Codec<C>::name),
                                   Codec<C>::encode(command), {.command_id = id});
    if (answer.kind == AnswerKind::replied) return ::testing::AssertionSuccess();
    const bool passes = answer.kind == AnswerKind::failed &&
                        (answer.error.code == ErrorCode::timeout || answer.error.code == ErrorCode::unavailable);
    if (!passes || std::chrono::steady_clock::now() > until)
      return ::testing::AssertionFailure() << answer.rejection << answer.error.what;
    std::this_thread::sleep_for(50ms);
  }
}

class ServedProcesses : public Program {
 protected:
  static Remote connected(const std::string& address) {
    auto remote = Remote::connect({.server = address});
    EXPECT_TRUE(remote) << remote.error().what;
    return *std::move(remote);
  }
  static std::string door_of(const std::string& ready) {
    std::istringstream words(ready);
    std::string word, address;
    while (words >> word && address.empty())
      if (word.starts_with("127.0.0.1:")) address = word;
    return address;
  }
  static void open(Remote& remote) {
    for (const auto* who : {"ann", "bob"})
      ASSERT_TRUE(ask_over(remote, std::string("account-") + who, bank::Open{"-", "-", "-", 1'000}, "open"));
  }
  static void request(Remote& remote, int first, int count) {
    for (int n = first; n != first + count; ++n) {
      const auto id = "t" + std::to_string(n);
      // Every fourth goes to nobody, and is taken back.
      ASSERT_TRUE(ask_over(remote, "desk-1", bank::Request{id, "ann", n % 4 == 3 ? "nobody" : "bob", 1}, id));
    }
  }
  /// What is there of each transfer, once each has its end.
  static void expect_each_once(Remote& remote) {
    std::map<std::string, std::multiset<std::string>> had;
    std::string error;
    for (const auto until = std::chrono::steady_clock::now() + served_patience;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(50ms)) {
      had.clear();
      int ended = 0;
      auto events = remote.read(Query::all());
      for (const auto& event : events) {
        if (!event.aggregate || event.aggregate->type == "desk" || event.type.starts_with('$')) continue;
        if (event.aggregate->type == "receipt") ++ended;
        if (event.type == "opened") continue;
        had[event.aggregate->type == "transfer" || event.aggregate->type == "receipt"
                ? event.aggregate->value
                : Codec<bank::Credited>::decode(event.payload).transfer]
            .insert(event.aggregate->type + " " + event.type);
        if (event.type == "refunded") ++ended;
      }
      error = events.error() ? events.error()->what : "";
      if (error.empty() && ended >= transfers) break;
    }
    ASSERT_EQ(error, "");
    for (int n = 0; n != transfers; ++n) {
      const std::multiset<std::string> given{"account debited", "account credited", "transfer started",
                                             "transfer finished", "receipt requested"};
      const std::multiset<std::string> back{"account debited", "account refunded", "transfer started",
                                            "transfer taken_back"};
      EXPECT_EQ(had["t" + std::to_string(n)], n % 4 == 3 ? back : given) << n;
    }
  }
  static void end(Process& process) {
    process.signal(SIGTERM);
    const auto finished = process.wait(served_patience);
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
};

TEST_F(ServedProcesses, ReactOnceWhereServeIsKilled) {
  const auto data = path("bank"), receipts = path("receipts");
  const Words serve{TRANSFERS_LINE, "serve", "--data", data, "--listen", "127.0.0.1:0", "--http-listen", "none"};
  const ProcessOptions with{.environment = {{"RECEIPTS", receipts.c_str()}}};
  {
    Process process(serve, with);
    auto remote = connected(door_of(process.lines(1).at(0)));
    open(remote);
    request(remote, 0, transfers - 4);
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait(served_patience).status, 128 + SIGKILL);
  }
  Process process(serve, with);
  const auto address = door_of(process.lines(1).at(0));
  {
    auto remote = connected(address);
    request(remote, transfers - 4, 4);
    expect_each_once(remote);
  }
  const auto listed = shown({"process", "list", "--server", address});
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].at("name"), "receipt");
  EXPECT_EQ(listed[1].at("name"), "transfer");
  EXPECT_EQ(listed[1].at("failing"), 0);
  EXPECT_EQ(evershard({"process", "stop", "transfer", "--server", address}).status, 0);
  // Instances are not asked commands from outside.
  const auto kinds = connected(address).kinds();
  ASSERT_TRUE(kinds) << kinds.error().what;
  ASSERT_EQ(kinds->kinds.size(), 2u);
  EXPECT_EQ(kinds->kinds[0].type, "account");
  EXPECT_EQ(kinds->kinds[1].type, "desk");
  end(process);

  std::map<std::string, std::set<std::string>> keys;
  std::istringstream lines(read_file("receipts"));
  for (std::string transfer, key; lines >> transfer >> key;) keys[transfer].insert(key);
  EXPECT_EQ(keys.size(), std::size_t{transfers - transfers / 4});
  for (const auto& [transfer, of] : keys) EXPECT_EQ(of.size(), 1u) << transfer << " has one key";

  // The program itself knows what an instance was, exactly.
  const auto state = run({TRANSFERS_LINE, "aggregate", "state", "transfer-t0", "--data", data, "--format", "jsonl"});
  EXPECT_EQ(state.status, 0) << state.err;
  EXPECT_THAT(state.out, HasSubstr(R"("exact":true)"));
  EXPECT_THAT(state.out, Not(HasSubstr("base64"))) << "its user's codec writes text";
  const auto stored =
      run({TRANSFERS_LINE, "aggregate", "state", "transfer-t0", "--data", data, "--format", "jsonl", "--as-stored"});
  EXPECT_THAT(stored.out, HasSubstr("base64")) << stored.err;
}

TEST_F(ServedProcesses, RunInTheNodesOfACluster) {
  Process process({TRANSFERS_LINE, "cluster", "launch", "3", "--data", path("cluster"), "--listen", "127.0.0.1:0",
                   "--http-listen", "none", "--replicas", "1", "--cut-log", "local", "--shards", "12"},
                  {.environment = {{"RECEIPTS", "/dev/null"}}});
  std::vector<std::string> addresses;
  for (const auto& line : process.lines(5, served_patience))
    if (line.starts_with("node ")) addresses.push_back(door_of(line));
  ASSERT_EQ(addresses.size(), 3u);
  auto remote = connected(addresses[1]);
  open(remote);
  request(remote, 0, transfers);
  expect_each_once(remote);
  std::string runs_at;
  for (const auto until = std::chrono::steady_clock::now() + served_patience;
       runs_at.empty() && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(50ms)) {
    const auto listed = shown({"process", "list", "--server", addresses[2]});
    ASSERT_EQ(listed.size(), 2u);
    EXPECT_EQ(listed[1].at("running"), true);
    runs_at = listed[1].value("runs_at", "");
  }
  EXPECT_THAT(runs_at, HasSubstr("node "));
  end(process);
}

TEST_F(ServedProcesses, ThatCannotRunAreSaidAtTheStart) {
  const auto serve = [&](const char* how) {
    return run(
        {TRANSFERS_LINE, how, "serve", "--data", path("bank"), "--listen", "127.0.0.1:0", "--http-listen", "none"});
  };
  const auto twins = serve("twins"), mute = serve("mute"), none = serve("none");
  EXPECT_EQ(twins.status, 5);
  EXPECT_THAT(twins.err, HasSubstr("account"));
  EXPECT_EQ(mute.status, 6);
  EXPECT_THAT(mute.err, HasSubstr("no mail today"));
  EXPECT_EQ(none.status, 5);
  EXPECT_THAT(none.err, HasSubstr("receipt"));
  // A command that serves nothing makes no effects.
  const auto help = run({TRANSFERS_LINE, "mute", "help"});
  EXPECT_EQ(help.status, 0);
}

}  // namespace
}  // namespace evershard::testing
