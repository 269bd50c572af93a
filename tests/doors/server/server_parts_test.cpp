// What a server decides without one: its table of settings, what is unsafe, its tokens, what systemd is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "evershard/doors/server/advertised_door.hpp"
#include "evershard/doors/server/certificate_watch.hpp"
#include "evershard/doors/server/coordinator_settings.hpp"
#include "evershard/doors/server/doors.hpp"
#include "evershard/doors/server/member_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/server/service_notice.hpp"
#include "evershard/doors/server/token_file.hpp"
#include "evershard/doors/server/vacuuming.hpp"
#include "evershard/doors/settings/settings_file.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::server {
namespace {

using settings::Given;
using settings::Settings;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Result<ServerOptions> options_with(const std::vector<Given>& flags) {
  auto all = flags;
  all.push_back({"data", "/data", "flag --data"});
  return options_of(Settings::gather(server_settings(), all, {}, {}).value());
}

TEST(AdvertisedDoor, IsAPlaceOneCanGoTo) {
  EXPECT_EQ(advertised_door({"10.0.0.1:7420"}, "this"), "10.0.0.1:7420");
  EXPECT_EQ(advertised_door({"unix:/run/door", "0.0.0.0:7420"}, "this"), "this:7420");
  EXPECT_EQ(advertised_door({"[::]:7420"}, "this"), "this:7420");
  EXPECT_EQ(advertised_door({"[::1]:7420", "10.0.0.1:1"}, "this"), "[::1]:7420");
  EXPECT_EQ(advertised_door({"unix:/run/door"}, "this"), "");
  EXPECT_EQ(host_of("[fe80::1]:7431"), "[fe80::1]");
}

class Folder : public ::testing::Test {
 protected:
  Folder() { std::filesystem::create_directories(directory_); }
  ~Folder() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return directory_ / name; }
  void write(const char* name, const std::string& text) const { std::ofstream(path(name)) << text; }

 private:
  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) /
      ("server-" + std::to_string(::getpid()) + "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(ServerSettings, HaveTheDefaultsOfTheStructs) {
  const auto options = options_with({});
  ASSERT_TRUE(options) << options.error().what;
  const ServerOptions defaults;
  EXPECT_EQ(options->store.block_cache_bytes, defaults.store.block_cache_bytes);
  EXPECT_EQ(options->store.limits.payload_bytes_max, defaults.store.limits.payload_bytes_max);
  EXPECT_EQ(options->store.at_least_timeout, defaults.store.at_least_timeout);
  EXPECT_EQ(options->store.create, defaults.store.create);
  EXPECT_EQ(options->door.listen, defaults.door.listen);
  EXPECT_EQ(options->door.keepalive, defaults.door.keepalive);
  EXPECT_EQ(options->drain_timeout, defaults.drain_timeout);
  EXPECT_EQ(options->vacuum_every, defaults.vacuum_every);
  EXPECT_EQ(options->projections_vacuum.every, std::chrono::hours(24));
  EXPECT_EQ(options->documents_vacuum.factor, defaults.documents_vacuum.factor);
  EXPECT_EQ(options->store.projections.memtables_bytes, defaults.store.projections.memtables_bytes);
  EXPECT_EQ(options->store.projections.pace, defaults.store.projections.pace);
  EXPECT_EQ(options->retention_every, std::chrono::milliseconds(0));  // what destroys users' data is never on by itself
  EXPECT_EQ(options->schedule_keep, std::chrono::hours(24 * 7));
  EXPECT_EQ(options->log.level, defaults.log.level);
  EXPECT_EQ(options->insecure, false);
}

TEST(ServerSettings, ReachTheOptionsTheySteer) {
  const auto options = options_with({{"block-cache", "3MiB", "f"},
                                     {"max-payload-size", "7KiB", "f"},
                                     {"listen", "a:1, b:2", "f"},
                                     {"unix-socket", "/run/x", "f"},
                                     {"drain-timeout", "7s", "f"},
                                     {"log-level", "error", "f"},
                                     {"log-format", "json", "f"},
                                     {"insecure", "yes", "f"},
                                     {"create", "no", "f"},
                                     {"shards", "3", "f"},
                                     {"tls-cert", "c", "f"},
                                     {"tls-key", "k", "f"},
                                     {"max-streams", "9", "f"},
                                     {"max-connections", "7", "f"},
                                     {"projections-block-cache", "5MiB", "f"},
                                     {"projections-memtables", "6MiB", "f"},
                                     {"projections-page-events", "77", "f"},
                                     {"projections-building", "3", "f"},
                                     {"projections-gathered", "9MiB", "f"},
                                     {"projections-pace", "5ms", "f"},
                                     {"projections-vacuum-every", "1h", "f"},
                                     {"projections-vacuum-factor", "30", "f"},
                                     {"documents-vacuum-every", "2h", "f"},
                                     {"documents-vacuum-factor", "100", "f"}});
  ASSERT_TRUE(options) << options.error().what;
  EXPECT_EQ(options->store.data_dir, "/data");
  EXPECT_EQ(options->store.block_cache_bytes, 3u << 20);
  EXPECT_EQ(options->store.limits.payload_bytes_max, 7u << 10);
  EXPECT_THAT(options->door.listen, ElementsAre("a:1", "b:2", "unix:/run/x"));
  EXPECT_EQ(options->drain_timeout, std::chrono::seconds(7));
  EXPECT_EQ(options->log.level, serving::LogLevel::error);
  EXPECT_EQ(options->log.format, serving::LogFormat::json);
  EXPECT_TRUE(options->insecure);
  EXPECT_FALSE(options->store.create);
  EXPECT_EQ(options->store.shards, 3u);
  EXPECT_EQ(options->door.tls.key, "k");
  EXPECT_EQ(options->door.streams_max, 9u);
  EXPECT_EQ(options->door.connections_max, 7u);
  EXPECT_EQ(options->store.projections.block_cache_bytes, 5u << 20);
  EXPECT_EQ(options->store.projections.memtables_bytes, 6u << 20);
  EXPECT_EQ(options->store.projections.page_events_max, 77u);
  EXPECT_EQ(options->store.projections.building_at_once, 3u);
  EXPECT_EQ(options->store.projections.gathered_bytes_max, 9u << 20);
  EXPECT_EQ(options->store.projections.pace, std::chrono::milliseconds(5));
  EXPECT_EQ(options->projections_vacuum.every, std::chrono::hours(1));
  EXPECT_EQ(options->projections_vacuum.factor, 30u);
  EXPECT_EQ(options->documents_vacuum.every, std::chrono::hours(2));
  EXPECT_EQ(options->documents_vacuum.factor, 100u);
}

TEST(ServerSettings, EachChangesSomethingOfItsOwn) {
  std::set<std::string> names, variables;
  for (const auto& setting : server_settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_TRUE(variables.insert(settings::environment_name(setting.name)).second) << setting.name;
    EXPECT_TRUE(setting.sentence.ends_with('.')) << setting.name;
    EXPECT_FALSE(setting.group.empty());
  }
}

TEST(ServerSettings, RefuseWhatDoesNotGoTogether) {
  EXPECT_THAT(options_of(Settings::gather(server_settings(), {}, {}, {}).value()).error().what,
              HasSubstr("no data directory"));
  EXPECT_THAT(options_with({{"tls-cert", "c", "flag --tls-cert"}}).error().what,
              HasSubstr("flag --tls-cert: tls-cert needs tls-key"));
  EXPECT_THAT(options_with({{"tls-key", "k", "x"}}).error().what, HasSubstr("tls-key needs tls-cert"));
  EXPECT_THAT(options_with({{"tls-client-ca", "k", "x"}}).error().what, HasSubstr("needs tls-cert and tls-key"));
  EXPECT_THAT(options_with({{"listen", "none", "x"}}).error().what, HasSubstr("names no address"));
  EXPECT_THAT(options_with({{"unix-socket", "here", "x"}}).error().what, HasSubstr("absolute"));
  EXPECT_THAT(options_with({{"max-append-size", "1KiB", "x"}}).error().what,
              HasSubstr("smaller than max-payload-size"));
  EXPECT_THAT(options_with({{"disk-reserve", "16MiB", "x"}}).error().what, HasSubstr("smaller than memtable"));
}

TEST(ServerSettings, AreWhatTheDocumentSays) {
  std::ostringstream document;
  document << std::ifstream(EVERSHARD_SOURCE "/docs/configuration.md").rdbuf();
  EXPECT_EQ(document.str(), configuration_document()) << "evershard serve --help-markdown > docs/configuration.md";
}

settings::Settings member_given(std::vector<settings::Given> given) {
  return Settings::gather(member_settings(), given, {}, {}).value();
}

class SecretInAFile {
 public:
  SecretInAFile() {
    std::ofstream(file()) << "a secret of more than sixteen bytes\n";
    ::chmod(file().c_str(), 0600);
  }
  [[nodiscard]] std::string file() const { return (folder_.path() / "secret").string(); }

 private:
  const TemporaryFolder folder_;
};

TEST(MemberSettings, ReachTheOptionsTheySteer) {
  const SecretInAFile secret;
  const auto member = member_options_of(member_given({{"data", "/data", "f"},
                                                      {"shards", "3", "f"},
                                                      {"node", "7", "f"},
                                                      {"coordinator", "127.0.0.1:9", "f"},
                                                      {"peers-listen", "[::1]:8", "f"},
                                                      {"peers-address", "n7:8", "f"},
                                                      {"advertise", "n7:5", "f"},
                                                      {"skip-lost", "yes", "f"},
                                                      {"gateway", "yes", "f"},
                                                      {"cluster", "shop", "f"},
                                                      {"secret-file", secret.file(), "f"}}));
  ASSERT_TRUE(member) << member.error().what;
  EXPECT_EQ(member->node, 7u);
  EXPECT_EQ(member->links.link.who.shards, 3u);
  EXPECT_EQ(member->links.link.who.cluster, "shop");
  EXPECT_EQ(member->links.link.secret, "a secret of more than sixteen bytes");
  EXPECT_EQ(member->links.listen_host, "::1");
  EXPECT_EQ(member->links.listen_port, 8);
  EXPECT_EQ(member->links.coordinators.front().port, 9);
  EXPECT_EQ(member->address, "n7:8");
  EXPECT_EQ(member->door, "n7:5");
  EXPECT_TRUE(member->skip_lost);
  EXPECT_TRUE(member->gateway);
}

TEST(MemberSettings, RefuseWhatIsMissingOrUnsafe) {
  const SecretInAFile secret;
  const auto why = [&](std::vector<settings::Given> given) {
    return member_options_of(member_given(std::move(given))).error().what;
  };
  const settings::Given node{"node", "1", "f"}, coordinator{"coordinator", "127.0.0.1:9", "f"},
      known{"secret-file", secret.file(), "f"};
  EXPECT_THAT(why({coordinator, known}), HasSubstr("node is needed"));
  EXPECT_THAT(why({node, known}), HasSubstr("EVERSHARD_COORDINATOR"));
  EXPECT_THAT(why({node, coordinator}), HasSubstr("without them anybody could be a node"));
  EXPECT_THAT(why({node, known, {"coordinator", "here", "a file, line 3"}}),
              HasSubstr("a file, line 3: coordinator is \"here\", not HOST:PORT"));
  EXPECT_THAT(why({node, coordinator, known, {"advertise", "n7", "f"}}), HasSubstr("advertise is"));
  EXPECT_THAT(why({node, coordinator, known, {"peers-listen", "0.0.0.0:1", "f"}}), HasSubstr("has no TLS"));
  const settings::Given everywhere{"peers-listen", "0.0.0.0:1", "f"}, insecure{"peers-insecure", "yes", "f"};
  EXPECT_THAT(why({node, coordinator, known, everywhere, insecure}), HasSubstr("where do the others reach it"));
  EXPECT_TRUE(member_options_of(
      member_given({node, coordinator, known, everywhere, insecure, {"peers-address", "n7:1", "f"}})));
  for (const char* name : {"coordinator", "peers-address", "advertise"}) {
    for (const char* nowhere : {"n7:0", "0.0.0.0:1", "[::]:1"}) {
      std::vector<settings::Given> given{node, known, {name, nowhere, "f"}};
      if (std::string_view(name) != "coordinator") given.push_back(coordinator);
      EXPECT_THAT(why(given), HasSubstr("nobody can be told to go there")) << name;
    }
  }
  EXPECT_THAT(why({node, coordinator, known, {"keys", "/keys", "a file, line 5"}}),
              HasSubstr("a file, line 5: keys is no setting of a node: in a cluster the keys lie at the coordinator"));
  EXPECT_FALSE(Settings::gather(member_settings(), {{"node", "1000001", "f"}}, {}, {}));
}

TEST(CoordinatorSettings, ReachTheOptionsTheySteer) {
  const auto made = coordinator_options_of(Settings::gather(coordinator_settings(),
                                                            {{"data", "/log", "f"},
                                                             {"keys", "/keys", "f"},
                                                             {"listen", "h:4", "f"},
                                                             {"nodes", "5", "f"},
                                                             {"log-level", "error", "f"}},
                                                            {}, {})
                                               .value());
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->data, "/log");
  EXPECT_EQ(made->keys, "/keys");
  EXPECT_EQ(made->place.host, "h");
  EXPECT_EQ(made->place.port, 4);
  EXPECT_EQ(made->nodes, 5u);
  EXPECT_EQ(made->shards, 0u);
  EXPECT_EQ(made->log.level, serving::LogLevel::error);
  EXPECT_THAT(coordinator_options_of(Settings::gather(coordinator_settings(), {}, {}, {}).value()).error().what,
              HasSubstr("no data directory"));
}

TEST(CoordinatorSettings, HaveNoMoreReplicasThanNodes) {
  const auto of = [](const std::vector<settings::Given>& given) {
    return coordinator_options_of(Settings::gather(coordinator_settings(), given, {}, {}).value());
  };
  EXPECT_EQ(of({{"data", "/log", "f"}, {"nodes", "3", "f"}, {"replicas", "3", "f"}}).value().replicas, 3u);
  const auto refused = of({{"data", "/log", "f"}, {"nodes", "2", "f"}, {"replicas", "3", "f"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("replicas is 3"));
}

TEST(CoordinatorSettings, HaveKeysWhereTheCutLogLies) {
  const auto of = [](const std::vector<settings::Given>& given) {
    return coordinator_options_of(Settings::gather(coordinator_settings(), given, {}, {}).value());
  };
  const auto on_etcd = of({{"cut-log", "etcd://h:1", "f"}, {"key-file", "/key", "f"}});
  ASSERT_TRUE(on_etcd) << on_etcd.error().what;
  EXPECT_EQ(on_etcd->key_file, "/key");
  const auto folder = of({{"cut-log", "etcd://h:1", "f"}, {"keys", "/keys", "f"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(folder.error().what, HasSubstr("--key-file"));
  const auto file = of({{"data", "/log", "f"}, {"key-file", "/key", "f"}});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(file.error().what, HasSubstr("--keys"));
}

TEST(ClusterSettings, HaveOneNameEachAndSamplesThatAreTaken) {
  for (const auto* table : {&member_settings(), &coordinator_settings()}) {
    std::set<std::string> names;
    for (const auto& setting : *table) {
      EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
      EXPECT_TRUE(setting.sentence.ends_with('.')) << setting.name;
    }
  }
  EXPECT_TRUE(settings::from_file(member_settings(), member_configuration_sample(), "sample"));
  EXPECT_TRUE(settings::from_file(coordinator_settings(), coordinator_configuration_sample(), "sample"));
  EXPECT_THAT(settings::from_file(server_settings(), "[cluster]", "f").error().what, HasSubstr("no group"));
  EXPECT_THAT(settings::from_file(coordinator_settings(), "tokens = x", "f").error().what, HasSubstr("no setting"));
}

TEST(ClusterSettings, TakeTheFilesThatThePackageBrings) {
  for (const auto& [name, table] :
       {std::pair("node.conf", &member_settings()), std::pair("coordinator.conf", &coordinator_settings())}) {
    std::ostringstream file;
    file << std::ifstream(std::string(EVERSHARD_SOURCE "/packaging/") + name).rdbuf();
    auto text = file.str();
    ASSERT_FALSE(text.empty()) << name;
    for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos;) {  // also what it has commented out
      if (text[at + 2] == ' ')
        ++at;
      else
        text.erase(at + 1, 1);
    }
    const auto given = settings::from_file(*table, text, name);
    ASSERT_TRUE(given) << given.error().what;
    EXPECT_TRUE(Settings::gather(*table, {}, {}, *given));
  }
}

TEST(ServerSettings, GiveASampleThatIsTaken) {
  EXPECT_TRUE(settings::from_file(server_settings(), configuration_sample(), "sample"));
}

TEST(ServerSettings, TakeTheFileThatThePackageInstalls) {
  std::ostringstream file;
  file << std::ifstream(EVERSHARD_SOURCE "/packaging/evershard.conf").rdbuf();
  auto text = file.str();
  ASSERT_FALSE(text.empty());
  for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos;) {  // also what it has commented out
    if (text[at + 2] == ' ')
      at += 2;
    else
      text.erase(at + 1, 1);
  }
  const auto given = settings::from_file(server_settings(), text, "evershard.conf");
  ASSERT_TRUE(given) << given.error().what;
  EXPECT_THAT(*given, SizeIs(6));
}

TEST(SafetyCheck, KnowsWhatIsReachedFromThisMachineAlone) {
  for (const auto* local : {"127.0.0.1:7420", "127.9.9.9:1", "[::1]:7420", "localhost:0", "unix:/run/x"})
    EXPECT_TRUE(is_local(local)) << local;
  for (const auto* open :
       {"0.0.0.0:7420", "[::]:7420", "10.0.0.1:1", "128.0.0.1:1", "example.org:1", "localhost.example.org:1",
        "127.0.0.1.example.org:1", ":7420", "*:7420", "[::ffff:127.0.0.1]:1", "7420", ""}) {
    EXPECT_FALSE(is_local(open)) << open;
  }
}

TEST(SafetyCheck, AsksForTlsAndForTokensOrClientCertificates) {
  struct Case {
    bool encrypted, certificates, tokens, safe;
  };
  const Case cases[] = {{false, false, false, false}, {false, false, true, false}, {false, true, true, false},
                        {true, false, false, false},  {true, false, true, true},   {true, true, false, true},
                        {true, true, true, true}};
  for (const auto& [encrypted, certificates, tokens, safe] : cases) {
    EXPECT_EQ(unsafe({{"0.0.0.0:1", "listen", encrypted, certificates, tokens}}).empty(), safe)
        << encrypted << certificates << tokens;
    EXPECT_THAT(unsafe({{"127.0.0.1:1", "listen", encrypted, certificates, tokens}}), IsEmpty());
  }
  EXPECT_THAT(
      unsafe({{"0.0.0.0:1", "listen", false, false, false},
              {"127.0.0.1:1", "listen", false, false, false},
              {"1.2.3.4:5", "http-listen", true, false, false}}),
      ElementsAre(
          "listen \"0.0.0.0:1\" can be reached from other machines, without TLS and without tokens",
          "http-listen \"1.2.3.4:5\" can be reached from other machines, without tokens or client certificates"));
}

TEST(SafetyCheck, LooksAtEveryAddressOfTheDoor) {
  auto options = options_with({{"listen", "127.0.0.1:1, 0.0.0.0:2", "f"}, {"unix-socket", "/run/x", "f"}}).value();
  EXPECT_THAT(unsafe(exposures_of(options)), SizeIs(1));
  options.tokens = "tokens";
  EXPECT_THAT(unsafe(exposures_of(options)), SizeIs(1));
  options.door.tls = {"cert", "key", ""};
  EXPECT_THAT(unsafe(exposures_of(options)), IsEmpty());
}

TEST_F(Folder, TokensAreReadAnewAndKeptWhereThatFails) {
  write("tokens", "ann read aaaaaaaaaaaaaaaaaaaa\n");
  TokenFile tokens(path("tokens"));
  ASSERT_TRUE(tokens.load());
  EXPECT_TRUE(tokens.access()->identify("aaaaaaaaaaaaaaaaaaaa"));
  write("tokens", "ann read bbbbbbbbbbbbbbbbbbbb\n");
  ASSERT_TRUE(tokens.load());
  EXPECT_FALSE(tokens.access()->identify("aaaaaaaaaaaaaaaaaaaa"));
  EXPECT_TRUE(tokens.access()->identify("bbbbbbbbbbbbbbbbbbbb"));

  write("tokens", "");
  EXPECT_FALSE(tokens.load());
  EXPECT_TRUE(tokens.access()->identify("bbbbbbbbbbbbbbbbbbbb"));
  std::filesystem::remove(path("tokens"));
  EXPECT_EQ(tokens.load().error().code, ErrorCode::io);
  EXPECT_FALSE(tokens.access()->identify(""));
}

TEST_F(Folder, NoErrorOfTokensShowsOne) {
  const std::string hush = "hush-hush-hush-hush-hush";
  const std::string lines[] = {hush,
                               hush + " read",
                               "ann " + hush + " read",
                               hush + " read ann",
                               "ann read short-hush",
                               "ann read " + hush + " more",
                               "ann read " + hush + "\nbob read " + hush,
                               hush + " read " + hush + "1\n" + hush + " read " + hush + "2"};
  for (const auto& text : lines) {
    write("tokens", text);
    const auto loaded = TokenFile(path("tokens")).load();
    ASSERT_FALSE(loaded) << text;
    EXPECT_THAT(loaded.error().what, Not(HasSubstr("hush")));
    EXPECT_THAT(loaded.error().what, HasSubstr("line "));
  }
  EXPECT_THAT(TokenFile(hush).load().error().what, Not(HasSubstr("hush")));
}

TEST_F(Folder, SeesThatTokensAreOpenToOthers) {
  write("tokens", "ann read aaaaaaaaaaaaaaaaaaaa\n");
  ::chmod(path("tokens").c_str(), 0640);
  EXPECT_FALSE(TokenFile(path("tokens")).is_open_to_others());
  ::chmod(path("tokens").c_str(), 0644);
  EXPECT_TRUE(TokenFile(path("tokens")).is_open_to_others());
  EXPECT_FALSE(TokenFile("").is_open_to_others());
}

TEST_F(Folder, SystemdIsToldOverItsSocket) {
  for (const bool abstract : {false, true}) {
    const std::string name = abstract ? "@evershard-test-" + std::to_string(::getpid()) : path("notify").string();
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (abstract) address.sun_path[0] = '\0';
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);

    ServiceNotice(name, {}).send("READY=1");

    char bytes[100];
    const auto count = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(count)), "READY=1");
    ::close(socket);
  }
  ServiceNotice("", {}).send("READY=1");
  ServiceNotice("/not/there", {}).send("READY=1");
  ServiceNotice(std::string(500, 'x'), {}).send("READY=1");
}

TEST(ServiceNotice, FollowsTheEnvironment) {
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  EXPECT_EQ(ServiceNotice::from_environment().watchdog_every(), std::chrono::milliseconds(1'500));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceNotice::from_environment().watchdog_every(), std::nullopt);
  ::unsetenv("WATCHDOG_PID");
  ::setenv("WATCHDOG_USEC", "nonsense", 1);
  EXPECT_EQ(ServiceNotice::from_environment().watchdog_every(), std::nullopt);
  ::unsetenv("WATCHDOG_USEC");
}

/// Counts; a vacuum takes until it is stopped.
class SlowStore {
 public:
  explicit SlowStore(bool slow) : slow_(slow) {}
  [[nodiscard]] Vacuuming::Work work() {
    return [this](const Progress& progress) { return vacuum(progress); };
  }
  std::atomic<int> vacuums{0};

 private:
  Result<void> vacuum(const Progress& progress) {
    ++vacuums;
    while (slow_) {
      if (!progress(0, 1)) return refuse(ErrorCode::cancelled, "asked for");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

  const bool slow_;
};

TEST(Vacuuming, HappensEverySoOften) {
  SlowStore store(false);
  const auto log = serving::Log::nowhere();
  Vacuuming vacuuming("vacuum", store.work(), std::chrono::milliseconds(5), *log);
  while (store.vacuums < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  vacuuming.stop();
  const int then = store.vacuums;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(store.vacuums, then);
}

TEST(Vacuuming, DoesAnythingElseAsWell) {
  const auto log = serving::Log::nowhere();
  std::atomic<int> runs{0};
  Vacuuming applying(
      "retention",
      [&](const Progress& progress) -> Result<void> {
        ++runs;
        EXPECT_TRUE(progress(0, 1));
        return refuse(ErrorCode::io, "a failure ends nothing");
      },
      std::chrono::milliseconds(2), *log);
  while (runs < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Vacuuming, BeginsWhenItIsDue) {
  using namespace std::chrono_literals;
  const Timestamp now = Timestamp::now();
  const auto ago = [&](std::chrono::milliseconds span) { return Timestamp{now.micros - span.count() * 1'000}; };
  EXPECT_EQ(due_in(24h, {}, now), 0ms);
  EXPECT_EQ(due_in(24h, ago(25h), now), 0ms);
  EXPECT_EQ(due_in(24h, ago(23h), now), 1h);
  EXPECT_EQ(due_in(24h, ago(-1h), now), 24h) << "the clock was another one";
  EXPECT_EQ(due_in(24h, Timestamp::first(), now), 0ms);

  const auto log = serving::Log::nowhere();
  std::atomic<int> runs{0};
  Vacuuming applying(
      "retention",
      [&](const Progress&) -> Result<void> {
        ++runs;
        return {};
      },
      24h, *log, 0ms);
  while (runs == 0) std::this_thread::sleep_for(1ms);
  applying.stop();
  EXPECT_EQ(runs, 1);
}

TEST(Vacuuming, IsCancelledAtTheEndAndNeverBegunWhereItIsOff) {
  SlowStore store(true);
  const auto log = serving::Log::nowhere();
  {
    Vacuuming vacuuming("vacuum", store.work(), std::chrono::milliseconds(1), *log);
    while (store.vacuums == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  SlowStore untouched(true);
  {
    Vacuuming off("vacuum", untouched.work(), std::chrono::milliseconds(0), *log);
    Vacuuming centuries("vacuum", untouched.work(), std::chrono::milliseconds(std::numeric_limits<std::int64_t>::max()),
                        *log);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(untouched.vacuums, 0);
}

TEST_F(Folder, CertificatesAreTakenWhenTheirFilesChange) {
  write("certificate", "one");
  write("key", "one");
  serving::LogOptions logging;
  logging.file = path("log");
  auto log = serving::Log::open(logging);
  ASSERT_TRUE(log);
  std::atomic<int> reloads{0};
  std::atomic<bool> fits{false};
  const auto reload = [&]() -> Result<void> {
    ++reloads;
    return fits ? Result<void>() : Result<void>(refuse(ErrorCode::invalid_argument, "the key is not that of it"));
  };
  const auto logged = [&](const char* text) {
    for (int tries = 0; tries != 12'000; ++tries, std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      std::stringstream all;
      all << std::ifstream(path("log")).rdbuf();
      if (all.str().find(text) != std::string::npos) return true;
    }
    return false;
  };

  CertificateWatch watch({path("certificate").string(), path("key").string(), ""}, reload, std::chrono::milliseconds(5),
                         **log);
  write("key.new", "two");
  std::filesystem::rename(path("key.new"), path("key"));
  EXPECT_TRUE(logged("certificates not taken: those from before are shown"));
  EXPECT_TRUE(logged("the key is not that of it"));
  EXPECT_EQ(reloads, 1) << "once for what was found";
  fits = true;
  write("certificate.new", "two");
  std::filesystem::rename(path("certificate.new"), path("certificate"));
  EXPECT_TRUE(logged("certificates taken"));
  EXPECT_EQ(reloads, 2);
}

}  // namespace
}  // namespace evershard::server
