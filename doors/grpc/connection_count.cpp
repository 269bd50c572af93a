#include "evershard/doors/grpc/connection_count.hpp"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

namespace evershard::door {
namespace {

using nlohmann::json;

constexpr std::int64_t page_connections_max = 10'000;

/// Empty object: it is no JSON.
json told(char* text) {
  auto read = text == nullptr ? json() : json::parse(text, nullptr, false);
  gpr_free(text);
  return read.is_object() ? read : json::object();
}

/// Numbers are text there, as JSON of Protobuf has them.
std::int64_t number_of(const json& id) {
  return id.is_string() ? std::strtoll(id.get_ref<const std::string&>().c_str(), nullptr, 10) : 0;
}

std::int64_t newest_server() {
  std::int64_t newest = 0;
  for (bool more = true; more;) {
    const auto page = told(grpc_channelz_get_servers(newest + 1));
    more = false;
    for (const auto& server : page.value("server", json::array())) {
      newest = std::max(newest, number_of(server["ref"]["serverId"]));
      more = !page.value("end", false);
    }
  }
  return newest;
}

}  // namespace

std::unique_ptr<grpc::Server> ConnectionCount::start(grpc::ServerBuilder& builder, ConnectionCount& count) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  auto server = builder.BuildAndStart();
  if (server) count.server_ = newest_server();
  return server;
}

/// Shape: `see`: void(const json& sockets)
template <class See>
void ConnectionCount::each_page(See see) const {
  if (server_ == 0) return;
  for (std::int64_t last = 0;;) {
    const auto page = told(grpc_channelz_get_server_sockets(server_, last + 1, page_connections_max));
    const auto sockets = page.value("socketRef", json::array());
    see(sockets);
    if (sockets.empty() || page.value("end", false)) return;
    last = number_of(sockets.back()["socketId"]);
  }
}

std::int64_t ConnectionCount::read() const {
  std::int64_t connections = 0;
  each_page([&](const json& sockets) { connections += static_cast<std::int64_t>(sockets.size()); });
  return connections;
}

std::vector<std::string> ConnectionCount::peers() const {
  std::vector<std::string> peers;
  each_page([&](const json& sockets) {
    for (const auto& socket : sockets) {
      const auto name = socket.value("name", std::string());  // "chttp2 ipv4:127.0.0.1:50123"
      peers.push_back(name.substr(name.find(' ') + 1));
    }
  });
  return peers;
}

}  // namespace evershard::door
