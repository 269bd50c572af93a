// `evershard cluster launch`: a whole cluster on this machine, for trying out: a coordinator and nodes, watched.

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "evershard/cli/child/child_process.hpp"
#include "evershard/cli/commands.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/doors/server/stop_signals.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"

namespace evershard::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds ready_timeout = std::chrono::seconds(60);
constexpr milliseconds pause_first{200}, pause_most{10'000};
constexpr milliseconds stop_timeout = std::chrono::seconds(60);
constexpr std::uint64_t nodes_max = 64;
constexpr std::uint64_t ports_max = 65'535;
constexpr std::uint32_t shards_by_default = 16;
constexpr std::uint32_t pages_behind = 100;  ///< ports, more than there are nodes: the page of 7420 is at 7520

Options launch_options() {
  Options options = data_options();
  options.argument("nodes", "how many nodes")
      .value("listen", "HOST:PORT",
             "where the first node serves; the others use the next ports; port 0: any free ports", "127.0.0.1:7420")
      .value("http-listen", "HOST:PORT",
             "where the first node's page and HTTP API are; the others use the next ports; port 0: any free ports; "
             "none: no page; without it, 100 ports above --listen")
      .value("shards", "N", "how many shards a new cluster gets, for good; without it, 16")
      .value("keys", "DIR", "the directory of the coordinator's keys, outside of --data")
      .value("cluster", "NAME", "the cluster's name", "evershard");
  return options;
}

/// `none`, or where that node listens: its number behind the first one's port, where that is not 0.
std::string place_of(const std::optional<cluster::HostAndPort>& first, std::uint64_t node) {
  if (!first) return "none";
  const auto host = first->host.find(':') == std::string::npos ? first->host : '[' + first->host + ']';
  return host + ':' + std::to_string(first->port == 0 ? 0 : first->port + node - 1);
}

/// Throws UsageError: it is no HOST:PORT, or there are not so many ports behind it.
cluster::HostAndPort places(const std::string& flag, const std::string& text, std::uint64_t count) {
  auto place = cluster::host_and_port(text);
  if (!place) throw UsageError(flag + " is \"" + text + "\", not HOST:PORT");
  if (place->port != 0 && place->port + count - 1 > ports_max)
    throw UsageError(flag + " is \"" + text + "\": there are not " + std::to_string(count) + " ports from there on");
  return *std::move(place);
}

std::optional<cluster::HostAndPort> pages(const Arguments& arguments, const cluster::HostAndPort& listen,
                                          std::uint64_t count) {
  const auto given = arguments.text("http-listen");
  if (given) return *given == "none" ? std::nullopt : std::optional(places("--http-listen", *given, count));
  auto place = listen;
  if (listen.port == 0) return place;
  if (listen.port + pages_behind + count - 1 > ports_max)
    throw UsageError("there are no ports for pages " + std::to_string(pages_behind) + " behind --listen",
                     "say --http-listen HOST:PORT, or --http-listen none");
  place.port = static_cast<std::uint16_t>(listen.port + pages_behind);
  return place;
}

/// As the cut log in the directory has them, if it is there. Errors: those of open_cut_log: it has another number than
/// was given
Result<std::uint32_t> shards_of(const std::filesystem::path& order, std::uint32_t given) {
  std::error_code error;
  if (!std::filesystem::exists(order, error)) return given == 0 ? shards_by_default : given;
  storage::CutLogOptions options;
  options.data_dir = order;
  options.shards = given;
  auto log = storage::open_cut_log(options);
  if (!log) return refuse(std::move(log).error());
  return (*log)->identity().shards;
}

/// One that is there is used again.
Result<void> make_secret(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) return {};
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 8; ++i) {
    char word[9];
    std::snprintf(word, sizeof word, "%08x", random());
    secret += word;
  }
  const auto mask = ::umask(0077);
  std::ofstream out(file);
  out << secret << '\n';
  out.close();
  ::umask(mask);
  if (!out) return refuse(ErrorCode::io, "cannot write " + file.string());
  return {};
}

/// A process of the cluster, started again when it ends.
class Watched {
 public:
  Watched(std::string name, std::vector<std::string> words, std::filesystem::path log)
      : name_(std::move(name)), words_(std::move(words)), log_(std::move(log)) {}

  /// Errors: unavailable: it did not become ready; where it says why is named
  Result<std::string> start() {
    auto child = ChildProcess::start(words_, log_);
    if (!child) return refuse(std::move(child).error());
    child_ = std::make_unique<ChildProcess>(std::move(*child));
    auto ready = child_->wait_ready(ready_timeout);
    if (!ready) return refuse(ErrorCode::unavailable, name_ + " did not become ready: see " + log_.string());
    since_ = Clock::now();
    page_ = child_->door("http");
    // Whoever starts it again takes the ports that others know.
    keep("--listen", ready);
    keep("--http-listen", page_);
    return *ready;
  }
  /// What has happened to it, if something has.
  std::optional<std::string> look() {
    if (again_at_) {
      if (Clock::now() < *again_at_) return std::nullopt;
      again_at_.reset();
      if (auto child = ChildProcess::start(words_, log_)) child_ = std::make_unique<ChildProcess>(std::move(*child));
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
  void ask_to_stop() const {
    if (child_) child_->signal(SIGTERM);
  }
  [[nodiscard]] bool is_over() { return !child_ || child_->ended().has_value(); }
  [[nodiscard]] pid_t pid() const { return child_ ? child_->pid() : -1; }
  /// " http HOST:PORT", as it said itself; empty: it has no page.
  [[nodiscard]] std::string page() const { return page_ ? " http " + *page_ : std::string(); }

 private:
  void keep(const char* flag, const std::optional<std::string>& address) {
    const auto at = std::ranges::find(words_, flag);
    if (address && at != words_.end()) *(at + 1) = *address;
  }

  const std::string name_;
  std::vector<std::string> words_;
  const std::filesystem::path log_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<std::string> page_;
  Clock::time_point since_{};
  milliseconds pause_ = pause_first;
  std::optional<Clock::time_point> again_at_;
};

void say(const Invocation& invocation, const std::string& line) {
  invocation.out.write(line + '\n');
  invocation.out.flush();
}

/// All at once; whoever does not end in time is ended.
void stop(std::vector<Watched>& nodes, Watched& coordinator) {
  for (const auto& node : nodes) node.ask_to_stop();
  const auto until = Clock::now() + stop_timeout;
  const auto over = [&] {
    return std::all_of(nodes.begin(), nodes.end(), [](Watched& node) { return node.is_over(); });
  };
  while (!over() && Clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
  coordinator.ask_to_stop();
  while (!coordinator.is_over() && Clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
}

Outcome run_launch(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto count = arguments.number_at_least("nodes", 1);
  if (count > nodes_max)
    throw UsageError("a cluster of " + std::to_string(count) + " nodes on one machine: the most is " +
                     std::to_string(nodes_max));
  const auto listen = places("--listen", *arguments.text("listen"), count);
  const auto http = pages(arguments, listen, count);
  const auto folder = invocation.data_dir();
  const auto shards_given = arguments.has("shards") ? arguments.number_at_least("shards", 1) : 0;
  if (shards_given > shards_max)
    throw UsageError("--shards is " + std::to_string(shards_given) + ": the most is " + std::to_string(shards_max));
  const auto name = *arguments.text("cluster");

  const server::StopSignals signals;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Failed(Failure(ErrorCode::io, "cannot create " + folder.string() + ": " + error.message()));
  const auto secret = folder / "secret";
  if (auto made = make_secret(secret); !made) return Failed(Failure(std::move(made).error()));

  const auto counted = shards_of(folder / "coordinator", static_cast<std::uint32_t>(shards_given));
  if (!counted) return Failed(Failure(counted.error()));
  const auto shards = std::to_string(*counted);
  std::vector<std::string> words{"coordinator",
                                 "--data",
                                 (folder / "coordinator").string(),
                                 "--listen",
                                 "127.0.0.1:0",
                                 "--nodes",
                                 std::to_string(count),
                                 "--shards",
                                 shards,
                                 "--secret-file",
                                 secret.string(),
                                 "--cluster",
                                 name};
  if (const auto keys = arguments.text("keys")) words.insert(words.end(), {"--keys", *keys});
  Watched coordinator("the coordinator", std::move(words), folder / "coordinator.log");
  auto coordinator_at = coordinator.start();
  if (!coordinator_at) return Failed(Failure(std::move(coordinator_at).error()));
  say(invocation, "coordinator " + *coordinator_at + " pid " + std::to_string(coordinator.pid()));

  std::vector<Watched> nodes;
  std::vector<std::string> addresses;
  for (std::uint64_t n = 1; n <= count; ++n) {
    const auto data = folder / ("node-" + std::to_string(n));
    std::vector<std::string> node{"node", "--node", std::to_string(n), "--data", data.string(), "--shards", shards};
    node.insert(node.end(), {"--coordinator", *coordinator_at, "--secret-file", secret.string(), "--cluster", name});
    node.insert(node.end(), {"--listen", place_of(listen, n), "--http-listen", place_of(http, n)});
    nodes.emplace_back("node " + std::to_string(n), std::move(node), folder / ("node-" + std::to_string(n) + ".log"));
    auto ready = nodes.back().start();
    if (!ready) {
      stop(nodes, coordinator);
      return Failed(Failure(std::move(ready).error()));
    }
    addresses.push_back(*ready);
    say(invocation, "node " + std::to_string(n) + ' ' + *ready + " pid " + std::to_string(nodes.back().pid()) +
                        nodes.back().page());
  }
  say(invocation, "ready " + addresses.front() + nodes.front().page());
  while (signals.wait(milliseconds(50)) != server::Asked::stop) {
    if (auto news = coordinator.look()) say(invocation, *news);
    for (auto& node : nodes)
      if (auto news = node.look()) say(invocation, *news);
  }
  stop(nodes, coordinator);
  return {};
}

}  // namespace

Command cluster_launch_command() {
  return {"cluster launch",
          "server",
          "Runs a coordinator and nodes on this machine, for trying out.",
          "evershard cluster launch 3 --data cluster",
          launch_options,
          run_launch,
          nullptr,
          "It starts a process again that ends, until Ctrl-C."};
}

}  // namespace evershard::cli
