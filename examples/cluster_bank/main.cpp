// The bank on a cluster: each of these programs is a node of it, and each answers for every account, wherever that
// lives.
//
//   cluster_bank NODE DIR COORDINATOR SECRET_FILE [SHARDS]     NODE from 1; COORDINATOR as 127.0.0.1:7430
//
// It reads lines, until its input ends:
//
//   open NAME                     deposit NAME CENTS [ID]        withdraw NAME CENTS [ID]
//   balance NAME                  where NAME                     load COUNT ACCOUNTS PREFIX: deposits of a cent,
//                                                                128 at a time
//   fill COUNT: opens the accounts of such loads, 128 at a time

#include "examples/bank_account/bank_account.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <evershard/cluster.hpp>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using evershard::Answer;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds time_of_a_command(5);

template <class Message>
Message of(std::int64_t cents) {
  Message message;
  message.set_amount(cents);
  return message;
}

void tell(const Answer<bank::Balance>& answer) {
  if (answer)
    std::cout << "balance " << answer->amount() << (answer.duplicate() ? " (done before)" : "") << std::endl;
  else if (answer.rejected())
    std::cout << "no: " << answer.rejection() << std::endl;
  else
    std::cout << "failed: " << evershard::name_of(answer.error().code) << ": " << answer.error().what << std::endl;
}

/// Whoever does not know what became of a command sends it again under its id, as often as it takes: it takes effect
/// once.
class Load {
 public:
  /// `command`: sends the one of this number, from 0.
  Load(int count, std::function<Answer<bank::Balance>(int)> command) : count_(count), command_(std::move(command)) {}

  void run() {
    std::vector<std::thread> askers;
    for (int i = 0; i < 128; ++i) askers.emplace_back([this] { ask(); });
    for (auto& asker : askers) asker.join();
    std::cout << "done " << done_ << ", asked again " << again_ << ", longest " << longest_ms_ << " ms" << std::endl;
  }

 private:
  void ask() {
    for (int i = next_++; i < count_; i = next_++) {
      for (;;) {
        const auto began = Clock::now();
        const auto answer = command_(i);
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
        for (auto longest = longest_ms_.load(); longest < took && !longest_ms_.compare_exchange_weak(longest, took);) {
        }
        if (answer) break;
        ++again_;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      ++done_;
    }
  }

  const int count_;
  const std::function<Answer<bank::Balance>(int)> command_;
  std::atomic<int> next_{0}, done_{0}, again_{0};
  std::atomic<std::int64_t> longest_ms_{0};
};

std::string name_in_loads(int number) { return "load-" + std::to_string(number); }

Answer<bank::Balance> open_account(evershard::Cluster& app, const std::string& name) {
  bank::OpenAccount open;
  open.set_owner(name);
  return app.get<BankAccount>(name).ask(open, {.command_id = "open", .timeout = time_of_a_command});
}

void obey(evershard::Cluster& app, const std::string& line) {
  std::istringstream words(line);
  std::string what, name, id;
  std::int64_t cents = 0;
  words >> what >> name;
  const auto account = app.get<BankAccount>(name);
  if (what == "open") {
    tell(open_account(app, name));
  } else if (what == "deposit" && words >> cents) {
    words >> id;
    tell(account.ask(of<bank::Deposit>(cents), {.command_id = id, .timeout = time_of_a_command}));
  } else if (what == "withdraw" && words >> cents) {
    words >> id;
    tell(account.ask(of<bank::Withdraw>(cents), {.command_id = id, .timeout = time_of_a_command}));
  } else if (what == "balance") {
    tell(account.ask(bank::GetBalance{}, {.timeout = time_of_a_command}));
  } else if (what == "where") {
    std::cout << "node " << app.node_of(account.id()) << std::endl;
  } else if (int accounts = 0; what == "load" && words >> accounts >> id && accounts > 0) {
    Load(std::atoi(name.c_str()), [&](int i) {
      return app.get<BankAccount>(name_in_loads(i % accounts))
          .ask(of<bank::Deposit>(1), {.command_id = id + "-" + std::to_string(i), .timeout = time_of_a_command});
    }).run();
  } else if (what == "fill") {
    Load(std::atoi(name.c_str()), [&](int i) { return open_account(app, name_in_loads(i)); }).run();
  } else {
    std::cout << "what? \"" << line << '"' << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "cluster_bank NODE DIR COORDINATOR SECRET_FILE [SHARDS]\n";
    return 2;
  }
  evershard::ClusterOptions options;
  options.node = static_cast<std::uint32_t>(std::atoi(argv[1]));
  options.data_dir = argv[2];
  options.coordinator = argv[3];
  options.secret_file = argv[4];
  if (argc > 5) options.shards = static_cast<std::uint32_t>(std::atoi(argv[5]));
  options.warn = [](const evershard::Error& error) { std::cerr << "cluster_bank: " << error.what << '\n'; };
  auto joined = evershard::Cluster::join(options);
  if (!joined) {
    std::cerr << "cluster_bank: " << joined.error().what << '\n';
    return 1;
  }
  auto& app = *joined;
  if (auto hosted = app.host<BankAccount>(); !hosted) {
    std::cerr << "cluster_bank: " << hosted.error().what << '\n';
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) obey(app, line);
}
