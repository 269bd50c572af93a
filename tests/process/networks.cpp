#include "tests/process/networks.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> enter(int user, int network) {
  return {"/usr/bin/nsenter", "--preserve-credentials", "--user=/proc/" + std::to_string(user) + "/ns/user",
          "--net=/proc/" + std::to_string(network) + "/ns/net"};
}

std::vector<std::string> and_run(std::vector<std::string> words, const std::string& script) {
  for (const auto* word : {"/bin/sh", "-c"}) words.emplace_back(word);
  words.push_back(script);
  return words;
}

/// Until its input ends: with whoever started it, however that one ends.
const std::string stay = "echo there; exec cat";

}  // namespace

Networks::Networks(std::uint32_t processes) {
  holder_ = std::make_unique<Process>(and_run({"/usr/bin/unshare", "-Urn"}, stay));
  if (holder_->lines(1, 20s).empty()) {
    missing_ = "no namespaces: " + holder_->errors();
    return;
  }
  for (std::uint32_t n = 0; n != processes; ++n) {
    auto words = enter(holder_->pid(), holder_->pid());
    words.insert(words.end(), {"/usr/bin/unshare", "-n"});
    holders_.push_back(std::make_unique<Process>(and_run(std::move(words), stay)));
    if (holders_.back()->lines(1, 20s).empty()) missing_ = "no network namespace: " + holders_.back()->errors();
    if (missing_.empty() && !run_in(n, "ip link set lo up && ip addr add " + host(n) + "/32 dev lo"))
      missing_ += "(ip: package iproute2)";
    if (!missing_.empty()) return;
  }
  for (std::uint32_t a = 0; a != processes; ++a) {
    for (std::uint32_t b = a + 1; b != processes; ++b) {
      const auto there = std::to_string(holders_[b]->pid());
      const auto wired = run_in(a, "ip link add " + wire(a, b) + " type veth peer name " + wire(b, a) + " netns " +
                                       there + " && ip link set " + wire(a, b) + " up") &&
                         run_in(b, "ip link set " + wire(b, a) + " up && ip route add " + host(a) + "/32 dev " +
                                       wire(b, a) + " src " + host(b)) &&
                         run_in(a, "ip route add " + host(b) + "/32 dev " + wire(a, b) + " src " + host(a));
      if (!wired) return;
    }
  }
}

std::vector<std::string> Networks::within(std::uint32_t number) const {
  return enter(holder_->pid(), holders_.at(number)->pid());
}

bool Networks::run_in(std::uint32_t number, const std::string& script) {
  const auto done = run(and_run(within(number), "PATH=$PATH:/usr/sbin:/sbin; " + script));
  if (done.status != 0) missing_ = script + ": " + done.err;
  return done.status == 0;
}

// To an address on the wire that is nobody's: it is sent, and whoever gets it does not take it.
void Networks::drop(std::uint32_t from, std::uint32_t to) {
  EXPECT_TRUE(run_in(
      from, "ip neigh replace " + host(to) + " lladdr 02:00:00:00:00:99 dev " + wire(from, to) + " nud permanent"))
      << missing_;
}

void Networks::let_through(std::uint32_t from, std::uint32_t to) {
  EXPECT_TRUE(run_in(from, "ip neigh del " + host(to) + " dev " + wire(from, to))) << missing_;
}

void Networks::slow(std::uint32_t from, std::uint32_t to, std::uint32_t kilobits) {
  EXPECT_TRUE(run_in(from, "tc qdisc add dev " + wire(from, to) + " root tbf rate " + std::to_string(kilobits) +
                               "kbit burst 8kb latency 60ms"))
      << missing_;
}

void Networks::fast(std::uint32_t from, std::uint32_t to) {
  EXPECT_TRUE(run_in(from, "tc qdisc del dev " + wire(from, to) + " root")) << missing_;
}

}  // namespace evershard::testing
