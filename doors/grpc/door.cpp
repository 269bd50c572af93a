#include "evershard/doors/grpc/door.hpp"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "evershard/api/calls/documents_calls.hpp"
#include "evershard/api/calls/processes_calls.hpp"
#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/api/calls/scheduled_calls.hpp"
#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/doors/grpc/administration_service.hpp"
#include "evershard/doors/grpc/aggregates_service.hpp"
#include "evershard/doors/grpc/connection_count.hpp"
#include "evershard/doors/grpc/connection_limit.hpp"
#include "evershard/doors/grpc/event_service.hpp"
#include "evershard/doors/grpc/group_service.hpp"
#include "evershard/doors/grpc/make_service.hpp"
#include "evershard/doors/grpc/retention_service.hpp"
#include "evershard/doors/grpc/served_certificates.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/descriptor.hpp"
#include "evershard/v1/documents.grpc.pb.h"
#include "evershard/v1/process_service.grpc.pb.h"
#include "evershard/v1/projections.grpc.pb.h"
#include "evershard/v1/scheduled.grpc.pb.h"
#include "evershard/v1/tables.grpc.pb.h"

namespace evershard::door {
namespace {

constexpr int keepalive_ping_interval_min_ms = 5'000;
constexpr std::chrono::milliseconds read_farewell =
    std::chrono::seconds(2);                               ///< for calls that only read, when the door closes
constexpr std::chrono::milliseconds last_bytes_time{500};  ///< for answers that are on their way to who takes them

/// gRPC is not taken down when the last server goes: that may wait ten seconds for the last write of a connection which
/// nobody reads any more.
void keep_grpc() {
  static const bool kept = (::grpc_init(), true);
  static_cast<void>(kept);
}

bool is_unix_socket(const std::string& address) { return address.starts_with("unix:"); }

/// gRPC takes port 443 where none is given. Errors: invalid_argument
Result<void> check_address(const std::string& address) {
  const auto last = address.substr(address.rfind(':') + 1);
  const bool good = is_unix_socket(address)
                        ? !last.empty()
                        : address.find(':') != std::string::npos && address.front() != ':' && !last.empty() &&
                              last.size() <= 5 && last.find_first_not_of("0123456789") == std::string::npos &&
                              std::stoi(last) <= 65'535;
  if (good) return {};
  return refuse(ErrorCode::invalid_argument,
                in_quotes(address, 300) + " is no address to listen on: HOST:PORT, or unix:PATH");
}

/// gRPC does not say why it cannot listen: what the system says, asked again.
std::string why_not_at(const std::string& address) {
  if (is_unix_socket(address)) return "it cannot be made there, or is used by another process";
  const auto colon = address.rfind(':');
  auto host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &wanted, &found); error != 0)
    return ::gai_strerror(error);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const auto* at = found; at != nullptr; at = at->ai_next) {
    const storage::Descriptor probe(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    const int yes = 1;
    if (!probe.is_open()) return std::strerror(errno);
    // Without it the probe says of a port what gRPC would not.
    (void)::setsockopt(probe.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // as gRPC does
    if (::bind(probe.number(), at->ai_addr, at->ai_addrlen) != 0 || ::listen(probe.number(), 1) != 0)
      return std::strerror(errno);
  }
  return "it is in use, is none of this machine's, or needs a right this process does not have";
}

void set_options(grpc::ServerBuilder& builder, const DoorOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION,
                             0);  // unpacked by content_of(), which has a bound
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second server on a port is an error
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options.streams_max));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, static_cast<int>(options.handshake_timeout.count()));
  // The defaults end an idle subscription whose client asks whether the server is there.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keepalive_ping_interval_min_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

/// `none`: why it is not offered where there is none.
template <class Of, class Interface>
std::shared_ptr<grpc::Service> offered(Calls& calls, const calls::Calls<Interface>& rows,
                                       Interface* serving::Served::*interface, const char* none) {
  return make_service<OfferedService<Of, Interface>>(calls, rows, interface, none);
}

std::vector<std::shared_ptr<grpc::Service>> own_services(Calls& calls) {
  using serving::Served;
  constexpr auto no_projections = "this server keeps no projections";
  return {make_service<EventService>(calls),
          make_service<AdministrationService>(calls),
          offered<pb::Projections>(calls, calls::projections_calls(), &Served::own_projections, no_projections),
          make_service<GroupService>(calls),
          offered<pb::Documents>(calls, calls::documents_calls(), &Served::documents, "this server keeps no documents"),
          offered<pb::Tables>(calls, calls::tables_calls(), &Served::tables, no_projections),
          make_service<RetentionService>(calls),
          offered<pb::ScheduledAppends>(calls, calls::scheduled_calls(), &Served::scheduled,
                                        "this server offers no scheduled appends"),
          offered<pb::Processes>(calls, calls::processes_calls(), &Served::processes, "this server shows no processes"),
          make_service<AggregatesService>(calls)};
}

}  // namespace

struct Door::Impl {
  Impl(serving::Served& served, const DoorOptions& options, const DoorServices& offered)
      : answers(1),
        calls(offered.speaks, served, answers, options.append_many_appends_max, options.append_many_bytes_max,
              options.message_bytes_max, options.unread),
        limit(options.connections_max, [this] { return connections.peers(); }),
        services(offered.make(calls)) {}

  cluster::WorkPool answers;
  Calls calls;
  ConnectionLimit limit;
  std::vector<std::shared_ptr<grpc::Service>> services;
  std::vector<std::string> addresses;
  std::unique_ptr<ServedCertificates> certificates;  ///< none: no TLS
  std::mutex stopping;
  std::unique_ptr<grpc::Server> server;
  bool unwell = false;  ///< under `stopping`
  ConnectionCount connections;
};

Door::Door(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Door::~Door() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Door>> Door::start(serving::Served& served, DoorOptions options) {
  return start(served, std::move(options), {.speaks = "grpc", .make = own_services, .names_history = true});
}

Result<std::unique_ptr<Door>> Door::start(serving::Served& served, DoorOptions options, const DoorServices& offered) {
  if (options.listen.empty()) return refuse(ErrorCode::invalid_argument, "a door listens on one address at least");
  for (const auto& address : options.listen) EVERSHARD_TRY(check_address(address));
  std::unique_ptr<ServedCertificates> certificates;
  if (options.tls.given()) {
    auto made = ServedCertificates::of(options.tls);
    if (!made) return refuse(std::move(made).error());
    certificates = *std::move(made);
  }
  const auto credentials = certificates ? certificates->credentials() : grpc::InsecureServerCredentials();
  keep_grpc();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();

  auto impl = std::make_unique<Impl>(served, options, offered);
  impl->certificates = std::move(certificates);
  impl->calls.connections = &impl->limit;
  if (offered.status != nullptr) impl->calls.status = offered.status;
  impl->calls.names_history = offered.names_history;
  grpc::ServerBuilder builder;
  set_options(builder, options);
  std::vector<int> ports(options.listen.size(), 0);
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    const auto& address = options.listen[i];
    builder.AddListeningPort(address, is_unix_socket(address) ? grpc::InsecureServerCredentials() : credentials,
                             &ports[i]);
  }
  for (const auto& service : impl->services) builder.RegisterService(service.get());
  impl->server = ConnectionCount::start(builder, impl->connections);
  if (!impl->server) {
    std::string failed;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (ports[i] == 0)
        failed += (failed.empty() ? "" : "; ") + options.listen[i] + ": " + why_not_at(options.listen[i]);
    }
    return refuse(ErrorCode::unavailable, "cannot listen on " + (failed.empty() ? "any address" : failed));
  }
  if (auto* health = impl->server->GetHealthCheckService()) {
    const bool ready = !served.not_ready();
    for (const auto& service : offered.healthy) health->SetServingStatus(service, ready);
    if (!ready) health->SetServingStatus(false);
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto& address = options.listen[i];
    impl->addresses.push_back(
        is_unix_socket(address) ? address : address.substr(0, address.rfind(':') + 1) + std::to_string(ports[i]));
  }
  served.metrics->connections_from(offered.speaks, [count = impl->connections] { return count.read(); });
  return std::unique_ptr<Door>(new Door(std::move(impl)));
}

const std::vector<std::string>& Door::addresses() const { return impl_->addresses; }

std::uint64_t Door::calls() const { return impl_->calls.under_way; }

Result<void> Door::reload_tls() {
  const std::lock_guard lock(impl_->stopping);
  return impl_->server && impl_->certificates ? impl_->certificates->reload() : Result<void>();
}

void Door::look_at_tokens_again() {
  const std::lock_guard lock(impl_->stopping);
  if (impl_->server) impl_->calls.look_at_tokens_again();
}

void Door::tell_ready() {
  const std::lock_guard lock(impl_->stopping);
  if (!impl_->server || impl_->unwell) return;
  if (auto* health = impl_->server->GetHealthCheckService()) health->SetServingStatus(true);
}

void Door::tell_unwell() {
  const std::lock_guard lock(impl_->stopping);
  if (!impl_->server) return;
  impl_->unwell = true;
  if (auto* health = impl_->server->GetHealthCheckService()) health->SetServingStatus(false);
}

void Door::stop(std::chrono::milliseconds drain) {
  const std::lock_guard lock(impl_->stopping);
  if (!impl_->server) return;
  if (auto* health = impl_->server->GetHealthCheckService()) health->SetServingStatus(false);
  impl_->calls.served.metrics->connections_from(impl_->calls.speaks, {});
  impl_->calls.served.watch.close();
  impl_->calls.drain();
  // Not gRPC's own drain: that waits for connections too, whose clients may read nothing any more.
  impl_->calls.closing = true;
  const auto began = std::chrono::steady_clock::now();
  bool readers_sent_away = false;
  for (auto took = began - began; took < drain && !impl_->calls.are_over();
       took = std::chrono::steady_clock::now() - began) {
    // Whoever reads has told us nothing that could be lost.
    if (took >= read_farewell && !std::exchange(readers_sent_away, true)) impl_->calls.cancel_readers();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  impl_->server->Shutdown(std::chrono::system_clock::now() + last_bytes_time);
  impl_->server->Wait();
  while (impl_->calls.under_way != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  impl_->server.reset();
}

}  // namespace evershard::door
