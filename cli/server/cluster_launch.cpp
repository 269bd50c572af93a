// `evershard cluster launch`: a whole cluster on this machine, for trying out: coordinators, nodes and etcd, watched.

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "evershard/cli/command.hpp"
#include "evershard/cli/server/launch_lock.hpp"
#include "evershard/cli/server/launched_etcd.hpp"
#include "evershard/cli/server/watched_process.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/doors/remote/remote.hpp"
#include "evershard/doors/server/ready_figure.hpp"
#include "evershard/doors/server/stop_signals.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"

namespace evershard::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds stop_timeout = std::chrono::seconds(60), etcd_stop_timeout = std::chrono::seconds(2);
constexpr milliseconds waiting_said_after = std::chrono::seconds(2), node_asked_for = std::chrono::seconds(2);
constexpr std::uint64_t nodes_max = 64;
constexpr std::uint64_t ports_max = 65'535;
constexpr std::uint32_t shards_by_default = 16;
constexpr std::uint64_t replicas_by_default = 3;
constexpr std::uint32_t pages_behind = 100;  ///< ports, more than there are nodes: the page of 7420 is at 7520

Options launch_options() {
  Options options = data_options();
  options.argument("nodes", "how many nodes")
      .value("listen", "HOST:PORT",
             "where the first node serves; the others use the next ports; port 0: any free ports", "127.0.0.1:7420")
      .value("http-listen", "HOST:PORT",
             "where the first node's page and HTTP API are; the others use the next ports; port 0: any free ports; "
             "none: no page; without it, 100 ports above --listen")
      .value("kurrent-listen", "HOST:PORT",
             "where the first node serves KurrentDB's clients; the others use the next ports; without it, nowhere")
      .value("umadb-listen", "HOST:PORT",
             "where the first node serves UmaDB's clients; the others use the next ports; without it, nowhere")
      .value("shards", "N", "how many shards a new cluster gets, for good; without it, 16")
      .value(
          "cut-log", "WHERE",
          "local: in the directory of the one coordinator; etcd: on three members of an etcd, which are started too, "
          "and a second coordinator stands by; without it, where it lies already; of a new cluster on etcd where "
          "shards have replicas, else local")
      .value("replicas", "N",
             "how many nodes keep each shard of a new cluster; an append is acknowledged once most of them have it; "
             "without it 3, or 1 where there are fewer nodes")
      .value("keys", "DIR", "the directory of the coordinator's keys, outside of --data; where the cut log is local")
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

/// A door that is off where its flag is not given.
std::optional<cluster::HostAndPort> places_of(const Arguments& arguments, const std::string& door,
                                              std::uint64_t count) {
  const auto given = arguments.text(door);
  return given ? std::optional(places("--" + door, *given, count)) : std::nullopt;
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

/// 32 random bytes, in hex. One that is there is used again.
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

void say(const Invocation& invocation, const std::string& line) {
  invocation.out.write(line + '\n');
  invocation.out.flush();
}

/// A whole cluster on this machine.
class Launched {
 public:
  explicit Launched(const Invocation& invocation) : invocation_(invocation) {}
  ~Launched() {
    const auto until = std::chrono::steady_clock::now() + stop_timeout;
    for (auto* group : {&nodes_, &coordinators_}) stop_together(*group, until);
    // The last of its members would look for a leader for long. What etcd has answered is on its disks.
    stop_together(etcd_, std::chrono::steady_clock::now() + etcd_stop_timeout);
  }
  Launched(const Launched&) = delete;

  Result<void> start_etcd(const std::filesystem::path& folder, const std::function<bool()>& go_on);
  Result<void> start_coordinator(std::vector<std::string> words, const std::filesystem::path& log);
  Result<void> start_node(std::vector<std::string> words, const std::filesystem::path& log);
  /// Where all of them are, with commas.
  [[nodiscard]] const std::string& coordinators() const { return coordinators_at_; }
  [[nodiscard]] const std::string& cut_log() const { return cut_log_; }
  /// Until every shard has its writer, and every node knows it: what is appended before waits, and what is read is not
  /// all there is. What it waits for is said after a while. Returns: false: asked to stop.
  bool wait_for_writers(const std::function<bool()>& go_on);
  void say_ready() const { say(invocation_, "ready " + first_node_at_ + nodes_.front().other_doors()); }
  void look() {
    for (auto* group : {&etcd_, &coordinators_, &nodes_})
      for (auto& process : *group)
        if (auto news = process.look()) say(invocation_, *news);
  }

 private:
  const Invocation& invocation_;
  std::vector<WatchedProcess> etcd_, coordinators_, nodes_;
  /// What the cluster still waits for; nothing: it is ready.
  std::optional<std::string> waits_for();

  std::string cut_log_, coordinators_at_, first_node_at_;
  std::vector<std::string> nodes_at_;
  std::vector<std::optional<Remote>> asked_;  ///< one a node
};

Result<void> Launched::start_etcd(const std::filesystem::path& folder, const std::function<bool()>& go_on) {
  auto members = etcd_members_in(folder);
  if (!members) return refuse(std::move(members).error());
  auto address = etcd_address_in(folder);
  if (!address) return refuse(std::move(address).error());
  cut_log_ = *std::move(address);
  etcd_ = *std::move(members);
  for (auto& member : etcd_) EVERSHARD_TRY(member.launch());
  if (auto answers = wait_for_etcd(cut_log_, go_on); !answers)
    return refuse(answers.error().code, answers.error().what + ": see " + etcd_.front().log().string());
  for (const auto& member : etcd_) say(invocation_, member.name() + " pid " + std::to_string(member.pid()));
  return {};
}

Result<void> Launched::start_coordinator(std::vector<std::string> words, const std::filesystem::path& log) {
  const auto number = coordinators_.size() + 1;
  coordinators_.emplace_back(number == 1 ? "coordinator" : "coordinator " + std::to_string(number), std::move(words),
                             log);
  auto& coordinator = coordinators_.back();
  auto ready = coordinator.start();
  if (!ready) return refuse(std::move(ready).error());
  coordinators_at_ += (coordinators_at_.empty() ? "" : ",") + *ready;
  say(invocation_, "coordinator " + *ready + " pid " + std::to_string(coordinator.pid()));
  return {};
}

Result<void> Launched::start_node(std::vector<std::string> words, const std::filesystem::path& log) {
  const auto number = std::to_string(nodes_.size() + 1);
  nodes_.emplace_back("node " + number, std::move(words), log);
  auto& node = nodes_.back();
  auto ready = node.start();
  if (!ready) return refuse(std::move(ready).error());
  if (first_node_at_.empty()) first_node_at_ = *ready;
  nodes_at_.push_back(*ready);
  say(invocation_, "node " + number + ' ' + *ready + " pid " + std::to_string(node.pid()) + node.other_doors());
  return {};
}

bool Launched::wait_for_writers(const std::function<bool()>& go_on) {
  auto say_at = std::chrono::steady_clock::now() + waiting_said_after;
  std::string said;
  for (; go_on(); std::this_thread::sleep_for(milliseconds(20))) {
    look();
    auto waits = waits_for();
    if (!waits) return true;
    if (std::chrono::steady_clock::now() < say_at || *waits == said) continue;
    said = *std::move(waits);
    say_at = std::chrono::steady_clock::now() + waiting_said_after;
    say(invocation_, "waiting: " + said);
  }
  return false;
}

std::optional<std::string> Launched::waits_for() {
  asked_.resize(nodes_at_.size());
  for (std::size_t n = 0; n != nodes_at_.size(); ++n) {
    const auto name = nodes_[n].name();
    if (!asked_[n]) {
      auto connected = Remote::connect({.server = nodes_at_[n], .timeout = node_asked_for, .follow_shards = false});
      if (!connected) return name + ": " + connected.error().what;
      asked_[n].emplace(*std::move(connected));
    }
    if (n == 0) {
      const auto status = asked_[n]->cluster_status();
      if (!status) return name + ": " + status.error().what;
      if (!status->trouble.empty()) return name + ": " + status->trouble;
      const auto closed = static_cast<std::size_t>(
          std::ranges::count(status->shards, false, [](const ClusterStatus::Shard& shard) { return shard.open; }));
      if (closed != 0 || status->shards.empty()) {
        const auto first = std::ranges::find(status->shards, false, &ClusterStatus::Shard::open);
        std::string what =
            std::to_string(closed) + " of " + std::to_string(status->shards.size()) + " shards have no writer yet";
        if (first != status->shards.end() && !first->trouble.empty()) what += ": " + first->trouble;
        return what;
      }
    }
    const auto stats = asked_[n]->stats();
    if (!stats) return name + ": " + stats.error().what;
    const auto ready =
        std::ranges::find_if(stats->details, [](const auto& detail) { return detail.first == server::ready_figure; });
    if (ready == stats->details.end() || ready->second == 0) return name + " does not know yet who writes each shard";
  }
  return {};
}

/// Where the cut log lies: as was asked, as it does already, or, of a new cluster, as it should. Errors:
/// invalid_argument: it lies elsewhere
Result<bool> is_on_etcd(const std::filesystem::path& folder, const std::optional<std::string>& asked, bool should) {
  std::error_code error;
  const bool has_local = std::filesystem::exists(folder / "coordinator", error),
             has_etcd = std::filesystem::exists(folder / "etcd", error);
  const bool etcd = asked ? *asked == "etcd" : has_etcd || (!has_local && should);
  if (etcd && has_local)
    return refuse(ErrorCode::invalid_argument, "this cluster's cut log lies in " + (folder / "coordinator").string() +
                                                   ", not on etcd: --cut-log local");
  if (!etcd && has_etcd)
    return refuse(ErrorCode::invalid_argument,
                  "this cluster's cut log lies on the etcd in " + (folder / "etcd").string() + ": --cut-log etcd");
  return etcd;
}

Outcome run_launch(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto count = arguments.number_at_least("nodes", 1);
  if (count > nodes_max)
    throw UsageError("a cluster of " + std::to_string(count) + " nodes on one machine: the most is " +
                     std::to_string(nodes_max));
  const auto replicas = arguments.has("replicas")     ? arguments.number_at_least("replicas", 1)
                        : count < replicas_by_default ? 1
                                                      : replicas_by_default;
  if (replicas > count)
    throw UsageError("--replicas is " + std::to_string(replicas) + ", of " + std::to_string(count) + " nodes");
  const auto listen = places("--listen", *arguments.text("listen"), count);
  const auto http = pages(arguments, listen, count);
  const auto kurrent = places_of(arguments, "kurrent-listen", count);
  const auto umadb = places_of(arguments, "umadb-listen", count);
  const auto folder = invocation.data_dir();
  const auto shards_given = arguments.has("shards") ? arguments.number_at_least("shards", 1) : 0;
  if (shards_given > shards_max)
    throw UsageError("--shards is " + std::to_string(shards_given) + ": the most is " + std::to_string(shards_max));
  const auto cut_log = arguments.text("cut-log");
  if (cut_log && *cut_log != "local" && *cut_log != "etcd")
    throw UsageError("--cut-log is \"" + *cut_log + "\": local, or etcd");
  const auto name = *arguments.text("cluster");
  const auto on_etcd = is_on_etcd(folder, cut_log, replicas > 1 && !arguments.has("keys"));
  if (!on_etcd) return Failed(Failure(on_etcd.error()));
  if (*on_etcd && arguments.has("keys"))
    throw UsageError("--keys is for a cut log that is local: on etcd the subjects' keys lie beside it");

  const server::StopSignals signals;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Failed(Failure(ErrorCode::io, "cannot create " + folder.string() + ": " + error.message()));
  const auto lock = LaunchLock::take(folder);
  if (!lock) return Failed(Failure(lock.error()));
  const auto secret = folder / "secret";
  if (auto made = make_secret(secret); !made) return Failed(Failure(std::move(made).error()));

  Launched launched(invocation);
  const auto go_on = [&] { return signals.wait(milliseconds(0)) != server::Asked::stop; };
  const std::vector<std::string> common{"--secret-file", secret.string(), "--cluster", name};
  const auto also = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::vector<std::string> coordinator = also({"coordinator", "--listen", "127.0.0.1:0", "--nodes",
                                               std::to_string(count), "--replicas", std::to_string(replicas)},
                                              common);
  std::vector<std::string> node = also({"node"}, common);
  if (*on_etcd) {
    if (auto started = launched.start_etcd(folder / "etcd", go_on); !started)
      return Failed(Failure(std::move(started).error()));
    coordinator = also(std::move(coordinator), {"--cut-log", launched.cut_log()});
    if (shards_given != 0) coordinator = also(std::move(coordinator), {"--shards", std::to_string(shards_given)});
  } else {
    const auto counted = shards_of(folder / "coordinator", static_cast<std::uint32_t>(shards_given));
    if (!counted) return Failed(Failure(counted.error()));
    const auto shards = std::to_string(*counted);
    coordinator = also(std::move(coordinator), {"--data", (folder / "coordinator").string(), "--shards", shards});
    node = also(std::move(node), {"--shards", shards});
  }
  if (*on_etcd) {
    const auto key_file = folder / "subjects.key";
    if (auto made = make_secret(key_file); !made) return Failed(Failure(std::move(made).error()));
    coordinator = also(std::move(coordinator), {"--key-file", key_file.string()});
  }
  if (const auto keys = arguments.text("keys")) coordinator = also(std::move(coordinator), {"--keys", *keys});
  for (int n = 1; n <= (*on_etcd ? 2 : 1); ++n) {
    const auto log = folder / (n == 1 ? "coordinator.log" : "coordinator-" + std::to_string(n) + ".log");
    if (auto started = launched.start_coordinator(coordinator, log); !started)
      return Failed(Failure(std::move(started).error()));
  }
  for (std::uint64_t n = 1; n <= count; ++n) {
    if (!go_on()) return {};  // as later: what was started is stopped
    const auto own = "node-" + std::to_string(n);
    auto words =
        also(node, {"--node", std::to_string(n), "--data", (folder / own).string(), "--coordinator",
                    launched.coordinators(), "--listen", place_of(listen, n), "--http-listen", place_of(http, n)});
    if (kurrent) words = also(std::move(words), {"--kurrent-listen", place_of(kurrent, n)});
    if (umadb) words = also(std::move(words), {"--umadb-listen", place_of(umadb, n)});
    if (auto started = launched.start_node(std::move(words), folder / (own + ".log")); !started)
      return Failed(Failure(std::move(started).error()));
  }
  if (!launched.wait_for_writers(go_on)) return {};
  launched.say_ready();
  while (signals.wait(milliseconds(50)) != server::Asked::stop) launched.look();
  return {};
}

}  // namespace

Command cluster_launch_command() {
  return {"cluster launch",
          "cluster",
          "Runs a cluster on this machine, for trying out.",
          "evershard cluster launch 3 --data cluster",
          launch_options,
          run_launch,
          nullptr,
          "It starts a process again that ends, until Ctrl-C."};
}

}  // namespace evershard::cli
