#include "evershard/cli/child/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace evershard::cli {

Result<ChildProcess> ChildProcess::start(std::vector<std::string> words, const std::filesystem::path& log, int orphaned,
                                         const std::filesystem::path& program) {
  const auto failed = [](const char* what) {
    return refuse(ErrorCode::io, std::string("cannot ") + what + ": " + std::strerror(errno));
  };
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return failed("make a pipe");
  const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  std::string name = program.empty() ? "evershard" : program.filename().string();
  const std::string file = program.empty() ? "/proc/self/exe" : program.string();
  std::vector<char*> arguments{name.data()};
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, orphaned);
    if (::getppid() != parent) ::_exit(127);  // it has ended before that was said
    ::setpgid(0, 0);                          // Ctrl-C is for the parent, who asks its children one by one
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(out[1], STDOUT_FILENO);
    if (errors >= 0) ::dup2(errors, STDERR_FILENO);
    ::execv(file.c_str(), arguments.data());
    ::_exit(127);
  }
  ::close(out[1]);
  if (errors >= 0) ::close(errors);
  if (child < 0) {
    ::close(out[0]);
    return failed("start a process");
  }
  return ChildProcess(child, out[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(std::exchange(other.out_, -1)), said_(std::move(other.said_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  finish();
  pid_ = std::exchange(other.pid_, -1);
  out_ = std::exchange(other.out_, -1);
  said_ = std::move(other.said_);
  return *this;
}

ChildProcess::~ChildProcess() { finish(); }

void ChildProcess::finish() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
  pid_ = out_ = -1;
}

bool ChildProcess::hear(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd look{out_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&look, 1, static_cast<int>(left.count())) <= 0) return false;
  char bytes[512];
  const auto got = ::read(out_, bytes, sizeof bytes);
  if (got > 0) said_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<std::string> ChildProcess::wait_ready(std::chrono::milliseconds timeout) {
  constexpr std::string_view word = "ready ";
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (said_.find('\n') == std::string::npos)
    if (!hear(until)) return std::nullopt;
  const auto line = said_.substr(0, said_.find('\n'));
  if (!line.starts_with(word)) return std::nullopt;
  return line.substr(word.size(), line.find(' ', word.size()) - word.size());
}

std::optional<std::vector<std::string>> ChildProcess::lines_until(std::string_view begins,
                                                                  std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  std::vector<std::string> lines;
  for (;;) {
    const auto end = said_.find('\n');
    if (end == std::string::npos) {
      if (!hear(until)) return std::nullopt;
      continue;
    }
    lines.push_back(said_.substr(0, end));
    said_.erase(0, end + 1);
    if (lines.back().starts_with(begins)) return lines;
  }
}

std::optional<std::string> ChildProcess::door(std::string_view speaks) const {
  std::istringstream words(said_.substr(0, said_.find('\n')));
  for (std::string word; words >> word;)
    if (std::string address; word == speaks && words >> address) return address;
  return std::nullopt;
}

std::optional<int> ChildProcess::ended() {
  if (pid_ <= 0) return 0;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

double ChildProcess::cpu_seconds() const {
  std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  if (text.rfind(')') == std::string::npos) return 0;
  std::istringstream words(text.substr(text.rfind(')') + 2));
  std::string word;
  double user = 0, system = 0;
  for (int i = 0; i < 11; ++i) words >> word;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace evershard::cli
