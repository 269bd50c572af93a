// PostgresServer: a PostgreSQL of the test's own, in a temporary folder, on a Unix socket; as a user that is not root.
// Stopped with the object.

#pragma once

#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/process.hpp"

namespace evershard::testing {

class PostgresServer {
 public:
  PostgresServer() {
    programs_ = find_programs();
    if (programs_.empty()) {
      ADD_FAILURE() << "PostgreSQL CANNOT BE TESTED HERE, missing: postgresql-15 (scripts/setup tests installs it)";
      return;
    }
    std::string name = (std::filesystem::temp_directory_path() / "evershard-postgres-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return;
    folder_ = name;
    if (::getuid() == 0) {  // PostgreSQL refuses to be root
      const passwd* user = ::getpwnam("postgres");
      if (user == nullptr) user = ::getpwnam("nobody");
      as_user_ = {"/usr/bin/setpriv", "--reuid", std::to_string(user->pw_uid), "--regid", std::to_string(user->pw_gid),
                  "--clear-groups",   "--"};
      EXPECT_EQ(::chown(folder_.c_str(), user->pw_uid, user->pw_gid), 0);
    }
    const auto made = run(words({programs_ + "/initdb", "-D", folder_ + "/data", "-A", "trust", "-U", "evershard",
                                 "--no-locale", "-E", "UTF8", "--no-sync"}));
    EXPECT_EQ(made.status, 0) << made.err;
    start();
  }
  ~PostgresServer() {
    stop(SIGQUIT);
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  PostgresServer(const PostgresServer&) = delete;

  /// False: there is no PostgreSQL here, and the test has failed for it.
  [[nodiscard]] bool is_there() const { return process_ != nullptr; }
  [[nodiscard]] std::string connection() const {
    return "host=" + folder_ + " port=5432 user=evershard dbname=postgres";
  }

  void start() {
    const auto ready = words({programs_ + "/pg_isready", "-q", "-h", folder_, "-p", "5432"});
    for (int tries = 0; tries < 20; ++tries) {  // what an ended one left may still be going
      process_ = std::make_unique<Process>(
          words({programs_ + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-h", "", "-p", "5432"}),
          ProcessOptions{});
      for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
           std::chrono::steady_clock::now() < until;) {
        if (run(ready).status == 0) return;
        if (has_ended(process_->pid())) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      stop(SIGQUIT);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    ADD_FAILURE() << "no PostgreSQL: " << (process_ ? process_->errors() : "");
  }
  /// SIGQUIT: at once, without a last checkpoint: it recovers when it starts again.
  void stop(int number) {
    if (!process_) return;
    process_->signal(number);
    (void)process_->wait();
    process_.reset();
  }

 private:
  /// Not waited for yet: it is there as a zombie.
  static bool has_ended(int pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(status, text);
    const auto name_ends = text.rfind(") ");
    return name_ends == std::string::npos || text.compare(name_ends + 2, 1, "Z") == 0;
  }
  static std::string find_programs() {
    for (const char* version : {"17", "16", "15", "14"}) {
      const std::string folder = std::string("/usr/lib/postgresql/") + version + "/bin";
      if (std::filesystem::exists(folder + "/postgres")) return folder;
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> program) const {
    program.insert(program.begin(), as_user_.begin(), as_user_.end());
    return program;
  }

  std::string programs_;
  std::string folder_;
  std::vector<std::string> as_user_;
  std::unique_ptr<Process> process_;
};

}  // namespace evershard::testing
