#include "bench/peers/peer_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace evershard::bench {
namespace {

constexpr std::chrono::seconds ready_timeout(60), end_timeout(30);

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

bool listens(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const auto at = loopback(port);
  const bool there = ::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  close(socket);
  return there;
}

struct Usage {
  pid_t parent = 0;
  double seconds = 0;  ///< with those of its own that have ended
};

std::map<pid_t, Usage> processes() {
  std::map<pid_t, Usage> all;
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream words(text.substr(name_end + 2));
    std::string state, skipped;
    Usage usage;
    words >> state >> usage.parent;
    for (int i = 0; i != 9; ++i) words >> skipped;
    double ticks = 0, more = 0;
    for (int i = 0; i != 4; ++i, ticks += more) words >> more;  // utime stime cutime cstime
    usage.seconds = ticks / tick;
    all[pid] = usage;
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<PeerProcess>> PeerProcess::start(const std::filesystem::path& program,
                                                        std::vector<std::string> words, std::uint16_t port,
                                                        const std::filesystem::path& folder) {
  std::unique_ptr<PeerProcess> made(new PeerProcess);
  made->syncs_ = folder / "syncs";
  setenv("EVERSHARD_SYNCS", made->syncs_.c_str(), 1);
  setenv("LD_PRELOAD", EVERSHARD_COUNT_SYNCS, 1);
  auto process = cli::ChildProcess::start(std::move(words), folder / "log", SIGKILL, program);
  unsetenv("LD_PRELOAD");
  unsetenv("EVERSHARD_SYNCS");
  if (!process) return refuse(std::move(process).error());
  made->process_ = std::move(*process);
  const auto until = std::chrono::steady_clock::now() + ready_timeout;
  while (!listens(port)) {
    if (made->process_.ended() || std::chrono::steady_clock::now() > until)
      return refuse(ErrorCode::io, program.string() + " does not listen: see " + (folder / "log").string());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return made;
}

PeerProcess::~PeerProcess() {
  if (process_.pid() <= 0) return;
  process_.signal(SIGINT);
  const auto until = std::chrono::steady_clock::now() + end_timeout;
  while (!process_.ended() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

double PeerProcess::cpu_seconds() const {
  const auto all = processes();
  double seconds = 0;
  for (const auto& [pid, usage] : all) {
    auto at = pid;
    while (at > 1 && at != process_.pid()) {
      const auto found = all.find(at);
      at = found == all.end() ? 0 : found->second.parent;
    }
    if (at == process_.pid()) seconds += usage.seconds;
  }
  return seconds;
}

std::uint64_t PeerProcess::syncs() const {
  std::uint64_t count = 0;
  std::ifstream(syncs_, std::ios::binary).read(reinterpret_cast<char*>(&count), sizeof count);
  return count;
}

std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  auto at = loopback(0);
  socklen_t bytes = sizeof at;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0)
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &bytes);
  close(socket);
  return ntohs(at.sin_port);
}

void drop_pages(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    const int file = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
}

}  // namespace evershard::bench
