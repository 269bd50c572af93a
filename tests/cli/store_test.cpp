// `evershard init`, `stats`, `verify`, `backup`, `restore`, `recover`, `vacuum`, `inspect`.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <tuple>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StoreCommands : public Program {
 protected:
  static void fill(const std::string& data, int events) {
    std::string lines;
    for (int i = 0; i < events; ++i) {
      lines += R"({"aggregate":"a-)" + std::to_string(i % 10) + R"(","type":"T","tags":["n:)" + std::to_string(i) +
               R"("],"payload":)" + std::to_string(i) + "}\n";
    }
    append(data, lines);
  }
};

TEST_F(StoreCommands, CreatesAStoreOnce) {
  const std::string data = store("store", 3);

  const Finished again = evershard({"init", "--data", data, "--shards", "3", "--format", "json"});
  const Finished accepted = evershard({"init", "--data", data, "--shards", "3", "--if-absent"});
  const Finished other = evershard({"init", "--data", data, "--shards", "4", "--if-absent", "--format", "json"});

  EXPECT_EQ(again.status, 5);
  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_EQ(Json::parse(accepted.out).at("created"), false);
  EXPECT_EQ(other.status, 5);
  EXPECT_EQ(error_of(other).at("code"), "invalid_argument");
  EXPECT_EQ(shown({"stats", "--data", data}).at(0).at("shards"), 3);
}

TEST_F(StoreCommands, DoesNotTouchADirectoryOfSomebodyElse) {
  fs::create_directories(path("photos"));
  write_file("photos/cat.jpg", "meow");

  const Finished init = evershard({"init", "--data", path("photos")});
  const Finished read = evershard({"read", "--data", path("photos"), "--format", "json"});

  EXPECT_EQ(init.status, 5);
  EXPECT_EQ(read.status, 4) << read.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(path("photos")), fs::directory_iterator{}), 1);
}

/// What lies there, and since when.
std::vector<std::string> lying_in(const std::string& directory) {
  std::vector<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    all.push_back(entry.path().string() + " " + std::to_string(entry.last_write_time().time_since_epoch().count()) +
                  " " + (entry.is_regular_file() ? std::to_string(entry.file_size()) : std::string("directory")));
  std::ranges::sort(all);
  return all;
}

TEST_F(StoreCommands, AskFirstWhatADirectoryIs) {
  const std::string data = store();
  fill(data, 50);
  ASSERT_EQ(evershard({"cluster", "restore", data, path("cluster"), "--nodes", "1"}).status, 0);
  ASSERT_EQ(evershard({"backup", path("truth"), "--data", data, "--truth-only"}).status, 0);
  ASSERT_EQ(evershard({"backup", path("copy"), "--data", data}).status, 0);
  fs::rename(path("copy"), path("copy.part"));
  fs::create_directories(path("empty"));
  const std::vector<std::tuple<std::string, int, std::string>> directories{
      {"cluster/coordinator", 5, "a coordinator's cut log"},
      {"cluster/node-1", 5, "part of a cluster's store"},
      {"cluster", 4, "coordinator, node-1"},
      {"truth", 5, "a backup of the truth only"},
      {"copy.part", 5, "a copy that was not finished"},
      {"empty", 4, "there is no store"}};

  for (const auto& [name, status, says] : directories) {
    const auto before = lying_in(path(name));
    for (auto words : std::vector<Words>{{"read"},
                                         {"stats"},
                                         {"export"},
                                         {"tail", "--until-caught-up"},
                                         {"aggregate", "list"},
                                         {"aggregate", "history", "a-1"},
                                         {"table", "list"},
                                         {"group", "list"},
                                         {"append", "--aggregate", "a-1", "--type", "T"},
                                         {"vacuum"},
                                         {"backup", path("nowhere")}}) {
      words.insert(words.end(), {"--data", path(name)});
      const Finished done = evershard(words);
      EXPECT_EQ(done.status, status) << words.front() << ' ' << name << ": " << done.err;
      EXPECT_THAT(done.err, HasSubstr(says)) << words.front();
    }
    // Which node's part a store is stands in its rows: what writes opens it before it knows.
    if (name != "cluster/node-1") {
      EXPECT_EQ(lying_in(path(name)), before) << name;
    }
  }
  for (const auto* name : {"cluster/coordinator", "cluster", "store/inside", "truth"}) {
    const Finished serve =
        evershard({"serve", "--data", path(name), "--listen", "127.0.0.1:0", "--http-listen", "none"});
    EXPECT_EQ(serve.status, 5) << name << ": " << serve.err;
  }
  EXPECT_FALSE(fs::exists(path("store/inside")));
  EXPECT_EQ(shown({"verify", "--data", path("cluster/coordinator")}).at(0).at("errors"), 0);
}

TEST_F(StoreCommands, ThatOnlyReadChangeNothing) {
  const std::string data = store();
  fill(data, 500);
  const auto before = lying_in(data);

  for (auto words : std::vector<Words>{{"read"},
                                       {"query", "--tag", "n:17"},
                                       {"export"},
                                       {"stats"},
                                       {"tail", "--until-caught-up"},
                                       {"aggregate", "list"},
                                       {"aggregate", "show", "a-1"},
                                       {"aggregate", "history", "a-1"},
                                       {"snapshot", "list", "a-1"},
                                       {"timer", "list"},
                                       {"process", "list"},
                                       {"retention", "log"},
                                       {"verify"}}) {
    words.insert(words.end(), {"--data", data});
    const Finished done = evershard(words);
    EXPECT_EQ(done.status, 0) << words.front() << ": " << done.err;
    EXPECT_EQ(lying_in(data), before) << words.front();
  }
}

TEST_F(StoreCommands, ReadAndVerifyWhereNothingCanBeWritten) {
  const std::string data = store();
  fill(data, 500);
  const std::string all = evershard({"export", "--data", data}).out;
  const auto mounted = [&](Words command) {
    Words words{"/usr/bin/unshare",
                "-Urm",
                "/bin/sh",
                "-c",
                "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" || exit 77; exec \"$@\"",
                data};
    const Words program = Program::words(std::move(command));
    words.insert(words.end(), program.begin(), program.end());
    return Process(words).wait();
  };

  const Finished exported = mounted({"export", "--data", data});
  if (exported.status == 77) GTEST_SKIP() << "this system lets us mount nothing";
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(exported.out, all);
  const Finished verified = mounted({"verify", "--data", data});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_EQ(mounted({"append", "--data", data, "--aggregate", "a-1", "--type", "T"}).status, 9);
  const Finished restored = mounted({"restore", data, path("again")});
  EXPECT_EQ(restored.status, 0) << restored.err;
  EXPECT_EQ(evershard({"export", "--data", path("again")}).out, all);
}

TEST_F(StoreCommands, SayThatADirectoryMayNotBeEntered) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string data = store();
  fs::permissions(data, fs::perms(0700));
  for (auto words : std::vector<Words>{{"read", "--data", data}, {"verify", "--data", data}}) {
    Words as_nobody{"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
    words = Program::words(words);
    as_nobody.insert(as_nobody.end(), words.begin(), words.end());
    const Finished done = Process(as_nobody).wait();
    if (done.status == 126 || done.status == 127) GTEST_SKIP() << "nobody may not run the program: " << done.err;
    EXPECT_EQ(done.status, 9) << done.err;
    EXPECT_THAT(done.err, HasSubstr("cannot be entered: Permission denied"));
  }
}

TEST_F(StoreCommands, SaysItsFigures) {
  const std::string data = store();
  fill(data, 100);

  const Json stats = shown({"stats", "--data", data}).at(0);
  const Finished table = evershard({"stats", "--data", data, "--format", "table"});

  EXPECT_EQ(stats.at("head"), 100);
  EXPECT_EQ(stats.at("store_id").get<std::string>().size(), 36u);
  EXPECT_GT(stats.at("disk_bytes"), 0);
  EXPECT_THAT(table.out, HasSubstr("events"));
}

TEST_F(StoreCommands, VerifiesAStore) {
  const std::string data = store();
  fill(data, 500);

  const Json report = shown({"verify", "--data", data}).at(0);

  EXPECT_EQ(report.at("events"), 500);
  EXPECT_EQ(report.at("errors"), 0);
  EXPECT_EQ(report.at("findings"), Json::array());
}

TEST_F(StoreCommands, VerifiesBackupsAndSaysWhatItLookedAt) {
  const std::string data = store();
  fill(data, 100);
  ASSERT_EQ(evershard({"backup", path("whole"), "--data", data}).status, 0);
  ASSERT_EQ(evershard({"backup", path("truth"), "--data", data, "--truth-only"}).status, 0);
  fs::create_directories(path("photos"));
  write_file("photos/cat.jpg", "meow");

  EXPECT_EQ(shown({"verify", "--data", data}).at(0).at("checked"), "a store");
  EXPECT_EQ(shown({"verify", "--data", path("whole")}).at(0).at("events"), 100);
  const Json truth = shown({"verify", "--data", path("truth")}).at(0);
  EXPECT_EQ(truth.at("checked"), "a backup of the truth only");
  EXPECT_EQ(truth.at("events"), 100);
  EXPECT_EQ(truth.at("errors"), 0);
  const Finished photos = evershard({"verify", "--data", path("photos"), "--format", "json"});
  EXPECT_EQ(photos.status, 4);
  EXPECT_EQ(error_of(photos).at("code"), "not_found");
  EXPECT_FALSE(fs::exists(path("whole/projections"))) << "a backup stays as it is";
}

TEST_F(StoreCommands, VerifyTheRegisteredTypesToo) {
  const std::string data = store();
  fill(data, 10);
  write_file("store/TYPES", "evershard types 1 0123456789abcdef\n{}\n");

  const Finished damaged = evershard({"verify", "--data", data});
  EXPECT_EQ(damaged.status, 8) << damaged.err;
  EXPECT_THAT(damaged.out, HasSubstr("TYPES\\\" is damaged: its checksum does not hold"));
}

TEST_F(StoreCommands, BacksUpAndRestores) {
  const std::string data = store();
  fill(data, 200);
  ASSERT_EQ(evershard({"backup", path("backup"), "--data", data}).status, 0);
  fill(data, 10);

  const Finished restored = evershard({"restore", path("backup"), path("again")});
  const Finished onto = evershard({"restore", path("backup"), data, "--format", "json"});
  const Finished nothing = evershard({"restore", path("none"), path("else"), "--format", "json"});
  for (const auto& words : std::vector<Words>{{"restore", path("backup"), path("x.part")},
                                              {"backup", path("x.part"), "--data", data},
                                              {"backup", path("x.part/"), "--data", data, "--truth-only"}}) {
    const Finished unfinished = evershard(words);
    EXPECT_EQ(unfinished.status, 5) << unfinished.err;
    EXPECT_FALSE(fs::exists(path("x.part")));
  }

  EXPECT_EQ(restored.status, 0) << restored.err;
  EXPECT_EQ(head(path("again")), 200u);
  EXPECT_EQ(evershard({"export", "--data", path("again")}).out,
            evershard({"export", "--data", data, "--up-to", "200"}).out);
  EXPECT_EQ(onto.status, 5);
  EXPECT_EQ(error_of(onto).at("code"), "invalid_argument");
  EXPECT_EQ(nothing.status, 4);
  EXPECT_FALSE(fs::exists(path("else")));
  EXPECT_EQ(head(data), 210u);
}

TEST_F(StoreCommands, CopiesNothingIntoTheDirectoryOfAStore) {
  const std::string data = store();
  const std::string other = store("other");
  fill(data, 10);
  fs::create_directory_symlink(data, path("link"));

  for (const auto& words : std::vector<Words>{{"backup", data + "/backup", "--data", data},
                                              {"backup", data + "/db/backup", "--data", data, "--truth-only"},
                                              {"backup", path("link/deep/backup"), "--data", data},
                                              {"backup", other + "/backup", "--data", data},
                                              {"restore", data, other + "/restored"},
                                              {"cluster", "restore", data, other + "/cluster", "--nodes", "1"}}) {
    const Finished inside = evershard(words);
    EXPECT_EQ(inside.status, 5) << inside.err;
    EXPECT_THAT(inside.err, HasSubstr("lies in the directory of a store"));
  }
  for (const auto* made : {"store/backup", "store/backup.part", "store/db/backup.part", "store/deep",
                           "other/backup.part", "other/restored.part", "other/cluster", "other/cluster.part"})
    EXPECT_FALSE(fs::exists(path(made))) << made;
}

TEST_F(StoreCommands, BacksUpTheTruthOnlyAndMakesTheIndexesWhenItIsRestored) {
  const std::string data = store();
  fill(data, 300);

  const Json made = shown({"backup", path("truth"), "--data", data, "--truth-only"}).at(0);
  const Finished opened = evershard({"read", "--data", path("truth"), "--format", "json"});
  const Finished mended = evershard({"recover", "--data", path("truth"), "--format", "json"});
  const Json restored = shown({"restore", path("truth"), path("again")}).at(0);

  EXPECT_EQ(made.at("truth_only"), true);
  EXPECT_EQ(made.at("up_to"), 300);
  for (const auto& refused : {opened, mended}) {
    EXPECT_EQ(refused.status, 5);
    EXPECT_THAT(error_of(refused).at("message").get<std::string>(),
                HasSubstr("`evershard restore` makes a store of it"));
  }
  EXPECT_EQ(restored.at("up_to"), 300);
  EXPECT_EQ(evershard({"export", "--data", path("again")}).out, evershard({"export", "--data", data}).out);
  EXPECT_EQ(evershard({"query", "--data", path("again"), "--tag", "n:17"}).out,
            evershard({"query", "--data", data, "--tag", "n:17"}).out);
  EXPECT_EQ(shown({"verify", "--data", path("again")}).at(0).at("errors"), 0);
}

TEST_F(StoreCommands, ClonesAndRestoresUpToAPosition) {
  const std::string data = store();
  fill(data, 50);
  append(data, R"({"events":[{"aggregate":"a-1","type":"T"},{"type":"U"},{"aggregate":"a-2","type":"T"}]})"
               "\n");
  fill(data, 20);
  ASSERT_EQ(evershard({"backup", path("backup"), "--data", data}).status, 0);

  const Json cloned = shown({"backup", path("clone"), "--data", data, "--up-to", "53"}).at(0);
  const Json restored = shown({"restore", path("backup"), path("again"), "--up-to", "50"}).at(0);
  const Finished torn = evershard({"restore", path("backup"), path("torn"), "--up-to", "52", "--format", "json"});
  const Finished beyond = evershard({"backup", path("torn"), "--data", data, "--up-to", "74", "--format", "json"});

  EXPECT_EQ(cloned.at("up_to"), 53);
  EXPECT_EQ(restored.at("up_to"), 50);
  EXPECT_EQ(evershard({"export", "--data", path("clone")}).out,
            evershard({"export", "--data", data, "--up-to", "53"}).out);
  EXPECT_EQ(head(path("again")), 50u);
  EXPECT_EQ(torn.status, 5);
  EXPECT_THAT(error_of(torn).at("message").get<std::string>(), HasSubstr("the append at positions 51 to 53"));
  EXPECT_EQ(beyond.status, 5);
  EXPECT_FALSE(fs::exists(path("torn")));
  const Json original = shown({"stats", "--data", data}).at(0), clone = shown({"stats", "--data", path("clone")}).at(0);
  EXPECT_EQ(clone.at("store_id"), original.at("store_id"));
  EXPECT_NE(clone.at("fork_id"), original.at("fork_id"));
}

TEST_F(StoreCommands, ABackupThatIsKilledLeavesNothingThatLooksWholeAndIsMadeAgain) {
  const std::string data = store();
  fill(data, 8'000);
  const auto kind = [&](int round) {
    Words backup{"backup", path("copy"), "--data", data};
    const Words more = round % 2 == 0 ? Words{"--truth-only"} : Words{"--up-to", "7999"};
    backup.insert(backup.end(), more.begin(), more.end());
    return backup;
  };
  // How quick this machine is just now, nobody knows: each is killed some milliseconds after it has begun to write.
  int killed_inside = 0;
  for (int round = 0; round < 4 || (killed_inside == 0 && round < 40); ++round) {
    Process making(words(kind(round)));
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
         !fs::exists(path("copy.part")) && !fs::exists(path("copy")) && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * (round % 4)));
    making.signal(SIGKILL);
    making.wait();

    if (!fs::exists(path("copy.part"))) {
      fs::remove_all(path("copy"));  // it was done, or had not begun
      continue;
    }
    ++killed_inside;
    EXPECT_FALSE(fs::exists(path("copy")));
    EXPECT_NE(evershard({"restore", path("copy.part"), path("never")}).status, 0);
    EXPECT_FALSE(fs::exists(path("never")));
  }
  EXPECT_GT(killed_inside, 0);

  EXPECT_EQ(evershard({"backup", path("copy"), "--data", data, "--truth-only"}).status, 0)
      << "what the killed one left is replaced";
  EXPECT_FALSE(fs::exists(path("copy.part")));
  EXPECT_EQ(evershard({"restore", path("copy"), path("again")}).status, 0);
  EXPECT_EQ(head(path("again")), 8'000u);
  EXPECT_EQ(shown({"verify", "--data", data}).at(0).at("errors"), 0);
}

TEST_F(StoreCommands, RefusesABackupOntoSomething) {
  const std::string data = store();
  fs::create_directories(path("full"));
  write_file("full/file", "x");

  const Finished done = evershard({"backup", path("full"), "--data", data, "--format", "json"});

  EXPECT_EQ(done.status, 5);
  EXPECT_EQ(error_of(done).at("code"), "invalid_argument");
}

TEST_F(StoreCommands, VacuumsAndKeepsEverything) {
  const std::string data = store();
  fill(data, 300);
  const std::string before = evershard({"export", "--data", data}).out;

  const Json report = shown({"vacuum", "--data", data}).at(0);

  EXPECT_GT(report.at("disk_bytes"), 0);
  EXPECT_EQ(evershard({"export", "--data", data}).out, before);
}

TEST_F(StoreCommands, HasNothingToRecoverInASoundStore) {
  const std::string data = store();
  fill(data, 20);

  const Json plan = shown({"recover", "--data", data}).at(0);

  EXPECT_EQ(plan.at("done"), false);
  EXPECT_EQ(plan.at("lost"), 0);
  EXPECT_EQ(plan.at("steps"), Json::array());
}

/// The write-ahead logs under a directory.
std::vector<fs::path> logs(const std::string& data) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) found.push_back(entry.path());
  }
  return found;
}

TEST_F(StoreCommands, SaysWhatIsLostAndMendsItOnlyWhenTold) {
  const std::string data = store();
  fill(data, 50);
  // Whatever the close left in logs and files: a process that is killed leaves the rest in the log.
  Process writer(words({"append", "--data", data, "--jsonl", "-"}));
  for (int i = 0; i < 20; ++i) {
    writer.write(R"({"type":"Late"})"
                 "\n");
    ASSERT_EQ(writer.lines(static_cast<std::size_t>(i) + 1).size(), static_cast<std::size_t>(i) + 1);
  }
  writer.signal(SIGKILL);
  writer.wait();
  const auto left = logs(data);
  ASSERT_FALSE(left.empty());
  for (const auto& log : left) fs::resize_file(log, 0);

  const Finished opened = evershard({"read", "--data", data, "--format", "json"});
  const Finished plan = evershard({"recover", "--data", data, "--format", "json"});
  const Finished still = evershard({"read", "--data", data, "--format", "json"});
  const Finished mended = evershard({"recover", "--data", data, "--yes", "--format", "json"});

  EXPECT_EQ(opened.status, 8) << opened.err;
  EXPECT_EQ(plan.status, 8);
  EXPECT_THAT(plan.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(Json::parse(plan.out).at("lost"), 20);
  EXPECT_EQ(still.status, 8);
  EXPECT_EQ(mended.status, 0) << mended.err;
  EXPECT_EQ(Json::parse(mended.out).at("done"), true);
  EXPECT_EQ(head(data), 50u);
  EXPECT_EQ(shown({"verify", "--data", data}).at(0).at("errors"), 0);
}

TEST_F(StoreCommands, ShowsRawRowsDecoded) {
  const std::string data = store();
  append(data, R"({"aggregate":"a-1","type":"Marker","tags":["x"]})"
               "\n");

  const auto journal = shown({"inspect", "--data", data});
  const auto shard = journal.at(0).at("key").at("shard").get<int>();
  const auto of_shard = shown({"inspect", "--data", data, "--shard", std::to_string(shard)});
  const auto of_other = shown({"inspect", "--data", data, "--shard", std::to_string((shard + 1) % 16)});
  const auto by_prefix = shown({"inspect", "--data", data, "--prefix", journal.at(0).at("key_hex").get<std::string>()});
  const Finished order =
      evershard({"inspect", "--data", data, "--family", "order", "--limit", "1", "--format", "table"});

  ASSERT_EQ(journal.size(), 1u);
  EXPECT_THAT(journal.at(0).at("value").dump(), HasSubstr("Marker"));
  EXPECT_EQ(of_shard, journal);
  EXPECT_TRUE(of_other.empty());
  EXPECT_EQ(by_prefix, journal);
  EXPECT_EQ(order.status, 0);
  EXPECT_EQ(std::count(order.out.begin(), order.out.end(), '\n'), 2);
  for (const auto* family : {"state", "streams", "postings", "ids", "directory", "runs"}) {
    EXPECT_EQ(evershard({"inspect", "--data", data, "--family", family}).status, 0) << family;
  }
  EXPECT_EQ(evershard({"inspect", "--data", data, "--family", "nonsense"}).status, 5);
  EXPECT_EQ(evershard({"inspect", "--data", data, "--family", "order", "--shard", "1"}).status, 5);
}

}  // namespace
}  // namespace evershard::testing
