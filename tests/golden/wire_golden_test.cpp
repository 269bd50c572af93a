// The golden messages that clients of every language share (tests/golden/wire): a test here that fails means that we
// and they do not understand each other any more.

#include <gmock/gmock.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "evershard/protocol/codec.hpp"
#include "evershard/v1/documents.pb.h"
#include "evershard/v1/projections.pb.h"
#include "evershard/v1/scheduled.pb.h"
#include "evershard/v1/service.pb.h"
#include "evershard/v1/store.pb.h"
#include "evershard/v1/tables.pb.h"

namespace evershard {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

const fs::path wire = EVERSHARD_GOLDEN_WIRE;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

/// A new message of the type in front of the name's first '-'; none: there is no such message.
std::unique_ptr<pb::Message> message_of(const std::string& name) {
  const auto type = "evershard.v1." + name.substr(0, name.find('-'));
  const auto* descriptor = pb::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (!descriptor) return nullptr;
  return std::unique_ptr<pb::Message>(pb::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
}

std::string deterministic(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream to(&bytes);
    pb::io::CodedOutputStream out(&to);
    out.SetSerializationDeterministic(true);
    EXPECT_TRUE(message.SerializeToCodedStream(&out));
  }
  return bytes;
}

std::vector<std::string> wire_names() {
  static_cast<void>(v1::AppendRequest::descriptor());  // links what the generated pool is to know
  static_cast<void>(v1::StatsResponse::descriptor());
  static_cast<void>(v1::ProjectionInfo::descriptor());
  static_cast<void>(v1::SelectRequest::descriptor());
  static_cast<void>(v1::Document::descriptor());
  static_cast<void>(v1::ScheduledAppend::descriptor());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(wire)) {
    if (entry.path().extension() == ".bin") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class WireGolden : public testing::TestWithParam<std::string> {};

TEST_P(WireGolden, BytesAndJsonAreTheSameMessage) {
  const auto message = message_of(GetParam());
  const auto said = message_of(GetParam());
  ASSERT_TRUE(message) << "no message of protocol/v1";
  const auto bytes = bytes_of(wire / (GetParam() + ".bin"));
  const auto json = bytes_of(wire / (GetParam() + ".json"));
  ASSERT_FALSE(json.empty());

  ASSERT_TRUE(message->ParseFromString(bytes));
  const auto parsed = pb::util::JsonStringToMessage(json, said.get());
  ASSERT_TRUE(parsed.ok()) << parsed.ToString();

  EXPECT_TRUE(message->GetReflection()->GetUnknownFields(*message).empty());
  std::string differences;
  pb::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(*message, *said)) << differences;
  EXPECT_EQ(deterministic(*message), bytes);
  EXPECT_EQ(deterministic(*said), bytes);
}

INSTANTIATE_TEST_SUITE_P(Wire, WireGolden, testing::ValuesIn(wire_names()), [](const auto& named) {
  std::string name = named.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '_'; }, 'X');  // GoogleTest's names have neither
  return name;
});

/// Our own codec reads these bytes, and writes them again but for what `door_alone` takes out of the message: that is
/// the door's to put in.
template <class T, class Message>
void expect_codec(
    const std::string& name, void (*door_alone)(Message&) = [](Message&) {}) {
  const auto bytes = bytes_of(wire / (name + ".bin"));
  const auto value = codec::decode<T>(bytes);
  ASSERT_TRUE(value) << name << ": " << value.error().what;
  Message message;
  ASSERT_TRUE(message.ParseFromString(bytes)) << name;
  door_alone(message);
  EXPECT_EQ(codec::encode(*value), deterministic(message)) << name;
}

TEST(WireGoldenCodec, Append) {
  for (const std::string name : {"AppendRequest-everything", "AppendRequest-least"}) {
    const auto bytes = bytes_of(wire / (name + ".bin"));
    std::uint32_t conflicts_max = 0;
    const auto append = codec::decode_append(bytes, conflicts_max);
    ASSERT_TRUE(append) << name << ": " << append.error().what;

    v1::AppendRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    EXPECT_EQ(conflicts_max, request.conflicts_max());
    request.clear_conflicts_max();                               // what is the door's alone is not the append's
    for (auto& expectation : *request.mutable_expectations()) {  // exactly 0 is none, which is its shorter name
      auto& version = *expectation.mutable_version();
      if (version.kind() == v1::ExpectedVersion::KIND_EXACTLY && version.number() == 0)
        version.set_kind(v1::ExpectedVersion::KIND_NONE);
    }
    EXPECT_EQ(codec::encode(*append), deterministic(request)) << name;
  }
}

TEST(WireGoldenCodec, Page) {
  expect_codec<Page, v1::Page>("Page");
  expect_codec<Page, v1::Page>("Page-empty");
}

TEST(WireGoldenCodec, Events) {
  for (const auto* name : {"Event", "Event-least"}) expect_codec<Event, v1::Event>(name);
  for (const auto* name : {"RecordedEvent", "RecordedEvent-removed"})
    expect_codec<RecordedEvent, v1::RecordedEvent>(name);
  const auto none_of_ours = codec::decode<RecordedEvent>(
      bytes_of(wire / "RecordedEvent-extremes.bin"));  // clients take numbers that no shard has
  ASSERT_FALSE(none_of_ours);
  EXPECT_EQ(none_of_ours.error().code, ErrorCode::invalid_argument);
}

TEST(WireGoldenCodec, Errors) {
  for (const auto* name : {"Error-condition_failed", "Error-corruption", "Error-duplicate_event", "Error-overloaded",
                           "Error-version_conflict"}) {
    expect_codec<Error, v1::Error>(name, [](v1::Error& error) {
      error.clear_conflicts();
      error.clear_retry_after_ms();
    });
  }
}

TEST(WireGoldenCodec, Answers) {
  for (const auto* name : {"AppendResponse", "AppendResponse-duplicate"}) {
    expect_codec<Appended, v1::AppendResponse>(name, [](v1::AppendResponse& response) { response.clear_watermark(); });
  }
}

TEST(WireGoldenSet, IsWhole) {
  EXPECT_GE(wire_names().size(), 55U);
  for (const auto& entry : fs::directory_iterator(wire)) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".bin"))) << entry.path();
  }
}

}  // namespace
}  // namespace evershard
