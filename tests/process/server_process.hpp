// ServerProcess: a server with its data, run for real: killed, started again, measured.

#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "evershard/doors/remote/remote.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {

/// A directory of its own, gone with the object.
class ServerFolder {
 public:
  ServerFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "evershard-server-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ServerFolder() { std::filesystem::remove_all(path_); }
  ServerFolder(const ServerFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class ServerProcess {
 public:
  /// `data`: - is in memory.
  explicit ServerProcess(std::string data, ProcessOptions options = {}, std::vector<std::string> before = {})
      : data_(std::move(data)), options_(std::move(options)), before_(std::move(before)) {
    start();
  }

  /// On the port it had.
  void start() {
    auto words = before_;
    words.insert(words.end(), {EVERSHARD_SERVER, data_, address_});
    for (int tries = 0; tries < 20; ++tries) {  // the port may be busy for a moment
      process_ = std::make_unique<Process>(words, options_);
      const auto lines = process_->lines(1, std::chrono::seconds(60));
      if (!lines.empty()) {
        address_ = lines.front().substr(std::string("ready ").size());
        return;
      }
      error_ = process_->wait().err;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << error_;
  }
  void kill() {
    process_->signal(SIGKILL);
    (void)process_->wait();
  }
  /// Tells it to end. Returns: how long it took; fails where it did not end well.
  std::chrono::milliseconds terminate(std::chrono::milliseconds most = std::chrono::seconds(120)) {
    const auto began = std::chrono::steady_clock::now();
    process_->signal(SIGTERM);
    const auto finished = process_->wait(most);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }
  [[nodiscard]] int pid() const { return process_->pid(); }
  [[nodiscard]] Remote connect(std::chrono::milliseconds timeout = std::chrono::seconds(30)) const {
    auto remote = Remote::connect({.server = address_, .timeout = timeout, .unavailable_timeout = timeout});
    EXPECT_TRUE(remote) << remote.error().what;
    return *std::move(remote);
  }
  /// A client that the server has answered: one that nobody ever answered takes a refused connection for final.
  [[nodiscard]] Remote answered_client(std::chrono::milliseconds timeout) const {
    auto remote = connect(timeout);
    const auto head = remote.head();
    EXPECT_TRUE(head) << head.error().what;
    return remote;
  }
  /// Resident, in MiB.
  [[nodiscard]] double memory_mib() const {
    std::ifstream status("/proc/" + std::to_string(pid()) + "/status");
    for (std::string word; status >> word;) {
      double kib = 0;
      if (word == "VmRSS:" && status >> kib) return kib / 1'024;
    }
    return 0;
  }

 private:
  std::string data_;
  ProcessOptions options_;
  std::vector<std::string> before_;
  std::string address_ = "127.0.0.1:0";
  std::string error_;
  std::unique_ptr<Process> process_;
};

}  // namespace evershard::testing
