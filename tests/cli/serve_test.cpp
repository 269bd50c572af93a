// `evershard serve` as a process: how it starts, what it refuses, how it ends.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/process/small_disk.hpp"

namespace evershard::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* hush = "hush-hush-hush-hush-hush";

class Serve : public Program {
 protected:
  /// Servers of several tests run at once, and the page's default port is one for all.
  Serve() { ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1); }

  /// Words of a server on a free port, with its log in a file.
  [[nodiscard]] Words serving(Words more = {}) const {
    Words all{"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--log-file", path("log"), "--shards", "4"};
    all.insert(all.end(), more.begin(), more.end());
    return words(std::move(all));
  }
  [[nodiscard]] bool logged(const std::string& text, milliseconds deadline = seconds(120)) const {
    const auto until = std::chrono::steady_clock::now() + deadline;
    while (read_file("log").find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
  }
  void write_tokens(const std::string& text) const {
    write_file("tokens", text);
    ::chmod(path("tokens").c_str(), 0600);
  }
};

std::string address_of(Process& server) {
  const auto lines = server.lines(1);
  if (lines.empty() || !lines.front().starts_with("ready ")) return {};
  const auto rest = lines.front().substr(6);
  return rest.substr(0, rest.find(' '));
}

/// A write fails: its files may not grow any further. Who was answered is answered again after a new start.
TEST_F(Serve, SaysThatItWritesNothingAnyMore) {
  Words limited{"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 2000; exec \"$@\"", "sh"};  // blocks of 512 bytes
  const auto all = serving({"--http-listen", "127.0.0.1:0", "--memtable", "16MiB"});
  limited.insert(limited.end(), all.begin(), all.end());
  auto server = std::make_unique<Process>(limited);
  const auto lines = server->lines(1);
  ASSERT_FALSE(lines.empty()) << server->errors();
  const auto address = lines.front().substr(6, lines.front().find(' ', 6) - 6);
  const auto page = lines.front().substr(lines.front().rfind(' ') + 1);
  EXPECT_EQ(ask(page, "GET", "/health").status, 200);

  const auto large = '"' + std::string(100'000, 'x') + '"';
  int stored = 0;
  while (stored < 100 && evershard({"append", "--server", address, "--aggregate", "a-" + std::to_string(stored),
                                    "--type", "T", "--payload", large})
                                 .status == 0)
    ++stored;

  EXPECT_LT(stored, 100);
  EXPECT_TRUE(logged("nothing is written any more until the store is opened again"));
  const auto told = ask(page, "GET", "/health");
  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(told.json()["status"], "failed");
  EXPECT_THAT(ask(page, "GET", "/metrics").body, HasSubstr("\nevershard_store_failed 1\n"));
  EXPECT_EQ(evershard({"read", "--server", address, "--limit", "1"}).status, 0) << "reads go on";
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().status, 0);

  Process again(serving());
  const auto there = address_of(again);
  for (int n = 0; n != stored; ++n)
    EXPECT_EQ(evershard({"aggregate", "show", "a-" + std::to_string(n), "--server", there}).status, 0) << n;
  again.signal(SIGTERM);
  EXPECT_EQ(again.wait().status, 0);
}

/// What is in memory finds its place, whatever else fills the disk before; and where it is full, reads go on.
TEST_F(Serve, ReadsOnWhereItsDiskIsFull) {
  const SmallDisk disk(path("disk"), 128);
  if (!disk.is_there()) GTEST_SKIP() << "this system lets us make no file system";
  disk.fill_up(56u << 20);
  const auto start = [&] {
    auto all = disk.within();
    const auto program =
        words({"serve", "--data", path("disk/store"), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
               "--log-file", path("log"), "--shards", "4", "--disk-reserve", "0", "--memtable", "4MiB"});
    all.insert(all.end(), program.begin(), program.end());
    return std::make_unique<Process>(all);
  };
  auto server = start();
  auto lines = server->lines(1);
  ASSERT_FALSE(lines.empty()) << server->errors();
  auto address = lines.front().substr(6, lines.front().find(' ', 6) - 6);
  auto page = lines.front().substr(lines.front().rfind(' ') + 1);
  std::mt19937 random(17);
  std::string appends;
  for (int n = 0; n != 80; ++n) {  // more than there is room for
    std::string payload(900'000, ' ');
    for (auto& byte : payload) byte = static_cast<char>('A' + random() % 26);
    appends += R"({"aggregate":"a-)" + std::to_string(n) + R"(","type":"T","payload":")" + payload + "\"}\n";
  }

  const Finished done = evershard({"append", "--server", address, "--jsonl", "-"}, appends);
  EXPECT_EQ(done.status, 6) << done.err;
  EXPECT_THAT(done.err, HasSubstr("are to stay free"));
  // What was in memory is written out meanwhile, and may make room for a moment.
  const std::string said = "appends are refused until the disk has room again";
  for (int tries = 0; tries != 20 && !logged(said, milliseconds(1'500)); ++tries)
    (void)evershard({"append", "--server", address, "--jsonl", "-"}, appends);
  EXPECT_TRUE(logged(said, milliseconds(0)));
  auto told = ask(page, "GET", "/health");
  for (int tries = 0; tries != 20 && !told.json().value("disk_full", false); ++tries) {
    (void)evershard({"append", "--server", address, "--jsonl", "-"}, appends);
    told = ask(page, "GET", "/health");
  }
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.json()["disk_full"], true);
  const auto stored = shown({"stats", "--server", address}).front().at("head").get<int>();
  EXPECT_GT(stored, 5);
  EXPECT_EQ(shown({"read", "--server", address}).size(), static_cast<std::size_t>(stored)) << "reads go on";
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().status, 0);

  server = start();
  lines = server->lines(1);
  ASSERT_FALSE(lines.empty()) << server->errors() << read_file("log");
  address = lines.front().substr(6, lines.front().find(' ', 6) - 6);
  EXPECT_EQ(shown({"read", "--server", address}).size(), static_cast<std::size_t>(stored));
  disk.make_room();
  const auto append_one = [&] {
    return evershard({"append", "--server", address, "--aggregate", "b-1", "--type", "T"});
  };
  Finished after = append_one();
  for (int tries = 0; tries != 20 && after.status != 0; ++tries) after = append_one();  // it looks now and then
  EXPECT_EQ(after.status, 0) << after.err;
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().status, 0);
}

/// How far an import has come is known by where it comes from: a second source begins at its own beginning.
TEST_F(Serve, IsImportedBesideAnotherSource) {
  const std::string target = store("target");
  for (const auto* name : {"first", "second"}) {
    const std::string data = store(name);
    append(data, std::string(R"({"type":"From)") + name + "\"}\n" + R"({"type":"T"})" + "\n");
    Process source(words({"serve", "--data", data, "--listen", "127.0.0.1:0", "--umadb-listen", "127.0.0.1:0"}));
    const auto ready = source.lines(1);
    ASSERT_FALSE(ready.empty()) << source.errors();
    const auto umadb = ready.front().substr(ready.front().rfind(' ') + 1);
    const Finished done = evershard({"import", "--from", "umadb://" + umadb, "--data", target, "--format", "jsonl"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(Json::parse(done.out).at("events_stored"), 2) << done.out;
    const Finished again = evershard({"import", "--from", "umadb://" + umadb, "--data", target, "--format", "jsonl"});
    EXPECT_EQ(Json::parse(again.out).at("events_stored"), 0) << again.err;
  }
  EXPECT_EQ(shown({"query", "--type", "Fromfirst", "--data", target}).size(), 1u);
  EXPECT_EQ(shown({"query", "--type", "Fromsecond", "--data", target}).size(), 1u);
}

TEST_F(Serve, LeavesNoNewStoreWhereItDoesNotStart) {
  Process first(serving());
  const auto taken = address_of(first);
  ASSERT_FALSE(taken.empty());

  for (const auto& more :
       std::vector<Words>{{"--listen", taken}, {"--http-listen", taken}, {"--kurrent-listen", taken}}) {
    Words all{"serve", "--data", path("new/deep"), "--listen", "127.0.0.1:0"};
    all.insert(all.end(), more.begin(), more.end());
    const Finished second = evershard(all);
    EXPECT_EQ(second.status, 6) << second.err;
    EXPECT_THAT(second.err, HasSubstr(taken + ": Address already in use"));
    EXPECT_FALSE(std::filesystem::exists(path("new"))) << more.front();
  }
  std::filesystem::create_directory(path("own"));
  EXPECT_EQ(evershard({"serve", "--data", path("own"), "--listen", taken}).status, 6);
  EXPECT_TRUE(std::filesystem::is_empty(path("own"))) << "what was there stays";
  const std::string data = store("there");
  EXPECT_EQ(evershard({"serve", "--data", data, "--listen", taken}).status, 6);
  EXPECT_EQ(shown({"stats", "--data", data}).front().at("head"), 0) << "a store that was there stays, empty or not";
}

TEST_F(Serve, CreatesAStoreSaysWhereItIsAndEndsAtSigtermAndSigint) {
  for (const int number : {SIGTERM, SIGINT}) {
    Process server(serving());
    const auto address = address_of(server);
    EXPECT_THAT(address, StartsWith("127.0.0.1:"));
    EXPECT_NE(address, "127.0.0.1:0");

    server.signal(number);
    const auto done = server.wait();

    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.out, "ready " + address + "\n");
    EXPECT_EQ(done.err, "");
  }
  EXPECT_EQ(shown({"stats", "--data", path("served")}).front().at("shards"), 4);
  EXPECT_THAT(read_file("log"), HasSubstr("info stopped\n"));
}

TEST_F(Serve, IsMissedByWhoFollowsIt) {
  auto server = std::make_unique<Process>(serving());
  const auto address = address_of(*server);
  const auto append = [&](const char* id) {
    return evershard({"append", "--server", address, "--aggregate", id, "--type", "T"}).status;
  };
  ASSERT_EQ(append("a-1"), 0);
  Process patient(words({"tail", "--server", address, "--format", "jsonl"}));
  Process hasty(words({"tail", "--server", address, "--format", "jsonl", "--away-timeout", "1500ms"}));
  ASSERT_EQ(patient.lines(1).size(), 1u);
  ASSERT_EQ(hasty.lines(1).size(), 1u);

  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().status, 0);
  EXPECT_TRUE(patient.says("evershard: the server is away since 2")) << patient.errors();
  const auto ended = hasty.wait();
  EXPECT_EQ(ended.status, 6) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("\"code\":\"unavailable\""));
  EXPECT_THAT(ended.err, HasSubstr("go on with --after 1"));

  std::string again;
  for (int tries = 0; tries != 50 && again.empty(); ++tries) {  // the port may be busy for a moment
    server = std::make_unique<Process>(
        words({"serve", "--data", path("served"), "--listen", address, "--log-file", path("log")}));
    again = address_of(*server);
    if (again.empty()) std::this_thread::sleep_for(milliseconds(50));
  }
  ASSERT_EQ(again, address);
  EXPECT_TRUE(patient.says("evershard: the server is back after ")) << patient.errors();
  ASSERT_EQ(append("a-2"), 0);
  EXPECT_EQ(patient.lines(2).size(), 2u) << "it goes on by itself";
  const auto said = patient.errors();
  EXPECT_EQ(said.find("is away"), said.rfind("is away")) << said;
}

TEST_F(Serve, CreatesNoStoreWhereItIsToldNotTo) {
  const auto done = run(serving({"--create", "no"}));
  EXPECT_NE(done.status, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_FALSE(std::filesystem::exists(path("served") + "/CURRENT"));
}

TEST_F(Serve, RefusesAPortThatIsInUseInOneLine) {
  Process first(serving());
  const auto address = address_of(first);
  ASSERT_NE(address, "");

  const auto done = evershard({"serve", "--data", path("other"), "--listen", address, "--log-file", path("log2")});

  EXPECT_EQ(done.status, 6);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("evershard: unavailable: cannot listen on " + address));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_F(Serve, RefusesASecondServerOnTheSameData) {
  Process first(serving());
  ASSERT_NE(address_of(first), "");

  const auto done = run(serving({"--log-format", "json"}));

  EXPECT_EQ(done.status, 6);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("evershard: unavailable: "));
  EXPECT_THAT(done.err, HasSubstr("is open already: process "));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_F(Serve, RefusesToBeReachedFromElsewhereUnlessToldThatThisIsMeant) {
  const Words anywhere{"serve", "--data", path("served"), "--listen", "0.0.0.0:0"};
  auto with = [&](Words more) {
    more.insert(more.begin(), anywhere.begin(), anywhere.end());
    return more;
  };
  write_tokens("ann read " + std::string(hush));
  for (const auto& given : {with({}), with({"--tokens", path("tokens")}), with({"--listen", "127.0.0.1:0"})}) {
    const auto done = evershard(given);
    EXPECT_EQ(done.status, 5);
    EXPECT_THAT(done.err, HasSubstr("can be reached from other machines, without TLS"));
    EXPECT_FALSE(std::filesystem::exists(path("served")));
  }
  auto insecure = with({"--insecure", "--log-file", path("log")});
  Process server(words(insecure));
  EXPECT_THAT(address_of(server), StartsWith("0.0.0.0:"));
  EXPECT_TRUE(logged("warning insecure, as asked for"));
}

TEST_F(Serve, RefusesTokensThatCannotBeReadAndNeverShowsThem) {
  struct Case {
    std::string text;
    const char* says;
  };
  for (const auto& [text, says] : {Case{"", "holds no token"},
                                   {std::string(hush) + " read ann", "line 1"},
                                   {"ann " + std::string(hush) + " read", "line 1"}}) {
    write_tokens(text);
    const auto done = run(serving({"--tokens", path("tokens")}));
    EXPECT_EQ(done.status, 5);
    EXPECT_THAT(done.err, HasSubstr(says));
    EXPECT_THAT(done.err + done.out + read_file("log"), Not(HasSubstr("hush")));
  }
  const auto missing = run(serving({"--tokens", path("not-there")}));
  EXPECT_EQ(missing.status, 9);
  EXPECT_THAT(missing.err, HasSubstr("the file of tokens (setting tokens) cannot be read: No such file"));
  EXPECT_FALSE(std::filesystem::exists(path("served")));
}

TEST_F(Serve, TakesItsSettingsFromFlagsEnvironmentAndFile) {
  write_file("a.conf", "[limits]\nread-threads = 7\nmax-queue-appends = 7\n[store]\ndata = " + path("from-file") +
                           "\nblock-cache = 7MiB\n");
  const ProcessOptions environment{.environment = {{"EVERSHARD_READ_THREADS", "8"}, {"EVERSHARD_BLOCK_CACHE", "8MiB"}}};

  const auto done =
      evershard({"serve", "--config", path("a.conf"), "--block-cache", "9MiB", "--check"}, {}, environment);

  EXPECT_EQ(done.status, 0) << done.err;
  std::map<std::string, std::string> seen;
  const auto shown = Json::parse(done.out);
  for (const auto& one : shown.at("settings"))
    seen[one.at("name")] = one.at("value").get<std::string>() + " from " + one.at("source").get<std::string>();
  EXPECT_EQ(seen.at("block-cache"), "9MiB from flag --block-cache");
  EXPECT_EQ(seen.at("read-threads"), "8 from environment EVERSHARD_READ_THREADS");
  EXPECT_EQ(seen.at("max-queue-appends"), "7 from " + path("a.conf") + ", line 3");
  EXPECT_EQ(seen.at("data"), path("from-file") + " from " + path("a.conf") + ", line 5");
  EXPECT_EQ(seen.at("drain-timeout"), "30s from default");
  EXPECT_FALSE(std::filesystem::exists(path("from-file")));
  const auto table = evershard({"serve", "--config", path("a.conf"), "--check", "--format", "table"});
  EXPECT_THAT(table.out, HasSubstr("GROUP"));
}

TEST_F(Serve, RefusesSettingsItDoesNotKnowOrThatDoNotFit) {
  write_file("typo.conf", "\nlisten = 127.0.0.1:0\nblok-cache = 1MiB\n");
  struct Case {
    Words more;
    std::map<std::string, std::string> environment;
    int status;
    std::string says;
  };
  const Case cases[] = {
      {{"--config", path("typo.conf")},
       {},
       5,
       path("typo.conf") + ", line 3: there is no setting \\\"blok-cache\\\"; did you mean block-cache?"},
      {{}, {{"EVERSHARD_CONFIG", path("typo.conf")}}, 5, "line 3"},
      {{}, {{"EVERSHARD_BLOCK_CASHE", "1MiB"}}, 5, "did you mean EVERSHARD_BLOCK_CACHE?"},
      {{"--config", path("not-there.conf")}, {}, 4, "the configuration cannot be read"},
      {{"--config", "-"}, {}, 5, "must be a file"},
      {{"--blok-cache", "1MiB"}, {}, 2, "did you mean --block-cache?"},
      {{"--block-cache", "99999999TiB"}, {}, 5, "flag --block-cache: block-cache must be a size"},
      {{"--read-threads", "0"}, {}, 5, "read-threads must be at least 1"},
      {{"--tls-cert", "x"}, {}, 5, "tls-cert needs tls-key"},
      {{},
       {{"EVERSHARD_DRAIN_TIMEOUT", "30"}},
       5,
       "environment EVERSHARD_DRAIN_TIMEOUT: drain-timeout must be a duration"},
  };
  for (const auto& [more, environment, status, says] : cases) {
    Words all{"serve", "--data", path("served"), "--format", "json", "--listen", "127.0.0.1:0"};
    all.insert(all.end(), more.begin(), more.end());
    const auto done = evershard(all, {}, {.environment = environment});
    EXPECT_EQ(done.status, status) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says));
  }
  EXPECT_FALSE(std::filesystem::exists(path("served")));
}

TEST_F(Serve, ChecksWithoutServingWhetherItIsSafe) {
  EXPECT_EQ(evershard({"serve", "--data", path("x"), "--check"}).status, 0);
  EXPECT_EQ(evershard({"serve", "--data", path("x"), "--check", "--listen", "0.0.0.0:1"}).status, 5);
  EXPECT_EQ(evershard({"serve", "--data", path("x"), "--check", "--listen", "0.0.0.0:1", "--insecure"}).status, 0);
  EXPECT_EQ(evershard({"serve", "--data", path("x"), "--check", "--tokens", path("y")}).status, 9);
  EXPECT_EQ(evershard({"serve", "--check"}).status, 5);
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(Serve, ReadsTokensLogAndLevelAnewAtSighup) {
  write_tokens("ann read " + std::string(hush));
  write_file("a.conf", "log-level = warning\ntokens = " + path("tokens"));
  Process server(serving({"--config", path("a.conf")}));
  ASSERT_NE(address_of(server), "");
  EXPECT_EQ(read_file("log"), "");

  std::filesystem::rename(path("log"), path("log.1"));
  write_file("a.conf", "log-level = info\nread-threads = 9\ntokens = " + path("tokens"));
  server.signal(SIGHUP);
  EXPECT_TRUE(logged("info reloaded files=true"));
  EXPECT_TRUE(logged("setting changed: it needs a restart name=read-threads value=9"));

  write_tokens(std::string(hush) + " " + hush + " " + hush);
  server.signal(SIGHUP);
  EXPECT_TRUE(logged("error files not reloaded error=\"the file of tokens, line 1"));
  EXPECT_TRUE(logged("info reloaded files=false"));

  write_file("a.conf", "nonsense");
  server.signal(SIGHUP);
  EXPECT_TRUE(logged("error settings not reloaded"));

  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
  EXPECT_THAT(read_file("log") + read_file("log.1"), Not(HasSubstr("hush")));
}

TEST_F(Serve, GoesOnWhenItsLogDiskIsFull) {
  Process server(words({"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--log-file", "/dev/full"}));
  ASSERT_NE(address_of(server), "");
  for (int i = 0; i < 5; ++i) server.signal(SIGHUP);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

TEST_F(Serve, RefusesALogThatCannotBeOpened) {
  const auto done = evershard({"serve", "--data", path("served"), "--log-file", path("")});
  EXPECT_EQ(done.status, 9);
  EXPECT_THAT(done.err, HasSubstr("the log \""));
  EXPECT_FALSE(std::filesystem::exists(path("served")));
}

TEST_F(Serve, TellsSystemdHowItIs) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "@evershard-serve-" + std::to_string(::getpid());
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
            0);
  const timeval limit{120, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string told;
  const auto until_told = [&](const char* what) {
    char bytes[200];
    for (ssize_t n = 1; n > 0 && told.find(what) == std::string::npos;) {
      n = ::recv(socket, bytes, sizeof bytes, 0);
      if (n > 0) told.append(bytes, static_cast<std::size_t>(n)) += '\n';
    }
    return told.find(what) != std::string::npos;
  };

  Process server(serving(), {.environment = {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "100000"}}});
  EXPECT_TRUE(until_told("READY=1"));
  EXPECT_TRUE(until_told("WATCHDOG=1"));
  server.signal(SIGHUP);
  EXPECT_TRUE(until_told("RELOADING=1"));
  server.signal(SIGTERM);
  EXPECT_TRUE(until_told("STOPPING=1"));
  EXPECT_EQ(server.wait().status, 0);
  EXPECT_LT(told.find("STATUS=opening"), told.find("READY=1"));
  ::close(socket);
}

TEST_F(Serve, NamesAUnixSocketBehindTheFirstAddress) {
  Process server(serving({"--unix-socket", path("socket")}));
  const auto lines = server.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), ::testing::EndsWith(" unix:" + path("socket")));
  EXPECT_TRUE(std::filesystem::is_socket(path("socket")));
}

TEST_F(Serve, NamesThePageBehindIt) {
  Process server(serving({"--http-listen", "127.0.0.1:0"}));
  const auto lines = server.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), HasSubstr(" http 127.0.0.1:"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

TEST_F(Serve, RefusesAPageThatIsReachedFromElsewhere) {
  const auto done = run(serving({"--http-listen", "0.0.0.0:0"}));
  EXPECT_EQ(done.status, 5);
  EXPECT_THAT(done.err, HasSubstr("http-listen \"0.0.0.0:0\" can be reached from other machines"));
}

TEST_F(Serve, PrintsItsDocumentAndASample) {
  EXPECT_THAT(evershard({"serve", "--help-markdown"}).out, StartsWith("# Configuration of the server"));
  write_file("sample.conf", evershard({"serve", "--sample-config"}).out);
  EXPECT_EQ(evershard({"serve", "--config", path("sample.conf"), "--data", path("x"), "--check"}).status, 0);
}

/// Doors that misbehave.
TEST_F(Serve, AppliesPoliciesAtItsStartWhereNobodyHasForAPeriod) {
  const auto data = store("served");
  append(data, R"({"aggregate":"order-1","type":"T","payload":1,"occurred_at":"2001-01-01T00:00:00Z"})"
               "\n");
  ASSERT_EQ(evershard({"retention", "policy", "old", "--remove", "order", "--keep", "90d", "--data", data}).status, 0);
  Process server(words(
      {"serve", "--data", data, "--listen", "127.0.0.1:0", "--log-file", path("log"), "--retention-every", "720h"}));
  EXPECT_TRUE(logged("retention done"));
  server.signal(SIGTERM);
  ASSERT_EQ(server.wait().status, 0);

  EXPECT_EQ(shown({"read", "--data", data}).front().value("state", "live"), "removed");
}

TEST_F(Serve, RemovesWhatBecameOfScheduledAppendsAfterItsTime) {
  const auto data = store("served");
  const auto schedule = [&](const char* id) {
    return evershard({"schedule", "append", "--in", "1h", "--data", data, "--schedule-id", id, "--aggregate", "order-9",
                      "--type", "T", "--payload", "1"})
        .status;
  };
  ASSERT_EQ(schedule("waits"), 0);
  ASSERT_EQ(schedule("over"), 0);
  ASSERT_EQ(evershard({"schedule", "cancel", "over", "--data", data}).status, 0);
  std::this_thread::sleep_for(seconds(1));
  Process server(
      words({"serve", "--data", data, "--listen", "127.0.0.1:0", "--log-file", path("log"), "--schedule-keep", "1s"}));
  EXPECT_TRUE(logged("removal of settled schedules done"));
  server.signal(SIGTERM);
  ASSERT_EQ(server.wait().status, 0);

  const auto left = shown({"aggregate", "list", "--data", data, "--type", "$schedule"});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().at("aggregate"), "$schedule-waits");
  EXPECT_NE(schedule("over"), 0) << "it is over for good";
}

class ServeFakeDoor : public Serve {
 protected:
  [[nodiscard]] Words fake(Words more = {}) const {
    Words all{EVERSHARD_FAKE_DOOR_SERVER, "--data", path("served"), "--log-file", path("log"), "--shards", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static ProcessOptions how(const char* word) { return {.environment = {{"FAKE_DOOR", word}}}; }
};

TEST_F(ServeFakeDoor, NamesEveryDoorInOneLine) {
  Process server(fake());
  ASSERT_EQ(server.lines(1).size(), 1u);
  EXPECT_EQ(server.lines(1).front(), "ready 127.0.0.1:1 unix:/fake fake 127.0.0.1:1 unix:/fake");
}

TEST_F(ServeFakeDoor, EndsWhereADoorDoesNotOpen) {
  const auto done = run(fake(), {}, how("fail"));
  EXPECT_EQ(done.status, 6);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("this door does not open"));
  EXPECT_EQ(evershard({"stats", "--data", path("served")}).status, 4) << "the store that it made is gone again";
}

TEST_F(ServeFakeDoor, EndsByItselfWhereItsStoreHasFailed) {
  const auto done = run(fake(), {}, how("lost"));
  EXPECT_EQ(done.status, 9);
  EXPECT_THAT(done.out, testing::StartsWith("ready "));
  EXPECT_THAT(done.err, HasSubstr("the disk has been taken away"));
  EXPECT_EQ(evershard({"stats", "--data", path("served")}).status, 0) << "closed, as when it is told to end";
}

TEST_F(ServeFakeDoor, DrainsAllDoorsAtOnce) {
  Process server(fake({"--drain-timeout", "10s"}), how("slow"));
  ASSERT_EQ(server.lines(1).size(), 1u);
  const auto begin = std::chrono::steady_clock::now();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, milliseconds(9'900));
  EXPECT_LT(took, milliseconds(19'950));  // one after the other: 20 s
}

TEST_F(ServeFakeDoor, EndsAtOnceAtTheSecondSignal) {
  Process server(fake(), how("hang"));
  ASSERT_EQ(server.lines(1).size(), 1u);
  server.signal(SIGTERM);
  ASSERT_TRUE(logged("info stopping"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 130);
  EXPECT_EQ(evershard({"verify", "--data", path("served")}).status, 0);
}

TEST_F(ServeFakeDoor, EndsAlsoWhereADoorNeverDoes) {
  Process server(fake({"--drain-timeout", "0"}), how("hang"));
  ASSERT_EQ(server.lines(1).size(), 1u);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 7);
  EXPECT_THAT(read_file("log"), HasSubstr("error did not end in time"));
}

}  // namespace
}  // namespace evershard::testing
