// UmaDB, as its own clients speak to it.

#include <grpcpp/grpcpp.h>

#include "bench/peers/grpc_client.hpp"
#include "bench/peers/peer.hpp"
#include "evershard/umadb/umadb.grpc.pb.h"

namespace evershard::bench {
namespace {

namespace pb = ::umadb::v1;

class UmaDbClient final : public PeerClient {
 public:
  explicit UmaDbClient(std::uint16_t port) : stub_(pb::DCB::NewStub(channel_to(port))) {}

  Result<std::uint64_t> append(const Append& append) override { return send(request_of(append)); }
  Result<std::uint64_t> append_if(const Append& append, std::uint64_t after) override {
    auto request = request_of(append);
    auto& condition = *request.mutable_condition();
    condition.set_after(after);
    auto& item = *condition.mutable_fail_if_events_match()->add_items();
    item.add_types(append.events.front().type);
    for (const auto& tag : append.events.front().tags) item.add_tags(tag);
    return send(request);
  }
  Result<std::uint64_t> read(const std::string& tag) override {
    pb::ReadRequest request;
    request.mutable_query()->add_items()->add_tags(tag);
    return read(request);
  }
  Result<std::uint64_t> read_one(const std::string& tag) override {
    pb::ReadRequest request;
    request.mutable_query()->add_items()->add_tags(tag);
    request.set_limit(1);
    return read(request);
  }
  Result<std::uint64_t> read_all() override { return read(pb::ReadRequest()); }

 private:
  static pb::AppendRequest request_of(const Append& append) {
    pb::AppendRequest request;
    for (const auto& event : append.events) {
      auto& to = *request.add_events();
      to.set_event_type(event.type);
      for (const auto& tag : event.tags) to.add_tags(tag);
      to.set_data(event.payload);
      to.set_uuid(EventId::random().text());
    }
    return request;
  }
  Result<std::uint64_t> send(const pb::AppendRequest& request) {
    grpc::ClientContext context;
    pb::AppendResponse response;
    const auto status = stub_->Append(&context, request, &response);
    if (!status.ok()) return refused(status);
    return response.position();
  }
  Result<std::uint64_t> read(pb::ReadRequest request) {
    request.set_batch_size(4'096);  // the most that it takes
    grpc::ClientContext context;
    return count_events(*stub_->Read(&context, request));
  }

  const std::unique_ptr<pb::DCB::Stub> stub_;
};

class UmaDbPeer final : public Peer {
 public:
  using Peer::Peer;
  Result<std::unique_ptr<PeerClient>> connect() override { return std::make_unique<UmaDbClient>(port()); }

 private:
  std::vector<std::string> words() const override {
    return {"--listen", "127.0.0.1:" + std::to_string(port()), "--db-path", (setup().folder / "umadb.db").string()};
  }
};

/// Our own server, by the same client.
class EvershardAsUmaDbPeer final : public Peer {
 public:
  using Peer::Peer;
  Result<std::unique_ptr<PeerClient>> connect() override { return std::make_unique<UmaDbClient>(port()); }

 private:
  std::vector<std::string> words() const override {
    std::vector<std::string> words{"serve",    "--data",         (setup().folder / "store").string(),
                                   "--listen", "127.0.0.1:0",    "--http-listen",
                                   "none",     "--umadb-listen", "127.0.0.1:" + std::to_string(port())};
    if (setup().cache_bytes != 0) words.insert(words.end(), {"--block-cache", std::to_string(setup().cache_bytes)});
    return words;
  }
};

}  // namespace

Result<std::unique_ptr<Peer>> start_evershard_as_umadb(const PeerSetup& setup) {
  auto peer = std::make_unique<EvershardAsUmaDbPeer>(setup);
  EVERSHARD_TRY(peer->start());
  return peer;
}

Result<std::unique_ptr<Peer>> start_umadb(const PeerSetup& setup) {
  auto peer = std::make_unique<UmaDbPeer>(setup);
  EVERSHARD_TRY(peer->start());
  return peer;
}

}  // namespace evershard::bench
