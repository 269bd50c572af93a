#include "tests/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <utility>

namespace evershard::testing {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read = ends[0];
    write = ends[1];
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const ProcessOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe in;
  Pipe out;
  Pipe err;
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  pid_ = ::fork();
  if (pid_ == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(in.read, 0);
    const int file = options.output_file.empty()
                         ? out.write
                         : ::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(file, 1);
    ::dup2(err.write, 2);
    if (options.close_output) ::close(1);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  input_ = in.write;
  out_.descriptor = out.read;
  err_.descriptor = err.read;
  for (auto* each : {&out_, &err_}) each->thread = std::thread([this, each] { capture(*each); });
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
}

void Process::capture(Capture& from) {
  char part[64 << 10];
  for (;;) {
    struct pollfd poll {
      from.descriptor, POLLIN, 0
    };
    ::poll(&poll, 1, 50);
    {
      const std::lock_guard lock(mutex_);
      if (stop_reading_ && &from == &out_) break;
    }
    if (poll.revents == 0) continue;
    const auto n = ::read(from.descriptor, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::lock_guard lock(mutex_);
    from.text.append(part, static_cast<std::size_t>(n));
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  ::close(from.descriptor);
  from.ended = true;
  changed_.notify_all();
}

void Process::write(std::string_view text) {
  while (!text.empty() && input_ >= 0) {
    const auto n = ::write(input_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return close_input();
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Process::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

std::vector<std::string> Process::lines(std::size_t count, std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, deadline, [&] {
    return out_.ended || static_cast<std::size_t>(std::count(out_.text.begin(), out_.text.end(), '\n')) >= count;
  });
  return lines_of(out_.text);
}

std::string Process::ready(std::chrono::milliseconds deadline) {
  constexpr std::string_view word = "ready ";
  const auto said = lines(1, deadline);
  if (said.empty() || !said.front().starts_with(word)) return {};
  return said.front().substr(word.size(), said.front().find(' ', word.size()) - word.size());
}

std::string Process::errors() {
  const std::lock_guard lock(mutex_);
  return err_.text;
}

bool Process::says(const std::string& text, std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex_);
  const auto stands_there = [&] { return err_.text.find(text) != std::string::npos; };
  changed_.wait_for(lock, deadline, [&] { return err_.ended || stands_there(); });
  return stands_there();
}

void Process::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
  // Its threads stop one after the other: on a busy machine one of them could answer something yet.
  siginfo_t stopped;
  while (pid_ > 0 && number == SIGSTOP &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

void Process::stop_reading() {
  std::unique_lock lock(mutex_);
  stop_reading_ = true;
  changed_.wait(lock, [this] { return out_.ended; });
}

Finished Process::wait(std::chrono::milliseconds deadline) {
  close_input();
  Finished finished;
  const auto until = std::chrono::steady_clock::now() + deadline;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      status = -1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  for (auto* each : {&out_, &err_}) each->thread.join();
  if (status != -1) finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = std::move(out_.text);
  finished.err = std::move(err_.text);
  return finished;
}

int rounds_or(int usual) {
  const char* const text = std::getenv("EVERSHARD_ROUNDS");
  return text != nullptr ? std::stoi(text) : usual;
}

std::uint64_t seed_of_run() {
  const char* const text = std::getenv("EVERSHARD_SEED");
  return text != nullptr ? std::stoull(text) : std::random_device{}();
}

Finished run(const std::vector<std::string>& words, std::string_view input, const ProcessOptions& options) {
  Process process(words, options);
  process.write(input);
  return process.wait();
}

}  // namespace evershard::testing
