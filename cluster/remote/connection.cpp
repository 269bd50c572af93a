#include "evershard/cluster/remote/connection.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::remote {
namespace {

constexpr auto pause_min = std::chrono::milliseconds(10);
constexpr auto pause_max = std::chrono::milliseconds(500);
constexpr int keepalive_ms = 20'000;
constexpr int reconnect_max_ms = 1'000;
constexpr int metadata_bytes_max = 64 << 10;  // an error's details travel there

Result<std::string> text_of(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  if (!in) return refuse(ErrorCode::invalid_argument, "cannot read " + in_quotes(file.string(), 300));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials_of(const RemoteOptions& options) {
  if (!options.tls && options.tls_ca.empty() && options.tls_certificate.empty() && options.tls_key.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  for (const auto& [file, text] : {std::pair(&options.tls_ca, &tls.pem_root_certs), std::pair(&options.tls_certificate, &tls.pem_cert_chain),
                                   std::pair(&options.tls_key, &tls.pem_private_key)}) {
    auto read = text_of(*file);
    if (!read) return refuse(std::move(read).error());
    *text = *std::move(read);
  }
  return grpc::SslCredentials(tls);
}

}  // namespace

std::chrono::milliseconds pause_before(std::uint32_t tries) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto longest = std::min(pause_min * (1u << std::min(tries, 10u)), pause_max);
  return std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(longest.count() / 2, longest.count())(random));
}

Result<std::shared_ptr<Connection>> Connection::make(const RemoteOptions& options) {
  auto credentials = credentials_of(options);
  if (!credentials) return refuse(std::move(credentials).error());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, reconnect_max_ms);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, metadata_bytes_max);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // tried again here, where it is known what is safe
  auto connection = std::make_shared<Connection>(options);
  connection->channel_ = grpc::CreateCustomChannel(options.server, *credentials, arguments);
  connection->events_ = pb::EventStore::NewStub(connection->channel_);
  connection->administration_ = pb::Administration::NewStub(connection->channel_);
  return connection;
}

std::unique_ptr<grpc::ClientContext> Connection::context() const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!options_.token.empty()) context->AddMetadata("authorization", "Bearer " + options_.token);
  if (options_.compression) {
    context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    context->AddMetadata(wire::compression_key, wire::compression_gzip);
  }
  return context;
}

bool Connection::wait_before(std::uint32_t tries, std::chrono::system_clock::time_point deadline) {
  const auto pause = pause_before(tries);
  if (std::chrono::system_clock::now() + pause >= deadline) return false;
  std::this_thread::sleep_for(pause);
  return true;
}

}  // namespace evershard::remote
