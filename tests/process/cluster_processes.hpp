// ClusterProcesses: a coordinator and nodes as real processes, each of which a test may harm.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evershard/doors/remote/remote.hpp"
#include "tests/process/process.hpp"
#include "tests/process/relay.hpp"

namespace evershard::testing {

/// The words, with these flags beside theirs, or instead of them.
[[nodiscard]] std::vector<std::string> with_flags(std::vector<std::string> words,
                                                  const std::map<std::string, std::string>& flags);

/// Number 0 is the coordinator's, the nodes are numbered from 1. Further coordinators have numbers of their own.
class ClusterProcesses {
 public:
  static constexpr std::uint32_t coordinator = 0;
  static constexpr std::uint32_t further_coordinators = 1'000'000;  ///< the first of them
  [[nodiscard]] static bool is_coordinator(std::uint32_t number) {
    return number == coordinator || number >= further_coordinators;
  }
  struct Options {
    std::uint32_t nodes = 3;
    std::uint32_t coordinators = 1;  ///< more than one need a cut log that they share: see `flags`
    std::uint32_t gateways = 0;      ///< numbered behind the nodes
    std::uint32_t shards = 4;
    bool relays = false;  ///< what the processes say to each other goes through relay()
    /// Where each listens for the others, and nobody else can reach it: clients come through a Unix socket. None: all
    /// are on loopback.
    std::function<std::string(std::uint32_t number)> host{};
    /// Words before a process's own; they have to end in exec.
    std::function<std::vector<std::string>(std::uint32_t number)> within{};
    std::function<std::map<std::string, std::string>(std::uint32_t number)>
        flags{};  ///< beside, or instead of, its own
  };
  /// Starts all, and waits until the cluster takes appends on all its shards.
  explicit ClusterProcesses(std::filesystem::path folder) : ClusterProcesses(std::move(folder), Options()) {}
  ClusterProcesses(std::filesystem::path folder, Options options);
  ~ClusterProcesses();

  void start(std::uint32_t number);
  /// Without waiting until it is ready.
  void launch(std::uint32_t number);
  void signal(std::uint32_t number, int signal) { processes_.at(number)->signal(signal); }
  void kill(std::uint32_t number);
  /// SIGTERM; fails the test where it does not end well.
  void stop(std::uint32_t number);
  void stop_all();
  /// Waits for its end. Returns: its status, and what it has said.
  Finished wait(std::uint32_t number, std::chrono::milliseconds deadline = std::chrono::seconds(120));
  [[nodiscard]] int pid(std::uint32_t number) const { return processes_.at(number)->pid(); }
  /// Whether the text comes to stand in what the process writes to its standard error, in so long.
  [[nodiscard]] bool logs(std::uint32_t number, const std::string& text,
                          std::chrono::milliseconds deadline = std::chrono::seconds(120));
  [[nodiscard]] std::string log(std::uint32_t number) const { return processes_.at(number)->errors(); }
  /// Between the coordinator and this node; between nodes, in front of the one with the lower number.
  [[nodiscard]] Relay& relay_to_coordinator(std::uint32_t node) { return *to_coordinator_.at(node); }
  [[nodiscard]] Relay& relay_to_node(std::uint32_t node) { return *to_node_.at(node); }

  [[nodiscard]] std::filesystem::path data(std::uint32_t number) const {
    if (number >= further_coordinators)
      return folder_ / ("coordinator-" + std::to_string(number - further_coordinators + 2));
    return folder_ / (number == coordinator ? std::string("coordinator") : "node-" + std::to_string(number));
  }
  [[nodiscard]] std::uint32_t nodes() const { return options_.nodes; }
  /// The numbers of all.
  [[nodiscard]] std::vector<std::uint32_t> coordinators() const;
  /// Waits for one of these to lead, by what it logs. Fails the test where none does.
  [[nodiscard]] std::uint32_t leading(const std::vector<std::uint32_t>& among,
                                      std::chrono::milliseconds deadline = std::chrono::seconds(120)) const;
  [[nodiscard]] std::uint32_t shards() const { return options_.shards; }
  [[nodiscard]] std::string address(std::uint32_t number) const { return addresses_.at(number); }
  /// Where clients reach a node.
  [[nodiscard]] std::string door(std::uint32_t node) const {
    return options_.host ? "unix:" + socket(node) : address(node);
  }
  [[nodiscard]] std::filesystem::path secret() const { return folder_ / "secret"; }
  [[nodiscard]] Remote connect(std::uint32_t node, std::chrono::milliseconds timeout = std::chrono::seconds(30)) const;
  /// The words of a process of this cluster, to start one more like it.
  [[nodiscard]] std::vector<std::string> words(std::uint32_t number) const;
  /// Waits until an append to each shard is taken, asked of each node.
  [[nodiscard]] bool wait_until_whole(std::chrono::milliseconds deadline = std::chrono::seconds(120));

  /// An aggregate in this shard.
  [[nodiscard]] std::string aggregate_in(std::uint32_t shard) const;

 private:
  [[nodiscard]] std::string socket(std::uint32_t node) const {
    return (folder_ / ("door-" + std::to_string(node))).string();
  }

  const std::filesystem::path folder_;
  const Options options_;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_;
  std::map<std::uint32_t, std::string> said_;  ///< by those that have ended
  std::map<std::uint32_t, std::string> addresses_;
  std::map<std::uint32_t, std::unique_ptr<Relay>> to_coordinator_, to_node_;
};

}  // namespace evershard::testing
