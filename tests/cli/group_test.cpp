// `evershard group ...` as a process, over a store's directory.

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Group : public Program {
 protected:
  std::string orders(int events) {
    const auto data = store();
    std::string lines;
    for (int i = 1; i <= events; ++i)
      lines += R"({"aggregate":"order-1","type":"Placed","payload":{"n":)" + std::to_string(i) + "}}\n";
    append(data, lines);
    return data;
  }
};

TEST_F(Group, IsCreatedListedDescribedChangedResetAndDropped) {
  const auto data = orders(2);
  const auto created = shown({"group", "create", "g", "--data", data, "--type", "Placed", "--attempts", "2",
                              "--retry-first-ms", "0", "--after-parked", "block"});
  EXPECT_EQ(created.at(0)["group"], "g");
  EXPECT_EQ(created.at(0)["attempts_max"], 2);
  EXPECT_EQ(created.at(0)["after_parked"], "block");
  EXPECT_EQ(created.at(0)["lease_ms"], 30'000);
  EXPECT_EQ(created.at(0)["query"].dump(), R"({"items":[{"types":["Placed"]}]})");
  EXPECT_EQ(error_of(evershard({"group", "create", "g", "--data", data, "--format", "json"}))["code"],
            "already_exists");
  EXPECT_EQ(shown({"group", "change", "g", "--data", data, "--window", "7"}).at(0)["window"], 7);
  EXPECT_EQ(shown({"group", "describe", "g", "--data", data}).at(0)["attempts_max"], 2) << "what is not named stays";
  EXPECT_EQ(shown({"group", "list", "--data", data}).size(), 1u);
  EXPECT_EQ(shown({"group", "reset", "g", "--data", data, "--after", "1"}).at(0)["position"], 1);
  EXPECT_EQ(evershard({"group", "create", "h", "--data", data, "--order", "sideways"}).status, 2);
  EXPECT_EQ(evershard({"group", "replay", "g", "--data", data}).status, 2);
  EXPECT_EQ(shown({"group", "drop", "g", "--data", data}).at(0)["dropped"], true);
  EXPECT_EQ(evershard({"group", "describe", "g", "--data", data}).status, 4);
  EXPECT_EQ(evershard({"append", "--data", data, "--aggregate", "$group-x", "--type", "GroupDropped"}).status, 5)
      << "definitions are the store's own";
}

TEST_F(Group, GivesItsEventsToAWorkerThatSaysWhatBecameOfThem) {
  const auto data = orders(3);
  (void)shown({"group", "create", "g", "--data", data, "--type", "Placed", "--attempts", "1"});
  Process worker(words({"group", "work", "g", "--data", data, "--format", "json", "--limit", "3"}));
  const auto position = [&](std::size_t line) {
    return Json::parse(worker.lines(line).at(line - 1))["event"]["position"].dump();
  };
  worker.write("{\"acknowledge\":" + position(1) + "}\n");
  EXPECT_EQ(Json::parse(worker.lines(2).at(1))["settled"], "acknowledged");
  const auto second = Json::parse(worker.lines(3).at(2));
  EXPECT_EQ(second["event"]["payload"]["n"], 2);
  EXPECT_EQ(second["attempt"], 1);
  worker.write("{\"reject\":" + position(3) + ",\"reason\":\"no stock\"}\n");
  EXPECT_EQ(Json::parse(worker.lines(4).at(3))["settled"], "rejected");
  worker.write("{\"park\":" + position(5) + ",\"reason\":\"never\"}\n");
  const auto finished = worker.wait();
  EXPECT_EQ(finished.status, 0) << finished.err;
  const auto parked = shown({"group", "parked", "g", "--data", data});
  ASSERT_EQ(parked.size(), 2u);
  EXPECT_EQ(parked[0]["reason"], "no stock");
  EXPECT_EQ(parked[0]["aggregate"], "order-1");
  EXPECT_EQ(parked[1]["reason"], "never");
  EXPECT_EQ(
      shown({"group", "discard", "g", "--data", data, "--position", parked[1]["position"].dump()}).at(0)["discarded"],
      1);
  EXPECT_EQ(shown({"group", "replay", "g", "--data", data, "--all"}).at(0)["replayed"], 1);
  EXPECT_EQ(shown({"group", "describe", "g", "--data", data}).at(0)["unsettled"], 1);
}

TEST_F(Group, ALineThatIsNoSettlementEndsTheWorkerWithItsNumber) {
  const auto data = orders(1);
  (void)shown({"group", "create", "g", "--data", data});
  const auto finished =
      evershard({"group", "work", "g", "--data", data, "--format", "json"}, "\n{\"acknowledge\":99}\n");
  EXPECT_EQ(finished.status, 5);
  EXPECT_EQ(error_of(finished)["line"], 2);
  EXPECT_EQ(evershard({"group", "work", "g", "--data", data}, "{\"acknowlege\":1}\n").status, 5);
  EXPECT_EQ(evershard({"group", "work", "g", "--data", data}, "").status, 0) << "nothing was said: it leaves";
}

TEST_F(Group, WhatIsRefusedStaysTheWorkersToBeSettledInAnotherWay) {
  const auto data = orders(1);
  (void)shown({"group", "create", "g", "--data", data, "--type", "Placed"});
  Process worker(words({"group", "work", "g", "--data", data, "--format", "json", "--limit", "1"}));
  const auto position = Json::parse(worker.lines(1).at(0))["event"]["position"].dump();
  worker.write("{\"reject\":" + position + ",\"after_ms\":86400001}\n");
  EXPECT_EQ(Json::parse(worker.lines(2).at(1))["error"]["code"], "invalid_argument")
      << "longer than the group's longest wait";
  worker.write("{\"acknowledge\":" + position + "}\n");
  EXPECT_EQ(Json::parse(worker.lines(3).at(2))["settled"], "acknowledged");
  EXPECT_EQ(worker.wait().status, 0);
}

TEST_F(Group, ASettlementThatMakesNoSenseIsNamed) {
  const auto data = orders(1);
  (void)shown({"group", "create", "g", "--data", data, "--type", "Placed"});
  const auto why = [&](const std::string& line) {
    const auto finished = evershard({"group", "work", "g", "--data", data, "--format", "json"}, line + "\n");
    EXPECT_EQ(finished.status, 5) << finished.out;
    return error_of(finished)["message"].get<std::string>();
  };
  EXPECT_THAT(why(R"({"reject":1,"reson":"no stock"})"), HasSubstr("unknown"));
  EXPECT_THAT(why(R"({"reject":1,"after_ms":18446744073709551615})"), HasSubstr("after_ms: that is too great"));
  EXPECT_EQ(evershard({"group", "work", "g", "--data", data, "--idle-ms", "18446744073709551615"}).status, 2);
  const auto never = evershard({"group", "list", "--server", "127.0.0.1:1", "--timeout", "18446744073709551615"});
  EXPECT_EQ(never.status, 2) << "it was over before it began";
  EXPECT_THAT(never.err, HasSubstr("--timeout must be "));
}

TEST_F(Group, RunsACommandAnEvent) {
  const auto data = orders(3);
  (void)shown({"group", "create", "g", "--data", data, "--type", "Placed", "--attempts", "2", "--retry-first-ms", "1"});
  write_file("do",
             "#!/bin/sh\nn=$(cat | sed 's/.*\"n\":\\([0-9]*\\).*/\\1/')\necho \"$n $EVERSHARD_TYPE "
             "$EVERSHARD_AGGREGATE $EVERSHARD_ATTEMPT\" >> " +
                 path("log") + "\n[ $n = 1 ] && exit 7\n[ $n = 2 ] && exit 65\nexit 0\n");
  const auto finished = evershard({"group", "work", "g", "--data", data, "--exec", "sh " + path("do"), "--limit", "4"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(read_file("log"), "1 Placed order-1 1\n1 Placed order-1 2\n2 Placed order-1 1\n3 Placed order-1 1\n");
  const auto parked = shown({"group", "parked", "g", "--data", data});
  ASSERT_EQ(parked.size(), 2u);
  EXPECT_EQ(parked[0]["reason"], "the command ended with status 7");
  EXPECT_EQ(parked[0]["attempts"], 2);
  EXPECT_EQ(parked[1]["reason"], "the command ended with status 65");
  EXPECT_EQ(parked[1]["attempts"], 1);
  const auto group = shown({"group", "describe", "g", "--data", data}).at(0);
  EXPECT_EQ(group["acknowledged"], 1);
  EXPECT_EQ(group["unsettled"], 0);
  (void)shown({"group", "replay", "g", "--data", data, "--all"});
  const auto slow =
      evershard({"group", "work", "g", "--data", data, "--exec", "sleep 60", "--timeout-ms", "50", "--limit", "1"});
  EXPECT_EQ(slow.status, 0) << slow.err;
  EXPECT_THAT(slow.out, HasSubstr("\"rejected\""));
}

}  // namespace
}  // namespace evershard::testing
