// Calls with bytes of any kind, as no well-behaved client makes them.

#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace evershard::raw {

inline grpc::ByteBuffer bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}
inline std::string text(const grpc::ByteBuffer& from) {
  grpc::Slice slice;
  if (!from.Valid() || !from.DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

/// A connection of its own.
inline std::shared_ptr<grpc::Channel> channel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

inline std::unique_ptr<grpc::ClientContext> context(const std::string& token = {},
                                                    std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
  context->set_deadline(std::chrono::system_clock::now() + timeout);
  return context;
}

inline grpc::Status unary(grpc::Channel& channel, const std::string& method, const std::string& request,
                          std::string* response = nullptr, const std::string& token = {},
                          std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  auto with = context(token, timeout);
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ByteBuffer out;
  const auto status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(&channel, rpc, with.get(),
                                                                                            bytes(request), &out);
  if (response != nullptr && status.ok()) *response = text(out);
  return status;
}

using Reader = std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>>;
inline Reader stream(grpc::Channel& channel, const std::string& method, const std::string& request,
                     grpc::ClientContext& with) {
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::SERVER_STREAMING);
  return Reader(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create<grpc::ByteBuffer>(&channel, rpc, &with,
                                                                                                bytes(request)));
}

using ReaderWriter = std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>;
inline ReaderWriter both_ways(grpc::Channel& channel, const std::string& method, grpc::ClientContext& with) {
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
  return ReaderWriter(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(&channel, rpc, &with));
}

/// What a server's stream gives until its end.
inline grpc::Status read_all(grpc::ClientReader<grpc::ByteBuffer>& reader,
                             std::vector<std::string>* messages = nullptr) {
  grpc::ByteBuffer in;
  while (reader.Read(&in)) {
    if (messages != nullptr) messages->push_back(text(in));
  }
  return reader.Finish();
}

}  // namespace evershard::raw
