// Compressed messages, both ways: the same events in fewer bytes, and no more memory than the limit of a message says.

#include <gmock/gmock.h>

#include <iostream>

#include "evershard/doors/serving/gzip.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/v1/service.pb.h"
#include "tests/doors/remote/counting_relay.hpp"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A unary call whose request gRPC compresses on its way.
grpc::Status compressed_unary(grpc::Channel& channel, const std::string& method, const std::string& request,
                              grpc_compression_algorithm algorithm = GRPC_COMPRESS_GZIP) {
  auto with = raw::context();
  with->set_compression_algorithm(algorithm);
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ByteBuffer out;
  return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(&channel, rpc, with.get(),
                                                                               raw::bytes(request), &out);
}

/// What an application would send: JSON with its keys again and again.
std::string json_payload(int i) {
  std::string lines = R"({"order":)" + std::to_string(i) + R"(,"lines":[)";
  for (int line = 0; line < 20; ++line)
    lines += R"({"article":"article-)" + std::to_string(i * 7 + line) + R"(","amount":)" + std::to_string(line) +
             R"(,"currency":"EUR"},)";
  return lines + "{}]}";
}

struct Counted {
  std::uint64_t to_server = 0, read = 0, followed = 0;
};

Counted append_read_and_follow(bool compression) {
  ServedStore store;
  CountingRelay relay(store.address());
  Counted counted;
  auto remote = store.connect({.server = relay.address(), .compression = compression});
  constexpr int count = 300;
  for (int i = 0; i < count; ++i) {
    const auto done =
        remote.append(Append{}.event("order-" + std::to_string(i), "OrderPlaced", json_payload(i), {"customer:1"}));
    EXPECT_TRUE(done) << done.error().what;
  }
  counted.to_server = relay.to_server();
  auto before = relay.to_client();
  int at = 0;
  auto stream = remote.read(Query::all());
  for (const auto& event : stream) EXPECT_EQ(event.payload, json_payload(at++));
  EXPECT_FALSE(stream.error());
  EXPECT_EQ(at, count);
  counted.read = relay.to_client() - before;
  before = relay.to_client();
  auto feed = remote.follow(Query::all());
  for (at = 0; at < count;) {
    const auto item = feed.next(10s);
    if (!item) {
      ADD_FAILURE() << item.error().what;
      break;
    }
    for (const auto& event : item->events) EXPECT_EQ(event.payload, json_payload(at++));
  }
  counted.followed = relay.to_client() - before;
  return counted;
}

TEST(DoorCompression, TheSameEventsTakeAFractionOfTheBytes) {
  const auto plain = append_read_and_follow(false), packed = append_read_and_follow(true);
  std::cout << "300 events of " << json_payload(1).size() << " bytes: appends " << plain.to_server << " -> "
            << packed.to_server << ", a read " << plain.read << " -> " << packed.read << ", a follow " << plain.followed
            << " -> " << packed.followed << " bytes\n";
  EXPECT_LT(packed.to_server, plain.to_server / 2);
  EXPECT_LT(packed.read, plain.read / 4);
  EXPECT_LT(packed.followed, plain.followed / 4);
  EXPECT_GT(plain.read, 300u * json_payload(1).size()) << "nothing is compressed unasked";
}

TEST(DoorCompression, ABombIsRefusedBeforeItIsUnpacked) {
  ServedStore store;
  const auto channel = raw::channel(store.address());
  for (const auto* method : {"Append", "Head", "PutSnapshot"}) {
    const auto refused =
        compressed_unary(*channel, std::string("/evershard.v1.EventStore/") + method, std::string(64u << 20, '\0'));
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(wire::error_of(refused).code, ErrorCode::too_large);
    EXPECT_THAT(refused.error_message(), HasSubstr("67108864 bytes unpacked, the most is 20971520"))
        << "it is we who refuse it, not gRPC, which would have unpacked it";
  }
}

TEST(DoorCompression, ABombInAStreamOfAppendsIsRefusedByItself) {
  ServedStore store;
  const auto channel = raw::channel(store.address());
  const auto with = raw::context();
  with->set_compression_algorithm(GRPC_COMPRESS_GZIP);
  auto stream = raw::both_ways(*channel, "/evershard.v1.EventStore/AppendMany", *with);
  ASSERT_TRUE(stream->Write(raw::bytes(std::string(64u << 20, '\0'))));
  ASSERT_TRUE(stream->Write(raw::bytes(codec::encode(Append{}.event("a-1", "T", std::string(10'000, 'x'))))));
  stream->WritesDone();
  std::vector<v1::AppendOutcome> outcomes;
  grpc::ByteBuffer in;
  while (stream->Read(&in)) ASSERT_TRUE(outcomes.emplace_back().ParseFromString(raw::text(in)));
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].refused().code(), v1::ERROR_CODE_TOO_LARGE);
  EXPECT_EQ(outcomes[1].appended().first_position(), 1u);
}

TEST(DoorCompression, WhatIsNoGzipOrAnotherCodingIsRefused) {
  ServedStore store;
  const auto channel = raw::channel(store.address());
  const auto append = codec::encode(Append{}.event("a-1", "T", std::string(10'000, 'x')));
  auto packed = serving::gzip(append);
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 1);
  EXPECT_EQ(raw::unary(*channel, "/evershard.v1.EventStore/Append", packed).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(compressed_unary(*channel, "/evershard.v1.EventStore/Append", append, GRPC_COMPRESS_DEFLATE).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(store.local.head()->value, 0u);
  EXPECT_TRUE(raw::unary(*channel, "/evershard.v1.EventStore/Head", serving::gzip("")).ok())
      << "other clients pack what is empty, too";
  EXPECT_TRUE(compressed_unary(*channel, "/evershard.v1.EventStore/Append", append).ok());
  EXPECT_EQ(store.local.head()->value, 1u);
}

}  // namespace
}  // namespace evershard
