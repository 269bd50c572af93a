// Who does not read: he is waited for in bounded memory, holds nobody up, and gets all there is once he reads.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/unsent_events.hpp"
#include "evershard/kurrent/persistent.grpc.pb.h"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "tests/compat/kurrent/kurrent_in_process.hpp"

namespace evershard::kurrent {
namespace {

namespace sub = ::event_store::client::persistent_subscriptions;

using namespace std::chrono_literals;

constexpr std::size_t appends = 60, of_each = 20, event_bytes = 50'000;  // 60 MB in all
constexpr std::size_t events = appends * of_each;

/// What is asked for, and at which revision or position the n-th event stands.
struct KindOfRead {
  const char* name;
  std::function<void(esp::ReadReq::Options&)> asks;
  bool lasts = false;
};

class KurrentSlowReaderTest : public ::testing::TestWithParam<KindOfRead>, protected KurrentInProcess {
 protected:
  KurrentSlowReaderTest() {
    for (std::size_t i = 0; i != appends; ++i) fill("slow-1", of_each, event_bytes);
    streams = esp::Streams::NewStub(connection());
  }
  ~KurrentSlowReaderTest() override { stop(); }

  /// Of its own.
  std::shared_ptr<grpc::Channel> connection() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(door->addresses().front(), grpc::InsecureChannelCredentials(), arguments);
  }
  void fill(const std::string& stream, std::size_t count, std::size_t bytes) {
    Append append;
    for (std::size_t i = 0; i != count; ++i) append.event(stream, "Placed", std::string(bytes, 'x'));
    ASSERT_TRUE(local.append(std::move(append)));
  }
  /// Nothing more is read. Returns: how many events were given to readers.
  std::uint64_t given_when_quiet() {
    std::uint64_t before = 0, given = served.metrics->figures().reads;
    for (int quiet = 0; quiet != 5; quiet = given == before ? quiet + 1 : 0) {
      std::this_thread::sleep_for(50ms);
      before = std::exchange(given, served.metrics->figures().reads);
    }
    return given;
  }
  /// An append and a read of others, who have ten seconds.
  void others_are_served() {
    const auto stub = esp::Streams::NewStub(connection());
    {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + 60s);
      esp::AppendResp response;
      const auto call = stub->Append(&context, &response);
      esp::AppendReq request;
      request.mutable_options()->mutable_stream_identifier()->set_stream_name("quick-1");
      request.mutable_options()->mutable_any();
      call->Write(request);
      put_id(EventId::random(), false, *request.mutable_proposed_message()->mutable_id());
      (*request.mutable_proposed_message()->mutable_metadata())["type"] = "Placed";
      call->Write(request, grpc::WriteOptions().set_last_message());
      const auto status = call->Finish();
      EXPECT_TRUE(status.ok()) << status.error_message();
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 60s);
    esp::ReadReq request;
    request.mutable_options()->mutable_stream()->mutable_stream_identifier()->set_stream_name("quick-1");
    request.mutable_options()->set_count(1);
    const auto reader = stub->Read(&context, request);
    esp::ReadResp response;
    EXPECT_TRUE(reader->Read(&response));
    EXPECT_TRUE(response.has_event());
    static_cast<void>(reader->Finish());
  }

  std::unique_ptr<esp::Streams::Stub> streams;
};

// More of them than the pool has threads.
TEST_P(KurrentSlowReaderTest, IsWaitedForAndHoldsNobodyUp) {
  constexpr std::size_t readers = 4;
  struct Slow {
    std::unique_ptr<esp::Streams::Stub> stub;
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<esp::ReadResp>> reader;
  };
  esp::ReadReq request;
  request.mutable_options()->set_count(events);
  GetParam().asks(*request.mutable_options());
  std::vector<std::unique_ptr<Slow>> all;
  std::vector<std::uint64_t> seen(readers, 0);
  const auto read_one = [&](std::size_t which) {
    esp::ReadResp response;
    if (!all[which]->reader->Read(&response)) return false;
    if (!response.has_event() || response.event().event().stream_identifier().stream_name() != "slow-1") return true;
    EXPECT_EQ(response.event().event().stream_revision(), seen[which]);
    EXPECT_EQ(response.event().event().data().size(), event_bytes);
    ++seen[which];
    return true;
  };
  for (std::size_t i = 0; i != readers; ++i) {
    auto& slow = *all.emplace_back(std::make_unique<Slow>());
    slow.stub = esp::Streams::NewStub(connection());
    slow.reader = slow.stub->Read(&slow.context, request);
    while (seen[i] == 0) ASSERT_TRUE(read_one(i));
  }
  EXPECT_LT(given_when_quiet() * event_bytes, readers * 25'000'000u) << "they were read for as if they took it";
  others_are_served();
  for (std::size_t i = 0; i != readers; ++i) {
    while (seen[i] != events) ASSERT_TRUE(read_one(i));
    if (GetParam().lasts) {
      all[i]->context.TryCancel();
      static_cast<void>(all[i]->reader->Finish());
      continue;
    }
    while (read_one(i)) {
    }
    EXPECT_TRUE(all[i]->reader->Finish().ok());
    EXPECT_EQ(seen[i], events);
  }
}

void of_all(esp::ReadReq::Options& options) { options.mutable_all()->mutable_start(); }
void of_stream(esp::ReadReq::Options& options) {
  options.mutable_stream()->mutable_stream_identifier()->set_stream_name("slow-1");
  options.mutable_stream()->mutable_start();
}

INSTANTIATE_TEST_SUITE_P(Kinds, KurrentSlowReaderTest,
                         ::testing::Values(KindOfRead{"All", of_all}, KindOfRead{"Stream", of_stream},
                                           KindOfRead{"AllFiltered",
                                                      [](auto& options) {
                                                        of_all(options);
                                                        options.mutable_filter()->mutable_event_type()->add_prefix("P");
                                                      }},
                                           KindOfRead{"SubscriptionToAll",
                                                      [](auto& options) {
                                                        of_all(options);
                                                        options.mutable_subscription();
                                                      },
                                                      true},
                                           KindOfRead{"SubscriptionToAStream",
                                                      [](auto& options) {
                                                        of_stream(options);
                                                        options.mutable_subscription();
                                                      },
                                                      true}),
                         [](const auto& info) { return std::string(info.param.name); });

class KurrentSlowConsumerTest : public KurrentSlowReaderTest {
 protected:
  using Call = grpc::ClientReaderWriter<sub::ReadReq, sub::ReadResp>;
  struct Consumer {
    std::unique_ptr<sub::PersistentSubscriptions::Stub> stub;
    grpc::ClientContext context;
    std::unique_ptr<Call> call;
  };

  void create(int message_timeout_ms, int retries) {
    const auto stub = sub::PersistentSubscriptions::NewStub(connection());
    grpc::ClientContext context;
    sub::CreateReq request;
    auto& options = *request.mutable_options();
    options.set_group_name("g");
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name("slow-1");
    options.mutable_stream()->mutable_start();
    options.mutable_settings()->set_message_timeout_ms(message_timeout_ms);
    options.mutable_settings()->set_max_retry_count(retries);
    options.mutable_settings()->set_consumer_strategy("RoundRobin");
    sub::CreateResp response;
    const auto status = stub->Create(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  std::unique_ptr<Consumer> join(int slots) {
    auto consumer = std::make_unique<Consumer>();
    consumer->stub = sub::PersistentSubscriptions::NewStub(connection());
    consumer->context.set_deadline(std::chrono::system_clock::now() + 120s);
    consumer->call = consumer->stub->Read(&consumer->context);
    sub::ReadReq request;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name("slow-1");
    request.mutable_options()->set_group_name("g");
    request.mutable_options()->set_buffer_size(slots);
    EXPECT_TRUE(consumer->call->Write(request));
    sub::ReadResp response;
    EXPECT_TRUE(consumer->call->Read(&response));
    EXPECT_TRUE(response.has_subscription_confirmation());
    return consumer;
  }
  /// Returns: its revision.
  static std::uint64_t take(Consumer& consumer, sub::ReadResp& response) {
    EXPECT_TRUE(consumer.call->Read(&response));
    return response.event().event().stream_revision();
  }
  static void acknowledge(Consumer& consumer, const sub::ReadResp& response) {
    sub::ReadReq request;
    *request.mutable_ack()->add_ids() = response.event().event().id();
    EXPECT_TRUE(consumer.call->Write(request));
  }
  std::int64_t given_in_all() { return info().total_items(); }
  sub::SubscriptionInfo info() {
    const auto stub = sub::PersistentSubscriptions::NewStub(connection());
    grpc::ClientContext context;
    sub::GetInfoReq request;
    request.mutable_options()->mutable_stream_identifier()->set_stream_name("slow-1");
    request.mutable_options()->set_group_name("g");
    sub::GetInfoResp response;
    EXPECT_TRUE(stub->GetInfo(&context, request, &response).ok());
    return response.subscription_info();
  }
  /// Returns: so many are in front of him.
  bool is_given(std::int64_t count) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (given_in_all() < count && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
    return given_in_all() >= count;
  }
  /// So what was read before is looked at again.
  void remove_another() {
    fill("other-1", 1, 10);
    ASSERT_TRUE(local.retention().remove_aggregate({"other", "1"}, {}));
  }
  static void leave(Consumer& consumer) {
    consumer.context.TryCancel();
    static_cast<void>(consumer.call->Finish());
  }
};

TEST_F(KurrentSlowConsumerTest, GetsAllInOrderOnceHeReads) {
  create(120'000, 10);
  const auto slow = join(20);
  std::this_thread::sleep_for(300ms);
  others_are_served();
  sub::ReadResp response;
  for (std::size_t i = 0; i != events; ++i) {
    ASSERT_EQ(take(*slow, response), i);
    acknowledge(*slow, response);
  }
  leave(*slow);
}

// Two that stand still have what they have slots for; the third gets all the rest.
TEST_F(KurrentSlowConsumerTest, HoldsUpNoOtherOfHisGroup) {
  create(120'000, 10);
  const auto first = join(10), second = join(10), quick = join(10);
  sub::ReadResp response;
  for (std::size_t i = 0; i != events - 20; ++i) {
    take(*quick, response);
    acknowledge(*quick, response);
  }
  for (auto* slow : {first.get(), second.get()}) {
    for (int i = 0; i != 10; ++i) {
      take(*slow, response);
      acknowledge(*slow, response);
    }
  }
  for (auto* each : {first.get(), second.get(), quick.get()}) leave(*each);
}

// What is too late comes again, and again; it does not pile up in front of who takes nothing.
TEST_F(KurrentSlowConsumerTest, HasNoMoreInFrontOfHimThanSlotsHoweverOftenItIsGiven) {
  constexpr int slots = 160, times = 10;  // once a second, 8 MB each time
  create(1'000, 10'000);
  const auto slow = join(slots);
  ASSERT_TRUE(is_given(slots * times));
  // What the connection took comes first: slots of each time. Then comes what he was given last.
  sub::ReadResp response;
  int before = 0, jump = 0;
  for (int i = 0; i != slots * times * 3 / 4 && jump < 3; ++i) {
    take(*slow, response);
    jump = response.event().retry_count() - std::exchange(before, response.event().retry_count());
  }
  EXPECT_GE(jump, 3) << "each time that he was given them was still in front of him";
  leave(*slow);
}

// What the connection took is on its way. What waits in front of it is looked at again.
TEST_F(KurrentSlowConsumerTest, IsNotGivenWhatIsRemovedWhileItWaitsForHim) {
  constexpr int slots = 300;
  constexpr std::uint64_t kept_from = 290;
  create(120'000, 10);
  const auto slow = join(slots);
  ASSERT_TRUE(is_given(slots));
  TruncateOptions options;
  options.uncovered = true;
  ASSERT_TRUE(local.retention().truncate_aggregate({"slow", "1"}, SeqNr{kept_from + 1}, options));
  sub::ReadResp response;
  std::size_t removed = 0;
  auto at = take(*slow, response);
  for (; at < kept_from; at = take(*slow, response)) ++removed;
  EXPECT_LT(removed, kept_from) << "all of them";
  EXPECT_EQ(at, kept_from);
  leave(*slow);
}

// That is no fault of the event: where it is not there to be looked at, it is neither refused nor counted.
TEST_F(KurrentSlowConsumerTest, IsGivenInOrderWhatCannotBeLookedAtForAWhile) {
  constexpr int slots = 300;
  constexpr std::uint64_t erased = slots - 1;
  std::atomic<int> fails{3}, looks{0};
  served.event_again = [&](GlobalPosition position, const std::optional<AggregateId>& aggregate,
                           const EventId&) -> Result<RecordedEvent> {
    EXPECT_TRUE(aggregate && aggregate->text() == "slow-1");
    ++looks;
    if (fails-- > 0) return refuse(ErrorCode::unavailable, "its node is away");
    auto event = local.all_names().event_at(position);
    if (event && event->seq_nr == SeqNr{erased + 1}) event->state = EventState::erased;
    return event;
  };
  create(120'000, 0);
  const auto slow = join(slots);
  ASSERT_TRUE(is_given(slots));
  remove_another();
  sub::ReadResp response;
  for (std::uint64_t i = 0; i != slots; ++i) {
    ASSERT_EQ(take(*slow, response), i);
    EXPECT_EQ(response.event().event().data().empty(), i == erased) << i;
  }
  EXPECT_GT(looks, 3) << "all of them were with the connection";
  EXPECT_EQ(info().parked_message_count(), 0);
  EXPECT_EQ(given_in_all(), slots) << "some were given again";
  leave(*slow);
}

TEST_F(KurrentSlowConsumerTest, HasToComeAgainWhereNothingCanBeLookedAtForLong) {
  constexpr int slots = 300;
  served.event_again = [](GlobalPosition, const std::optional<AggregateId>&, const EventId&) -> Result<RecordedEvent> {
    return refuse(ErrorCode::unavailable, "its node is away");
  };
  create(120'000, 0);
  const auto slow = join(slots);
  ASSERT_TRUE(is_given(slots));
  remove_another();
  sub::ReadResp response;
  while (slow->call->Read(&response)) {
  }
  EXPECT_EQ(slow->call->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(info().parked_message_count(), 0);
  const auto next = join(1);
  EXPECT_EQ(take(*next, response), 0u);
  EXPECT_EQ(response.event().retry_count(), 0);
  leave(*next);
}

// As many as the pool has threads.
TEST_F(KurrentSlowConsumerTest, HoldsUpNobodyWhereThingsAreRemovedAllTheTime) {
  constexpr int slots = 300;
  std::atomic<bool> goes_on{false};
  std::atomic<std::uint64_t> removals{0};
  std::mutex mutex;
  std::map<GlobalPosition, int> looks;
  served.rewritten = [&] { return goes_on ? ++removals : removals.load(); };
  served.event_again = [&](GlobalPosition position, const std::optional<AggregateId>&, const EventId&) {
    {
      const std::lock_guard lock(mutex);
      ++looks[position];
    }
    return local.all_names().event_at(position);
  };
  const auto two_are_looked_at = [&] {
    const std::lock_guard lock(mutex);
    return std::ranges::count_if(looks, [](const auto& one) { return one.second > 100; }) == 2;
  };
  create(120'000, 0);
  const auto one = join(slots), other = join(slots);
  ASSERT_TRUE(is_given(2 * slots));
  goes_on = true;
  std::atomic<int> taken{0};
  const auto take_all = [&](Consumer& consumer) {
    sub::ReadResp response;
    for (int i = 0; i != slots && consumer.call->Read(&response); ++i) ++taken;
  };
  std::thread first([&] { take_all(*one); }), second([&] { take_all(*other); });
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !two_are_looked_at() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(two_are_looked_at());
  others_are_served();
  EXPECT_LT(taken, 2 * slots);
  goes_on = false;
  first.join();
  second.join();
  EXPECT_EQ(taken, 2 * slots);
  leave(*one);
  leave(*other);
}

TEST(UnsentEvents, WhatDoesNotGoOutIsTheNextOneAgainUnlessItWasGivenAgain) {
  UnsentEvents<int> unsent;
  unsent.set_slots(2);
  const auto a = EventId::random(), b = EventId::random();
  unsent.add(a, 1, false);
  unsent.add(b, 2, false);
  unsent.put_back(a, unsent.take());
  EXPECT_EQ(unsent.front(), 1);
  const auto first = unsent.take();
  unsent.add(a, 3, true);
  unsent.put_back(a, first);
  EXPECT_EQ(unsent.take(), 2);
  EXPECT_EQ(unsent.take(), 3);
  EXPECT_TRUE(unsent.empty());
}

TEST(UnsentEvents, HaveWhatIsGivenAgainOnce) {
  UnsentEvents<int> unsent;
  unsent.set_slots(3);
  const auto a = EventId::random(), b = EventId::random();
  unsent.add(a, 1, false);
  unsent.add(b, 2, false);
  unsent.add(a, 3, true);
  ASSERT_EQ(unsent.size(), 2u);
  EXPECT_EQ(unsent.take(), 2);
  EXPECT_EQ(unsent.take(), 3);
  EXPECT_TRUE(unsent.empty());
}

TEST(UnsentEvents, AreNoMoreThanSlots) {
  UnsentEvents<int> unsent;
  unsent.set_slots(2);
  for (int i = 0; i != 5; ++i) unsent.add(EventId::random(), i, false);
  ASSERT_EQ(unsent.size(), 2u);
  EXPECT_EQ(unsent.take(), 3);
  EXPECT_EQ(unsent.take(), 4);
}

}  // namespace
}  // namespace evershard::kurrent
