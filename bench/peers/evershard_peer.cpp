// Our own server, asked by generated messages as the other one is: what its own client does better is not counted.

#include <grpcpp/grpcpp.h>

#include "bench/peers/grpc_client.hpp"
#include "bench/peers/peer.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::bench {
namespace {

class EvershardClient final : public PeerClient {
 public:
  explicit EvershardClient(std::uint16_t port) : stub_(v1::EventStore::NewStub(channel_to(port))) {}

  Result<std::uint64_t> append(const Append& append) override { return send(request_of(append)); }
  Result<std::uint64_t> append_if(const Append& append, std::uint64_t after) override {
    auto request = request_of(append);
    auto& condition = *request.add_conditions();
    condition.set_after(after);
    auto& item = *condition.mutable_query()->add_items();
    item.add_types(append.events.front().type);
    for (const auto& tag : append.events.front().tags) item.add_tags(tag);
    return send(request);
  }
  Result<std::uint64_t> read(const std::string& tag) override {
    v1::ReadRequest request;
    request.mutable_query()->add_items()->add_tags(tag);
    return read(request);
  }
  Result<std::uint64_t> read_one(const std::string& tag) override {
    v1::ReadRequest request;
    request.mutable_query()->add_items()->add_tags(tag);
    request.mutable_options()->set_limit(1);
    return read(request);
  }
  Result<std::uint64_t> read_all() override {
    v1::ReadRequest request;
    request.mutable_query()->set_all(true);
    return read(request);
  }

 private:
  static v1::AppendRequest request_of(const Append& append) {
    v1::AppendRequest request;
    for (const auto& event : append.events) {
      auto& to = *request.add_events();
      const auto id = EventId::random();
      to.set_id(id.bytes.data(), id.bytes.size());
      to.set_type(event.type);
      for (const auto& tag : event.tags) to.add_tags(tag);
      to.set_payload(event.payload);
    }
    return request;
  }
  Result<std::uint64_t> send(const v1::AppendRequest& request) {
    grpc::ClientContext context;
    v1::AppendResponse response;
    const auto status = stub_->Append(&context, request, &response);
    if (!status.ok()) return refused(status);
    return response.last_position();
  }
  Result<std::uint64_t> read(const v1::ReadRequest& request) {
    grpc::ClientContext context;
    return count_events(*stub_->Read(&context, request));
  }

  const std::unique_ptr<v1::EventStore::Stub> stub_;
};

class EvershardPeer final : public Peer {
 public:
  using Peer::Peer;
  Result<std::unique_ptr<PeerClient>> connect() override { return std::make_unique<EvershardClient>(port()); }

 private:
  std::vector<std::string> words() const override {
    std::vector<std::string> words{"serve",
                                   "--data",
                                   (setup().folder / "store").string(),
                                   "--listen",
                                   "127.0.0.1:" + std::to_string(port()),
                                   "--http-listen",
                                   "none"};
    if (setup().cache_bytes != 0) words.insert(words.end(), {"--block-cache", std::to_string(setup().cache_bytes)});
    return words;
  }
};

}  // namespace

Result<std::unique_ptr<Peer>> start_evershard(const PeerSetup& setup) {
  auto peer = std::make_unique<EvershardPeer>(setup);
  EVERSHARD_TRY(peer->start());
  return peer;
}

}  // namespace evershard::bench
