#include "evershard/cli/events/event_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace evershard::cli {
namespace {

constexpr int look_every_ms = 20;

Refused cannot_start(const char* what) {
  return refuse(ErrorCode::io, std::string("a command cannot be started: ") + what + ": " + std::strerror(errno));
}

}  // namespace

Result<EventCommandEnd> run_event_command(const std::string& command, const std::string& input,
                                          const std::vector<std::pair<std::string, std::string>>& environment,
                                          std::chrono::milliseconds timeout, const std::function<bool()>& meanwhile) {
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) words.emplace_back(*word);
  for (const auto& [name, value] : environment)
    words.push_back(name + '=' + value.c_str());  // an environment ends at a zero byte
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return cannot_start("pipe");
  const auto child = ::fork();
  if (child < 0) {
    ::close(pipe[0]);
    ::close(pipe[1]);
    return cannot_start("fork");
  }
  if (child == 0) {
    ::setpgid(0, 0);  // it and what it starts end together
    ::dup2(pipe[0], STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
    ::execve("/bin/sh", const_cast<char* const*>(arguments), pointers.data());
    ::_exit(127);
  }
  ::close(pipe[0]);
  ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);

  const auto began = std::chrono::steady_clock::now();
  EventCommandEnd end;
  std::size_t written = 0;
  int out = pipe[1];
  while (true) {
    if (out >= 0) {
      const auto sent = written < input.size() ? ::write(out, input.data() + written, input.size() - written) : 0;
      if (sent > 0) written += static_cast<std::size_t>(sent);
      const bool gone =
          sent < 0 && errno != EAGAIN && errno != EINTR;  // it does not read its input, which is its own business
      if (gone || written == input.size()) ::close(std::exchange(out, -1));
    }
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    const bool late = timeout.count() > 0 && std::chrono::steady_clock::now() - began >= timeout;
    if ((late || !meanwhile()) && !std::exchange(end.killed, true)) {
      if (::kill(-child, SIGKILL) != 0)
        ::kill(child, SIGKILL);  // of the group that it leads, unless it has not come so far
    }
    pollfd wait{out, POLLOUT, 0};
    ::poll(&wait, out >= 0 ? 1 : 0, out >= 0 && written == 0 ? 0 : look_every_ms);
  }
  if (out >= 0) ::close(out);
  return end;
}

}  // namespace evershard::cli
