// `evershard copy` as a process: between directories and servers, followed, interrupted, and killed on any side.

#include <signal.h>

#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class Copy : public Program {
 protected:
  Copy() { ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1); }

  /// `count` appends of one to three events over a few aggregates.
  static std::string lines(std::uint64_t from, int count) {
    std::string text;
    std::mt19937_64 random(from);
    for (int i = 0; i < count; ++i) {
      text += R"({"events":[)";
      const auto events = 1 + random() % 3;
      for (std::uint64_t e = 0; e < events; ++e) {
        text += std::string(e == 0 ? "" : ",") + R"({"aggregate":"order-)" + std::to_string(random() % 7) +
                R"(","type":"T)" + std::to_string(random() % 2) + R"(","payload":)" +
                std::to_string(from + static_cast<std::uint64_t>(i)) + "}";
      }
      text += "]}\n";
    }
    return text;
  }
  std::unique_ptr<Process> serve(const std::string& data, const std::string& listen = "127.0.0.1:0") {
    ProcessOptions options;
    options.environment["EVERSHARD_DATA"] = "";
    return std::make_unique<Process>(words({"serve", "--data", data, "--listen", listen, "--log-file", data + ".log"}),
                                     options);
  }
  static std::string address_of(Process& server) {
    const auto ready = server.lines(1, seconds(60));
    if (ready.empty()) return {};
    const auto rest = ready.front().substr(6);
    return rest.substr(0, rest.find(' '));
  }
  /// On the address that a killed one had.
  std::unique_ptr<Process> serve_again(const std::string& data, const std::string& address) {
    for (int tries = 0; tries < 50; ++tries) {
      auto server = serve(data, address);
      if (!address_of(*server).empty()) return server;
      std::this_thread::sleep_for(milliseconds(50));
    }
    ADD_FAILURE() << "no server on " << address;
    return nullptr;
  }
  static void kill(Process& process) {
    process.signal(SIGKILL);
    (void)process.wait();
  }
  /// Each aggregate's payloads in order, and the payloads of each append together.
  std::pair<std::map<std::string, std::vector<std::string>>, std::multiset<std::string>> content(
      const std::string& store) {
    std::pair<std::map<std::string, std::vector<std::string>>, std::multiset<std::string>> content;
    const Finished exported = evershard({"export", "--data", store});
    EXPECT_EQ(exported.status, 0) << exported.err;
    for (const auto& line : json_lines(exported.out)) {
      const Json events = line.contains("events") ? line.at("events") : Json::array({line});
      std::string whole;
      for (const auto& event : events) {
        if (event.value("state", "live") == "removed") continue;  // a place of the store's own
        const std::string text = std::string(event.at("id")) + event.at("payload").dump();
        content.first[event.at("aggregate")].push_back(text);
        whole += text + ' ';
      }
      if (!whole.empty()) content.second.insert(whole);
    }
    return content;
  }
  Json copied(Words more, int status = 0) {
    Words all{"copy", "--format", "jsonl"};
    all.insert(all.end(), more.begin(), more.end());
    const Finished done = evershard(all);
    EXPECT_EQ(done.status, status) << done.err;
    return done.out.empty() ? Json() : Json::parse(done.out);
  }
  /// Until the condition holds, or for two minutes.
  template <class Condition>
  static bool wait_until(Condition condition) {
    for (const auto until = std::chrono::steady_clock::now() + seconds(120); std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(milliseconds(20))) {
      if (condition()) return true;
    }
    return false;
  }
};

TEST_F(Copy, BetweenDirectoriesWithAFilterAndGoesOn) {
  const std::string first = store("first", 16), all = store("all", 3), some = store("some");
  append(first, lines(1, 300));

  const Json report = copied({"--from", first, "--to", all});
  const Json filtered = copied({"--from", first, "--to", some, "--type", "T1", "--aggregate", "order-3", "--aggregate",
                                "order-4", "--name", "t1"});
  append(first, lines(1'000, 20));
  const Json again = copied({"--from", first, "--to", all});

  EXPECT_EQ(report.at("position"), report.at("events_stored"));
  EXPECT_EQ(again.at("from"), report.at("position"));
  EXPECT_EQ(again.at("position"), head(first));
  EXPECT_EQ(again.at("events_known"), 0);
  EXPECT_EQ(content(all), content(first));
  for (const auto& event : shown({"read", "--data", some, "--format", "jsonl"})) {
    const std::string type = event.at("type");
    if (type.starts_with('$')) continue;
    EXPECT_EQ(type, "T1");
    EXPECT_TRUE(event.at("aggregate") == "order-3" || event.at("aggregate") == "order-4");
  }
  EXPECT_EQ(filtered.at("events_stored"), shown({"query", "--data", some, "--type", "T1"}).size());
  EXPECT_EQ(error_of(evershard({"copy", "--from", first, "--to", some, "--name", "t1", "--format", "json"})).at("code"),
            "invalid_argument");
}

TEST_F(Copy, IntoAServerNeedsAnOperatorsToken) {
  const std::string first = store("first"), second = store("second");
  append(first, lines(1, 20));
  std::ofstream(path("tokens")) << "app read,append app-0123456789abcdef\n"
                                << "operator read,append,admin operator-0123456789\n";
  Process server(words(
      {"serve", "--data", second, "--listen", "127.0.0.1:0", "--tokens", path("tokens"), "--log-file", path("log")}));
  const auto address = address_of(server);
  ASSERT_FALSE(address.empty()) << server.errors();

  const auto refused =
      evershard({"copy", "--from", first, "--to", address, "--to-token", "app-0123456789abcdef", "--format", "json"});
  EXPECT_EQ(error_of(refused).at("code"), "permission_denied");
  EXPECT_THAT(std::string(error_of(refused).at("message")), HasSubstr("does not have the scope admin"));
  const Json done = copied({"--from", first, "--to", address, "--to-token", "operator-0123456789"});
  EXPECT_EQ(done.at("position"), head(first));
}

TEST_F(Copy, SaysWhatIsWrong) {
  const std::string first = store("first");
  EXPECT_EQ(evershard({"copy", "--to", first}).status, 2);
  EXPECT_EQ(evershard({"copy", "--from", first, "--to", path("nowhere")}).status, 4);
  EXPECT_EQ(error_of(evershard({"copy", "--from", first, "--to", "127.0.0.1:1", "--timeout", "1", "--format", "json"}))
                .at("code"),
            "unavailable");
  const auto itself = evershard({"copy", "--from", first, "--to", first + "/."});
  EXPECT_EQ(itself.status, 5);
  EXPECT_THAT(itself.err, ::testing::HasSubstr("--from and --to are the same store"));
  EXPECT_EQ(evershard({"copy", "--from", first, "--to", store("second"), "--aggregate", "$copy-1"}).status, 5);
}

TEST_F(Copy, SealsWhatHasASubjectUnderTheTargetsKey) {
  const std::string first = store("first"), second = store("second"), keyless = store("keyless");
  const Finished appended =
      evershard({"append", "--jsonl", "-", "--data", first, "--keys", path("first-keys")},
                R"({"aggregate":"order-1","type":"Placed","payload":"Ada, St James's Square","subject":"ada"})"
                "\n");
  ASSERT_EQ(appended.status, 0) << appended.err;

  const Json report =
      copied({"--from", first, "--from-keys", path("first-keys"), "--to", second, "--to-keys", path("second-keys")});
  const Finished refused =
      evershard({"copy", "--from", first, "--from-keys", path("first-keys"), "--to", keyless, "--format", "json"});

  EXPECT_EQ(report.at("events_stored"), 1);
  const auto there = shown({"read", "order-1", "--data", second, "--keys", path("second-keys")});
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(there[0].at("payload"), "Ada, St James's Square");
  EXPECT_EQ(there[0].at("subject"), "ada");
  EXPECT_EQ(evershard({"retention", "erase", "ada", "--yes", "--data", second, "--keys", path("second-keys")}).status,
            0);
  EXPECT_EQ(shown({"read", "order-1", "--data", second, "--keys", path("second-keys")})[0].at("state"), "erased");
  EXPECT_EQ(error_of(refused).at("code"), "invalid_argument");
  EXPECT_EQ(evershard({"copy", "--from", "127.0.0.1:1", "--from-keys", path("first-keys"), "--to", second}).status, 2);
}

TEST_F(Copy, NoticesARestoredTarget) {
  const std::string first = store("first"), second = store("second"), saved = path("saved"),
                    restored = path("restored");
  append(first, lines(1, 40));
  copied({"--from", first, "--to", second});
  ASSERT_EQ(evershard({"backup", saved, "--data", second}).status, 0);
  append(first, lines(100, 40));
  copied({"--from", first, "--to", second});
  ASSERT_EQ(evershard({"restore", saved, restored}).status, 0);

  const Json error = error_of(evershard({"copy", "--from", first, "--to", restored, "--format", "json"}));
  copied({"--from", first, "--to", restored, "--restart"});

  EXPECT_EQ(error.at("code"), "invalid_argument");
  EXPECT_THAT(std::string(error.at("message")), HasSubstr("the target was restored"));
  EXPECT_EQ(content(restored), content(first));
}

TEST_F(Copy, FollowsLiveAndEndsAtCtrlC) {
  const std::string first = path("first"), second = path("second");
  auto source = serve(first), target = serve(second);
  const std::string from = address_of(*source), to = address_of(*target);
  Process following(words({"copy", "--from", from, "--to", to, "--follow", "--format", "jsonl"}));
  const auto there = [&](std::uint64_t count) {
    return shown({"query", "--server", to, "--concerning", "order-9"}).size() == count;
  };
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(
        evershard({"append", "--server", from, "--aggregate", "order-9", "--type", "A", "--payload", std::to_string(i)})
            .status,
        0);
    EXPECT_TRUE(wait_until([&] { return there(static_cast<std::uint64_t>(i)); })) << following.errors();
  }

  following.signal(SIGINT);
  const Finished done = following.wait();

  EXPECT_EQ(done.status, 130) << done.err;
  EXPECT_THAT(done.err, HasSubstr("stopped at position 3 of 3"));
  EXPECT_EQ(Json::parse(done.out).at("events_stored"), 3);
}

TEST_F(Copy, KilledOnAnySideAtAnyPointCopiesEverythingOnce) {
  const char* set = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = set != nullptr ? std::atoi(set) : 6;
  const std::string first = path("first"), second = path("second");
  auto source = serve(first), target = serve(second);
  const std::string from = address_of(*source), to = address_of(*target);
  std::mt19937_64 random(7);
  std::uint64_t next = 1;
  const Words copy = words({"copy", "--from", from, "--to", to, "--follow", "--timeout", "2", "--in-flight", "64"});
  auto copying = std::make_unique<Process>(copy);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(evershard({"append", "--server", from, "--jsonl", "-"}, lines(next, 400)).status, 0);
    next += 1'000;
    std::this_thread::sleep_for(milliseconds(random() % 200));
    switch (round % 3) {
      case 0:
        kill(*copying);
        copying = std::make_unique<Process>(copy);
        break;
      case 1:
        kill(*target);
        target = serve_again(second, to);
        break;
      default:
        kill(*source);
        source = serve_again(first, from);
    }
    ASSERT_TRUE(source && target);
  }
  const auto head_of = [&] { return shown({"stats", "--server", from}).at(0).at("head").get<std::uint64_t>(); };
  const auto checkpoint = [&] {
    const Finished found = evershard({"aggregate", "list", "--all", "--server", to, "--format", "jsonl"});
    std::uint64_t position = 0;
    for (const auto& row : json_lines(found.out)) {
      const std::string aggregate = row.at("aggregate");
      if (!aggregate.starts_with("$copy-")) continue;
      const Finished snapshot = evershard({"snapshot", "get", aggregate, "--server", to, "--format", "jsonl"});
      if (snapshot.status == 0) position = Json::parse(snapshot.out).at("payload").at("position");
    }
    return position;
  };
  EXPECT_TRUE(wait_until([&] { return checkpoint() == head_of(); })) << copying->errors();

  copying->signal(SIGTERM);
  EXPECT_EQ(copying->wait().status, 130);
  for (auto* server : {source.get(), target.get()}) {
    server->signal(SIGTERM);
    EXPECT_EQ(server->wait().status, 0);
  }
  EXPECT_EQ(content(second), content(first));
}

}  // namespace
}  // namespace evershard::testing
