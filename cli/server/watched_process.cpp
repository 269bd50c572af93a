#include "evershard/cli/server/watched_process.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace evershard::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds ready_timeout = std::chrono::seconds(60);
constexpr milliseconds pause_first{200}, pause_most{10'000};

/// What a program of ours says when it ends with an error, behind what earlier ones said; empty: nothing like that.
std::string last_error_in(const std::filesystem::path& log, std::streamoff behind) {
  constexpr std::string_view begins = "evershard: ";
  std::ifstream lines(log);
  lines.seekg(behind);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begins)) last = line.substr(begins.size());
  return last;
}

}  // namespace

Result<void> WatchedProcess::launch() {
  auto child = ChildProcess::start(words_, log_, SIGTERM, program_);
  if (!child) return refuse(std::move(child).error());
  child_ = std::make_unique<ChildProcess>(std::move(*child));
  since_ = Clock::now();
  pause_ = pause_first;
  return {};
}

Result<std::string> WatchedProcess::start() {
  std::error_code none;  // there is no log yet
  const auto said_before = std::filesystem::file_size(log_, none);
  EVERSHARD_TRY(launch());
  auto ready = child_->wait_ready(ready_timeout);
  if (!ready) {
    const auto why = last_error_in(log_, none ? 0 : static_cast<std::streamoff>(said_before));
    return refuse(ErrorCode::unavailable,
                  name_ + " did not become ready" + (why.empty() ? "" : ": " + why) + ": see " + log_.string());
  }
  since_ = Clock::now();
  // Whoever starts it again takes the ports that others know.
  keep("--listen", *ready);
  other_doors_.clear();
  for (const std::string speaks : {"http", "kurrent", "umadb"}) {
    const auto address = child_->door(speaks);
    if (!address) continue;
    other_doors_ += ' ' + speaks + ' ' + *address;
    keep("--" + speaks + "-listen", *address);
  }
  return *ready;
}

std::optional<std::string> WatchedProcess::look() {
  if (again_at_) {
    if (Clock::now() < *again_at_) return std::nullopt;
    again_at_.reset();
    if (auto child = ChildProcess::start(words_, log_, SIGTERM, program_))
      child_ = std::make_unique<ChildProcess>(std::move(*child));
    since_ = Clock::now();
    return name_ + " was started again, pid " + std::to_string(child_ ? child_->pid() : 0);
  }
  const auto status = child_ ? child_->ended() : std::optional<int>(127);
  if (!status) {
    if (Clock::now() - since_ > pause_most) pause_ = pause_first;
    return std::nullopt;
  }
  again_at_ = Clock::now() + pause_;
  pause_ = std::min(pause_ * 2, pause_most);
  return name_ + " has ended with status " + std::to_string(*status) + ": see " + log_.string();
}

void WatchedProcess::keep(const std::string& flag, const std::string& address) {
  const auto at = std::ranges::find(words_, flag);
  if (at != words_.end()) *(at + 1) = address;
}

void stop_together(std::vector<WatchedProcess>& group, std::chrono::steady_clock::time_point until) {
  for (const auto& process : group) process.ask_to_stop();
  const auto over = [&] { return std::ranges::all_of(group, [](auto& process) { return process.is_over(); }); };
  while (!over() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
}

}  // namespace evershard::cli
