#include "evershard/doors/embedded/serve.hpp"

#include <utility>

#include "evershard/cluster/embedded/cluster.hpp"
#include "evershard/cluster/embedded/cluster_parts.hpp"
#include "evershard/doors/embedded/lent_member.hpp"
#include "evershard/doors/server/doors.hpp"
#include "evershard/doors/server/lent_local.hpp"
#include "evershard/doors/server/server.hpp"

namespace evershard {
namespace {

Result<void> check_exposure(const server::ServerOptions& options) {
  if (options.insecure) return {};
  std::string all;
  for (const auto& finding : server::unsafe(server::exposures_of(options))) all += (all.empty() ? "" : "; ") + finding;
  if (all.empty()) return {};
  return refuse(ErrorCode::invalid_argument,
                all + ": give TLS and tokens, listen on 127.0.0.1, or say `insecure` where the network is trusted");
}

Result<server::ServerOptions> server_options_of(ServeOptions from) {
  if (from.listen.empty() && from.http_listen.empty())
    return refuse(ErrorCode::invalid_argument, "neither `listen` nor `http_listen` names an address");
  if (from.tls_certificate.empty() != from.tls_key.empty())
    return refuse(ErrorCode::invalid_argument, "tls_certificate and tls_key are given together, or not at all");
  if (from.tls_certificate.empty() && !from.tls_client_ca.empty())
    return refuse(ErrorCode::invalid_argument, "tls_client_ca needs tls_certificate and tls_key");
  server::ServerOptions options;
  options.door.listen = std::move(from.listen);
  options.door.tls = {std::move(from.tls_certificate), std::move(from.tls_key), std::move(from.tls_client_ca)};
  options.http.listen = std::move(from.http_listen);
  options.http.hosts = std::move(from.http_hosts);
  options.http.tls = options.door.tls;
  options.tokens = std::move(from.tokens);
  options.insecure = from.insecure;
  options.log.file = std::move(from.log_file);
  // The housekeeping that a server does by itself is not done here unless the options ask for it.
  options.vacuum_every = from.vacuum_every;
  options.projections_vacuum.every = options.documents_vacuum.every = from.vacuum_every;
  options.retention_every = from.retention_every;
  options.schedule_keep = from.schedule_keep;
  EVERSHARD_TRY(check_exposure(options));
  return options;
}

}  // namespace

struct Doors::Impl {
  std::unique_ptr<serving::Log> log;
  std::unique_ptr<server::Server> server{};  ///< ends before its log

  static Result<std::unique_ptr<Impl>> open(server::ServerOptions options, const server::OpenStore& store) {
    auto log = options.log.file.empty() ? Result<std::unique_ptr<serving::Log>>(serving::Log::nowhere())
                                        : serving::Log::open(options.log);
    if (!log) return refuse(std::move(log).error());
    auto doors = server::all_doors();
    if (options.door.listen.empty()) doors.erase(doors.begin());
    auto impl = std::make_unique<Impl>(Impl{*std::move(log)});
    auto server = server::Server::start(std::move(options), *impl->log, doors, store);
    if (!server) return refuse(std::move(server).error());
    impl->server = *std::move(server);
    return impl;
  }
};

Doors::Doors(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Doors::Doors(Doors&&) noexcept = default;
Doors& Doors::operator=(Doors&&) noexcept = default;
Doors::~Doors() = default;

std::vector<std::string> Doors::addresses() const {
  for (const auto& door : impl_->server->doors())
    if (door->speaks() == "grpc") return door->addresses();
  return {};
}

std::string Doors::http_address() const {
  for (const auto& door : impl_->server->doors())
    if (door->speaks() == "http") return door->addresses().front();
  return {};
}

Result<void> Doors::reload() { return impl_->server->reload(); }
void Doors::stop(std::chrono::milliseconds drain) { impl_->server->stop(drain); }

Result<Doors> serve(Local& store, ServeOptions options) {
  auto asked = server_options_of(std::move(options));
  if (!asked) return refuse(std::move(asked).error());
  asked->store.data_dir = store.data_dir();
  asked->http.store_limits = store.limits();
  for (auto& kind : store.hosted_kinds()) asked->kinds.push_back({kind, {}});
  auto doors = Doors::Impl::open(
      *std::move(asked),
      [&store](const server::ServerOptions& served, serving::Log&) -> Result<std::unique_ptr<server::StoreInService>> {
        return std::make_unique<server::LentLocal>(store, !served.kinds.empty());
      });
  if (!doors) return refuse(std::move(doors).error());
  return Doors(*std::move(doors));
}

Result<Doors> serve(Cluster& node, ServeOptions options) {
  auto asked = server_options_of(std::move(options));
  if (!asked) return refuse(std::move(asked).error());
  const auto parts = ClusterParts::of(node);
  asked->store.data_dir = parts.data_dir;
  asked->http.store_limits = parts.limits;
  for (auto& kind : node.hosted_kinds()) asked->kinds.push_back({kind, {}});
  auto doors = Doors::Impl::open(
      *std::move(asked),
      [&](const server::ServerOptions& served, serving::Log&) -> Result<std::unique_ptr<server::StoreInService>> {
        return std::make_unique<server::LentMember>(node, parts, !served.kinds.empty());
      });
  if (!doors) return refuse(std::move(doors).error());
  return Doors(*std::move(doors));
}

}  // namespace evershard
