// `evershard schedule`: the same in place and of a server.

#include <signal.h>

#include <functional>
#include <memory>
#include <thread>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;

class ScheduleCommands : public Program {
 protected:
  ScheduleCommands() { ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1); }

  /// Serves the store, or the new one, that is there.
  std::unique_ptr<Process> serve(const std::string& data, std::string& address) const {
    auto server = std::make_unique<Process>(
        words({"serve", "--data", data, "--listen", "127.0.0.1:0", "--log-file", data + ".log"}));
    const auto ready = server->lines(1, std::chrono::seconds(60));
    EXPECT_FALSE(ready.empty());
    const auto rest = ready.empty() ? std::string() : ready.front().substr(6);
    address = rest.substr(0, rest.find(' '));
    return server;
  }
  static void end(Process& server) {
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait().status, 0);
  }

  /// `pass`: somebody has the store open for so long that what is due is made.
  void walk(const Words& where, const std::function<void()>& pass) {
    const auto at = [&](Words words) {
      words.insert(words.end(), where.begin(), where.end());
      return words;
    };
    const auto status = [&](const Words& words) { return evershard(at(words)).status; };
    ASSERT_EQ(status({"append", "--aggregate", "order-1", "--type", "Placed"}), 0);
    const Words expires{
        "schedule", "append",  "--in",     "1h", "--schedule-id", "expires-1",         "--aggregate", "order-1",
        "--type",   "Expired", "--expect", "1",  "--payload",     R"({"why":"late"})", "--tag",       "t"};
    const Json one = shown(at(expires)).at(0);
    EXPECT_EQ(one.at("id"), "expires-1");
    EXPECT_EQ(one.at("state"), "pending");
    EXPECT_EQ(one.at("append").at("events").at(0).at("payload").at("why"), "late");
    EXPECT_EQ(one.at("append").at("expect").at(0).at("version"), 1);
    EXPECT_EQ(shown(at(expires)).at(0).at("duplicate"), true);
    EXPECT_EQ(shown(at({"schedule", "show", "expires-1"})).at(0), one);
    EXPECT_EQ(error_of(evershard(at({"schedule", "append", "--in", "2h", "--schedule-id", "expires-1", "--type",
                                     "Other", "--format", "json"})))
                  .at("code"),
              "version_conflict");
    auto later = expires;
    later[3] = "2h";
    later.emplace_back("--replace");
    const Json moved = shown(at(later)).at(0);
    EXPECT_GT(moved.at("due"), one.at("due"));

    write_file("two.json", R"({"events":[{"type":"A","aggregate":"a-1"},{"type":"B","aggregate":"b-1"}]})");
    const Json two =
        shown(at({"schedule", "append", "--at", "2100-01-01T00:00:00Z", "--json", path("two.json")})).at(0);
    EXPECT_EQ(two.at("append").at("events").size(), 2u);
    const auto waiting = shown(at({"schedule", "list"}));
    ASSERT_EQ(waiting.size(), 2u);
    EXPECT_EQ(waiting[0].at("id"), "expires-1");
    EXPECT_EQ(waiting[1], two);
    const auto first = evershard(at({"schedule", "list", "--limit", "1"}));
    EXPECT_THAT(first.err, HasSubstr("there is more: --after "));
    EXPECT_THAT(evershard(at({"schedule", "list", "--format", "table"})).out, HasSubstr("Expired of order-1"));

    ASSERT_EQ(status({"schedule", "append", "--in", "0s", "--schedule-id", "now", "--aggregate", "order-2", "--type",
                      "Placed"}),
              0);
    ASSERT_EQ(status({"schedule", "append", "--in", "0s", "--schedule-id", "late", "--aggregate", "order-1", "--type",
                      "Placed", "--expect", "none"}),
              0);
    const auto state = [&](const std::string& id) { return shown(at({"schedule", "show", id})).at(0); };
    for (int n = 0; n != 600 && (state("now").at("state") == "pending" || state("late").at("state") == "pending"); ++n)
      pass();
    EXPECT_EQ(state("now").at("state"), "appended");
    EXPECT_EQ(shown(at({"aggregate", "show", "order-2"})).at(0).at("version"), 1);
    EXPECT_EQ(state("late").at("state"), "refused");
    EXPECT_EQ(state("late").at("error").at("code"), "version_conflict");
    EXPECT_THAT(evershard(at({"schedule", "show", "late", "--format", "table"})).out,
                HasSubstr("refused: version_conflict: "));
    EXPECT_EQ(shown(at({"schedule", "list", "--all"})).size(), 4u);

    EXPECT_EQ(shown(at({"schedule", "cancel", "expires-1"})).at(0).at("state"), "cancelled");
    EXPECT_EQ(shown(at({"schedule", "list"})).size(), 1u);
    EXPECT_EQ(error_of(evershard(at({"schedule", "cancel", "now", "--format", "json"}))).at("code"),
              "condition_failed");
    EXPECT_EQ(status({"schedule", "cancel", "nobody"}), 4);
    EXPECT_EQ(status({"schedule", "show", "nobody"}), 4);

    // Mistakes, with nothing scheduled.
    for (const Words& wrong :
         {Words{"--type", "X"}, Words{"--in", "1h", "--at", "2100-01-01T00:00:00Z", "--type", "X"},
          Words{"--in", "soon", "--type", "X"}, Words{"--in", "213503983d", "--type", "X"},
          Words{"--at", "soon", "--type", "X"}, Words{"--in", "1h"}, Words{"--in", "1h", "--type", "X", "--replace"},
          Words{"--in", "1h", "--type", "X", "--schedule-id", ""},
          Words{"--in", "1h", "--type", "X", "--json", path("two.json")}}) {
      Words words{"schedule", "append"};
      words.insert(words.end(), wrong.begin(), wrong.end());
      EXPECT_EQ(status(words), 2) << wrong.at(0) << ' ' << wrong.at(1);
    }
    EXPECT_EQ(status({"schedule", "append", "--in", "1h", "--type", "$X"}), 5);
    EXPECT_EQ(status({"schedule", "append", "--in", "1h", "--json", path("nowhere")}), 4);
    EXPECT_EQ(shown(at({"schedule", "list"})).size(), 1u);
  }
};

TEST_F(ScheduleCommands, InPlace) {
  const auto data = store("shop");
  walk({"--data", data}, [&] {
    std::string address;
    const auto server = serve(data, address);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    end(*server);
  });
}

TEST_F(ScheduleCommands, OfAServer) {
  std::string address;
  const auto server = serve(path("served"), address);
  walk({"--server", address}, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  end(*server);
}

}  // namespace
}  // namespace evershard::testing
