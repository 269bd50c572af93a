// A process that a program runs, seen and mended with `evershard` while that program is away.

#include <evershard/local.hpp>
#include <thread>

#include "tests/actors/process/transfers.hpp"
#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class HostedProcesses : public Program {
 protected:
  static Local app(const std::string& data) {
    auto store = Local::open({.data_dir = data}).value();
    EXPECT_TRUE(store.host<bank::Account>());
    EXPECT_TRUE(store.host<bank::Desk>());
    EXPECT_TRUE(store.run<bank::Transfers>(evershard::ProcessOptions{.checkpoint_every = 20ms}));
    return store;
  }
  static bool comes_to(const std::function<bool()>& is_so) {
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(5ms))
      if (is_so()) return true;
    return is_so();
  }
};

TEST_F(HostedProcesses, AreSeenAndMended) {
  const auto data = path("bank");
  bank::credits_that_throw = 1'000'000;
  {
    auto store = app(data);
    for (const auto* who : {"ann", "bob"})
      ASSERT_TRUE(store.get<bank::Account>(who).ask(bank::Open{"-", "-", "-", 100}));
    ASSERT_TRUE(store.get<bank::Desk>("1").ask(bank::Request{"t1", "ann", "bob", 30}));
    ASSERT_TRUE(store.get<bank::Desk>("1").ask(bank::Request{"t2", "nobody", "bob", 30}));  // refused, and over
    ASSERT_TRUE(store.get<bank::Desk>("1").ask(bank::Request{"t3", "ann", "bob", 7}));
    ASSERT_TRUE(comes_to([&] {
      const auto info = store.processes().process("transfer");
      return info->state.failures.size() == 2 && info->state.figures.waiting == 2;
    }));
  }
  const auto at = [&](Words words) {
    words.insert(words.end(), {"--data", data});
    return words;
  };
  const auto status = [&](const Words& words) { return evershard(at(words)).status; };
  const Json listed = shown(at({"process", "list"})).at(0);
  EXPECT_EQ(listed.at("name"), "transfer");
  EXPECT_EQ(listed.at("failing"), 2);
  EXPECT_THAT(evershard(at({"process", "list", "--format", "table"})).out, HasSubstr("failing"));
  EXPECT_EQ(shown(at({"process", "describe", "transfer"})).at(0), listed);
  EXPECT_THAT(evershard(at({"process", "describe", "transfer", "--format", "table"})).out, HasSubstr("failing t1"));
  const auto& failures = listed.at("failures");
  const std::string item = failures.at(failures.at(0).at("instance") == "t1" ? 0 : 1).at("item");
  EXPECT_THAT(item, HasSubstr("command/"));
  EXPECT_EQ(shown(at({"process", "instances", "transfer"})).at(0).at("instance"), "t1");
  EXPECT_EQ(shown(at({"process", "instances", "transfer", "--failing"})).size(), 2u);
  EXPECT_TRUE(shown(at({"process", "instances", "transfer", "--after", "t3"})).empty());
  EXPECT_TRUE(shown(at({"process", "parked", "transfer"})).empty());
  const auto first = evershard(at({"process", "instances", "transfer", "--failing", "--limit", "1"}));
  EXPECT_THAT(first.err, HasSubstr("there is more: --after t1 goes on"));
  EXPECT_EQ(shown(at({"process", "instances", "transfer", "--failing", "--limit", "1", "--after", "t1"}))
                .at(0)
                .at("instance"),
            "t3");
  EXPECT_FALSE(shown(at({"aggregate", "history", "transfer-t1"})).empty());

  const auto timers = shown(at({"timer", "list"}));
  ASSERT_EQ(timers.size(), 2u);
  EXPECT_EQ(timers[0].at("aggregate"), "transfer-t1");
  EXPECT_TRUE(shown(at({"timer", "list", "--type", "account"})).empty());
  EXPECT_EQ(shown(at({"timer", "list", "--aggregate", "transfer-t1"})).at(0), timers[0]);
  EXPECT_EQ(status({"timer", "cancel", "transfer-t1", "none"}), 4);
  EXPECT_EQ(status({"timer", "cancel", "transfer-t1", timers[0].at("name")}), 0);
  EXPECT_EQ(shown(at({"timer", "list"})).size(), 1u);

  for (const auto* command : {"describe", "instances", "parked", "stop", "resume", "retry"})
    EXPECT_EQ(status({"process", command, "nobody"}), 4) << command;
  EXPECT_EQ(status({"process", "skip", "transfer", "command"}), 5);
  EXPECT_EQ(status({"process", "skip", "transfer", "event/9999"}), 4);
  EXPECT_EQ(status({"process", "replay", "transfer", item}), 5);
  EXPECT_EQ(status({"process", "stop", "transfer", "--instance", "t9"}), 4);
  EXPECT_EQ(status({"process", "stop", "transfer", "--instance", ""}), 2) << "that is not all of it";

  EXPECT_EQ(status({"process", "stop", "transfer"}), 0);
  bank::credits_that_throw = 0;
  {
    auto store = app(data);
    ASSERT_TRUE(comes_to([&] { return store.process_status().at(0).stopped; }));
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(store.get<bank::Account>("bob").state()->state.balance, 100);
  }
  EXPECT_THAT(evershard(at({"process", "list", "--format", "table"})).out, HasSubstr("stopped"));
  EXPECT_EQ(status({"process", "skip", "transfer", item}), 0);
  EXPECT_EQ(status({"process", "resume", "transfer"}), 0);
  auto store = app(data);
  ASSERT_TRUE(comes_to([&] {
    const auto now = store.process_status().at(0);
    return now.runs_here && !now.stopped && now.waiting == 0;
  }));
  EXPECT_EQ(store.get<bank::Account>("bob").state()->state.balance, 107) << "t1 was skipped, t3 was not";
}

TEST_F(HostedProcesses, SayWhatTheyKeepToWhoKnowsNothingOfThem) {
  const auto data = path("bank");
  {
    auto store = app(data);
    for (const auto* who : {"ann", "bob"})
      ASSERT_TRUE(store.get<bank::Account>(who).ask(bank::Open{"-", "-", "-", 100}));
    ASSERT_TRUE(store.get<bank::Desk>("1").ask(bank::Request{"t1", "ann", "bob", 30}));
    ASSERT_TRUE(comes_to([&] { return store.take_snapshot({"transfer", "t1"}, 10s).has_value(); }));
    ASSERT_TRUE(comes_to([&] { return store.snapshot({"$process", "transfer"})->has_value(); }));
  }
  const auto state = [&](const char* of) {
    const auto finished = evershard({"aggregate", "state", of, "--data", data, "--format", "json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished.status == 0 ? Json::parse(finished.out) : Json();
  };
  const Json process = state("$process-transfer");
  EXPECT_EQ(process.at("decoded_as"), "evershard.v1.ProcessCheckpoint");
  EXPECT_TRUE(process.at("state").contains("position")) << process;
  const Json instance = state("transfer-t1");
  EXPECT_FALSE(instance.contains("state_encoding")) << instance;
  const auto history = shown({"aggregate", "history", "$process-transfer", "--data", data});
  EXPECT_EQ(history.at(0).at("decoded"), (Json{{"process", "transfer"}})) << history.at(0);
}

}  // namespace
}  // namespace evershard::testing
