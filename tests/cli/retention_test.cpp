// `evershard retention ...`: says what would go, removes nothing without being told to, and leaves the record of it.

#include <csignal>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RetentionCommands : public Program {
 protected:
  void SetUp() override {
    data_ = store();
    append(data_, R"({"aggregate":"order-1","type":"T","tags":["a"],"payload":"secret"})"
                  "\n"
                  R"({"aggregate":"order-1","type":"T","tags":["a"],"payload":2})"
                  "\n"
                  R"({"aggregate":"order-2","type":"T","tags":["a"],"payload":3,"occurred_at":"2001-01-01T00:00:00Z"})"
                  "\n");
  }
  Finished retention(Words words) {
    words.insert(words.begin(), "retention");
    words.insert(words.end(), {"--data", data_, "--format", "json"});
    return evershard(words);
  }
  [[nodiscard]] std::string states() const {
    std::string states;
    for (const auto& event : shown({"read", "--data", data_})) states += event.value("state", "live")[0];
    return states;
  }
  std::string data_;
};

TEST_F(RetentionCommands, LookFirstAndRemoveWhenTold) {
  const auto look = retention({"remove", "order-1", "--dry-run"});
  const auto refused = retention({"remove", "order-1"});
  EXPECT_EQ(look.status, 0) << look.err;
  EXPECT_EQ(Json::parse(look.out).at("events"), 2);
  EXPECT_EQ(Json::parse(look.out).at("done"), false);
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(error_of(refused).at("message").get<std::string>(), HasSubstr("nothing was changed"));
  EXPECT_EQ(states(), "lll");

  const auto done = retention({"remove", "order-1", "--yes", "--by", "ann", "--reason", "asked \"for\" it"});

  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(Json::parse(done.out).at("events"), 2);
  EXPECT_EQ(states(), "rrllll");
  EXPECT_EQ(evershard({"aggregate", "show", "order-1", "--data", data_}).status, 4);
  const auto log = json_lines(evershard({"retention", "log", "--data", data_, "--format", "jsonl"}).out);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].at("what"), "$RemovalOrdered");
  EXPECT_EQ(log[0].at("says").at("reason"), "asked \"for\" it");
  EXPECT_EQ(log[1].at("says").at("events"), 2);
  EXPECT_EQ(evershard({"verify", "--data", data_}).status, 0);
  const auto table = evershard({"read", "--data", data_, "--format", "table"}).out;
  EXPECT_THAT(table, HasSubstr("(removed)"));
  EXPECT_THAT(table, Not(HasSubstr("1970-01-01"))) << "its time is gone";
  const auto kept = evershard({"read", "--skip-removed", "--data", data_, "--format", "jsonl"});
  EXPECT_EQ(json_lines(kept.out).size(), 4u);
  EXPECT_THAT(kept.err, HasSubstr("2 events that were removed left out"));
}

TEST_F(RetentionCommands, TruncateBehindASnapshotOnly) {
  const auto refused = retention({"truncate", "order-1", "2", "--yes"});
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(error_of(refused).at("message").get<std::string>(), HasSubstr("no snapshot stands for"));
  EXPECT_EQ(retention({"truncate", "order-1", "x", "--yes"}).status, 2);
  EXPECT_EQ(retention({"truncate", "order-1", "2", "--yes", "--dry-run"}).status, 2);
  EXPECT_EQ(retention({"truncate", "order-9", "2", "--yes"}).status, 4);
  EXPECT_EQ(states(), "lll");

  EXPECT_EQ(retention({"truncate", "order-1", "2", "--uncovered", "--yes"}).status, 0);

  EXPECT_EQ(states(), "rllll");
  EXPECT_EQ(head(data_), 5u);
}

TEST_F(RetentionCommands, GoOutAndComeInAsSuch) {
  ASSERT_EQ(retention({"remove", "order-1", "--yes"}).status, 0);
  ASSERT_EQ(evershard({"export", path("all.jsonl"), "--data", data_}).status, 0);
  const auto left = evershard({"export", path("left.jsonl"), "--skip-removed", "--data", data_, "--format", "json"});
  ASSERT_EQ(left.status, 0) << left.err;
  store("b");
  store("c");

  const auto whole = evershard({"import", path("all.jsonl"), "--data", path("b"), "--format", "json"});
  const auto taken = evershard({"import", path("left.jsonl"), "--data", path("c"), "--format", "json"});

  EXPECT_EQ(Json::parse(left.out).at("events"), 1) << "those that are in the file";
  EXPECT_EQ(Json::parse(left.out).at("lines"), 1);
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(Json::parse(whole.out).at("events_moved"), 0);
  EXPECT_EQ(evershard({"aggregate", "show", "order-1", "--data", path("b")}).status, 4) << "it is hidden there too";
  EXPECT_EQ(evershard({"verify", "--data", path("b")}).status, 0);
  EXPECT_EQ(taken.status, 0) << taken.err;
  EXPECT_EQ(Json::parse(taken.out).at("events_stored"), 1);
  ASSERT_EQ(evershard({"backup", path("copy"), "--data", data_}).status, 0);
  ASSERT_EQ(evershard({"backup", path("early"), "--up-to", "2", "--data", data_}).status, 0);
  EXPECT_EQ(evershard({"verify", "--data", path("copy")}).status, 0);
  EXPECT_EQ(evershard({"verify", "--data", path("early")}).status, 0);
  EXPECT_EQ(shown({"read", "--data", path("early")}).at(1).at("state"), "removed");
}

TEST_F(RetentionCommands, ApplyPolicies) {
  EXPECT_EQ(retention({"policy", "old", "--remove", "order"}).status, 2);
  EXPECT_EQ(retention({"policy", "old", "--remove", "order", "--events", "T", "--keep", "1d"}).status, 2);
  EXPECT_EQ(retention({"policy", "old", "--remove", "order", "--keep", "1y"}).status, 2);
  const auto of_what = retention({"policy", "old", "--remove", "order", "--keep", "90"});
  EXPECT_EQ(of_what.status, 2) << "who means days by it does not want seconds";
  EXPECT_THAT(of_what.err, HasSubstr("--keep must be a duration such as 500ms, 12s, 5min, 2h or 90d, is "));
  ASSERT_EQ(retention({"policy", "old", "--remove", "order", "--keep", "90d"}).status, 0);
  const auto policies = retention({"policies"});
  EXPECT_EQ(Json::parse(policies.out).at(0).at("keep_seconds"), 90 * 86'400);

  const auto would = retention({"run", "--dry-run"});
  const auto done = retention({"run", "--yes"});

  EXPECT_EQ(Json::parse(would.out).at("events"), 1);
  EXPECT_EQ(Json::parse(done.out).at("aggregates"), 1);
  EXPECT_EQ(states().substr(0, 3), "llr");
  EXPECT_EQ(retention({"drop", "old"}).status, 0);
  EXPECT_EQ(retention({"drop", "old"}).status, 4);
  EXPECT_EQ(Json::parse(retention({"policies"}).out), Json::array());
}

TEST_F(RetentionCommands, SayOfADryRunWhatWouldBe) {
  const auto shown = [&](Words words) {
    words.insert(words.begin(), "retention");
    words.insert(words.end(), {"--data", data_, "--format", "table"});
    return evershard(words).out;
  };
  EXPECT_THAT(shown({"policy", "old", "--remove", "order", "--keep", "90d", "--dry-run"}), HasSubstr("would be set"));
  EXPECT_EQ(Json::parse(retention({"policies"}).out), Json::array());
  EXPECT_THAT(shown({"policy", "old", "--remove", "order", "--keep", "90d"}), Not(HasSubstr("would")));
  EXPECT_THAT(shown({"drop", "old", "--dry-run"}), HasSubstr("would be dropped"));
  EXPECT_EQ(Json::parse(retention({"policies"}).out).size(), 1u);
  EXPECT_THAT(shown({"drop", "old"}), Not(HasSubstr("would")));
}

// Nothing that the store still shows is sealed with it; backups hold it all the same.
TEST_F(RetentionCommands, EraseAKeyWhoseEventsAreGone) {
  const auto keys = path("keys");
  const auto erase = [&](Words words) {
    words.insert(words.begin(), {"erase", "person-17", "--keys", keys});
    return retention(words);
  };
  ASSERT_EQ(evershard({"append", "--aggregate", "person-17", "--type", "T", "--payload", "1", "--subject", "person-17",
                       "--keys", keys, "--data", data_})
                .status,
            0);
  ASSERT_EQ(retention({"remove", "person-17", "--yes"}).status, 0);

  const auto look = erase({"--dry-run"});
  const auto refused = erase({});
  const auto done = erase({"--yes"});

  EXPECT_EQ(look.status, 0) << look.err;
  EXPECT_EQ(Json::parse(look.out).at("events"), 0);
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(error_of(refused).at("message").get<std::string>(), HasSubstr("nothing was changed"));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(erase({"--yes"}).status, 4);
  EXPECT_THAT(evershard({"retention", "log", "--data", data_, "--format", "jsonl"}).out, HasSubstr("$ErasureDone"));
}

TEST_F(RetentionCommands, EraseASnapshotsPayloadToo) {
  const auto keyed = [&](Words words) {
    words.insert(words.end(), {"--keys", path("keys"), "--data", data_});
    return evershard(words);
  };
  ASSERT_EQ(keyed({"append", "--aggregate", "person-17", "--type", "T", "--payload", "1"}).status, 0);
  EXPECT_EQ(keyed({"snapshot", "put", "person-17", "--version", "1", "--payload", "{}", "--subject", ""}).status, 2);
  ASSERT_EQ(keyed({"snapshot", "put", "person-17", "--version", "1", "--payload", R"({"name":"Ada"})", "--subject",
                   "person-17"})
                .status,
            0);
  EXPECT_THAT(keyed({"snapshot", "get", "person-17", "--format", "json"}).out, HasSubstr("Ada"));
  EXPECT_THAT(keyed({"snapshot", "get", "person-17", "--format", "json"}).out, HasSubstr(R"("subject":"person-17")"));
  ASSERT_EQ(keyed({"retention", "erase", "person-17", "--yes"}).status, 0);
  EXPECT_EQ(keyed({"snapshot", "get", "person-17"}).status, 4);
}

// Nobody takes the silence of another directory, or of nobody's name, for an erasure.
TEST_F(RetentionCommands, EraseWithTheRightKeysOnly) {
  const auto append = [&](const std::string& subject) {
    return evershard({"append", "--aggregate", "person-17", "--type", "T", "--payload", "1", "--subject", subject,
                      "--keys", path("keys"), "--data", data_})
        .status;
  };
  EXPECT_EQ(append(""), 2) << "it would be stored in clear";
  EXPECT_EQ(evershard({"append", "--jsonl", "-", "--keys", path("keys"), "--data", data_},
                      R"({"type":"T","payload":1,"subject":""})"
                      "\n")
                .status,
            5);
  ASSERT_EQ(append("person-17"), 0);

  const auto elsewhere = retention({"erase", "person-17", "--yes", "--keys", path("kyes")});

  EXPECT_EQ(elsewhere.status, 4);
  EXPECT_THAT(error_of(elsewhere).at("message").get<std::string>(), HasSubstr("is it the right directory?"));
  EXPECT_EQ(retention({"erase", "person-17", "--yes", "--keys", path("keys")}).status, 0);
}

TEST_F(RetentionCommands, KeepTheLogReadable) {
  const auto refused = retention({"remove", "order-1", "--yes", "--by", "\xff"});

  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(error_of(refused).at("message").get<std::string>(), HasSubstr("(by) is not UTF-8"));
  EXPECT_EQ(states(), "lll");
}

// A state that was made of what is gone is not said to be made of what is left.
TEST_F(RetentionCommands, SayOfWhichVersionsThereIsNoStateAnyMore) {
  const auto state = [&](Words words) {
    words.insert(words.begin(), {"aggregate", "state", "order-1", "--data", data_, "--format", "table"});
    return evershard(words).out;
  };
  EXPECT_THAT(state({}), HasSubstr("is what they make"));
  ASSERT_EQ(evershard({"snapshot", "put", "order-1", "--version", "2", "--payload", "{}", "--data", data_}).status, 0);
  ASSERT_EQ(retention({"truncate", "order-1", "2", "--yes"}).status, 0);

  EXPECT_THAT(state({"--version", "1"}),
              HasSubstr("1 of them was removed: the state of version 1 cannot be made any more"));
  EXPECT_THAT(state({}), HasSubstr("none: this is the state of version 2"));
  ASSERT_EQ(retention({"remove", "order-1", "--yes"}).status, 0);
  append(data_, R"({"aggregate":"order-1","type":"T","payload":4})"
                "\n");
  EXPECT_THAT(state({}), HasSubstr("the state of version 4 is what they make")) << "it begins anew behind its removal";
}

// What was broken off is finished by a run, which a look cannot tell.
TEST_F(RetentionCommands, AskBeforeARunThatRemovesNothing) {
  EXPECT_EQ(retention({"run", "--dry-run"}).status, 0);
  EXPECT_EQ(retention({"run"}).status, 5);
  EXPECT_EQ(retention({"run", "--yes"}).status, 0);
  ASSERT_EQ(retention({"remove", "order-1", "--yes"}).status, 0);
  EXPECT_EQ(retention({"remove", "order-1"}).status, 0) << "it is removed already";
}

// A server says the same, in the same words.
TEST_F(RetentionCommands, ThroughAServerAsWell) {
  Process server(
      words({"serve", "--data", data_, "--listen", "127.0.0.1:0", "--http-listen", "none", "--log-file", path("log")}));
  const auto ready = server.lines(1);
  ASSERT_FALSE(ready.empty());
  const auto address = ready.front().substr(6, ready.front().find(' ', 6) - 6);
  const auto retained = [&](Words given) {
    given.insert(given.begin(), "retention");
    given.insert(given.end(), {"--server", address, "--format", "json"});
    return evershard(given);
  };
  EXPECT_EQ(retained({"remove", "order-1"}).status, 5);
  EXPECT_THAT(retained({"remove", "order-1", "--yes", "--reason", "\xff"}).err, HasSubstr("(reason) is not UTF-8"));
  EXPECT_EQ(retained({"remove", "order-9", "--yes"}).status, 4);
  const auto bare = retained({"truncate", "order-1", "2", "--yes"});
  EXPECT_EQ(bare.status, 5);
  EXPECT_THAT(error_of(bare).at("message").get<std::string>(), HasSubstr("no snapshot stands for"));
  const auto truncated = retained({"truncate", "order-1", "2", "--uncovered", "--yes", "--by", "ann"});
  const auto done = retained({"remove", "order-1", "--yes"});
  ASSERT_EQ(retained({"policy", "old", "--remove", "order", "--keep", "90d"}).status, 0);
  const auto run = retained({"run", "--yes"});
  const auto policies = retained({"policies"});
  const auto log = retained({"log"});
  EXPECT_EQ(evershard({"vacuum", "--server", address}).status, 0);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);

  EXPECT_EQ(Json::parse(truncated.out).at("events"), 1) << truncated.err;
  EXPECT_EQ(Json::parse(done.out).at("events"), 1) << done.err;
  EXPECT_EQ(Json::parse(run.out).at("aggregates"), 1) << run.err;
  EXPECT_EQ(policies.out, retention({"policies"}).out);
  EXPECT_EQ(log.out, retention({"log"}).out);
  EXPECT_EQ(evershard({"verify", "--data", data_}).status, 0);
}

}  // namespace
}  // namespace evershard::testing
