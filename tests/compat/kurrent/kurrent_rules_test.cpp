// Rules of streams as their clients rely on them, each over the wire: what is expected, repeated, hidden, ended.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/followed_states.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "tests/compat/kurrent/kurrent_in_process.hpp"

namespace evershard::kurrent {
namespace {

using Seen = std::vector<std::string>;

class KurrentRulesTest : public ::testing::Test, protected KurrentInProcess {
 protected:
  KurrentRulesTest() : KurrentInProcess({.others_write = true}) {
    streams = esp::Streams::NewStub(grpc::CreateChannel(door->addresses().front(), grpc::InsecureChannelCredentials()));
  }
  ~KurrentRulesTest() override { stop(); }

  template <class Proposed>
  static void propose(Proposed& message, const std::string& type, const EventId& id, const std::string& data) {
    put_id(id, false, *message.mutable_id());
    (*message.mutable_metadata())["type"] = type;
    (*message.mutable_metadata())["content-type"] = "application/json";
    message.set_data(data);
  }
  esp::AppendResp append(const std::string& stream, const Seen& types, const std::vector<EventId>& ids = {},
                         const std::function<void(esp::AppendReq::Options&)>& expect = {},
                         const std::string& data = "{}") {
    grpc::ClientContext context;
    esp::AppendResp response;
    auto writer = streams->Append(&context, &response);
    esp::AppendReq request;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    if (expect) expect(*request.mutable_options());
    writer->Write(request);
    for (std::size_t i = 0; i < types.size(); ++i) {
      propose(*request.mutable_proposed_message(), types[i], i < ids.size() ? ids[i] : EventId::random(), data);
      writer->Write(request);
    }
    writer->WritesDone();
    const auto status = writer->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  /// Returns: whether it was stored; else it was told that something else is there.
  bool batch(const std::string& stream, const std::function<void(esp::BatchAppendReq::Options&)>& expect) {
    grpc::ClientContext context;
    auto call = streams->BatchAppend(&context);
    esp::BatchAppendReq request;
    put_id(EventId::random(), false, *request.mutable_correlation_id());
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    expect(*request.mutable_options());
    propose(*request.add_proposed_messages(), "A", EventId::random(), "{}");
    request.set_is_final(true);
    esp::BatchAppendResp response;
    EXPECT_TRUE(call->Write(request));
    EXPECT_TRUE(call->Read(&response));
    call->WritesDone();
    EXPECT_TRUE(call->Finish().ok());
    if (!response.has_success()) {
      EXPECT_EQ(response.error().details().type_url(), "type.googleapis.com/event_store.client.WrongExpectedVersion");
    }
    return response.has_success();
  }
  template <class Request, class Response>
  grpc::Status end(
      grpc::Status (esp::Streams::Stub::*call)(grpc::ClientContext*, const Request&, Response*),
      const std::string& stream,
      const std::function<void(typename Request::Options&)>& expect = [](auto& o) { o.mutable_any(); }) {
    grpc::ClientContext context;
    Request request;
    Response response;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    expect(*request.mutable_options());
    return (streams.get()->*call)(&context, request, &response);
  }
  grpc::Status remove(const std::string& stream, const std::function<void(esp::DeleteReq::Options&)>& expect) {
    return end<esp::DeleteReq, esp::DeleteResp>(&esp::Streams::Stub::Delete, stream, expect);
  }
  grpc::Status tombstone(const std::string& stream, const std::function<void(esp::TombstoneReq::Options&)>& expect) {
    return end<esp::TombstoneReq, esp::TombstoneResp>(&esp::Streams::Stub::Tombstone, stream, expect);
  }
  static esp::ReadReq of_stream(const std::string& stream) {
    esp::ReadReq request;
    request.mutable_options()->mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
    request.mutable_options()->mutable_stream()->mutable_start();
    request.mutable_options()->set_count(1'000);
    return request;
  }
  static esp::ReadReq backwards(esp::ReadReq request) {
    request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
    request.mutable_options()->mutable_stream()->mutable_end();
    return request;
  }
  /// Types and revisions. `most`: then it goes.
  Seen read(const esp::ReadReq& request, std::size_t most = 1'000) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    auto reader = streams->Read(&context, request);
    Seen seen;
    for (esp::ReadResp response; seen.size() != most && reader->Read(&response);) {
      if (!response.has_event()) continue;
      const auto& event = response.event().event();
      seen.push_back(event.metadata().at("type") + '@' + std::to_string(event.stream_revision()));
    }
    if (seen.size() == most) context.TryCancel();
    static_cast<void>(reader->Finish());
    return seen;
  }

  std::unique_ptr<esp::Streams::Stub> streams;
};

TEST_F(KurrentRulesTest, ABatchExpectsWhatAnAppendDoes) {
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.mutable_stream_exists(); }));
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.set_stream_position(0); }));
  EXPECT_TRUE(batch("order-7", [](auto& options) { options.mutable_no_stream(); }));
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.mutable_no_stream(); }));
  EXPECT_TRUE(batch("order-7", [](auto& options) { options.mutable_stream_exists(); }));
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.set_stream_position(0); }));
  EXPECT_TRUE(batch("order-7", [](auto& options) { options.set_stream_position(1); }));
  EXPECT_TRUE(batch("order-7", [](auto& options) { options.mutable_any(); }));
  EXPECT_EQ(read(of_stream("order-7")), (Seen{"A@0", "A@1", "A@2", "A@3"}));
}

TEST_F(KurrentRulesTest, ADeletionExpectsWhatItSays) {
  append("order-7", {"A", "B"});
  EXPECT_EQ(remove("order-7", [](auto& o) { o.set_revision(0); }).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(remove("order-7", [](auto& o) { o.mutable_no_stream(); }).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(read(of_stream("order-7")).size(), 2u);
  EXPECT_TRUE(remove("order-7", [](auto& o) { o.set_revision(1); }).ok());
  EXPECT_EQ(read(of_stream("order-7")), Seen{});
}

TEST_F(KurrentRulesTest, ATombstoneExpectsWhatItSays) {
  append("order-7", {"A", "B"});
  EXPECT_EQ(tombstone("order-7", [](auto& o) { o.set_revision(0); }).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(tombstone("order-7", [](auto& o) { o.mutable_no_stream(); }).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(read(of_stream("order-7")).size(), 2u);
  EXPECT_TRUE(tombstone("order-7", [](auto& o) { o.set_revision(1); }).ok());
  EXPECT_EQ(remove("order-7", [](auto& o) { o.mutable_any(); }).error_code(), grpc::StatusCode::FAILED_PRECONDITION)
      << "it cannot be deleted any more";
}

TEST_F(KurrentRulesTest, WhatWasRemovedIsAsIfItWasDeleted) {
  append("order-7", {"A", "B"});
  ASSERT_TRUE(local.retention().remove_aggregate({"order", "7"}, {}));
  EXPECT_EQ(read(of_stream("order-7")), Seen{});
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.mutable_stream_exists(); }));
  EXPECT_TRUE(batch("order-7", [](auto& options) { options.mutable_no_stream(); })) << "and not again and again";
  EXPECT_FALSE(batch("order-7", [](auto& options) { options.mutable_no_stream(); }));
  EXPECT_EQ(read(of_stream("order-7")), Seen{"A@3"}) << "behind two events and the one that says that they are gone";
}

TEST_F(KurrentRulesTest, ATombstoneOutlivesARemoval) {
  append("order-7", {"A", "B"});
  ASSERT_TRUE(tombstone("order-7", [](auto& o) { o.mutable_any(); }).ok());
  TruncateOptions all;
  all.uncovered = true;
  EXPECT_FALSE(local.retention().truncate_aggregate({"order", "7"}, SeqNr{4}, all));
  ASSERT_TRUE(local.retention().remove_aggregate({"order", "7"}, {}));
  FollowedStates anew(local.all_names());  // another node, or after a restart
  ASSERT_TRUE(anew.catch_up());
  const auto state = anew.find({"order", "7"});
  EXPECT_TRUE(state && state->tombstoned);
  EXPECT_EQ(remove("order-7", [](auto& o) { o.mutable_any(); }).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(KurrentRulesTest, AnAppendOfNothingExpectsToo) {
  append("order-7", {"A"});
  EXPECT_TRUE(append("order-7", {}, {}, [](auto& o) { o.set_revision(4); }).has_wrong_expected_version());
  EXPECT_TRUE(append("order-7", {}, {}, [](auto& o) { o.mutable_no_stream(); }).has_wrong_expected_version());
  EXPECT_TRUE(append("order-7", {}, {}, [](auto& o) { o.set_revision(0); }).has_success());
}

TEST_F(KurrentRulesTest, WhatBeginsAsAKnownAppendAndGoesOnOtherwiseIsAnother) {
  const auto a = EventId::random(), b = EventId::random();
  const auto first = append("order-7", {"A", "B"}, {a, b});
  ASSERT_TRUE(first.has_success());
  append("order-8", {"X"});
  EXPECT_TRUE(append("order-7", {"A", "C"}, {a, EventId::random()}).has_wrong_expected_version());
  EXPECT_TRUE(append("order-7", {"A", "B", "C"}, {a, b, EventId::random()}).has_wrong_expected_version());
  EXPECT_EQ(read(of_stream("order-7")), (Seen{"A@0", "B@1"}));
  const auto again = append("order-7", {"A", "B"}, {a, b});
  EXPECT_EQ(again.success().position().commit_position(), first.success().position().commit_position());
  EXPECT_EQ(again.success().position().commit_position(), 2u);
  EXPECT_EQ(append("order-7", {"A"}, {a}).success().position().commit_position(), 1u)
      << "and a part of it, where it is";
}

TEST_F(KurrentRulesTest, OlderEventsThanMaxAgeAreHidden) {
  for (const auto age : {std::chrono::hours(3), std::chrono::hours(2), std::chrono::hours(0)}) {
    Append old;
    old.event("order-7", age.count() == 0 ? "New" : "Old", "{}");
    old.events.back().occurred_at =
        Timestamp{Timestamp::now().micros - std::chrono::duration_cast<std::chrono::microseconds>(age).count()};
    ASSERT_TRUE(local.append(std::move(old)));
  }
  EXPECT_EQ(read(of_stream("order-7")).size(), 3u);
  append("$$order-7", {"$metadata"}, {}, {}, R"({"$maxAge":3600})");
  EXPECT_EQ(read(of_stream("order-7")), Seen{"New@2"});
  EXPECT_EQ(read(backwards(of_stream("order-7"))), Seen{"New@2"});
  auto following = of_stream("order-7");
  following.mutable_options()->mutable_subscription();
  EXPECT_EQ(read(following, 1), Seen{"New@2"});
}

TEST_F(KurrentRulesTest, WhatIsInFrontOfTheFirstIsHidden) {
  append("order-7", {"A", "B", "C", "D"});
  append("$$order-7", {"$metadata"}, {}, {}, R"({"$tb":2})");
  EXPECT_EQ(read(of_stream("order-7")), (Seen{"C@2", "D@3"}));
  EXPECT_EQ(read(backwards(of_stream("order-7"))), (Seen{"D@3", "C@2"}));
  auto following = of_stream("order-7");
  following.mutable_options()->mutable_subscription();
  EXPECT_EQ(read(following, 2), (Seen{"C@2", "D@3"}));
  append("$$order-7", {"$metadata"}, {}, {}, R"({"$maxCount":1})");
  EXPECT_EQ(read(backwards(of_stream("order-7"))), Seen{"D@3"});
  EXPECT_EQ(read(of_stream("$$order-7")), Seen{"$metadata@1"}) << "of metadata the last is what counts";
}

TEST_F(KurrentRulesTest, CheckpointsAreWhereAFilterHasLooked) {
  for (int i = 0; i < 4; ++i) append("order-7", {"A"});
  append("order-7", {"B"});
  auto request = of_stream("x");
  auto& options = *request.mutable_options();
  options.mutable_all()->mutable_start();
  options.mutable_subscription();
  options.mutable_filter()->mutable_event_type()->add_prefix("B");
  options.mutable_filter()->set_max(2);
  options.mutable_filter()->set_checkpointintervalmultiplier(1);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  auto reader = streams->Read(&context, request);
  std::vector<std::uint64_t> checkpoints;
  esp::ReadResp response;
  while (!response.has_event() && reader->Read(&response)) {
    if (!response.has_checkpoint()) continue;
    checkpoints.push_back(response.checkpoint().commit_position());
    EXPECT_EQ(response.checkpoint().prepare_position(), checkpoints.back());
  }
  EXPECT_EQ(checkpoints, (std::vector<std::uint64_t>{2, 4}));
  context.TryCancel();
  static_cast<void>(reader->Finish());
}

TEST_F(KurrentRulesTest, ASubscriptionToAllGoesOnBehindItsPlaceAndAReadAtIt) {
  append("order-7", {"A", "B", "C"});
  auto request = of_stream("x");
  request.mutable_options()->mutable_all()->mutable_position()->set_commit_position(2);
  request.mutable_options()->mutable_all()->mutable_position()->set_prepare_position(2);
  EXPECT_EQ(read(request), (Seen{"B@1", "C@2"}));
  request.mutable_options()->mutable_subscription();
  EXPECT_EQ(read(request, 1), Seen{"C@2"});
}

TEST_F(KurrentRulesTest, ASubscriptionEndsWithItsStream) {
  append("order-7", {"A"});
  auto request = of_stream("order-7");
  request.mutable_options()->mutable_subscription();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  auto reader = streams->Read(&context, request);
  esp::ReadResp response;
  while (!response.has_caught_up()) ASSERT_TRUE(reader->Read(&response));
  ASSERT_TRUE(tombstone("order-7", [](auto& o) { o.mutable_any(); }).ok());
  EXPECT_FALSE(reader->Read(&response)) << response.ShortDebugString();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace evershard::kurrent
