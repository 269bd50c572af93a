#include "tests/process/cluster_processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "evershard/sharding/stream_hash.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto ready_deadline = 120s;

}  // namespace

std::vector<std::string> with_flags(std::vector<std::string> words, const std::map<std::string, std::string>& flags) {
  for (const auto& [flag, value] : flags) {
    const auto at = std::ranges::find(words, flag);
    if (at == words.end())
      words.insert(words.end(), {flag, value});
    else
      *(at + 1) = value;
  }
  return words;
}

ClusterProcesses::ClusterProcesses(std::filesystem::path folder, Options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  std::filesystem::create_directories(folder_);
  const auto mask = ::umask(0077);
  std::ofstream(secret()) << "a secret of more than sixteen bytes, thirty-two perhaps\n";
  ::umask(mask);
  for (const auto number : coordinators()) {
    addresses_[number] = options_.host ? options_.host(number) + ":0" : "127.0.0.1:" + std::to_string(steady_port());
    start(number);
  }
  const auto members = options_.nodes + options_.gateways;
  for (std::uint32_t n = 1; n <= members; ++n) {
    addresses_[n] = "127.0.0.1:" + std::to_string(steady_port());
    if (options_.relays) {
      to_coordinator_[n] = std::make_unique<Relay>(addresses_[coordinator]);
      to_node_[n] = std::make_unique<Relay>("");
    }
  }
  for (std::uint32_t n = 1; n <= members; ++n) launch(n);
  for (std::uint32_t n = 1; n <= members; ++n) start(n);
  EXPECT_TRUE(wait_until_whole()) << "the cluster does not come together";
}

ClusterProcesses::~ClusterProcesses() {
  for (auto& [number, process] : processes_) {
    if (::testing::Test::HasFailure())
      std::fprintf(stderr, "---- %s\n%s\n", data(number).filename().c_str(),
                   (said_[number] + process->errors()).c_str());
  }
}

std::vector<std::string> ClusterProcesses::words(std::uint32_t number) const {
  std::vector<std::string> words;
  if (options_.within) words = options_.within(number);
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  add({EVERSHARD_PROGRAM, is_coordinator(number) ? "coordinator" : "node", "--data", data(number).string(),
       "--secret-file", secret().string(), "--listen", address(number)});
  if (is_coordinator(number)) {
    add({"--nodes", std::to_string(options_.nodes), "--shards", std::to_string(options_.shards)});
  } else {
    const auto relay = to_coordinator_.find(number);
    std::string all;
    for (const auto one : coordinators()) all += (all.empty() ? "" : ",") + address(one);
    add({"--node", std::to_string(number), "--shards", std::to_string(options_.shards), "--http-listen", "none",
         "--disk-reserve", "0", "--coordinator", relay == to_coordinator_.end() ? all : relay->second->address()});
    if (relay != to_coordinator_.end()) add({"--peers-address", to_node_.at(number)->address()});
  }
  if (options_.host) {
    add({"--peers-insecure"});  // the secret goes over the wires of a test
    if (!is_coordinator(number)) add({"--unix-socket", socket(number), "--peers-listen", options_.host(number) + ":0"});
  }
  if (number > options_.nodes && !is_coordinator(number)) add({"--gateway"});
  return options_.flags ? with_flags(std::move(words), options_.flags(number)) : words;
}

void ClusterProcesses::launch(std::uint32_t number) { processes_[number] = std::make_unique<Process>(words(number)); }

/// Waits until it is ready; where it was launched already, that one.
void ClusterProcesses::start(std::uint32_t number) {
  auto& process = processes_[number];
  if (process == nullptr || process->pid() <= 0) launch(number);
  auto address = process->ready(ready_deadline);
  if (address.empty()) {
    ADD_FAILURE() << data(number).filename() << " did not become ready: " << process->errors();
    return;
  }
  addresses_[number] = std::move(address);
  if (const auto relay = to_node_.find(number); relay != to_node_.end()) {
    const std::string what = "address=", said = process->errors();
    const auto peers = said.find("speaks=peers");
    const auto at = said.find(what, peers);
    ASSERT_TRUE(peers != std::string::npos && at != std::string::npos) << said;
    relay->second->leads_to(said.substr(at + what.size(), said.find_first_of(" \n", at) - at - what.size()));
  }
}

void ClusterProcesses::kill(std::uint32_t number) {
  signal(number, SIGKILL);
  (void)wait(number);
}

void ClusterProcesses::stop(std::uint32_t number) {
  signal(number, SIGTERM);
  const auto finished = wait(number, 120s);
  EXPECT_EQ(finished.status, 0) << data(number).filename() << ": " << finished.err;
}

void ClusterProcesses::stop_all() {
  for (std::uint32_t n = options_.nodes + options_.gateways; n != coordinator; --n) stop(n);
  for (const auto number : coordinators()) stop(number);
}

std::vector<std::uint32_t> ClusterProcesses::coordinators() const {
  std::vector<std::uint32_t> all{coordinator};
  for (std::uint32_t n = 1; n < options_.coordinators; ++n) all.push_back(further_coordinators + n - 1);
  return all;
}

std::uint32_t ClusterProcesses::leading(const std::vector<std::uint32_t>& among,
                                        std::chrono::milliseconds deadline) const {
  const auto until = Clock::now() + deadline;
  do {
    for (const auto number : among) {
      const auto log = processes_.at(number)->errors();
      const auto led = log.rfind(" leading ");
      if (led == std::string::npos) continue;
      const auto ended = log.rfind("stepping down");
      if (ended == std::string::npos || ended < led) return number;
    }
    std::this_thread::sleep_for(5ms);
  } while (Clock::now() < until);
  ADD_FAILURE() << "no coordinator comes to lead";
  return among.front();
}

Finished ClusterProcesses::wait(std::uint32_t number, std::chrono::milliseconds deadline) {
  auto finished = processes_.at(number)->wait(deadline);
  said_[number] += finished.err;
  return finished;
}

bool ClusterProcesses::logs(std::uint32_t number, const std::string& text, std::chrono::milliseconds deadline) {
  return processes_.at(number)->says(text, deadline);
}

Remote ClusterProcesses::connect(std::uint32_t node, std::chrono::milliseconds timeout) const {
  return Remote::connect({.server = door(node), .timeout = timeout, .unavailable_timeout = timeout}).value();
}

std::string ClusterProcesses::aggregate_in(std::uint32_t shard) const {
  for (int i = 0;; ++i) {
    const AggregateId id{"probe", std::to_string(i)};
    if (sharding::shard_of(sharding::stream_hash(id), options_.shards).value == shard) return id.text();
  }
}

bool ClusterProcesses::wait_until_whole(std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  for (std::uint32_t n = 1; n <= options_.nodes + options_.gateways; ++n) {
    auto store = connect(n, 2s);
    for (std::uint32_t shard = 0; shard != options_.shards; ++shard) {
      // Without an event: what is expected of it cannot be, and its owner has to say so.
      for (;;) {
        const auto asked = store.append(Append()
                                            .event(aggregate_in(shard), "Probe", "probe")
                                            .expect(aggregate_in(shard), Version::exactly(1'000'000'000)));
        if (!asked && asked.error().code == ErrorCode::version_conflict) break;
        if (Clock::now() > until) {
          ADD_FAILURE() << "shard " << shard << ", asked of node " << n << ": "
                        << (asked ? "stored" : asked.error().what);
          return false;
        }
        std::this_thread::sleep_for(20ms);
      }
    }
  }
  return true;
}

}  // namespace evershard::testing
