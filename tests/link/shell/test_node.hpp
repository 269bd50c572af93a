// TestNode: a process's link within the test, and what happened on it.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/link/links.hpp"

namespace evershard::cluster {

inline constexpr const char* test_secret = "the secret of the tests' cluster";

/// Who is silent for two seconds is gone, as ever.
inline LinkOptions noticing_options(std::uint32_t node) {
  LinkOptions options;
  options.who = {"cluster-1", 16, 1, NodeNumber(node), NodeRole::node, 0};
  options.secret = test_secret;
  return options;
}

/// What a test is not about: a thread that stands still for some seconds is not gone.
inline LinkOptions test_options(std::uint32_t node) {
  auto options = noticing_options(node);
  options.limits.dead_after = std::chrono::seconds(20);
  return options;
}

/// Waits for what other threads do; the time is for machines under load.
template <class Condition>
bool wait_for(const Condition& condition, std::chrono::milliseconds time_max = std::chrono::seconds(60)) {
  for (const auto until = std::chrono::steady_clock::now() + time_max; std::chrono::steady_clock::now() < until;) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

/// By default it answers a request with `node: bytes`, and keeps messages.
class TestNode {
 public:
  explicit TestNode(LinkOptions options, std::function<void(LinkRequest)> on_request = {}) : number(options.who.node) {
    LinkHandlers handlers;
    const auto name = std::to_string(number.value) + ": ";
    handlers.on_request =
        on_request ? std::move(on_request) : [name](LinkRequest request) { request.reply(name + request.bytes); };
    handlers.on_message = [this](LinkMessage message) {
      note([&] { messages.push_back(std::to_string(message.from.value) + ": " + message.bytes); });
    };
    handlers.on_session_up = [this](const LinkSessionInfo& session) { note([&] { ++ups[session.peer.node.value]; }); };
    handlers.on_session_down = [this](const LinkSessionInfo& session, const Error& why) {
      note([&] { ++downs[session.peer.node.value], reasons.push_back(why); });
    };
    handlers.on_refused = [this](const std::string&, const Error& why) { note([&] { refusals.push_back(why); }); };
    auto opened = Links::open(std::move(options), std::move(handlers));
    if (!opened) throw std::runtime_error(opened.error().what);
    links = *std::move(opened);
  }
  ~TestNode() { links->stop(); }

  std::uint16_t listen(std::uint16_t at = 0) {
    const auto listening = links->listen("127.0.0.1", at);
    EXPECT_TRUE(listening) << listening.error().what;
    return port = listening.value_or(0);
  }
  void dial(const TestNode& other) { dial(other.number, other.port); }
  void dial(NodeNumber node, std::uint16_t at, const std::string& name = {}) {
    const auto dialled = links->dial({node, "127.0.0.1", at, name});
    EXPECT_TRUE(dialled) << dialled.error().what;
  }
  Result<std::string> ask(std::uint32_t node, std::string bytes,
                          std::chrono::milliseconds time = std::chrono::seconds(60)) {
    std::promise<Result<std::string>> answered;
    links->request(NodeNumber(node), MessageKind(1), std::move(bytes), time,
                   [&](Result<std::string> outcome) { answered.set_value(std::move(outcome)); });
    return answered.get_future().get();
  }
  bool is_connected(std::uint32_t node) const {
    for (const auto& status : links->status()) {
      if (status.node.value == node) return status.connected;
    }
    return false;
  }
  LinkStatus status(std::uint32_t node) const {
    for (const auto& status : links->status()) {
      if (status.node.value == node) return status;
    }
    return {};
  }
  template <class What>
  auto look(const What& what) const {
    const std::lock_guard lock(mutex);
    return what();
  }
  bool was_refused(const std::string& part) const {
    return look([&] {
      for (const auto& refusal : refusals) {
        if (refusal.what.find(part) != std::string::npos) return true;
      }
      return false;
    });
  }
  int count(const std::map<std::uint32_t, int>& counts, std::uint32_t node) const {
    return look([&] { return counts.contains(node) ? counts.at(node) : 0; });
  }

  const NodeNumber number;
  std::uint16_t port = 0;
  mutable std::mutex mutex;
  std::map<std::uint32_t, int> ups, downs;
  std::vector<Error> reasons, refusals;
  std::vector<std::string> messages;
  std::unique_ptr<Links> links;

 private:
  template <class What>
  void note(const What& what) {
    const std::lock_guard lock(mutex);
    what();
  }
};

}  // namespace evershard::cluster
