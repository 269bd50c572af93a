// What must not harm a server: real ones, on loopback.

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/process/server_process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::Process;
using testing::ServerFolder;
using testing::ServerProcess;
namespace fs = std::filesystem;

/// A connection, and nothing said on it. -1: none.
int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  if (fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

/// The other side has closed it.
bool closed(int fd) {
  char part[4'096];
  while (true) {
    const auto n = ::recv(fd, part, sizeof part, MSG_DONTWAIT);
    if (n > 0) continue;
    return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
}

void append_some(Remote& remote, int count, std::size_t payload_bytes = 10) {
  for (int i = 0; i < count; ++i) {
    const auto done = remote.append(Append{}.event("a-" + std::to_string(i % 5), "T", std::string(payload_bytes, 'x')));
    ASSERT_TRUE(done) << done.error().what;
  }
}

TEST(ServerHarm, GarbageOnThePortHarmsNobody) {
  ServerProcess server("-", {.environment = {{"EVERSHARD_TEST_HANDSHAKE_MS", "1000"}}});
  auto remote = server.connect();
  append_some(remote, 3);
  std::mt19937 random(3);
  std::string noise(100'000, '\0');
  for (auto& byte : noise) byte = static_cast<char>(random());
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\x04\0\0\0\0\0", 9);
  std::vector<int> open;
  for (const auto& bytes :
       {noise, std::string("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), preface.substr(0, 11), preface,
        preface + settings + noise, preface + settings.substr(0, 5),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + noise.substr(0, 500), std::string(1, '\0'),
        // A frame that says it is 16 MiB long; headers that are not HPACK; a stream that was never opened.
        preface + settings + std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x01", 9),
        preface + settings + std::string("\0\0\x04\x01\x04\0\0\0\x01\xff\xff\xff\xff", 13),
        preface + settings + std::string("\0\0\x01\0\0\0\0\0\x63x", 10)}) {
    const int fd = connect_to(server.port());
    ASSERT_GE(fd, 0);
    (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    open.push_back(fd);
    const auto head = remote.head();
    ASSERT_TRUE(head) << head.error().what;
  }
  append_some(remote, 3);
  EXPECT_EQ(remote.head()->value, 6u);
  for (const int fd : open) ::close(fd);
  server.terminate();
}

// Connections that say nothing are closed when their time to say something is up; meanwhile everybody else is served.
TEST(ServerHarm, ThousandsOfSilentConnectionsHarmNobody) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const auto count = static_cast<std::size_t>(std::min<rlim_t>(5'000, limit.rlim_cur - 300));
  ServerProcess server("-", {.environment = {{"EVERSHARD_TEST_HANDSHAKE_MS", "3000"}}});
  auto remote = server.connect();
  append_some(remote, 3);
  const auto before = server.memory_mib();
  std::vector<int> silent;
  for (std::size_t i = 0; i < count; ++i) {
    const int fd = connect_to(server.port());
    ASSERT_GE(fd, 0) << "connection " << i << ": " << std::strerror(errno);
    silent.push_back(fd);
  }
  append_some(remote, 20);
  auto late = server.connect();
  EXPECT_TRUE(late.head());
  const auto during = server.memory_mib();
  std::cout << count << " silent connections: " << before << " MiB before, " << during << " MiB with them\n";
  EXPECT_LT(during - before, 0.1 * static_cast<double>(count) + 50) << "MiB: more than 100 KiB a connection";

  std::size_t gone = 0;
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(100ms)) {
    gone = static_cast<std::size_t>(std::count_if(silent.begin(), silent.end(), closed));
    if (gone == silent.size()) break;
  }
  EXPECT_EQ(gone, silent.size()) << "they are still held";
  for (const int fd : silent) ::close(fd);
  append_some(remote, 3);
  server.terminate();
}

TEST(ServerHarm, APortInUseAndDataInUseAreSaidClearly) {
  ServerFolder folder;
  ServerProcess server((folder.path() / "data").string());
  auto remote = server.connect();
  append_some(remote, 3);
  const auto port = testing::run({EVERSHARD_SERVER, "-", server.address()});
  EXPECT_EQ(port.status, 1);
  EXPECT_NE(port.err.find(server.address()), std::string::npos) << port.err;
  EXPECT_NE(port.err.find("in use"), std::string::npos) << port.err;
  const auto data = testing::run({EVERSHARD_SERVER, (folder.path() / "data").string(), "127.0.0.1:0"});
  EXPECT_EQ(data.status, 1);
  EXPECT_NE(data.err.find("data"), std::string::npos) << data.err;
  append_some(remote, 3);
  EXPECT_EQ(remote.head()->value, 6u);
  server.terminate();
}

TEST(ServerHarm, EndsInTimeWithSubscriptionsAndReadsUnderWay) {
  ServerProcess server("-", {.environment = {{"EVERSHARD_TEST_DRAIN_MS", "700"}}});
  auto remote = server.connect(500ms);
  auto patient = server.connect();
  append_some(patient, 40, 200'000);
  std::vector<EventFeed> feeds;
  for (int i = 0; i < 20; ++i) {
    feeds.push_back(remote.follow(Query::all()));
    ASSERT_TRUE(feeds.back().next(30s));
  }
  auto stream = patient.read(Query::all());
  ASSERT_TRUE(stream.next());  // and reads no more
  std::thread waiting([&] { (void)remote.wait_for(GlobalPosition(1'000'000), 2s); });
  const auto took = server.terminate();
  EXPECT_LT(took, 700ms + 60s) << "the drain time, and what a busy machine adds";
  waiting.join();
}

// Clients that are killed in the middle of a read, a subscription, an append.
TEST(ServerHarm, ClientsThatVanishLeaveNothingBehind) {
  ServerProcess server("-", {.environment = {{"EVERSHARD_TEST_DRAIN_MS", "100000"}}});
  auto remote = server.connect();
  append_some(remote, 100, 100'000);
  double after_first = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::unique_ptr<Process>> clients;
    for (int i = 0; i < 3; ++i)
      clients.push_back(
          std::make_unique<Process>(std::vector<std::string>{"/proc/self/exe", "--vanish", server.address()}));
    for (auto& client : clients) ASSERT_FALSE(client->lines(1).empty());
    std::this_thread::sleep_for(50ms);
    for (auto& client : clients) client->signal(SIGKILL);
    clients.clear();
    append_some(remote, 5);
    if (round == 0) after_first = server.memory_mib();
  }
  EXPECT_LT(server.memory_mib() - after_first, 60) << "MiB";
  EXPECT_LT(server.terminate(), 60s) << "it still waits for those who are gone";
}

// ---- a full disk

/// A server whose disk can be filled up and emptied: a small one of its own where this system lets us make one, else by
/// its reserve.
TEST(ServerHarm, AFullDiskRefusesAppendsAndGoesOnWhenThereIsRoom) {
  ServerFolder folder;
  const auto disk = folder.path() / "disk";
  fs::create_directories(disk);
  const auto data = (disk / "data").string();
  const std::string mount = "mount -t tmpfs -o size=96m tmpfs " + disk.string();
  const bool own_disk = testing::run({"/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount}).status == 0;
  constexpr std::uint64_t mib = 1 << 20;
  std::unique_ptr<ServerProcess> server;
  fs::path filler = disk / "filler";
  if (own_disk) {
    server = std::make_unique<ServerProcess>(
        data, testing::ProcessOptions{.environment = {{"EVERSHARD_TEST_DISK_RESERVE", std::to_string(16 * mib)}}},
        std::vector<std::string>{"/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount + R"( && exec "$0" "$@")"});
    filler = "/proc/" + std::to_string(server->pid()) + "/root" + filler.string();
  } else {
    std::cout << "no disk of its own here: the reserve of the common one\n";
    const auto reserve = fs::space(disk).available - 512 * mib;
    server = std::make_unique<ServerProcess>(
        data, testing::ProcessOptions{.environment = {{"EVERSHARD_TEST_DISK_RESERVE", std::to_string(reserve)}}});
  }
  auto remote = Remote::connect({.server = server->address(), .timeout = 60s, .unavailable_timeout = 2s}).value();
  append_some(remote, 10, 10'000);

  const int file = ::open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(file, 0) << std::strerror(errno);
  const auto room = fs::space(filler.parent_path()).available;
  ASSERT_EQ(::posix_fallocate(file, 0, static_cast<off_t>(own_disk ? room - 4 * mib : 1'024 * mib)), 0);
  Result<Appended> refused;
  std::uint64_t stored = 10;
  for (const auto until = std::chrono::steady_clock::now() + 60s; refused && std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(20ms)) {
    refused = remote.append(Append{}.event("a-1", "T", std::string(1'000, 'x')));
    stored += refused ? 1u : 0u;
  }
  ASSERT_FALSE(refused) << "the disk was never full";
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().what;
  EXPECT_NE(refused.error().what.find("disk"), std::string::npos) << refused.error().what;
  EXPECT_EQ(remote.head()->value, stored);
  auto all = remote.read(Query::all());
  std::uint64_t read = 0;
  for (const auto& event : all) read += event.position.value > 0 ? 1u : 0u;
  EXPECT_EQ(read, stored) << "reading goes on";

  ::close(file);
  fs::remove(filler);
  Result<Appended> again = refuse(ErrorCode::unavailable, "not asked yet");
  for (const auto until = std::chrono::steady_clock::now() + 60s; !again && std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(20ms)) {
    again = remote.append(Append{}.event("a-1", "T", "x"));
  }
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->first_position.value, stored + 1);
  server->terminate();
}

}  // namespace

/// A client that reads, follows and appends until it is killed.
int vanish(const std::string& address) {
  auto remote = Remote::connect({.server = address});
  if (!remote) return 1;
  auto feed = remote->follow(Query::all(), {.page_events_max = 3});
  (void)feed.next(std::chrono::seconds(5));
  auto stream = remote->read(Query::all());
  (void)stream.next();
  std::cout << "there" << std::endl;
  while (true) {
    remote->append_async(Append{}.event("v-1", "T", std::string(1'000, 'v')), [](const Result<Appended>&) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--vanish") return evershard::vanish(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
