#include "evershard/bench/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace evershard::bench {

Result<std::unique_ptr<Child>> Child::start(std::vector<std::string> words, const std::filesystem::path& log) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return refuse(ErrorCode::io, "cannot make a pipe");
  const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  std::string name = "evershard";
  std::vector<char*> arguments{name.data()};
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(out[1], STDOUT_FILENO);
    if (errors >= 0) ::dup2(errors, STDERR_FILENO);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  ::close(out[1]);
  if (errors >= 0) ::close(errors);
  if (pid < 0) {
    ::close(out[0]);
    return refuse(ErrorCode::io, "cannot start a process");
  }
  std::unique_ptr<Child> child(new Child(pid));
  std::string line;
  for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
  ::close(out[0]);
  std::istringstream said(line);
  std::string ready;
  if (!(said >> ready >> child->address_) || ready != "ready") return refuse(ErrorCode::io, "`evershard " + words.front() + "` did not become ready: see " + log.string());
  return child;
}

Child::~Child() {
  ::kill(pid_, SIGCONT);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) const { ::kill(pid_, number); }

double Child::cpu_seconds() const {
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

}  // namespace evershard::bench
