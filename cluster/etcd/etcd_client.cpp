#include "evershard/cluster/etcd/etcd_client.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

using Clock = std::chrono::system_clock;                          // gRPC's deadlines are of it
constexpr auto connect_timeout = std::chrono::milliseconds(250);  ///< on a member's; it goes on with the next try
constexpr auto pause_between_rounds = std::chrono::milliseconds(50);
constexpr auto reason_timeout = std::chrono::milliseconds(50);  ///< gRPC has it at once, or not at all

Result<std::string> text_of(const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty())
    return refuse(ErrorCode::invalid_argument, in_quotes(path.string(), 300) + " cannot be read, or is empty");
  return text;
}

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials_of(const EtcdOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  for (const auto& [file, text] :
       {std::pair(&options.tls_ca, &tls.pem_root_certs), std::pair(&options.tls_certificate, &tls.pem_cert_chain),
        std::pair(&options.tls_key, &tls.pem_private_key)}) {
    auto read = text_of(*file);
    if (!read) return refuse(std::move(read).error());
    *text = *std::move(read);
  }
  return grpc::SslCredentials(tls);
}

/// Whether another member, or the same one soon, may answer otherwise.
bool passes(const grpc::Status& status) {
  return status.error_code() == grpc::UNAVAILABLE || status.error_code() == grpc::DEADLINE_EXCEEDED ||
         status.error_code() == grpc::CANCELLED || status.error_code() == grpc::UNKNOWN ||
         status.error_code() == grpc::INTERNAL;
}

/// gRPC tells why a channel is not connected to whoever calls on it. What is called changes nothing, should it be
/// connected by now.
std::string why_not_connected(grpc::Channel& channel, etcdserverpb::KV::Stub& kv) {
  if (channel.GetState(false) != GRPC_CHANNEL_TRANSIENT_FAILURE) return "it does not answer in time";
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + reason_timeout);
  etcdserverpb::RangeRequest nothing;
  nothing.set_key(std::string(1, '\0'));
  etcdserverpb::RangeResponse ignored;
  const auto status = kv.Range(&context, nothing, &ignored);
  if (status.error_code() != grpc::UNAVAILABLE) return "it does not answer in time";
  // Of "failed to connect to all addresses; last error: UNKNOWN: ipv4:...", what follows the last of these is the
  // reason.
  std::string said = status.error_message();
  for (const std::string_view before : {"last error: ", "UNKNOWN: "}) {
    if (const auto at = said.rfind(before); at != std::string::npos) said.erase(0, at + before.size());
  }
  return said;
}

ErrorCode code_of(const grpc::Status& status) {
  for (const auto* asked : {"user name is empty", "authentication failed"}) {
    if (status.error_message().find(asked) != std::string::npos) return ErrorCode::unauthenticated;
  }
  switch (status.error_code()) {
    case grpc::UNAUTHENTICATED:
      return ErrorCode::unauthenticated;
    case grpc::PERMISSION_DENIED:
      return ErrorCode::permission_denied;
    case grpc::OUT_OF_RANGE:
      return ErrorCode::not_found;  // a revision that was compacted
    case grpc::RESOURCE_EXHAUSTED:
    case grpc::INVALID_ARGUMENT:
    case grpc::FAILED_PRECONDITION:
      return ErrorCode::io;
    default:
      return ErrorCode::unavailable;
  }
}

}  // namespace

Result<std::unique_ptr<EtcdClient>> EtcdClient::open(const EtcdOptions& options) {
  auto credentials = credentials_of(options);
  if (!credentials) return refuse(std::move(credentials).error());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1'000);  // how long connecting may take: etcd is slow to greet
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // tried again here, where it is known what is safe
  std::unique_ptr<EtcdClient> client(new EtcdClient(options));
  for (const auto& address : options.members) {
    const auto channel = grpc::CreateCustomChannel(address, *credentials, arguments);
    client->members_.push_back(
        {address, channel, etcdserverpb::KV::NewStub(channel), etcdserverpb::Auth::NewStub(channel)});
  }
  return client;
}

std::string EtcdClient::members() const {
  std::string list;
  for (const auto& member : members_) list += (list.empty() ? "" : ", ") + member.address;
  return list;
}

grpc::Status EtcdClient::authenticate(Member& member) {
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + options_.try_timeout);
  etcdserverpb::AuthenticateRequest request;
  request.set_name(options_.user);
  request.set_password(options_.password);
  etcdserverpb::AuthenticateResponse response;
  const auto status = member.auth->Authenticate(&context, request, &response);
  if (status.ok()) token_ = response.token();
  return status;
}

/// Until a member answers, or the time is up. `repeated`: whether an earlier try may have been carried out.
template <class Call>
Result<void> EtcdClient::ask(Call call, bool* repeated) {
  const auto deadline = Clock::now() + options_.timeout;
  grpc::Status status;
  bool asked_for_a_token = false;
  for (std::size_t tries = 0;; ++tries) {
    status = {};
    auto& member = members_[at_];
    grpc::ClientContext context;
    context.set_deadline(std::min(Clock::now() + options_.try_timeout, deadline));
    context.AddMetadata("hasleader", "true");  // who sees no majority says so at once
    // Connecting goes on only while somebody waits for it.
    if (!member.channel->WaitForConnected(std::min(Clock::now() + connect_timeout, deadline))) {
      status = {grpc::UNAVAILABLE,
                member.address + " cannot be connected to: " + why_not_connected(*member.channel, *member.kv)};
    } else if (!options_.user.empty() && token_.empty()) {
      status = authenticate(member);
    }
    if (status.ok()) {
      if (!token_.empty()) context.AddMetadata("token", token_);
      status = call(*member.kv, context);
      if (!status.ok() && passes(status) && repeated != nullptr) *repeated = true;
    }
    if (status.ok()) return {};
    if (status.error_code() == grpc::UNAUTHENTICATED && !options_.user.empty() && !asked_for_a_token) {
      token_.clear();  // it is over
      asked_for_a_token = true;
      continue;
    }
    if (!passes(status)) break;
    at_ = (at_ + 1) % members_.size();
    if ((tries + 1) % members_.size() == 0) std::this_thread::sleep_for(pause_between_rounds);
    if (Clock::now() >= deadline) break;
  }
  std::string said = "etcd (" + members() + ") says: " + status.error_message();
  if (said.find("database space exceeded") != std::string::npos)
    said += ". Compact and defragment it, then disarm its alarm; or give it a larger --quota-backend-bytes";
  return refuse(code_of(status), std::move(said));
}

Result<EtcdClient::TxnAnswer> EtcdClient::txn(const etcdserverpb::TxnRequest& request) {
  TxnAnswer answer;
  EVERSHARD_TRY(ask(
      [&](etcdserverpb::KV::Stub& kv, grpc::ClientContext& context) {
        answer.response.Clear();
        return kv.Txn(&context, request, &answer.response);
      },
      &answer.repeated));
  return answer;
}

Result<etcdserverpb::RangeResponse> EtcdClient::range(const etcdserverpb::RangeRequest& request) {
  etcdserverpb::RangeResponse response;
  EVERSHARD_TRY(ask(
      [&](etcdserverpb::KV::Stub& kv, grpc::ClientContext& context) {
        response.Clear();
        return kv.Range(&context, request, &response);
      },
      nullptr));
  return response;
}

Result<void> EtcdClient::compact(std::int64_t revision, Physical physical) {
  etcdserverpb::CompactionRequest request;
  request.set_revision(revision);
  request.set_physical(physical == Physical::yes);
  etcdserverpb::CompactionResponse response;
  return ask(
      [&](etcdserverpb::KV::Stub& kv, grpc::ClientContext& context) {
        auto status = kv.Compact(&context, request, &response);
        const bool done = status.error_code() == grpc::OUT_OF_RANGE &&
                          status.error_message().find("has been compacted") != std::string::npos;
        return done ? grpc::Status::OK : status;
      },
      nullptr);
}

}  // namespace evershard::cluster
