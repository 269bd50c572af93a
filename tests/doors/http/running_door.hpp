// RunningDoor: a small store in memory behind an HTTP door.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "evershard/doors/http/http_door.hpp"
#include "evershard/doors/serving/served.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {

inline constexpr std::string_view tokens =
    "reader read r-0123456789abcdef\nwriter read,append w-0123456789abcdef\nboss read,append,admin "
    "a-0123456789abcdef%;\n";

class RunningDoor {
 public:
  explicit RunningDoor(http::HttpOptions options = {}, std::string_view token_lines = {},
                       LocalOptions store_options = {}, serving::ClientLimitOptions client_limits = {},
                       const std::vector<std::shared_ptr<const AggregateKind>>& kinds = {})
      : store(open_store(std::move(store_options))), pool(3), watch(store) {
    access = std::make_shared<serving::Access>(
        token_lines.empty() ? serving::Access::open() : serving::Access::of_tokens(token_lines, "TOKENS").value());
    options.listen = "127.0.0.1:0";
    served = std::make_unique<serving::Served>(
        serving::Served{store, store, pool, watch, [this] { return access; }, [this] { return types; }});
    served->own_projections = &store.projections();
    served->retention = &store.retention();
    served->clients = std::make_shared<serving::ClientGate>(client_limits);
    served->documents = &store.documents();
    served->scheduled = &store.scheduled();
    served->processes = &store.processes();
    served->tables = &store.tables();
    served->fork = store.stats().value().info.fork_id;
    served->led = [this] { return led; };
    for (const auto& kind : kinds) EXPECT_TRUE(store.host_kind(kind, {}));
    if (!kinds.empty()) served->commands = &commands.emplace(store, kinds);
    auto started = http::HttpDoor::start(*served, std::move(options));
    EXPECT_TRUE(started) << started.error().what;
    door = *std::move(started);
  }

  [[nodiscard]] std::string address() const { return door->address(); }
  [[nodiscard]] HttpAnswer ask(std::string_view method, std::string_view target, std::string_view body = {},
                               std::string_view headers = {}) const {
    return evershard::ask(address(), method, target, body, headers);
  }
  [[nodiscard]] HttpAnswer get(std::string_view target, std::string_view headers = {}) const {
    return ask("GET", target, {}, headers);
  }
  [[nodiscard]] HttpClient client() const { return HttpClient(address()); }

  Local store;
  cluster::WorkPool pool;
  serving::HeadWatch watch;
  std::shared_ptr<const serving::Access> access;
  RegisteredTypes types;
  std::shared_ptr<const std::string> led{};  ///< whose order answers follow, as text
  std::optional<serving::HostedCommands> commands;
  std::unique_ptr<serving::Served> served;
  std::unique_ptr<http::HttpDoor> door;
};

}  // namespace evershard
