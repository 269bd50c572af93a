// The golden messages of a cluster's processes (tests/golden/peers): a test here that fails means that nodes of
// neighbouring releases do not understand each other any more.
//
// A file never changes once it is released: a new field, or a new message, comes in a sample of its own below.
// EVERSHARD_GOLDEN_WRITE=1 writes the files that are missing.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/v1/cluster.pb.h"
#include "evershard/v1/homes.pb.h"
#include "evershard/v1/keys.pb.h"
#include "tests/golden/peer_samples.hpp"

namespace evershard::cluster {
namespace {

namespace fs = std::filesystem;
namespace pbuf = google::protobuf;

const fs::path golden_peers = EVERSHARD_GOLDEN_PEERS;

std::string golden_bytes(const std::string& name) {
  std::ifstream in(golden_peers / (name + ".bin"), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<pbuf::Message> peer_message_of(const std::string& name) {
  static_cast<void>(v1::Hello::descriptor());
  static_cast<void>(v1::KeysAsked::descriptor());
  static_cast<void>(v1::HomeAsked::descriptor());  // links what the generated pool is to know
  const auto* descriptor =
      pbuf::DescriptorPool::generated_pool()->FindMessageTypeByName("evershard.v1." + name.substr(0, name.find('-')));
  return std::unique_ptr<pbuf::Message>(
      descriptor ? pbuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New() : nullptr);
}

/// Calls `visit` with the message and all that it holds.
void each_message(pbuf::Message& message, const std::function<void(pbuf::Message&)>& visit) {
  const auto* reflection = message.GetReflection();
  std::vector<const pbuf::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != pbuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      each_message(*reflection->MutableMessage(&message, field), visit);
    } else {
      for (int i = 0; i != reflection->FieldSize(message, field); ++i)
        each_message(*reflection->MutableRepeatedMessage(&message, field, i), visit);
    }
  }
  visit(message);
}

class PeerGolden : public testing::TestWithParam<PeerSample> {};

TEST_P(PeerGolden, IsTheseBytes) {
  const auto& sample = GetParam();
  const auto file = golden_peers / (sample.name + ".bin");
  if (std::getenv("EVERSHARD_GOLDEN_WRITE") != nullptr && !fs::exists(file))
    std::ofstream(file, std::ios::binary) << sample.bytes;
  ASSERT_TRUE(fs::exists(file)) << "EVERSHARD_GOLDEN_WRITE=1 writes it";
  EXPECT_EQ(sample.bytes, golden_bytes(sample.name));
}

TEST_P(PeerGolden, IsReadAndWrittenAgain) {
  const auto bytes = golden_bytes(GetParam().name);
  const auto again = GetParam().again(bytes);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(*again, bytes);
}

TEST_P(PeerGolden, IsTheMessageOfItsName) {
  const auto message = peer_message_of(GetParam().name);
  ASSERT_TRUE(message) << "no message of protocol/v1/cluster.proto, homes.proto or keys.proto";
  ASSERT_TRUE(message->ParseFromString(golden_bytes(GetParam().name)));
  each_message(*message, [](const pbuf::Message& any) {
    EXPECT_TRUE(any.GetReflection()->GetUnknownFields(any).empty()) << any.DebugString();
  });
}

// What a newer release says beyond this one is skipped, wherever it stands.
TEST_P(PeerGolden, IsReadWithFieldsNobodyKnows) {
  const auto message = peer_message_of(GetParam().name);
  ASSERT_TRUE(message && message->ParseFromString(golden_bytes(GetParam().name)));
  each_message(*message, [](pbuf::Message& any) {
    auto& unknown = *any.GetReflection()->MutableUnknownFields(&any);
    unknown.AddVarint(5'001, 17);
    unknown.AddFixed64(5'002, ~0ull);
    unknown.AddLengthDelimited(5'003)->assign("\xff of a later release");
  });
  const auto again = GetParam().again(message->SerializeAsString());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(*again, golden_bytes(GetParam().name));
}

TEST_P(PeerGolden, IsRefusedWhereItEndsEarly) {
  const pbuf::LogSilencer silence;
  const auto bytes = golden_bytes(GetParam().name);
  for (std::size_t size = 0; size != bytes.size(); ++size) {
    const auto message = peer_message_of(GetParam().name);
    if (message->ParseFromString(bytes.substr(0, size))) continue;  // whole fields: another message
    const auto read = GetParam().again(bytes.substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::corruption);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, PeerGolden, testing::ValuesIn(peer_samples()), [](const auto& named) {
  std::string name = named.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '_'; }, 'X');
  return name;
});

// A field that no sample sets is one whose number could change unseen.
TEST(PeerGoldenSet, SetsEveryFieldOfEveryMessage) {
  std::set<std::string> set;
  for (const auto& sample : peer_samples()) {
    const auto message = peer_message_of(sample.name);
    ASSERT_TRUE(message && message->ParseFromString(sample.bytes)) << sample.name;
    each_message(*message, [&](const pbuf::Message& any) {
      std::vector<const pbuf::FieldDescriptor*> fields;
      any.GetReflection()->ListFields(any, &fields);
      for (const auto* field : fields) set.insert(field->full_name());
    });
  }
  for (const auto* file :
       {v1::Hello::descriptor()->file(), v1::HomeAsked::descriptor()->file(), v1::KeysAsked::descriptor()->file()}) {
    for (int m = 0; m != file->message_type_count(); ++m) {
      const auto* type = file->message_type(m);
      for (int f = 0; f != type->field_count(); ++f)
        EXPECT_TRUE(set.contains(type->field(f)->full_name()))
            << type->field(f)->full_name() << " is in no sample of tests/golden/peer_samples.cpp";
    }
  }
}

TEST(PeerGoldenSet, IsWhole) {
  std::set<std::string> names;
  for (const auto& sample : peer_samples()) EXPECT_TRUE(names.insert(sample.name).second) << sample.name << " twice";
  for (const auto& entry : fs::directory_iterator(golden_peers))
    EXPECT_TRUE(names.contains(entry.path().stem().string())) << entry.path() << " belongs to no sample";
}

// A kind is frozen as well: it stands in front of these bytes on the link.
TEST(PeerGoldenSet, HasTheseKinds) {
  std::vector<std::uint16_t> kinds;
  for (const auto& sample : peer_samples())
    if (sample.kind) kinds.push_back(static_cast<std::uint16_t>(*sample.kind));
  std::ranges::sort(kinds);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  EXPECT_THAT(kinds, testing::IsSupersetOf(
                         {1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 41, 50, 51}));
}

// An older release knows no states: it must not take an event that is gone for a live one, and so finds it malformed.
TEST(PeerGoldenSet, HidesEventsThatAreGoneFromWhoKnowsNoStates) {
  const auto samples = peer_samples();
  const auto gone = std::ranges::find(samples, "Part-gone", &PeerSample::name);
  ASSERT_NE(gone, samples.end());
  v1::Part part;
  ASSERT_TRUE(part.ParseFromString(gone->bytes));
  for (auto& event : *part.mutable_events()) {
    event.clear_state();
    event.clear_terms_of_gone();
  }
  const auto read = gone->again(part.SerializeAsString());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corruption);
}

// A kind that this release does not know is refused as such, and nothing else.
TEST(PeerGoldenSet, RefusesAKindOfALaterRelease) {
  for (const std::uint16_t kind : {0, 18, 99, 65'535}) {
    const auto up = decode_to_coordinator(PeerKind(kind), "");
    ASSERT_FALSE(up);
    EXPECT_EQ(up.error().code, ErrorCode::corruption);
    const auto down = decode_from_coordinator(PeerKind(kind), "");
    ASSERT_FALSE(down);
    EXPECT_EQ(down.error().code, ErrorCode::corruption);
  }
}

}  // namespace
}  // namespace evershard::cluster
