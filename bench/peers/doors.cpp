#include "bench/peers/doors.hpp"

#include <grpcpp/grpcpp.h>

#include "bench/peers/grpc_client.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::bench {
namespace {

class OwnDoorClient final : public DoorClient {
 public:
  explicit OwnDoorClient(std::uint16_t port) : stub_(v1::EventStore::NewStub(channel_to(port))) {}
  ~OwnDoorClient() override {
    if (!appends_) return;
    appends_->WritesDone();
    static_cast<void>(appends_->Finish());
  }

  Result<void> append(const std::vector<Event>& events) override {
    grpc::ClientContext context;
    v1::AppendResponse response;
    const auto status = stub_->Append(&context, request_of(events), &response);
    if (!status.ok()) return refused(status);
    return {};
  }
  Result<void> append_on_open_call(const std::vector<Event>& events) override {
    if (!appends_) appends_ = stub_->AppendMany(&appending_);
    v1::AppendOutcome outcome;
    if (!appends_->Write(request_of(events)) || !appends_->Read(&outcome) || !outcome.has_appended())
      return refuse(ErrorCode::io, "an append on an open call was not stored");
    return {};
  }
  Result<std::uint64_t> read(const AggregateId& stream) override {
    v1::ReadRequest request;
    request.mutable_aggregate()->set_type(stream.type);
    request.mutable_aggregate()->set_value(stream.value);
    return read(request);
  }
  Result<std::uint64_t> read_all() override {
    v1::ReadRequest request;
    request.mutable_query()->set_all(true);
    return read(request);
  }
  Result<std::uint64_t> catch_up(std::uint64_t events) override {
    v1::SubscribeRequest request;
    request.mutable_query()->set_all(true);
    request.set_after(0);
    grpc::ClientContext context;
    const auto reader = stub_->Subscribe(&context, request);
    std::uint64_t seen = 0;
    for (v1::SubscribeResponse page; seen < events && reader->Read(&page);)
      seen += static_cast<std::uint64_t>(page.events_size());
    context.TryCancel();
    static_cast<void>(reader->Finish());
    return seen;
  }

 private:
  static v1::AppendRequest request_of(const std::vector<Event>& events) {
    v1::AppendRequest request;
    for (const auto& event : events) {
      auto& to = *request.add_events();
      const auto id = EventId::random();
      to.set_id(id.bytes.data(), id.bytes.size());
      to.mutable_aggregate()->set_type(events.front().aggregate->type);
      to.mutable_aggregate()->set_value(events.front().aggregate->value);
      to.set_type(event.type);
      to.set_payload_format(static_cast<std::uint32_t>(PayloadFormat::json));
      to.set_payload(event.payload);
    }
    return request;
  }
  Result<std::uint64_t> read(const v1::ReadRequest& request) {
    grpc::ClientContext context;
    return count_events(*stub_->Read(&context, request));
  }

  const std::unique_ptr<v1::EventStore::Stub> stub_;
  grpc::ClientContext appending_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AppendRequest, v1::AppendOutcome>> appends_;
};

}  // namespace

std::unique_ptr<DoorClient> client_of_own_door(std::uint16_t port) { return std::make_unique<OwnDoorClient>(port); }

Result<Doors> Doors::start(const std::filesystem::path& program, const std::filesystem::path& folder) {
  Doors doors;
  doors.own = free_port();
  doors.kurrent = free_port();
  const auto at = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  auto process = PeerProcess::start(program,
                                    {"serve", "--data", (folder / "store").string(), "--listen", at(doors.own),
                                     "--kurrent-listen", at(doors.kurrent), "--http-listen", "none"},
                                    doors.kurrent, folder);
  if (!process) return refuse(std::move(process).error());
  doors.process = std::move(*process);
  return doors;
}

}  // namespace evershard::bench
