// The door of KurrentDB's protocol, asked as its clients ask; and a service that sends as many messages and does
// nothing else.

#include <grpcpp/grpcpp.h>

#include <utility>

#include "bench/peers/doors.hpp"
#include "bench/peers/grpc_client.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"

namespace evershard::bench {
namespace {

namespace esp = ::event_store::client::streams;

std::string name_of_stream(const AggregateId& aggregate) { return aggregate.type + '-' + aggregate.value; }

template <class Proposed>
void propose(const Event& event, Proposed& to) {
  to.mutable_id()->set_string(EventId::random().text());
  (*to.mutable_metadata())["type"] = event.type;
  (*to.mutable_metadata())["content-type"] = "application/json";
  to.set_data(event.payload);
}

esp::ReadReq everything() {
  esp::ReadReq request;
  auto& options = *request.mutable_options();
  options.mutable_all()->mutable_start();
  options.mutable_no_filter();
  options.mutable_uuid_option()->mutable_string();
  return request;
}

class KurrentDoorClient : public DoorClient {
 public:
  explicit KurrentDoorClient(std::uint16_t port) : stub_(esp::Streams::NewStub(channel_to(port))) {}
  ~KurrentDoorClient() override {
    if (!batches_) return;
    batches_->WritesDone();
    static_cast<void>(batches_->Finish());
  }

  Result<void> append(const std::vector<Event>& events) override {
    grpc::ClientContext context;
    esp::AppendResp response;
    const auto call = stub_->Append(&context, &response);
    esp::AppendReq options;
    options.mutable_options()->mutable_stream_identifier()->set_stream_name(name_of_stream(*events.front().aggregate));
    options.mutable_options()->mutable_any();
    call->Write(options, grpc::WriteOptions().set_buffer_hint());
    for (std::size_t i = 0; i != events.size(); ++i) {
      esp::AppendReq request;
      propose(events[i], *request.mutable_proposed_message());
      grpc::WriteOptions how;
      if (i + 1 == events.size())
        how.set_last_message();
      else
        how.set_buffer_hint();
      if (!call->Write(request, how)) break;
    }
    if (const auto status = call->Finish(); !status.ok()) return refused(status);
    if (!response.has_success()) return refuse(ErrorCode::io, "an append was not stored");
    return {};
  }
  Result<void> append_on_open_call(const std::vector<Event>& events) override {
    if (!batches_) batches_ = stub_->BatchAppend(&batching_);
    esp::BatchAppendReq request;
    request.mutable_correlation_id()->set_string(EventId::random().text());
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(name_of_stream(*events.front().aggregate));
    request.mutable_options()->mutable_any();
    for (const auto& event : events) propose(event, *request.add_proposed_messages());
    request.set_is_final(true);
    esp::BatchAppendResp response;
    if (!batches_->Write(request) || !batches_->Read(&response) || !response.has_success())
      return refuse(ErrorCode::io, "a batch was not stored");
    return {};
  }
  Result<std::uint64_t> read(const AggregateId& stream) override {
    esp::ReadReq request;
    auto& options = *request.mutable_options();
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name(name_of_stream(stream));
    options.mutable_stream()->mutable_start();
    options.mutable_no_filter();
    options.mutable_uuid_option()->mutable_string();
    options.set_count(std::uint64_t(-1) >> 1);
    return read_by(request);
  }
  Result<std::uint64_t> read_all() override {
    auto request = everything();
    request.mutable_options()->set_count(std::uint64_t(-1) >> 1);
    return read_by(request);
  }
  Result<std::uint64_t> catch_up(std::uint64_t events) override {
    auto request = everything();
    request.mutable_options()->mutable_subscription();
    grpc::ClientContext context;
    const auto reader = stub_->Read(&context, request);
    std::uint64_t seen = 0;
    for (esp::ReadResp message; seen < events && reader->Read(&message);) seen += message.has_event() ? 1 : 0;
    context.TryCancel();
    static_cast<void>(reader->Finish());
    return seen;
  }

 protected:
  Result<std::uint64_t> read_by(const esp::ReadReq& request) {
    grpc::ClientContext context;
    const auto reader = stub_->Read(&context, request);
    std::uint64_t events = 0;
    for (esp::ReadResp message; reader->Read(&message);) events += message.has_event() ? 1 : 0;
    if (const auto status = reader->Finish(); !status.ok()) return refused(status);
    return events;
  }

 private:
  const std::unique_ptr<esp::Streams::Stub> stub_;
  grpc::ClientContext batching_;
  std::unique_ptr<grpc::ClientReaderWriter<esp::BatchAppendReq, esp::BatchAppendResp>> batches_;
};

/// Sends one and the same message as often as it is asked to.
class Repeating final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  Repeating(grpc::ByteBuffer message, std::uint64_t left) : message_(std::move(message)), left_(left) { next(); }
  void OnWriteDone(bool ok) override {
    if (!ok) left_ = 0;
    next();
  }
  void OnDone() override { delete this; }

 private:
  ~Repeating() override = default;
  void next() {
    if (left_ == 0) return Finish(grpc::Status::OK);
    --left_;
    outgoing_ = message_;
    grpc::WriteOptions options;
    if (std::exchange(wrote_, true) && left_ % 256 != 0) options.set_buffer_hint();
    StartWrite(&outgoing_, options);
  }

  const grpc::ByteBuffer message_;
  grpc::ByteBuffer outgoing_;
  std::uint64_t left_;
  bool wrote_ = false;
};

class RepeatingService final : public esp::Streams::WithRawCallbackMethod_Read<esp::Streams::Service> {
 public:
  explicit RepeatingService(grpc::ByteBuffer message) : message_(std::move(message)) {}
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Read(grpc::CallbackServerContext*, const grpc::ByteBuffer* in) override {
    grpc::Slice slice;
    static_cast<void>(in->DumpToSingleSlice(&slice));
    esp::ReadReq request;
    static_cast<void>(request.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
    return new Repeating(message_, request.options().count());
  }

 private:
  const grpc::ByteBuffer message_;
};

}  // namespace

std::unique_ptr<DoorClient> client_of_kurrent_door(std::uint16_t port) {
  return std::make_unique<KurrentDoorClient>(port);
}

int serve_messages(std::uint16_t port, std::size_t message_bytes) {
  esp::ReadResp response;
  auto& event = *response.mutable_event()->mutable_event();
  event.mutable_id()->set_string(EventId::random().text());
  event.mutable_stream_identifier()->set_stream_name("order-12345");
  event.set_stream_revision(42);
  event.set_commit_position(1'234'567);
  event.set_prepare_position(1'234'567);
  (*event.mutable_metadata())["type"] = "Type12";
  (*event.mutable_metadata())["content-type"] = "application/json";
  (*event.mutable_metadata())["created"] = "17642922000000000";
  event.set_data(std::string(message_bytes, 'x'));
  response.mutable_event()->set_commit_position(1'234'567);
  const grpc::Slice slice(response.SerializeAsString());
  RepeatingService service(grpc::ByteBuffer(&slice, 1));
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  server->Wait();  // it is ended by a signal
  return 0;
}

std::unique_ptr<MessagesClient> MessagesClient::to(std::uint16_t port) {
  class Client final : public MessagesClient, public KurrentDoorClient {
   public:
    using KurrentDoorClient::KurrentDoorClient;
    Result<std::uint64_t> read_messages(std::uint64_t messages) override {
      auto request = everything();
      request.mutable_options()->set_count(messages);
      return read_by(request);
    }
  };
  return std::make_unique<Client>(port);
}

}  // namespace evershard::bench
