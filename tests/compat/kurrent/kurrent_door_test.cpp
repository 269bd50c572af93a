// The door over a socket, asked by stubs of its own .proto files.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/kurrent_door.hpp"
#include "evershard/kurrent/server_features.grpc.pb.h"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "evershard/kurrent/streams_v2.grpc.pb.h"
#include "evershard/local/local.hpp"
#include "evershard/protocol/base64.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::kurrent {
namespace {

namespace v2 = ::kurrentdb::protocol::v2::streams;

class KurrentDoorTest : public ::testing::Test {
 protected:
  KurrentDoorTest() : local(Local::open({}).value()) { start(); }
  ~KurrentDoorTest() override { stop(); }

  /// As a node of a cluster is: what was acknowledged is shown once somebody waits for it.
  class ShownLate final : public evershard::testing::ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    Result<GlobalPosition> head() override { return shown.load(); }
    Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
      shown = position;
      return to_.wait_for(position, timeout);
    }
    Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) override {
      if (shown.load() == GlobalPosition{}) return refuse(ErrorCode::not_found, "nothing is shown");
      return to_.aggregate(aggregate, up_to ? up_to : std::optional(shown.load()));
    }
    std::atomic<GlobalPosition> shown{};
  };

  void start(EventStore* all_names = nullptr) {
    watch = std::make_unique<serving::HeadWatch>(local);
    served =
        std::make_unique<serving::Served>(serving::Served{local, local, pool, *watch, [this] { return access; },
                                                          [] { return Result<RegisteredTypes>(RegisteredTypes{}); }});
    served->all_names = all_names != nullptr ? all_names : &local.all_names();
    door::DoorOptions options;
    options.listen = {listen};
    auto started = start_door(*served, options, {.others_write = true});
    ASSERT_TRUE(started) << started.error().what;
    door = *std::move(started);
    listen = door->addresses().front();
    channel = grpc::CreateChannel(listen, grpc::InsecureChannelCredentials());
    streams = esp::Streams::NewStub(channel);
  }
  void stop() {
    if (door) door->stop(std::chrono::milliseconds(0));
    door.reset();
  }

  static void propose(esp::AppendReq& request, const std::string& type, const EventId& id = EventId::random()) {
    auto& message = *request.mutable_proposed_message();
    put_id(id, false, *message.mutable_id());
    (*message.mutable_metadata())["type"] = type;
    (*message.mutable_metadata())["content-type"] = "application/json";
    message.set_data("{}");
  }
  grpc::Status append(const std::string& stream, const std::vector<std::string>& types, esp::AppendResp& response,
                      const std::function<void(esp::AppendReq::Options&)>& expect = {},
                      const std::vector<EventId>& ids = {}, grpc::ClientContext* given = nullptr) {
    grpc::ClientContext own;
    auto& context = given != nullptr ? *given : own;
    auto writer = streams->Append(&context, &response);
    esp::AppendReq request;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    if (expect)
      expect(*request.mutable_options());
    else
      request.mutable_options()->mutable_any();
    writer->Write(request);
    for (std::size_t i = 0; i < types.size(); ++i) {
      propose(request, types[i], i < ids.size() ? ids[i] : EventId::random());
      writer->Write(request);
    }
    writer->WritesDone();
    trailers.clear();
    const auto status = writer->Finish();
    for (const auto& [key, value] : context.GetServerTrailingMetadata())
      trailers[std::string(key.data(), key.size())] = std::string(value.data(), value.size());
    return status;
  }
  void append_well(const std::string& stream, const std::vector<std::string>& types) {
    esp::AppendResp response;
    const auto status = append(stream, types, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(response.has_success());
  }
  static esp::ReadReq of_stream(const std::string& stream) {
    esp::ReadReq request;
    auto& options = *request.mutable_options();
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
    options.mutable_stream()->mutable_start();
    options.set_count(1'000);
    options.mutable_no_filter();
    options.mutable_uuid_option()->mutable_string();
    options.mutable_control_option()->set_compatibility(1);
    return request;
  }
  /// Types of events, and what else comes, as words.
  std::vector<std::string> read(const esp::ReadReq& request, grpc::Status* ended = nullptr) {
    grpc::ClientContext context;
    auto reader = streams->Read(&context, request);
    std::vector<std::string> seen;
    esp::ReadResp response;
    while (reader->Read(&response)) seen.push_back(word_of(response));
    const auto status = reader->Finish();
    trailers.clear();
    for (const auto& [key, value] : context.GetServerTrailingMetadata())
      trailers[std::string(key.data(), key.size())] = std::string(value.data(), value.size());
    if (ended != nullptr)
      *ended = status;
    else
      EXPECT_TRUE(status.ok()) << status.error_message();
    return seen;
  }
  static std::string word_of(const esp::ReadResp& response) {
    switch (response.content_case()) {
      case esp::ReadResp::kEvent: {
        if (!response.event().has_event())
          return "to nothing@" + std::to_string(response.event().link().stream_revision());
        const auto& event = response.event().event();
        return event.metadata().at("type") + "@" + std::to_string(event.stream_revision());
      }
      case esp::ReadResp::kConfirmation:
        return "confirmed";
      case esp::ReadResp::kCaughtUp:
        return "caught up";
      case esp::ReadResp::kStreamNotFound:
        return "not found";
      case esp::ReadResp::kFirstStreamPosition:
        return "first " + std::to_string(response.first_stream_position());
      case esp::ReadResp::kLastStreamPosition:
        return "last " + std::to_string(response.last_stream_position());
      case esp::ReadResp::kCheckpoint:
        return "checkpoint";
      default:
        return "?";
    }
  }
  template <class Request, class Response>
  grpc::Status end(const std::string& stream, bool for_good, bool exists = false) {
    grpc::ClientContext context;
    Request request;
    Response response;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    if (exists)
      request.mutable_options()->mutable_stream_exists();
    else
      request.mutable_options()->mutable_any();
    if constexpr (std::is_same_v<Request, esp::DeleteReq>) {
      EXPECT_FALSE(for_good);
      return streams->Delete(&context, request, &response);
    } else {
      return streams->Tombstone(&context, request, &response);
    }
  }
  grpc::Status delete_stream(const std::string& stream) { return end<esp::DeleteReq, esp::DeleteResp>(stream, false); }
  grpc::Status delete_existing(const std::string& stream) {
    return end<esp::DeleteReq, esp::DeleteResp>(stream, false, true);
  }
  grpc::Status tombstone(const std::string& stream) { return end<esp::TombstoneReq, esp::TombstoneResp>(stream, true); }

  Local local;
  std::shared_ptr<const serving::Access> access = std::make_shared<const serving::Access>(serving::Access::open());
  cluster::WorkPool pool{2};
  std::unique_ptr<serving::HeadWatch> watch;
  std::unique_ptr<serving::Served> served;
  std::unique_ptr<door::Door> door;
  std::string listen = "127.0.0.1:0";
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<esp::Streams::Stub> streams;
  std::map<std::string, std::string> trailers;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_F(KurrentDoorTest, AppendsAndReadsBothWays) {
  append_well("order-7", {"A", "B", "C"});

  EXPECT_EQ(read(of_stream("order-7")), (Words{"A@0", "B@1", "C@2", "last 2"}));
  auto older = of_stream("order-7");
  older.mutable_options()->clear_control_option();
  EXPECT_EQ(read(older), (Words{"A@0", "B@1", "C@2"})) << "who does not ask for it does not know it";
  auto backwards = of_stream("order-7");
  backwards.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  backwards.mutable_options()->mutable_stream()->mutable_end();
  backwards.mutable_options()->set_count(2);
  EXPECT_EQ(read(backwards), (Words{"C@2", "B@1"}));
  EXPECT_EQ(read(of_stream("order-8")), (Words{"not found"}));
  EXPECT_EQ(local.aggregate({"order", "7"}).value().version, SeqNr{3}) << "and other doors see an aggregate";
}

TEST_F(KurrentDoorTest, AnswersAConflictAsTheProtocolDoes) {
  append_well("order-7", {"A"});
  esp::AppendResp response;

  const auto status = append("order-7", {"B"}, response, [](auto& options) { options.mutable_no_stream(); });
  ASSERT_TRUE(status.ok()) << "a conflict is an answer";
  ASSERT_TRUE(response.has_wrong_expected_version());
  EXPECT_EQ(response.wrong_expected_version().current_revision(), 0u);
  ASSERT_TRUE(append("order-7", {"B"}, response, [](auto& options) { options.set_revision(0); }).ok());
  EXPECT_EQ(response.success().current_revision(), 1u);
  ASSERT_TRUE(append("order-7", {"B"}, response, [](auto& o) { o.set_revision(std::uint64_t(-1)); }).ok());
  EXPECT_TRUE(response.has_wrong_expected_version()) << "a revision that no stream has";
}

TEST_F(KurrentDoorTest, TakesTheSameEventsOnceAndAPartOfThemToo) {
  const std::vector<EventId> ids{EventId::random(), EventId::random(), EventId::random()};
  esp::AppendResp first, again, part, elsewhere;
  ASSERT_TRUE(append("order-7", {"A", "B", "C"}, first, {}, ids).ok());

  ASSERT_TRUE(append("order-7", {"A", "B", "C"}, again, {}, ids).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  ASSERT_TRUE(append("order-7", {"A", "B"}, part, {}, {ids[0], ids[1]}).ok());
  EXPECT_EQ(part.success().current_revision(), 1u);
  EXPECT_EQ(local.aggregate({"order", "7"}).value().version, SeqNr{3});
}

TEST_F(KurrentDoorTest, TakesAnIdAgainInAnotherStream) {
  const std::vector<EventId> ids{EventId::random()};
  for (int stream = 0; stream < 40; ++stream) {  // some share a shard
    esp::AppendResp response;
    const auto name = "order-" + std::to_string(stream);
    ASSERT_TRUE(append(name, {"A"}, response, {}, ids).ok());
    ASSERT_TRUE(response.has_success()) << name;
    ASSERT_TRUE(append(name, {"A"}, response, {}, ids).ok());
    EXPECT_EQ(response.success().current_revision(), 0u) << "the same again is known";
    grpc::ClientContext context;
    auto reader = streams->Read(&context, of_stream(name));
    esp::ReadResp read;
    ASSERT_TRUE(reader->Read(&read));
    EXPECT_EQ(read.event().event().id().string(), ids[0].text());
    context.TryCancel();
  }
}

TEST_F(KurrentDoorTest, RefusesBadInputWithoutHarmToTheConnection) {
  esp::AppendResp response;
  EXPECT_EQ(append("", {"A"}, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(append("$schedule-7", {"A"}, response).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(trailers["exception"], "access-denied");
  EXPECT_EQ(append("order-7", {"$AggregateRemoved"}, response).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(append("order-7", {""}, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  grpc::Status ended;
  auto pattern = of_stream("x");
  pattern.mutable_options()->mutable_all()->mutable_start();
  pattern.mutable_options()->mutable_filter()->mutable_event_type()->set_regex("(");
  read(pattern, &ended);
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  read(esp::ReadReq(), &ended);
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  append_well("order-7", {"A"});
}

TEST_F(KurrentDoorTest, DeletesAStreamThatMayBeWrittenAgain) {
  append_well("order-7", {"A", "B"});
  ASSERT_TRUE(delete_stream("order-7").ok());

  EXPECT_EQ(read(of_stream("order-7")), (Words{"not found"}));
  esp::AppendResp response;
  ASSERT_TRUE(append("order-7", {"C"}, response, [](auto& options) { options.mutable_stream_exists(); }).ok());
  EXPECT_TRUE(response.has_wrong_expected_version()) << "it is not there";
  ASSERT_TRUE(append("order-7", {"C"}, response, [](auto& options) { options.mutable_no_stream(); }).ok());
  EXPECT_EQ(response.success().current_revision(), 2u) << "its revisions go on";
  EXPECT_EQ(read(of_stream("order-7")), (Words{"first 2", "C@2", "last 2"}));
  EXPECT_EQ(delete_stream("never-1").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(delete_existing("order-7").ok());
  const auto again = delete_existing("order-7");
  EXPECT_EQ(again.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(again.error_message().find("is deleted"), std::string::npos) << "clients tell it from a conflict by this";
  EXPECT_TRUE(delete_stream("order-7").ok()) << "whatever there is";
}

TEST_F(KurrentDoorTest, EndsAStreamForGood) {
  append_well("order-7", {"A"});
  ASSERT_TRUE(tombstone("order-7").ok());
  esp::AppendResp response;

  EXPECT_EQ(append("order-7", {"B"}, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(trailers["exception"], "stream-deleted");
  EXPECT_EQ(trailers["stream-name"], "order-7");
  EXPECT_EQ(append("$$order-7", {"$metadata"}, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  grpc::Status ended;
  EXPECT_EQ(read(of_stream("order-7"), &ended), Words{});
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(read(of_stream("$$order-7"), &ended), Words{});
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << "with its metadata";
  stop();
  start();
  EXPECT_EQ(append("order-7", {"B"}, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION)
      << "also for a door that did not see it";
}

TEST_F(KurrentDoorTest, ShowsWhatItAnswered) {
  stop();
  ShownLate late(local.all_names());
  start(&late);
  append_well("order-7", {"A"});
  EXPECT_EQ(read(of_stream("order-7")), (Words{"A@0", "last 0"}));
  append_well("order-7", {"B"});
  EXPECT_EQ(read(of_stream("order-7")), (Words{"A@0", "B@1", "last 1"}));
  stop();
}

// As two nodes of a cluster are.
TEST_F(KurrentDoorTest, AppendsNothingToAStreamThatEndedAtAnotherDoor) {
  append_well("order-7", {"A"});
  append_well("order-8", {"A"});
  append_well("order-9", {"A"});
  {
    const auto here = streams.get();
    auto options = door::DoorOptions{};
    options.listen = {"127.0.0.1:0"};
    auto other = start_door(*served, options, {.others_write = true}).value();
    const auto channel_of_other = grpc::CreateChannel(other->addresses().front(), grpc::InsecureChannelCredentials());
    auto streams_of_other = esp::Streams::NewStub(channel_of_other);
    streams.swap(streams_of_other);
    EXPECT_TRUE(tombstone("order-7").ok());
    EXPECT_TRUE(tombstone("order-9").ok());
    streams.swap(streams_of_other);
    ASSERT_EQ(streams.get(), here);
    other->stop(std::chrono::milliseconds(0));
  }
  const auto head = local.head().value();

  esp::AppendResp response;
  // Of its metadata nothing changed: what is expected of them holds.
  const auto none = [](esp::AppendReq::Options& options) { options.mutable_no_stream(); };
  EXPECT_EQ(append("$$order-9", {"$metadata"}, response, none).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(append("order-7", {"B"}, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(trailers["exception"], "stream-deleted");
  EXPECT_EQ(local.head().value(), head);
  append_well("order-8", {"B"});
}

TEST_F(KurrentDoorTest, GivesAsManyAsAreAskedForWhereSomeWereRemoved) {
  append_well("order-7", {"A", "B", "C", "D", "E"});
  append_well("order-8", {"F"});
  TruncateOptions truncate;
  truncate.uncovered = true;
  const auto done = local.retention().truncate_aggregate({"order", "7"}, SeqNr(4), truncate, {});
  ASSERT_TRUE(done) << done.error().what;

  auto all = of_stream("");
  all.mutable_options()->mutable_all()->mutable_start();
  all.mutable_options()->set_count(2);
  EXPECT_EQ(read(all), (Words{"D@3", "E@4"}));
  all.mutable_options()->set_count(3);
  EXPECT_EQ(read(all), (Words{"D@3", "E@4", "F@0"}));
  all.mutable_options()->set_count(100);
  EXPECT_EQ(read(all), (Words{"D@3", "E@4", "F@0", "$TruncationOrdered@0", "$TruncationDone@1"}));
  all.mutable_options()->mutable_all()->mutable_end();
  all.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  all.mutable_options()->set_count(6);
  EXPECT_EQ(read(all), (Words{"$TruncationDone@1", "$TruncationOrdered@0", "F@0", "E@4", "D@3"}));
  auto one = of_stream("order-7");
  one.mutable_options()->set_count(1);
  EXPECT_EQ(read(one), (Words{"D@3"}));
  one.mutable_options()->mutable_stream()->mutable_end();
  one.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  one.mutable_options()->set_count(4);
  EXPECT_EQ(read(one), (Words{"E@4", "D@3"}));
}

TEST_F(KurrentDoorTest, ShowsWhatMetadataLeaves) {
  append_well("order-7", {"A", "B", "C", "D"});
  grpc::ClientContext context;
  esp::AppendResp response;
  auto writer = streams->Append(&context, &response);
  esp::AppendReq request;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name("$$order-7");
  request.mutable_options()->mutable_any();
  writer->Write(request);
  propose(request, "$metadata");
  request.mutable_proposed_message()->set_data(R"({"$maxCount":2,"$acl":{"$w":["a"]}})");
  writer->Write(request);
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());

  EXPECT_EQ(read(of_stream("order-7")), (Words{"first 2", "C@2", "D@3", "last 3"}));
  EXPECT_EQ(read(of_stream("$$order-7")), (Words{"$metadata@0", "last 0"}));
}

TEST_F(KurrentDoorTest, LinksLeadToWhatTheirStreamsShow) {
  append_well("order-1", {"A", "B"});
  append_well("order-2", {"C"});
  append_well("order-3", {"D"});
  append_well("order-4", {"E"});
  ASSERT_TRUE(delete_stream("order-1").ok());
  append_well("order-1", {"F"});
  ASSERT_TRUE(delete_stream("order-2").ok());
  ASSERT_TRUE(tombstone("order-3").ok());
  auto request = of_stream("$ce-order");
  request.mutable_options()->set_resolve_links(true);
  const auto seen = read(request);
  ASSERT_GE(seen.size(), 6u);
  EXPECT_EQ(Words(seen.begin(), seen.begin() + 6),
            (Words{"to nothing@0", "to nothing@1", "to nothing@2", "to nothing@3", "E@0", "F@2"}));
  request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  request.mutable_options()->mutable_stream()->set_revision(4);
  request.mutable_options()->set_count(2);
  EXPECT_EQ(read(request), (Words{"E@0", "to nothing@3"}));
}

TEST_F(KurrentDoorTest, SubscribesThenGoesOnLiveAndFindsItsPlaceAgain) {
  append_well("order-7", {"A"});
  append_well("cart", {"X"});
  auto request = of_stream("order-7");
  request.mutable_options()->mutable_subscription();
  std::vector<std::string> seen;
  {
    grpc::ClientContext context;
    auto reader = streams->Read(&context, request);
    esp::ReadResp response;
    while (seen.size() < 4 && reader->Read(&response)) {
      seen.push_back(word_of(response));
      if (seen.back() == "caught up") append_well("order-7", {"B"});
    }
    context.TryCancel();
  }
  EXPECT_EQ(seen, (Words{"confirmed", "A@0", "caught up", "B@1"}));
  stop();
  start();
  append_well("order-7", {"C"});
  request.mutable_options()->mutable_stream()->set_revision(1);  // exclusive
  grpc::ClientContext context;
  auto reader = streams->Read(&context, request);
  esp::ReadResp response;
  seen.clear();
  while (seen.size() < 2 && reader->Read(&response)) seen.push_back(word_of(response));
  context.TryCancel();
  EXPECT_EQ(seen, (Words{"confirmed", "C@2"}));
}

TEST_F(KurrentDoorTest, FiltersEverythingAndTellsHowFarItLooked) {
  for (int i = 0; i < 10; ++i) append_well("order-" + std::to_string(i), {"A", "B"});
  auto request = of_stream("x");
  auto& options = *request.mutable_options();
  options.mutable_all()->mutable_start();
  auto& filter = *options.mutable_filter();
  filter.mutable_stream_identifier()->add_prefix("order-9");
  filter.set_max(5);
  filter.set_checkpointintervalmultiplier(2);
  EXPECT_EQ(read(request), (Words{"A@0", "B@1"}));

  options.mutable_subscription();
  grpc::ClientContext context;
  auto reader = streams->Read(&context, request);
  esp::ReadResp response;
  Words seen;
  while ((seen.empty() || seen.back() != "caught up") && reader->Read(&response)) seen.push_back(word_of(response));
  context.TryCancel();
  EXPECT_EQ(seen, (Words{"confirmed", "checkpoint", "A@0", "B@1", "checkpoint", "caught up"}));
}

TEST_F(KurrentDoorTest, ShowsCategoriesAndTypesAsStreamsOfLinks) {
  append_well("order-1", {"A"});
  append_well("cart-1", {"A"});
  append_well("order-2", {"B", "A"});
  auto request = of_stream("$ce-order");
  EXPECT_EQ(read(request), (Words{"$>@0", "$>@2", "$>@3", "last 3"})) << "numbers follow from positions";
  request.mutable_options()->set_resolve_links(true);
  EXPECT_EQ(read(request), (Words{"A@0", "B@0", "A@1", "last 3"}));
  request.mutable_options()->mutable_stream()->set_revision(3);
  EXPECT_EQ(read(request), (Words{"A@1", "last 3"}));
  request.mutable_options()->mutable_stream()->set_revision(70);
  EXPECT_EQ(read(request), (Words{"last 3"}));
  request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  request.mutable_options()->mutable_stream()->mutable_end();
  EXPECT_EQ(read(request), (Words{"A@1", "B@0", "A@0"}));
  auto types = of_stream("$et-A");
  EXPECT_EQ(read(types), (Words{"$>@0", "$>@1", "$>@3", "last 3"}));
  EXPECT_EQ(read(of_stream("$ce-nothing")), (Words{"not found"}));
}

/// As clients read the secondary indexes of theirs: by a filter of stream names on `$all`.
TEST_F(KurrentDoorTest, ServesTheIndexesOfTypesAndCategories) {
  append_well("order-1", {"A", "B"});
  append_well("cart-1", {"A"});
  append_well("order-2", {"B"});
  auto request = of_stream("x");
  auto& options = *request.mutable_options();
  options.mutable_all()->mutable_start();
  auto& filter = *options.mutable_filter()->mutable_stream_identifier();
  filter.add_prefix("$idx-et-A");
  EXPECT_EQ(read(request), (Words{"A@0", "A@0"}));
  filter.set_prefix(0, "$idx-ce-order");
  EXPECT_EQ(read(request), (Words{"A@0", "B@1", "B@0"}));
  filter.set_prefix(0, "$idx-et-C");
  EXPECT_EQ(read(request), Words{});
  options.mutable_subscription();
  filter.set_prefix(0, "$idx-et-B");
  grpc::ClientContext context;
  auto reader = streams->Read(&context, request);
  esp::ReadResp response;
  Words seen;
  while ((seen.empty() || seen.back() != "caught up") && reader->Read(&response)) seen.push_back(word_of(response));
  context.TryCancel();
  EXPECT_EQ(seen, (Words{"confirmed", "B@1", "B@0", "caught up"}));
  for (const auto* other : {"$idx-all", "$idx-", "$idx-et-", "$idx-mine"}) {
    filter.set_prefix(0, other);
    grpc::ClientContext refused;
    auto call = streams->Read(&refused, request);
    EXPECT_FALSE(call->Read(&response));
    EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::NOT_FOUND) << other;
  }
}

TEST_F(KurrentDoorTest, NumbersOfLinksStayWhereOtherEventsAreRemoved) {
  append_well("order-1", {"A", "A"});
  append_well("order-2", {"A"});
  append_well("order-3", {"B", "A"});
  ASSERT_TRUE(local.retention().remove_aggregate({"order", "1"}, {}, {}));
  for (const bool restarted : {false, true}) {
    if (restarted) {
      stop();
      start();
    }
    EXPECT_EQ(read(of_stream("$et-A")), (Words{"$>@2", "$>@4", "last 4"})) << restarted;
    const auto category = read(of_stream("$ce-order"));
    ASSERT_GE(category.size(), 3u);
    EXPECT_EQ(Words(category.begin(), category.begin() + 3), (Words{"$>@2", "$>@3", "$>@4"})) << restarted;
    auto from = of_stream("$et-A");
    from.mutable_options()->mutable_stream()->set_revision(4);
    EXPECT_EQ(read(from), (Words{"$>@4", "last 4"}));
  }
}

TEST_F(KurrentDoorTest, ReadsADerivedStreamBackwardsOverManyPages) {
  for (int i = 0; i < 25; ++i) append_well("order-" + std::to_string(i), std::vector<std::string>(100, "A"));
  auto request = of_stream("$ce-order");
  request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
  request.mutable_options()->mutable_stream()->set_revision(2'100);
  request.mutable_options()->set_count(2'000);

  const auto seen = read(request);
  ASSERT_EQ(seen.size(), 2'000u);
  EXPECT_EQ(seen.front(), "$>@2100");
  EXPECT_EQ(seen.back(), "$>@101");
}

TEST_F(KurrentDoorTest, AnswersManyBatchesOfOneStreamOfCalls) {
  grpc::ClientContext context;
  auto call = streams->BatchAppend(&context);
  constexpr int batches = 200;
  for (int i = 0; i < batches; ++i) {
    esp::BatchAppendReq request;
    put_id(EventId::random(), false, *request.mutable_correlation_id());
    request.mutable_options()->mutable_stream_identifier()->set_stream_name("order-" + std::to_string(i % 10));
    request.mutable_options()->mutable_any();
    for (int half = 0; half < 2; ++half) {  // in two messages
      auto& message = *request.add_proposed_messages();
      put_id(EventId::random(), false, *message.mutable_id());
      (*message.mutable_metadata())["type"] = "A";
      request.set_is_final(half == 1);
      ASSERT_TRUE(call->Write(request));
      request.clear_options();
      request.clear_proposed_messages();
    }
  }
  int good = 0;
  esp::BatchAppendResp response;
  for (int i = 0; i < batches && call->Read(&response); ++i) good += response.has_success();
  EXPECT_EQ(good, batches);
  esp::BatchAppendReq late;
  put_id(EventId::random(), false, *late.mutable_correlation_id());
  late.mutable_options()->mutable_stream_identifier()->set_stream_name("order-1");
  late.mutable_options()->mutable_no_stream();
  late.set_is_final(true);
  auto& message = *late.add_proposed_messages();
  put_id(EventId::random(), false, *message.mutable_id());
  (*message.mutable_metadata())["type"] = "A";
  call->Write(late);
  ASSERT_TRUE(call->Read(&response));
  EXPECT_EQ(response.error().details().type_url(), "type.googleapis.com/event_store.client.WrongExpectedVersion");
  call->WritesDone();
  EXPECT_TRUE(call->Finish().ok());
  EXPECT_EQ(local.aggregate({"order", "1"}).value().version, SeqNr{40});
}

TEST_F(KurrentDoorTest, AppendsToSeveralStreamsOrNone) {
  append_well("other-1", {"A"});
  auto stub = v2::StreamsService::NewStub(channel);
  v2::AppendRecordsRequest request;
  for (const char* stream : {"order-1", "cart"}) {
    auto& record = *request.add_records();
    record.set_stream(stream);
    record.mutable_schema()->set_name("T");
    record.mutable_schema()->set_format(v2::SCHEMA_FORMAT_JSON);
    record.set_data("{}");
  }
  for (const char* stream : {"other-1", "other-2"}) {
    request.add_checks()->mutable_stream_state()->set_stream(stream);
    request.mutable_checks(request.checks_size() - 1)->mutable_stream_state()->set_expected_state(7);
  }
  v2::AppendRecordsResponse response;
  {
    grpc::ClientContext context;
    const auto status = stub->AppendRecords(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_NE(status.error_details().find("AppendConsistencyViolationErrorDetails"), std::string::npos);
    EXPECT_NE(status.error_details().find("other-1"), std::string::npos);
    EXPECT_NE(status.error_details().find("other-2"), std::string::npos);
  }
  EXPECT_EQ(read(of_stream("cart")), (Words{"not found"}));
  request.mutable_checks(0)->mutable_stream_state()->set_expected_state(0);
  request.mutable_checks(1)->mutable_stream_state()->set_expected_state(-1);
  grpc::ClientContext context;
  const auto status = stub->AppendRecords(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.revisions_size(), 2);
  EXPECT_EQ(read(of_stream("cart")), (Words{"T@0", "last 0"}));
}

TEST_F(KurrentDoorTest, TakesAPasswordAsTheToken) {
  access = std::make_shared<const serving::Access>(
      serving::Access::of_tokens("app read,append 0123456789abcdef\nviewer read fedcba9876543210\n", "t").value());
  const auto append_as = [&](const std::string& authorization) {
    grpc::ClientContext context;
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    esp::AppendResp response;
    return append("order-7", {"A"}, response, {}, {}, &context).error_code();
  };

  EXPECT_EQ(append_as(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(append_as("Basic " + to_base64("admin:changeit")), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(append_as("Basic no base64"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(append_as("Basic " + to_base64("anybody:0123456789abcdef")), grpc::StatusCode::OK);
  EXPECT_EQ(append_as("Bearer 0123456789abcdef"), grpc::StatusCode::OK);
  EXPECT_EQ(append_as("Basic " + to_base64("v:fedcba9876543210")), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(trailers["exception"], "access-denied");

  auto features = ::event_store::client::server_features::ServerFeatures::NewStub(channel);
  grpc::ClientContext context;
  ::event_store::client::server_features::SupportedMethods methods;
  ASSERT_TRUE(features->GetSupportedMethods(&context, es::Empty(), &methods).ok()) << "asked before anybody is known";
  EXPECT_EQ(methods.event_store_server_version(), "26.1.0");
}

}  // namespace evershard::kurrent
