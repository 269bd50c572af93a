// 1,000 persistent subscriptions that nothing happens to, each with a consumer: no thread, nothing that runs. What it
// costs is printed: it is the machine's. EVERSHARD_ROUNDS: how often the rate of appends is measured with and without.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/process/cluster_processes.hpp"
#include "tests/process/kurrent_client.hpp"
#include "tests/process/process.hpp"
#include "tests/process/server_process.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

constexpr int idle_many = 1'000;
constexpr int idle_channels = 4;  ///< a connection has a thousand calls at once

struct Cost {
  std::ptrdiff_t threads = 0;
  double cpu_s = 0, memory_mib = 0;
};

Cost cost_of(int pid) {
  const auto folder = std::filesystem::path("/proc") / std::to_string(pid);
  Cost cost;
  cost.threads = std::distance(std::filesystem::directory_iterator(folder / "task"), {});
  std::ifstream stat(folder / "stat");
  std::string line;
  std::getline(stat, line);
  std::istringstream words(line.substr(line.rfind(')') + 2));
  std::string word;
  for (int i = 0; i < 11; ++i) words >> word;  // behind them, what it used itself
  double user = 0, system = 0;
  words >> user >> system;
  cost.cpu_s = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream status(folder / "status");
  while (status >> word) {
    if (double kib = 0; word == "VmRSS:" && status >> kib) cost.memory_mib = kib / 1'024;
  }
  return cost;
}

/// Consumers of one subscription each, and no thread of their own.
class IdleConsumers {
 public:
  explicit IdleConsumers(const std::string& address) {
    for (int i = 0; i < idle_channels; ++i) clients_.push_back(std::make_unique<KurrentClient>(address));
  }
  static std::string stream(int i) { return "idle-" + std::to_string(i); }
  void create() {
    for (int i = 0; i < idle_many; ++i) {
      const auto created = client(i).create(stream(i), "g", eager_settings(3));
      ASSERT_TRUE(created.ok()) << created.error_message();
    }
  }
  void join() {
    for (int i = 0; i < idle_many; ++i) {
      auto& [context, call] = calls_.emplace_back();
      context = std::make_unique<grpc::ClientContext>();
      call = client(i).subscriptions().Read(context.get());
      esps::ReadReq request;
      auto& options = *request.mutable_options();
      options.mutable_stream_identifier()->set_stream_name(stream(i));
      options.set_group_name("g");
      options.set_buffer_size(10);
      options.mutable_uuid_option()->mutable_string();
      ASSERT_TRUE(call->Write(request));
    }
    for (auto& [context, call] : calls_) {
      esps::ReadResp response;
      ASSERT_TRUE(call->Read(&response));
      ASSERT_TRUE(response.has_subscription_confirmation());
    }
  }
  void leave() {
    for (auto& [context, call] : calls_) context->TryCancel();
    for (auto& [context, call] : calls_) (void)call->Finish();
    calls_.clear();
  }
  /// The next event of one of them, acknowledged.
  std::uint64_t next_of(int i) {
    auto& call = *calls_.at(static_cast<std::size_t>(i)).second;
    esps::ReadResp response;
    EXPECT_TRUE(call.Read(&response));
    esps::ReadReq answer;
    *answer.mutable_ack()->add_ids() = response.event().event().id();
    EXPECT_TRUE(call.Write(answer));
    return response.event().event().stream_revision();
  }
  KurrentClient& client(int i) { return *clients_[static_cast<std::size_t>(i) % clients_.size()]; }

 private:
  std::vector<std::unique_ptr<KurrentClient>> clients_;
  std::vector<std::pair<std::unique_ptr<grpc::ClientContext>,
                        std::unique_ptr<grpc::ClientReaderWriter<esps::ReadReq, esps::ReadResp>>>>
      calls_;
};

/// Appends a second, one event each, by one client.
double append_rate(KurrentClient& client, int appends) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < appends; ++i) EXPECT_TRUE(client.append("busy-" + std::to_string(i % 50), 1).ok());
  return appends / std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void stay_idle(const std::string& address, const std::vector<int>& pids) {
  const char* rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 1;
  const int appends = rounds_text != nullptr ? 3'000 : 200;
  IdleConsumers consumers(address);
  KurrentClient client(address);
  ASSERT_NO_FATAL_FAILURE(consumers.create());
  (void)append_rate(client, appends);
  std::vector<double> with, without;
  for (int round = 0; round < rounds; ++round) {
    without.push_back(append_rate(client, appends));
    std::vector<Cost> before;
    for (const auto pid : pids) before.push_back(cost_of(pid));
    ASSERT_NO_FATAL_FAILURE(consumers.join());
    with.push_back(append_rate(client, appends));
    std::vector<Cost> at_rest;
    for (const auto pid : pids) at_rest.push_back(cost_of(pid));
    const auto rest = rounds_text != nullptr ? 10s : 1s;
    std::this_thread::sleep_for(rest);
    for (std::size_t i = 0; i < pids.size(); ++i) {
      const auto now = cost_of(pids[i]);
      std::printf("process %zu: %td threads, before %td; %.1f MiB, before %.1f; at rest %.2f %% of a processor\n", i,
                  now.threads, before[i].threads, now.memory_mib, before[i].memory_mib,
                  100 * (now.cpu_s - at_rest[i].cpu_s) / static_cast<double>(rest.count()));
      // gRPC has more threads for more calls, for a while, and not one for each.
      EXPECT_LT(now.threads, before[i].threads + idle_many / 10) << "none has a thread of its own";
    }
    // They are there all the same.
    ASSERT_TRUE(client.append(IdleConsumers::stream(7), 1).ok());
    EXPECT_EQ(consumers.next_of(7), static_cast<std::uint64_t>(round));
    EXPECT_TRUE(comes_true([&] {
      const auto info = client.info(IdleConsumers::stream(7), "g");
      return info && checkpoint_of(*info) == round;
    }));
    consumers.leave();
  }
  const auto middle = [](std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  const double alone = middle(without), beside = middle(with);
  std::printf("%.0f appends a second beside them, %.0f without: %.2f\n", beside, alone, beside / alone);
}

TEST(KurrentIdle, AThousandSubscriptionsCostNothing) {
  ServerFolder folder;
  const auto address = "127.0.0.1:" + std::to_string(steady_port());
  Process server({EVERSHARD_PROGRAM, "serve", "--data", (folder.path() / "data").string(), "--listen", "127.0.0.1:0",
                  "--http-listen", "none", "--disk-reserve", "0", "--kurrent-listen", address});
  ASSERT_FALSE(server.ready(60s).empty()) << server.errors();
  stay_idle(address, {server.pid()});
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0) << server.errors();
}

TEST(KurrentIdle, NorOnAClusterFromANodeThatIsNobodysHome) {
  ServerFolder folder;
  const auto address = "127.0.0.1:" + std::to_string(steady_port());
  ClusterProcesses::Options options;
  options.nodes = 2;
  options.gateways = 1;
  options.flags = [&](std::uint32_t number) -> std::map<std::string, std::string> {
    if (number != 3) return {};
    return {{"--kurrent-listen", address}};
  };
  ClusterProcesses cluster(folder.path() / "cluster", options);
  stay_idle(address, {cluster.pid(1), cluster.pid(2), cluster.pid(3)});
  cluster.stop_all();
}

}  // namespace
}  // namespace evershard::testing
