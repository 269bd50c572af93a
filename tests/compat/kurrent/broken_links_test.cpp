// A link whose target cannot be asked for now ends the reading: to give it without its event would be to skip one.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "tests/compat/kurrent/kurrent_in_process.hpp"
#include "tests/services/copy/damaged_store.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::kurrent {
namespace {

namespace esp = ::event_store::client::streams;

/// Some aggregates cannot be asked for.
class OutOfReach final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    if (is_out_of_reach(aggregate)) return EventStream(away());
    return ForwardingStore::read(std::move(aggregate), options);
  }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    if (is_out_of_reach(aggregate)) return refuse(away());
    return ForwardingStore::aggregate(aggregate, up_to);
  }
  std::set<std::string> names{};

 private:
  [[nodiscard]] bool is_out_of_reach(const AggregateId& aggregate) const { return names.contains(aggregate.text()); }
  static Error away() { return Error(ErrorCode::unavailable, "its node is away"); }
};

class KurrentBrokenLinks : public ::testing::Test {
 protected:
  KurrentBrokenLinks()
      : door_({}, [this](EventStore& store) -> EventStore& { return store_.emplace(store); }),
        streams_(esp::Streams::NewStub(
            grpc::CreateChannel(door_.door->addresses().front(), grpc::InsecureChannelCredentials()))) {}
  ~KurrentBrokenLinks() override { door_.stop(); }

  void append(const std::string& stream, const std::string& type, const std::string& data = "{}") {
    Event event;
    event.aggregate = aggregate_of(stream).value();
    event.type = type;
    event.payload = data;
    const auto done = door_.local.all_names().append(Append{}.event(std::move(event)));
    ASSERT_TRUE(done) << done.error().what;
  }
  void remove(const std::string& stream) {
    grpc::ClientContext context;
    esp::DeleteReq request;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    request.mutable_options()->mutable_any();
    esp::DeleteResp response;
    ASSERT_TRUE(streams_->Delete(&context, request, &response).ok());
  }
  /// Types of the events that links lead to, `-` for a link to nothing, and how it ended.
  std::vector<std::string> read(const std::string& stream) {
    grpc::ClientContext context;
    esp::ReadReq request;
    auto& options = *request.mutable_options();
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
    options.mutable_stream()->mutable_start();
    options.set_count(100);
    options.set_resolve_links(true);
    options.mutable_no_filter();
    options.mutable_uuid_option()->mutable_string();
    auto reader = streams_->Read(&context, request);
    std::vector<std::string> seen;
    for (esp::ReadResp response; reader->Read(&response);) {
      if (!response.has_event()) continue;
      seen.push_back(response.event().has_event() ? response.event().event().metadata().at("type") : "-");
    }
    const auto status = reader->Finish();
    seen.push_back(status.ok() ? "end" : std::to_string(status.error_code()));
    return seen;
  }
  [[nodiscard]] OutOfReach& store() { return *store_; }

 private:
  std::optional<OutOfReach> store_;
  KurrentInProcess door_;
  std::unique_ptr<esp::Streams::Stub> streams_;
};

using Words = std::vector<std::string>;
const std::string unavailable = std::to_string(grpc::StatusCode::UNAVAILABLE);

TEST_F(KurrentBrokenLinks, OfClientsEndTheReading) {
  append("order-1", "A");
  append("order-2", "B");
  append("links", "$>", "0@order-2");
  append("links", "$>", "0@order-1");
  append("links", "$>", "7@order-1");
  append("links", "$>", "0@order-2");
  EXPECT_EQ(read("links"), (Words{"B", "A", "-", "B", "end"}));

  store().names = {"order-1"};

  EXPECT_EQ(read("links"), (Words{"B", unavailable})) << "and nothing behind it";
  store().names = {};
  EXPECT_EQ(read("links"), (Words{"B", "A", "-", "B", "end"}));
}

TEST_F(KurrentBrokenLinks, OfCategoriesEndTheReading) {
  append("order-2", "B");
  append("order-1", "A");
  remove("order-1");
  append("order-1", "C");
  append("order-2", "D");
  EXPECT_EQ(read("$ce-order"), (Words{"B", "-", "C", "D", "end"}));

  store().names = {"order-1"};

  EXPECT_EQ(read("$ce-order"), (Words{"B", unavailable})) << "whether it is shown is not known";
}

// The reader's place is the reader's own: it is told which event cannot be read, and nothing is passed over for it.
TEST(KurrentDamage, EndsReadingsAndSubscriptionsWithTheEventsPosition) {
  std::optional<testing::DamagedStore> damaged;
  KurrentInProcess door(
      {}, [&](EventStore& store) -> EventStore& { return damaged.emplace(store, std::set<std::uint64_t>{2}); });
  for (int i = 0; i != 3; ++i)
    ASSERT_TRUE(door.local.append(Append{}.event("thing-" + std::to_string(i), "Happened", "{}")));
  const auto streams =
      esp::Streams::NewStub(grpc::CreateChannel(door.door->addresses().front(), grpc::InsecureChannelCredentials()));
  for (const bool subscribes : {false, true}) {
    grpc::ClientContext context;
    esp::ReadReq request;
    auto& options = *request.mutable_options();
    options.mutable_all()->mutable_start();
    if (subscribes)
      options.mutable_subscription();
    else
      options.set_count(100);
    options.mutable_no_filter();
    options.mutable_uuid_option()->mutable_string();
    const auto reader = streams->Read(&context, request);
    esp::ReadResp response;
    std::vector<std::uint64_t> given;
    while (reader->Read(&response))
      if (response.has_event()) given.push_back(response.event().commit_position());
    const auto status = reader->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS) << subscribes << status.error_message();
    EXPECT_NE(status.error_message().find("the event at position 2 cannot be read: its checksum is wrong"),
              std::string::npos)
        << status.error_message();
    for (const auto position : given) EXPECT_LT(position, 2u) << subscribes;
  }
  door.stop();
}

}  // namespace
}  // namespace evershard::kurrent
