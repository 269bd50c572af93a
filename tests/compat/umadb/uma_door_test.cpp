// A door of UmaDB's protocol, asked by the generated client.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <thread>

#include "evershard/compat/umadb/uma_door.hpp"
#include "evershard/doors/grpc/door.hpp"
#include "evershard/umadb/umadb.grpc.pb.h"
#include "evershard/umadb/umadb_unversioned.grpc.pb.h"
#include "tests/local/small_store.hpp"

namespace evershard::umadb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace pb = ::umadb::v1;

class UmaDoor : public testing::Test {
 protected:
  void open(std::string_view tokens = {}) {
    access_ = std::make_shared<serving::Access>(tokens.empty() ? serving::Access::open()
                                                               : serving::Access::of_tokens(tokens, "TOKENS").value());
    door::DoorOptions options;
    options.listen = {"127.0.0.1:0"};
    auto started = door::Door::start(served_, options, services());
    ASSERT_TRUE(started) << started.error().what;
    door_ = *std::move(started);
    const auto channel = grpc::CreateChannel(door_->addresses().front(), grpc::InsecureChannelCredentials());
    stub_ = pb::DCB::NewStub(channel);
    old_ = ::umadb::UmaDBService::NewStub(channel);
  }
  void SetUp() override { open(); }

  grpc::Status append(const pb::AppendRequest& request, std::uint64_t& position, const char* token = nullptr) {
    grpc::ClientContext context;
    if (token != nullptr) context.AddMetadata("authorization", std::string("Bearer ") + token);
    pb::AppendResponse response;
    const auto status = stub_->Append(&context, request, &response);
    position = response.position();
    return status;
  }
  static pb::AppendRequest events(int count, const char* type = "T", std::size_t bytes = 1) {
    pb::AppendRequest request;
    for (int i = 0; i < count; ++i) {
      auto& event = *request.add_events();
      event.set_event_type(type);
      event.add_tags("n:" + std::to_string(i));
      event.set_data(std::string(bytes, 'd'));
      event.set_uuid(EventId::random().text());
    }
    return request;
  }
  std::uint64_t stored(const pb::AppendRequest& request) {
    std::uint64_t position = 0;
    const auto status = append(request, position);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return position;
  }

  struct Pages {
    std::vector<std::size_t> sizes;
    std::vector<std::uint64_t> positions;
    std::vector<std::optional<std::uint64_t>> heads;
    grpc::Status status;
  };
  Pages read(const pb::ReadRequest& request) {
    grpc::ClientContext context;
    const auto reader = stub_->Read(&context, request);
    Pages pages;
    for (pb::ReadResponse page; reader->Read(&page);) {
      pages.sizes.push_back(static_cast<std::size_t>(page.events_size()));
      pages.heads.push_back(page.has_head() ? std::optional(page.head()) : std::nullopt);
      for (const auto& event : page.events()) pages.positions.push_back(event.position());
    }
    pages.status = reader->Finish();
    return pages;
  }
  static pb::ErrorResponse error_of(const grpc::Status& status) {
    pb::ErrorResponse error;
    EXPECT_TRUE(error.ParseFromString(status.error_details()));
    return error;
  }

  Local store_ = open_store({});
  cluster::WorkPool pool_{3};
  serving::HeadWatch watch_{store_};
  std::shared_ptr<const serving::Access> access_;
  RegisteredTypes types_;
  serving::Served served_{store_, store_, pool_, watch_, [this] { return access_; }, [this] { return types_; }};
  std::unique_ptr<door::Door> door_;
  std::unique_ptr<pb::DCB::Stub> stub_;
  std::unique_ptr<::umadb::UmaDBService::Stub> old_;
};

TEST_F(UmaDoor, HasNoHeadWhereThereIsNothing) {
  grpc::ClientContext context;
  pb::HeadResponse head;
  ASSERT_TRUE(stub_->Head(&context, {}, &head).ok());
  EXPECT_FALSE(head.has_position());
  const auto pages = read({});
  EXPECT_THAT(pages.sizes, ElementsAre(0u));
  EXPECT_THAT(pages.heads, ElementsAre(std::nullopt));
}

TEST_F(UmaDoor, ReadsFromBothEndsAndFromPositionsInclusively) {
  EXPECT_EQ(stored(events(5)), 5u);
  pb::ReadRequest request;
  EXPECT_THAT(read(request).positions, ElementsAre(1, 2, 3, 4, 5));
  request.set_start(4);
  EXPECT_THAT(read(request).positions, ElementsAre(4, 5));
  request.set_backwards(true);
  EXPECT_THAT(read(request).positions, ElementsAre(4, 3, 2, 1));
  request.set_start(0);
  EXPECT_THAT(read(request).positions, IsEmpty());
  request.set_start(std::numeric_limits<std::uint64_t>::max());
  EXPECT_THAT(read(request).positions, ElementsAre(5, 4, 3, 2, 1));
  request.set_backwards(false);
  EXPECT_THAT(read(request).positions, IsEmpty());
}

TEST_F(UmaDoor, TellsTheHeadAsUmaDbDoes) {
  stored(events(5));
  pb::ReadRequest request;
  EXPECT_THAT(read(request).heads, ElementsAre(std::optional(5u)));
  request.set_limit(2);
  EXPECT_THAT(read(request).heads, ElementsAre(std::optional(2u)));
  request.set_start(6);
  EXPECT_THAT(read(request).heads, ElementsAre(std::nullopt));
  request.set_limit(0);
  EXPECT_THAT(read(request).sizes, IsEmpty());
}

TEST_F(UmaDoor, GivesResponsesAsLongAsAskedFor) {
  stored(events(2'500));
  pb::ReadRequest request;
  EXPECT_THAT(read(request).sizes, ElementsAre(1'024, 1'024, 452));
  request.set_batch_size(1'000);
  EXPECT_THAT(read(request).sizes, ElementsAre(1'000, 1'000, 500));
  request.set_batch_size(500);
  EXPECT_THAT(read(request).sizes, ElementsAre(500, 500, 500, 500, 500));
  request.set_batch_size(100'000);
  EXPECT_THAT(read(request).sizes, ElementsAre(2'500));
  request.set_batch_size(0);
  request.set_limit(2);
  EXPECT_THAT(read(request).sizes, ElementsAre(1, 1));
}

TEST_F(UmaDoor, GivesResponsesThatItsClientsTake) {
  for (int i = 0; i < 4; ++i) stored(events(3, "T", 1'000'000));
  grpc::ClientContext context;
  const auto reader = stub_->Read(&context, {});
  int seen = 0;
  for (pb::ReadResponse page; reader->Read(&page); seen += page.events_size()) EXPECT_LT(page.ByteSizeLong(), 4u << 20);
  EXPECT_EQ(seen, 12);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(UmaDoor, FindsNothingWhereNothingCanBe) {
  stored(events(5));
  pb::ReadRequest request;
  request.mutable_query()->add_items()->add_types("");
  const auto pages = read(request);
  EXPECT_THAT(pages.positions, IsEmpty());
  EXPECT_THAT(pages.heads, ElementsAre(std::optional(5u)));
}

TEST_F(UmaDoor, RefusesInItsWords) {
  auto request = events(1);
  request.mutable_condition()->mutable_fail_if_events_match()->add_items()->add_types("T");
  EXPECT_EQ(stored(request), 1u);
  auto other = events(1);
  *other.mutable_condition() = request.condition();
  std::uint64_t position = 0;
  auto status = append(other, position);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(error_of(status).error_type(), pb::ErrorResponse::INTEGRITY);
  EXPECT_THAT(error_of(status).message(), HasSubstr("position 1"));

  auto wrong = events(1, "");
  status = append(wrong, position);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(error_of(status).error_type(), pb::ErrorResponse::INVALID_ARGUMENT);

  pb::ReadRequest subscribing;
  subscribing.set_subscribe(true);
  EXPECT_EQ(error_of(read(subscribing).status).error_type(), pb::ErrorResponse::INVALID_ARGUMENT);
}

TEST_F(UmaDoor, AnswersARepeatedAppendAsItDidBefore) {
  auto request = events(2);
  request.mutable_condition()->mutable_fail_if_events_match()->add_items()->add_types("T");
  EXPECT_EQ(stored(request), 2u);
  EXPECT_EQ(stored(request), 2u);
  EXPECT_EQ(stored(events(1, "U")), 3u);
  EXPECT_EQ(stored(request), 2u);
}

TEST_F(UmaDoor, StoresWhatHasNoConditionAsOftenAsItComes) {
  const auto request = events(2);
  EXPECT_EQ(stored(request), 2u);
  EXPECT_EQ(stored(request), 4u);
  grpc::ClientContext context;
  const auto reader = stub_->Read(&context, {});
  pb::ReadResponse page;
  ASSERT_TRUE(reader->Read(&page));
  ASSERT_EQ(page.events_size(), 4);
  EXPECT_EQ(page.events(0).event().uuid(), page.events(2).event().uuid());
  context.TryCancel();
}

TEST_F(UmaDoor, AppendsNothingWithoutEvents) {
  EXPECT_EQ(stored({}), 0u);
  stored(events(1));
  EXPECT_EQ(stored({}), 0u);
  pb::AppendRequest forbidden;
  forbidden.mutable_condition();
  std::uint64_t position = 0;
  EXPECT_EQ(append(forbidden, position).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  forbidden.mutable_condition()->set_after(1);
  EXPECT_EQ(stored(forbidden), 0u);
}

TEST_F(UmaDoor, TracksEachPositionOnce) {
  constexpr int threads = 4, positions = 25;
  std::atomic<int> taken{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (int p = 1; p <= positions; ++p) {
        auto request = events(1);
        request.mutable_tracking_info()->set_source("s");
        request.mutable_tracking_info()->set_position(static_cast<std::uint64_t>(p));
        std::uint64_t position = 0;
        const auto status = append(request, position);
        if (status.ok()) ++taken;
        EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::FAILED_PRECONDITION)
            << status.error_message();
      }
    });
  }
  for (auto& thread : all) thread.join();
  EXPECT_EQ(store_.head()->value, static_cast<std::uint64_t>(taken));

  std::vector<std::uint64_t> tracked;
  grpc::ClientContext reading;
  const auto reader = stub_->Read(&reading, {});
  for (pb::ReadResponse page; reader->Read(&page);) {
    for (const auto& event : page.events()) tracked.push_back(event.tracking_info().position());
  }
  EXPECT_TRUE(std::is_sorted(tracked.begin(), tracked.end()));
  EXPECT_EQ(std::adjacent_find(tracked.begin(), tracked.end()), tracked.end());

  grpc::ClientContext context;
  pb::TrackingRequest request;
  request.set_source("s");
  pb::TrackingResponse response;
  ASSERT_TRUE(stub_->GetTrackingInfo(&context, request, &response).ok());
  EXPECT_EQ(response.position(), static_cast<std::uint64_t>(positions));
}

TEST_F(UmaDoor, FollowsWhatComes) {
  stored(events(3));
  grpc::ClientContext context;
  pb::SubscribeRequest request;
  request.set_after(1);
  const auto reader = stub_->Subscribe(&context, request);
  std::vector<std::uint64_t> seen;
  const auto see = [&](std::size_t count) {
    for (pb::SubscribeResponse page; seen.size() < count && reader->Read(&page);)
      for (const auto& event : page.events()) seen.push_back(event.position());
  };
  see(2);
  stored(events(1));
  see(3);
  EXPECT_THAT(seen, ElementsAre(2, 3, 4));
  context.TryCancel();
}

TEST_F(UmaDoor, RefusesASubscriptionBehindWhatTheStoreHas) {
  stored(events(3));
  grpc::ClientContext context;
  pb::SubscribeRequest request;
  request.set_after(4);
  const auto reader = stub_->Subscribe(&context, request);
  pb::SubscribeResponse page;
  EXPECT_FALSE(reader->Read(&page));
  const auto status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("position 4 lies beyond the head of the store, 3"));
}

TEST_F(UmaDoor, BeginsToAnswerASubscriberBeforeThereIsAnything) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto reader = stub_->Subscribe(&context, {});
  reader->WaitForInitialMetadata();
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// Who does not read is read ahead for a little, and no further; others are answered, and nothing is left out behind it.
TEST_F(UmaDoor, WaitsForWhoDoesNotReadAndForNobodyElse) {
  constexpr int appends = 60, of_each = 20;
  constexpr std::size_t event_bytes = 50'000;  // 60 MB in all
  for (int i = 0; i != appends; ++i) stored(events(of_each, "T", event_bytes));
  grpc::ClientContext reading, following;
  const auto reader = stub_->Read(&reading, {});
  const auto follower = stub_->Subscribe(&following, {});
  pb::ReadResponse page;
  pb::SubscribeResponse news;
  ASSERT_TRUE(reader->Read(&page));
  ASSERT_TRUE(follower->Read(&news));
  std::uint64_t before = 0, taken = served_.metrics->figures().reads;
  for (int quiet = 0; quiet != 5; quiet = taken == before ? quiet + 1 : 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    before = std::exchange(taken, served_.metrics->figures().reads);
  }
  EXPECT_LT(taken * event_bytes, 30'000'000u) << "both were read for as if they took it";
  EXPECT_EQ(stored(events(1)), appends * of_each + 1u);

  std::uint64_t seen = 0, followed = 0;
  do {
    for (const auto& event : page.events()) EXPECT_EQ(event.position(), ++seen);
  } while (reader->Read(&page));
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_GE(seen, appends * of_each + 0u);
  do {
    for (const auto& event : news.events()) EXPECT_EQ(event.position(), ++followed);
  } while (followed != appends * of_each + 1u && follower->Read(&news));
  EXPECT_EQ(followed, appends * of_each + 1u);
  following.TryCancel();
}

TEST_F(UmaDoor, EndsASubscriptionBehindTheLastPositionThereIs) {
  grpc::ClientContext context;
  pb::SubscribeRequest request;
  request.set_after(std::numeric_limits<std::uint64_t>::max());
  const auto reader = stub_->Subscribe(&context, request);
  pb::SubscribeResponse page;
  EXPECT_FALSE(reader->Read(&page));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(UmaDoor, GoesByItsOldNameToo) {
  stored(events(1));
  grpc::ClientContext context;
  pb::HeadResponse head;
  ASSERT_TRUE(old_->Head(&context, {}, &head).ok());
  EXPECT_EQ(head.position(), 1u);
}

TEST_F(UmaDoor, AsksForATokenWhereOthersDo) {
  open("writer read,append w-0123456789abcdef\nreader read r-0123456789abcdef\n");
  std::uint64_t position = 0;
  for (const char* token : {static_cast<const char*>(nullptr), "wrong"}) {
    const auto status = append(events(1), position, token);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(error_of(status).error_type(), pb::ErrorResponse::AUTHENTICATION);
  }
  EXPECT_EQ(append(events(1), position, "r-0123456789abcdef").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(append(events(1), position, "w-0123456789abcdef").ok());
}

}  // namespace
}  // namespace evershard::umadb
