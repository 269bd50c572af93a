// `evershard export` and `import`: byte for byte, in order, interrupted and gone on with.

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;

class Transfer : public Program {
 protected:
  void export_to(const std::string& store, const std::string& name, Words more = {}) {
    Words all{"export", path(name), "--data", store};
    all.insert(all.end(), more.begin(), more.end());
    const Finished done = evershard(all);
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_FALSE(std::filesystem::exists(path(name + ".part")));
  }
  Json import_into(const std::string& store, const std::string& name, int status = 0) {
    const Finished done = evershard({"import", path(name), "--data", store, "--format", "jsonl"});
    EXPECT_EQ(done.status, status) << done.err;
    return done.out.empty() ? Json() : Json::parse(done.out);
  }

  /// Appends of one to four events over some aggregates, with payloads that JSON would spoil.
  static std::string lines(std::uint64_t seed, int count) {
    const char* payloads[] = {R"("payload":{"z":1,"a":1.0,"a":1e2},)",
                              R"("payload":"AAH/",  "payload_encoding":"base64",)",
                              R"("payload":null,)",
                              "",
                              R"("payload":"CnsgfQ==","payload_encoding":"base64","payload_format":1,)",
                              R"("payload":123456789012345678901234567890,)",
                              R"("payload":"eyJhIjoxfQ==","payload_encoding":"base64","payload_format":1001,)",
                              R"("payload":[ 1, 2 ],"payload_format":0,)"};
    const char* metadata[] = {"", R"("metadata":{"by": "me"},)", R"("metadata":"/w==","metadata_encoding":"base64",)"};
    std::mt19937_64 random(seed);
    std::string text;
    std::uint64_t event_number = 0;
    for (int i = 0; i < count; ++i) {
      text += R"({"events":[)";
      const auto events = 1 + random() % 4;
      for (std::uint64_t e = 0; e < events; ++e) {
        text += (e == 0 ? "{" : ",{");
        if (random() % 5 != 0) text += R"("aggregate":"order-)" + std::to_string(random() % 9) + R"(",)";
        if (random() % 4 == 0) text += R"("also":["customer-)" + std::to_string(random() % 3) + R"("],)";
        if (random() % 3 == 0) text += R"("id":")" + id(++event_number) + R"(",)";
        if (random() % 2 == 0)
          text += R"("occurred_at":"20)" + std::to_string(10 + random() % 80) + R"(-01-31T12:00:00.123456Z",)";
        text += std::string(payloads[random() % std::size(payloads)]) + metadata[random() % std::size(metadata)];
        text += R"("tags":["t:)" + std::to_string(random() % 5) + R"(","\u00fc:\"\\"],"type":"T)" +
                std::to_string(random() % 4) + "\"}";
      }
      text += "]}\n";
    }
    return text;
  }
};

TEST_F(Transfer, GivesBackEveryByte) {
  const std::string first = store("first", 16);
  const std::string second = store("second", 5);
  append(first, lines(1, 2'000));

  export_to(first, "a.jsonl");
  const Json report = import_into(second, "a.jsonl");
  export_to(second, "b.jsonl");

  EXPECT_EQ(report.at("events_moved"), 0);
  EXPECT_EQ(report.at("events_stored"), head(first));
  const auto a = json_lines(read_file("a.jsonl"));
  const auto b = json_lines(read_file("b.jsonl"));
  ASSERT_EQ(a.size(), 2'000u);  // append boundaries
  ASSERT_EQ(a.size(), b.size());
  const auto without_place = [](std::string text) {  // five shards are not sixteen
    for (const auto* key : {"\"shard\":", "\"offset\":"}) {
      for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;)
        text.erase(at, text.find(',', at) - at + 1);
    }
    return text;
  };
  EXPECT_EQ(without_place(read_file("a.jsonl")), without_place(read_file("b.jsonl")));
}

TEST_F(Transfer, MakesTheSameFileFromTheCopy) {
  const std::string first = store("first");
  const std::string second = store("second");
  append(first, lines(2, 500));

  export_to(first, "a.jsonl");
  import_into(second, "a.jsonl");
  export_to(second, "b.jsonl");

  EXPECT_EQ(read_file("a.jsonl"), read_file("b.jsonl"));
  EXPECT_EQ(evershard({"export", "--data", second}).out, read_file("a.jsonl"));
}

/// A store that had everything done to it, at random: what it exports another store takes, and exports the same.
class TransferOfAHistory : public Transfer, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  void make(const std::string& data) {
    std::mt19937_64 random(GetParam());
    const auto done = [&](Words all) {
      all.insert(all.end(), {"--data", data, "--keys", path("keys")});
      const Finished finished = evershard(all);
      ASSERT_TRUE(finished.status == 0 || finished.status == 4 || finished.status == 5)
          << all[0] << ' ' << all[1] << ": " << finished.err;
    };
    std::uint64_t number = 1'000 * GetParam();
    for (int round = 0; round < 12; ++round) {
      std::string text;
      for (int i = 0; i < 12; ++i) {
        text += R"({"events":[)";
        const auto events = 1 + random() % 3;
        for (std::uint64_t e = 0; e < events; ++e) {
          text += std::string(e == 0 ? "" : ",") + R"({"id":")" + id(++number) + R"(","type":"T)" +
                  std::to_string(random() % 3) + R"(","tags":["t:)" + std::to_string(random() % 3) + "\"]";
          if (random() % 6 != 0) text += R"(,"aggregate":"order-)" + std::to_string(random() % 5) + "\"";
          if (random() % 3 == 0) text += R"(,"occurred_at":"2001-01-31T12:00:00.5Z")";
          if (random() % 4 == 0) text += R"(,"also":["customer-1"])";
          if (random() % 3 == 0) text += R"(,"subject":"person-)" + std::to_string(random() % 3) + "\"";
          text += R"(,"metadata":{"by":1},"payload":)" + std::to_string(number) + "}";
        }
        text += "]}\n";
      }
      const Finished appended = evershard({"append", "--jsonl", "-", "--data", data, "--keys", path("keys")}, text);
      ASSERT_EQ(appended.status, 0) << appended.err;
      const std::string aggregate = "order-" + std::to_string(random() % 5);
      const std::string version = std::to_string(2 + random() % 4);
      switch (random() % 6) {
        case 0:
          done({"retention", "truncate", aggregate, version, "--uncovered", "--yes"});
          break;
        case 1:
          done({"retention", "remove", aggregate, "--yes"});
          break;
        case 2:
          done({"retention", "erase", "person-" + std::to_string(random() % 3), "--yes"});
          break;
        case 3:
          done({"snapshot", "put", aggregate, "--version", version, "--payload", "{\"s\":" + version + "}",
                "--schema-revision", "3"});
          done({"retention", "truncate", aggregate, version, "--yes"});
          break;
        case 4:
          done({"retention", "policy", "p" + std::to_string(round), "--events", "T1", "--keep", "1d", "--uncovered"});
          done({"retention", "run", "--yes"});
          break;
        default:
          done({"retention", "policy", "of-carts", "--remove", "cart", "--keep", std::to_string(1 + round) + "d"});
          break;
      }
    }
  }
  /// Without shard, offset and when a snapshot was taken: the store's own to give.
  static std::string without_own(std::string text) {
    for (const auto* key : {"\"shard\":", "\"offset\":", "\"taken_at\":"}) {
      for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;)
        text.erase(at, text.find(',', at) - at + 1);
    }
    return text;
  }
};

TEST_P(TransferOfAHistory, IsTheSameOutInAndOutAgain) {
  const std::string first = store("first"), second = store("second"), third = store("third", 5);
  ASSERT_NO_FATAL_FAILURE(make(first));
  for (const Words& keys : {Words{"--keys", path("keys")}, Words{}}) {
    const std::string name = keys.empty() ? "sealed" : "plain";
    const std::string& to = keys.empty() ? third : second;
    export_to(first, name + "-a", keys);
    // What is sealed is taken by a store that shares the keys.
    const Finished imported = evershard({"import", path(name + "-a"), "--data", to, "--keys",
                                         path(keys.empty() ? "keys" : "other-keys"), "--format", "json"});
    ASSERT_EQ(imported.status, 0) << imported.err;
    EXPECT_EQ(Json::parse(imported.out).at("events_moved"), 0);
    EXPECT_EQ(Json::parse(imported.out).at("head"), head(first));
    export_to(to, name + "-b", keys.empty() ? Words{} : Words{"--keys", path("other-keys")});

    EXPECT_EQ(without_own(read_file(name + "-a")), without_own(read_file(name + "-b")));
    EXPECT_EQ(evershard({"verify", "--data", to}).status, 0);
    EXPECT_EQ(shown({"aggregate", "list", "--data", to, "--format", "jsonl", "--type", "order"}).size(),
              shown({"aggregate", "list", "--data", first, "--format", "jsonl", "--type", "order"}).size());
    const Finished again = evershard({"import", path(name + "-a"), "--data", to, "--keys",
                                      path(keys.empty() ? "keys" : "other-keys"), "--format", "json"});
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(Json::parse(again.out).at("events_stored"), 0);
    EXPECT_EQ(head(to), head(first));
  }
  // Into the store it came from: everything is known.
  const Finished itself =
      evershard({"import", path("plain-a"), "--data", first, "--keys", path("keys"), "--format", "json"});
  ASSERT_EQ(itself.status, 0) << itself.err;
  EXPECT_EQ(Json::parse(itself.out).at("events_stored"), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TransferOfAHistory,
                         ::testing::Range<std::uint64_t>(1, 1 + static_cast<std::uint64_t>(rounds_or(2))));

TEST_F(Transfer, GoesThroughAServer) {
  const std::string first = store("first"), second = store("second");
  append(first, R"({"aggregate":"a-1","type":"A","payload":1})"
                "\n"
                R"({"aggregate":"b-1","type":"A","payload":2})"
                "\n");
  const Finished sealed = evershard({"append", "--jsonl", "-", "--data", first, "--keys", path("keys")},
                                    R"({"aggregate":"b-1","type":"B","payload":3,"subject":"ada"})"
                                    "\n");
  ASSERT_EQ(sealed.status, 0) << sealed.err;
  ASSERT_EQ(evershard({"retention", "erase", "ada", "--yes", "--data", first, "--keys", path("keys")}).status, 0);
  ASSERT_EQ(evershard({"retention", "remove", "a-1", "--yes", "--data", first}).status, 0);
  export_to(first, "a.jsonl");
  ProcessOptions options;
  options.environment["EVERSHARD_HTTP_LISTEN"] = "none";
  Process server(words({"serve", "--data", second, "--listen", "unix:" + path("socket"), "--log-file", path("log")}),
                 options);
  ASSERT_FALSE(server.lines(1, std::chrono::seconds(60)).empty());

  const Finished imported =
      evershard({"import", path("a.jsonl"), "--server", "unix:" + path("socket"), "--format", "json"});
  server.signal(SIGTERM);
  server.wait();
  export_to(second, "b.jsonl");

  ASSERT_EQ(imported.status, 0) << imported.err;
  const auto a = json_lines(read_file("a.jsonl")), b = json_lines(read_file("b.jsonl"));
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(shown({"read", "b-1", "--data", second}).at(1).at("state"), "erased");
  EXPECT_EQ(shown({"read", "b-1", "--data", second}).at(1).at("type"), "B");
  EXPECT_EQ(evershard({"aggregate", "show", "a-1", "--data", second}).status, 4);
  EXPECT_EQ(evershard({"verify", "--data", second}).status, 0);
}

TEST_F(Transfer, TakesInWhatIsGoneByImportOnly) {
  const std::string data = store();
  const Finished appended =
      evershard({"append", "--jsonl", "-", "--data", data, "--format", "json"}, R"({"id":")" + id(1) +
                                                                                    R"(","type":"","state":"removed"})"
                                                                                    "\n");
  const Finished hidden = evershard({"append", "--jsonl", "-", "--data", data, "--format", "json"},
                                    R"({"aggregate":"a-1","type":"$AggregateRemoved"})"
                                    "\n");

  EXPECT_EQ(appended.status, 5);
  EXPECT_EQ(hidden.status, 5);
}

TEST_F(Transfer, KnowsWhatIsThereAlready) {
  const std::string first = store("first");
  const std::string second = store("second");
  append(first, lines(3, 300));
  // An append that named its request: an export does not carry that.
  append(first, R"({"events":[{"type":"A","id":")" + id(90'000) + R"("},{"type":"B","id":")" + id(90'001) +
                    R"("}],"request_id":")" + id(90'002) + "\"}\n");
  export_to(first, "a.jsonl");
  import_into(second, "a.jsonl");

  const Json again = import_into(second, "a.jsonl");
  const Json into_itself = import_into(first, "a.jsonl");

  for (const auto& report : {again, into_itself}) {
    EXPECT_EQ(report.at("events_stored"), 0);
    EXPECT_EQ(report.at("events_known"), head(first));
  }
}

TEST_F(Transfer, RefusesAnotherEventUnderAKnownId) {
  const std::string data = store();
  write_file("one", R"({"id":")" + id(1) +
                        R"(","type":"A","payload":1})"
                        "\n");
  write_file("other", R"({"id":")" + id(1) +
                          R"(","type":"A","payload":2})"
                          "\n");
  import_into(data, "one");

  const Finished done = evershard({"import", path("other"), "--data", data, "--format", "json"});

  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(error_of(done).at("code"), "duplicate_event");
  EXPECT_EQ(head(data), 1u);
}

TEST_F(Transfer, CarriesTheStoresEventsInUsersAggregates) {
  const std::string first = store("first"), second = store("second");
  std::string text;
  int number = 0;
  for (const auto* type : {"Placed", "$TimersChanged", "$ProcessReacted", "$CommandPrepared", "Paid"})
    text += R"({"aggregate":"order-1","id":")" + id(++number) + R"(","type":")" + type +
            R"(","payload_encoding":"base64","payload":"CgA="})"
            "\n";
  write_file("made", text);
  import_into(first, "made");
  ASSERT_EQ(evershard({"snapshot", "put", "order-1", "--data", first, "--version", "4", "--payload", "{}"}).status, 0);
  ASSERT_EQ(evershard({"retention", "truncate", "order-1", "2", "--yes", "--data", first}).status, 0);

  export_to(first, "a.jsonl");
  const Json report = import_into(second, "a.jsonl");
  export_to(second, "b.jsonl");

  EXPECT_EQ(report.at("events_moved"), 0);
  const auto there = shown({"read", "order-1", "--data", second});
  ASSERT_EQ(there.size(), 5u);
  EXPECT_EQ(there[2].at("type"), "$ProcessReacted");
  EXPECT_EQ(there[3].at("type"), "$CommandPrepared");
  EXPECT_EQ(there[4].at("seq_nr"), 5);
  const auto a = json_lines(read_file("a.jsonl")), b = json_lines(read_file("b.jsonl"));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].value("id", ""), b[i].value("id", ""));
    EXPECT_EQ(a[i].value("aggregate", ""), b[i].value("aggregate", ""));
    EXPECT_EQ(a[i].value("seq_nr", 0), b[i].value("seq_nr", 0));
  }
}

TEST_F(Transfer, RefusesAnotherNumberInAnAggregate) {
  const std::string first = store("first"), second = store("second"), third = store("third");
  append(first, R"({"aggregate":"order-1","type":"A"})"
                "\n"
                R"({"events":[{"aggregate":"order-1","type":"B","tags":["x"]},{"aggregate":"order-1","type":"C"},)"
                R"({"aggregate":"order-1","type":"D","tags":["x"]}]})"
                "\n");
  export_to(first, "all.jsonl");
  export_to(first, "x.jsonl", {"--tag", "x"});
  export_to(first, "last.jsonl", {"--after", "1"});

  const Finished gap = evershard({"import", path("x.jsonl"), "--data", second, "--format", "json"});
  const Finished last = evershard({"import", path("last.jsonl"), "--data", second, "--format", "json"});
  EXPECT_EQ(gap.status, 3);
  EXPECT_EQ(error_of(gap).at("code"), "version_conflict");
  EXPECT_THAT(error_of(gap).at("message").get<std::string>(), HasSubstr("--renumber"));
  EXPECT_EQ(last.status, 3);
  EXPECT_THAT(error_of(last).at("message").get<std::string>(), HasSubstr("--renumber"));
  EXPECT_EQ(head(second), 0u);

  ASSERT_EQ(evershard({"import", path("last.jsonl"), "--data", third, "--renumber"}).status, 0);
  EXPECT_EQ(head(third), 3u);
  const Finished other = evershard({"import", path("last.jsonl"), "--data", third, "--format", "json"});
  EXPECT_EQ(other.status, 3) << "what is known has other numbers: " << other.err;
  EXPECT_EQ(evershard({"import", path("last.jsonl"), "--data", third, "--renumber"}).status, 0);
  EXPECT_EQ(evershard({"import", path("all.jsonl"), "--data", first}).status, 0);
}

TEST_F(Transfer, NeedsAnIdOfEveryEvent) {
  const std::string data = store();

  const Finished done = evershard({"import", "-", "--data", data, "--format", "json"}, R"({"type":"A"})"
                                                                                       "\n");

  EXPECT_EQ(done.status, 5);
  EXPECT_THAT(error_of(done).at("message").get<std::string>(), HasSubstr("id is missing"));
}

TEST_F(Transfer, SaysHowManyEventsStandElsewhere) {
  const std::string first = store("first");
  const std::string second = store("second");
  append(first, R"({"type":"A"})"
                "\n"
                R"({"type":"B","tags":["x"]})"
                "\n"
                R"({"events":[{"type":"C","tags":["x"]},{"type":"D"},{"type":"E","tags":["x"]}]})"
                "\n");
  export_to(first, "x.jsonl", {"--tag", "x"});

  const Json report = import_into(second, "x.jsonl");

  EXPECT_EQ(json_lines(read_file("x.jsonl")).size(), 2u);
  EXPECT_EQ(report.at("events_stored"), 3);
  EXPECT_EQ(report.at("events_moved"), 3);
}

TEST_F(Transfer, KeepsToItsRange) {
  const std::string data = store();
  append(data, lines(5, 50));

  const auto part = json_lines(evershard({"export", "--data", data, "--after", "3", "--up-to", "7"}).out);

  std::vector<std::uint64_t> positions;
  for (const auto& line : part) {
    for (const auto& event : line.contains("events") ? line.at("events") : Json::array({line}))
      positions.push_back(event.at("position"));
  }
  EXPECT_THAT(positions, ::testing::ElementsAre(4, 5, 6, 7));
}

TEST_F(Transfer, GoesOnWhereAnInterruptedImportStopped) {
  const std::string first = store("first");
  const std::string second = store("second");
  append(first, lines(6, 3'000));
  export_to(first, "a.jsonl");
  const std::string all = read_file("a.jsonl");
  const std::size_t half = all.find('\n', all.size() / 2) + 1;

  Process process(words({"import", "-", "--data", second, "--format", "json"}));
  process.write(all.substr(0, half));
  process.write(all.substr(half, 40));  // a line that is not whole
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.signal(SIGINT);
  const Finished stopped = process.wait();
  const std::uint64_t stored = head(second);
  const Json report = import_into(second, "a.jsonl");
  export_to(second, "b.jsonl");

  EXPECT_EQ(stopped.status, 130);
  EXPECT_EQ(error_of(stopped).at("code"), "cancelled");
  EXPECT_EQ(error_of(stopped).at("events_stored"), stored);
  EXPECT_LT(stored, head(first));
  EXPECT_EQ(report.at("events_known"), stored);
  EXPECT_EQ(report.at("events_stored"), head(first) - stored);
  EXPECT_EQ(read_file("b.jsonl"), all);
}

TEST_F(Transfer, GoesOnAfterItWasKilled) {
  const std::string first = store("first");
  const std::string second = store("second");
  append(first, lines(7, 5'000));
  export_to(first, "a.jsonl");
  const std::string all = read_file("a.jsonl");

  Process process(words({"import", "-", "--data", second}));
  process.write(all.substr(0, all.size() / 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().status, 128 + SIGKILL);
  const Json report = import_into(second, "a.jsonl");
  export_to(second, "b.jsonl");

  EXPECT_EQ(report.at("events_known").get<std::uint64_t>() + report.at("events_stored").get<std::uint64_t>(),
            head(first));
  EXPECT_EQ(read_file("b.jsonl"), all);
}

TEST_F(Transfer, LeavesAnEarlierFileAloneWhereItFails) {
  const std::string data = store();
  append(data, lines(8, 10));
  write_file("kept", "as it was");

  const Finished nowhere = evershard({"export", path("none/file"), "--data", data, "--format", "json"});
  const Finished onto_directory = evershard({"export", path("store"), "--data", data, "--format", "json"});

  EXPECT_EQ(nowhere.status, 9);
  EXPECT_EQ(onto_directory.status, 9);
  EXPECT_FALSE(std::filesystem::exists(path("store.part")));
  EXPECT_EQ(read_file("kept"), "as it was");
}

TEST_F(Transfer, WritesToAFifoAsTheShellDoes) {
  const std::string data = store();
  append(data, lines(8, 3));
  const std::string all = evershard({"export", "--data", data}).out;
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const int reader = ::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);

  const Finished done = evershard({"export", path("fifo"), "--data", data, "--format", "json"});
  std::string came(2 * all.size(), ' ');
  came.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(reader, came.data(), came.size()))));
  ::close(reader);

  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(came, all);
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
}

TEST_F(Transfer, FollowsASymbolicLinkAndKeepsPermissions) {
  const std::string data = store();
  append(data, lines(8, 10));
  const std::string all = evershard({"export", "--data", data}).out;
  std::filesystem::create_directory(path("else"));
  write_file("else/private", "as it was");
  std::filesystem::permissions(path("else/private"), std::filesystem::perms(0600));
  std::filesystem::create_symlink("else/private", path("to_file"));
  std::filesystem::create_symlink("else/new", path("to_nothing"));
  std::filesystem::create_symlink("/dev/null", path("to_device"));
  std::filesystem::create_symlink("to_itself", path("to_itself"));

  for (const auto* name : {"to_file", "to_nothing", "to_device"}) export_to(data, name);
  const Finished itself = evershard({"export", path("to_itself"), "--data", data, "--format", "json"});

  for (const auto* name : {"to_file", "to_nothing", "to_device", "to_itself"})
    EXPECT_TRUE(std::filesystem::is_symlink(path(name))) << name;
  EXPECT_EQ(read_file("else/private"), all);
  EXPECT_EQ(read_file("else/new"), all);
  EXPECT_EQ(std::filesystem::status(path("else/private")).permissions(), std::filesystem::perms(0600));
  EXPECT_TRUE(std::filesystem::is_character_file(path("to_device")));
  EXPECT_EQ(itself.status, 9) << itself.err;
}

TEST_F(Transfer, WritesToStandardOutputByAnyOfItsNames) {
  const std::string data = store();
  append(data, lines(8, 10));
  const std::string all = evershard({"export", "--data", data}).out;

  for (const auto* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    EXPECT_EQ(evershard({"export", name, "--data", data}).out, all) << name;
    ProcessOptions into_file;
    into_file.output_file = path("output");
    EXPECT_EQ(evershard({"export", name, "--data", data}, {}, into_file).status, 0) << name;
    EXPECT_EQ(read_file("output"), all) << name;
  }
  EXPECT_EQ(evershard({"export", "/dev/fd/77", "--data", data}).status, 9) << "it is not open";
}

TEST_F(Transfer, IsNotMixedWithAnotherExportToTheSameFile) {
  const std::string data = store();
  append(data, lines(8, 10));
  write_file("a.jsonl.part", "what another process has written so far");
  const int other = ::open(path("a.jsonl.part").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);

  const Finished beside = evershard({"export", path("a.jsonl"), "--data", data, "--format", "json"});
  EXPECT_EQ(error_of(beside).at("code"), "unavailable") << beside.err;
  EXPECT_EQ(read_file("a.jsonl.part"), "what another process has written so far");

  ::close(other);  // it was killed
  export_to(data, "a.jsonl");
  EXPECT_EQ(read_file("a.jsonl"), evershard({"export", "--data", data}).out);
}

}  // namespace
}  // namespace evershard::testing
