// Consumer groups over the wire: the same words and errors as in this process, and what a line that breaks does.

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "evershard/v1/groups.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

constexpr auto group_patience = 60s;

GroupDelivery delivered(GroupWorker& worker) {
  auto next = worker.next(group_patience);
  EXPECT_TRUE(next) << next.error().what;
  EXPECT_TRUE(next && *next) << "nothing came";
  return next && *next ? **std::move(next) : GroupDelivery{};
}

void append_orders(EventStore& store, int aggregates, int events) {
  for (int i = 0; i < events; ++i) {
    for (int a = 0; a < aggregates; ++a)
      ASSERT_TRUE(store.append(Append{}.event("order-" + std::to_string(a), "Placed", "{}", {"kind:test"})));
  }
}

/// A server that takes workers and never says a word to them; to all else it says that it does not know it.
class SpeechlessGroups : public grpc::CallbackGenericService {
 public:
  SpeechlessGroups() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~SpeechlessGroups() override { server_->Shutdown(std::chrono::system_clock::now()); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int joined() const { return joined_; }

 private:
  struct Refused : grpc::ServerGenericBidiReactor {
    Refused() { Finish({grpc::StatusCode::UNIMPLEMENTED, "not here"}); }
    void OnDone() override { delete this; }
  };
  struct Waits : grpc::ServerGenericBidiReactor {
    void OnCancel() override { Finish(grpc::Status::CANCELLED); }
    void OnDone() override { delete this; }
  };
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    if (context->method() != "/evershard.v1.Groups/Work") return new Refused;
    ++joined_;
    return new Waits;
  }
  std::atomic<int> joined_{0};
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

TEST(RemoteGroups, AWorkerGoesToAnotherServerWhereOneDoesNotAnswer) {
  ServedStore served;
  append_orders(served.local, 1, 1);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  const SpeechlessGroups speechless;
  auto remote = *Remote::connect({.servers = {speechless.address(), served.address()}, .timeout = 2s});
  Result<GroupWorker> worker = refuse(ErrorCode::unavailable, "not tried");
  for (const auto until = std::chrono::steady_clock::now() + group_patience;
       !worker && std::chrono::steady_clock::now() < until;)
    worker = remote.groups().join_group("g");
  ASSERT_TRUE(worker) << worker.error().what;
  EXPECT_GE(speechless.joined(), 1) << "it was the first to be asked";
  EXPECT_TRUE(worker->acknowledge(delivered(*worker)));
}

// Between the moment at which an event is taken for a worker and that at which it begins to be sent.
TEST(RemoteGroups, WhatIsRemovedOnItsWayOutIsNotSent) {
  ServedStore served;
  auto remote = served.connect();
  std::atomic<int> looks_left{0};
  std::atomic<bool> removed{false};
  std::mutex mutex;
  AggregateId gone;
  served.served->rewritten = [&] {
    if (--looks_left == 0) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(served.local.retention().remove_aggregate(gone, {}));
      removed = true;
    }
    return served.local.rewritten();
  };
  for (int look = 1; look <= 5; ++look) {
    const auto name = std::to_string(look);
    {
      const std::lock_guard lock(mutex);
      gone = {"gone", name};
    }
    removed = false;
    looks_left = look;
    for (const std::string type : {"gone", "kept"})
      ASSERT_TRUE(served.local.append(Append{}.event(type + '-' + name, "Placed", "{}", {"of:" + name})));
    ASSERT_TRUE(served.local.groups().create_group(
        {.name = "g" + name, .query = Query{}.tags({"of:" + name}), .after = GlobalPosition(0)}));
    auto worker = remote.groups().join_group("g" + name, {.name = "w", .credit = 1});
    ASSERT_TRUE(worker) << worker.error().what;
    const auto given = delivered(*worker);
    EXPECT_TRUE(removed) << "it is looked at so often before it is sent";
    EXPECT_EQ(given.event.aggregate->text(), "kept-" + name);
  }
}

// As many workers as the pool has threads.
TEST(RemoteGroups, WhereThingsAreRemovedAllTheTimeNobodyIsHeldUp) {
  ServedStore served;
  std::atomic<bool> goes_on{true};
  std::atomic<std::uint64_t> removals{0};
  std::atomic<int> looks{0};
  served.served->rewritten = [&] { return goes_on ? ++removals : removals.load(); };
  served.served->event_again = [&](GlobalPosition position, const std::optional<AggregateId>&, const EventId&) {
    ++looks;
    return served.local.event_at(position);
  };
  auto remote = served.connect();
  append_orders(served.local, 2, 1);
  std::vector<GroupWorker> workers;
  for (const std::string name : {"g1", "g2"}) {
    ASSERT_TRUE(served.local.groups().create_group({.name = name, .query = Query{}.tags({"kind:test"})}));
    auto worker = remote.groups().join_group(name, {.name = "w", .credit = 1});
    ASSERT_TRUE(worker) << worker.error().what;
    workers.push_back(*std::move(worker));
  }
  for (const auto until = std::chrono::steady_clock::now() + group_patience;
       looks < 1'000 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  EXPECT_GE(looks, 1'000);
  const auto ran = std::make_shared<std::promise<void>>();
  served.pool.run([ran] { ran->set_value(); });
  EXPECT_EQ(ran->get_future().wait_for(60s), std::future_status::ready);
  goes_on = false;
  for (auto& worker : workers) EXPECT_EQ(delivered(worker).attempt, 1u);
}

TEST(RemoteGroups, AreAdministeredAsInThisProcess) {
  ServedStore served;
  auto remote = served.connect();
  append_orders(served.local, 1, 2);
  GroupDefinition definition{
      .name = "g",
      .query = Query{}.tags({"kind:test"}),
      .after = GlobalPosition(1),
      .settings = {.after_parked = AfterParked::block, .attempts_max = 7, .lease = 12'345ms, .window = 5}};
  const auto created = remote.groups().create_group(definition);
  ASSERT_TRUE(created) << created.error().what;
  EXPECT_EQ(created->definition, served.local.groups().group("g")->definition);
  EXPECT_EQ(created->definition.settings, definition.settings);
  EXPECT_EQ(created->definition.after, definition.after);
  EXPECT_EQ(remote.groups().create_group(definition).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(remote.groups().create_group(definition, IfThere::give));
  auto settings = definition.settings;
  settings.attempts_max = 1;
  settings.after_parked = AfterParked::go_on;
  EXPECT_EQ(
      remote.groups().change_group("g", {.after_parked = AfterParked::go_on, .attempts_max = 1})->definition.settings,
      settings);
  settings.retry_most = 99ms;
  settings.retry_first = 5ms;
  settings.retry_factor = 2;
  settings.retry_jitter_percent = 1;
  settings.lease = 777ms;
  settings.window = 6;
  settings.parked_max = 8;
  EXPECT_EQ(remote.groups()
                .change_group("g", {.order = GroupOrder::aggregate,
                                    .retry_first = 5ms,
                                    .retry_factor = 2,
                                    .retry_most = 99ms,
                                    .retry_jitter_percent = 1,
                                    .lease = 777ms,
                                    .window = 6,
                                    .parked_max = 8})
                ->definition.settings,
            settings);
  EXPECT_EQ(remote.groups().change_group("g", {})->definition.settings, settings);
  EXPECT_EQ(remote.groups().change_group("g", {.window = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remote.groups().change_group("g", {.order = GroupOrder::global}).error().code, ErrorCode::invalid_argument);

  auto worker = remote.groups().join_group("g", {.name = "w", .credit = 3});
  ASSERT_TRUE(worker) << worker.error().what;
  const auto delivery = delivered(*worker);
  EXPECT_EQ(delivery.event, *served.local.event_at(GlobalPosition(2)));
  EXPECT_EQ(remote.groups().list_groups()->at(0).workers.at(0).name, "w");
  EXPECT_EQ(remote.groups().list_groups()->at(0).workers.at(0).credit, 3u);
  ASSERT_TRUE(worker->reject(delivery, "because"));
  const auto parked = remote.groups().parked_events("g", GlobalPosition(0), 10).value();
  EXPECT_EQ(parked, served.local.groups().parked_events("g", GlobalPosition(0), 10).value());
  EXPECT_EQ(parked.at(0).reason, "because");
  EXPECT_EQ(remote.groups().replay_parked("g", GlobalPosition(9)).error().code, ErrorCode::not_found);
  EXPECT_EQ(remote.groups().replay_parked("g", std::nullopt).value(), 1u);
  ASSERT_TRUE(worker->park(delivered(*worker), "again"));
  EXPECT_EQ(remote.groups().discard_parked("g", GlobalPosition(2)).value(), 1u);
  const auto head = served.local.head().value();
  EXPECT_EQ(remote.groups().reset_group("g", std::nullopt)->position, head)
      << "as it was before the reset, which is an event itself";
  ASSERT_TRUE(remote.groups().drop_group("g"));
  EXPECT_EQ(remote.groups().group("g").error().code, ErrorCode::not_found);
  EXPECT_EQ(remote.groups().join_group("g").error().code, ErrorCode::not_found);
  EXPECT_EQ(worker->next(group_patience).error().code, ErrorCode::not_found);
}

TEST(RemoteGroups, AReasonThatIsNoTextOrVeryLongIsKeptAsInThisProcessAndEndsNoStay) {
  ServedStore served;
  append_orders(served.local, 3, 1);
  ASSERT_TRUE(served.local.groups().create_group(
      {.name = "g", .query = Query{}.tags({"kind:test"}), .settings = {.attempts_max = 1}}));
  auto remote = served.connect();
  auto worker = remote.groups().join_group("g", {.credit = 3});
  ASSERT_TRUE(worker) << worker.error().what;
  const auto first = delivered(*worker), second = delivered(*worker), third = delivered(*worker);
  const auto rejected = worker->reject(first, "caf\xe9");
  EXPECT_TRUE(rejected) << rejected.error().what;
  const auto parked = worker->park(second, std::string(20u << 20, 'x'));  // more than a message takes
  EXPECT_TRUE(parked) << parked.error().what;
  const auto acknowledged = worker->acknowledge(third);
  EXPECT_TRUE(acknowledged) << acknowledged.error().what;
  const auto kept = served.local.groups().parked_events("g", GlobalPosition(0), 10).value();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].reason, "(a reason that is no UTF-8)");
  EXPECT_EQ(kept[1].reason, std::string(500, 'x'));
}

TEST(RemoteGroups, AWaitBelowZeroIsRefusedAndTheEventStaysTheWorkers) {
  ServedStore served;
  append_orders(served.local, 1, 1);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  auto remote = served.connect();
  auto worker = remote.groups().join_group("g");
  ASSERT_TRUE(worker) << worker.error().what;
  const auto given = delivered(*worker);

  const auto here = worker->reject(given, "too early", -1ms);
  std::promise<Result<void>> there;
  worker->settle_async({{GroupSettlement::Kind::reject, given.event.position, given.delivery, "too early", -1ms}},
                       [&](std::vector<Result<void>> results) { there.set_value(results.at(0)); });
  const auto over_the_line = there.get_future().get();

  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(here.error().what, "a wait of -1 ms: it is from 0 to the group's retry_most_ms");
  ASSERT_FALSE(over_the_line);
  EXPECT_EQ(over_the_line.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(worker->acknowledge(given));
}

TEST(RemoteGroups, ANameThatIsNoTextIsRefusedByItAndNothingIsSaidElsewhere) {
  ServedStore served;
  append_orders(served.local, 1, 1);
  auto remote = served.connect();
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  ::testing::internal::CaptureStderr();
  const auto described = remote.groups().group("caf\xe9").error();
  const auto worker = remote.groups().join_group("g", {.name = "caf\xe9"});
  const auto index = remote.projections().create_value_index("n", {.types = {"A", "caf\xe9"}, .path = "$.n"}).error();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(described.code, ErrorCode::invalid_argument);
  EXPECT_EQ(described.what, R"(name "caf\xe9" is not UTF-8)");
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(worker.error().what, R"(worker "caf\xe9" is not UTF-8)");
  EXPECT_EQ(index.code, ErrorCode::invalid_argument);
  EXPECT_EQ(index.what, R"(types "caf\xe9" is not UTF-8)");
}

TEST(RemoteGroups, WorkersShareAndKeepOrder) {
  ServedStore served;
  constexpr int aggregates = 8, events = 40;
  append_orders(served.local, aggregates, events);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  std::mutex mutex;
  std::map<std::string, std::uint64_t> seen;
  std::atomic<int> settled{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < 3; ++w) {
    threads.emplace_back([&] {
      auto remote = served.connect();
      auto worker = remote.groups().join_group("g");
      ASSERT_TRUE(worker) << worker.error().what;
      while (settled < aggregates * events) {
        const auto next = worker->next(20ms);
        ASSERT_TRUE(next) << next.error().what;
        if (!*next) continue;
        {
          const std::lock_guard lock(mutex);
          auto& last = seen[(*next)->event.aggregate->text()];
          EXPECT_LE((*next)->event.seq_nr.value, last + 1) << "overtaken";
          last = std::max(last, (*next)->event.seq_nr.value);
        }
        if (worker->acknowledge(**next)) ++settled;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto info = served.local.groups().group("g").value();
  EXPECT_EQ(info.acknowledged, static_cast<std::uint64_t>(aggregates * events));
  EXPECT_EQ(info.unsettled, 0u);
  EXPECT_TRUE(info.workers.empty()) << "they left";
  EXPECT_EQ(info.expired, 0u) << "and said so";
}

TEST(RemoteGroups, AWorkerOutlivesItsServer) {
  ServedStore served;
  append_orders(served.local, 1, 2);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  auto remote = served.connect();
  auto worker = remote.groups().join_group("g").value();
  const auto first = delivered(worker);
  served.stop();
  EXPECT_FALSE(worker.acknowledge(first));
  EXPECT_FALSE(worker.next(50ms).value()) << "waits for it, and that is no error";
  served.start();
  const auto again = delivered(worker);
  EXPECT_EQ(again.event.position, first.event.position);
  EXPECT_EQ(again.attempt, 1u) << "that the server stopped is not the event's fault";
  EXPECT_TRUE(worker.acknowledge(again));
  EXPECT_EQ(delivered(worker).event.seq_nr.value, 2u);
}

TEST(RemoteGroups, ALineThatBreaksCountsAndOthersTakeOverAtOnce) {
  ServedStore served;
  append_orders(served.local, 1, 1);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  const auto channel = raw::channel(served.address());
  const auto context = raw::context();
  const auto stream = raw::both_ways(*channel, "/evershard.v1.Groups/Work", *context);
  v1::WorkRequest join;
  join.mutable_join()->set_group("g");
  ASSERT_TRUE(stream->Write(raw::bytes(join.SerializeAsString())));
  grpc::ByteBuffer in;
  ASSERT_TRUE(stream->Read(&in));
  ASSERT_TRUE(stream->Read(&in));
  context->TryCancel();
  while (stream->Read(&in)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
  auto remote = served.connect();
  auto worker = remote.groups().join_group("g").value();
  EXPECT_EQ(delivered(worker).attempt, 2u);
}

/// Its last words, in the message in which it leaves and in the one before, are heard and answered.
TEST(RemoteGroups, AWorkerThatLeavesIsToldWhatBecameOfItsSettlements) {
  ServedStore served;
  append_orders(served.local, 1, 2);
  ASSERT_TRUE(served.local.groups().create_group({.name = "g", .query = Query{}.tags({"kind:test"})}));
  const auto channel = raw::channel(served.address());
  for (const bool at_once : {true, false}) {
    const auto context = raw::context();
    const auto stream = raw::both_ways(*channel, "/evershard.v1.Groups/Work", *context);
    v1::WorkRequest join, last;
    join.mutable_join()->set_group("g");
    ASSERT_TRUE(stream->Write(raw::bytes(join.SerializeAsString())));
    v1::WorkResponse response;
    const auto read = [&] {
      grpc::ByteBuffer in;
      return stream->Read(&in) && response.ParseFromString(raw::text(in));
    };
    while (response.deliveries_size() == 0) ASSERT_TRUE(read());
    auto& settlement = *last.add_settlements();
    settlement.set_position(response.deliveries(0).event().position());
    settlement.set_delivery(response.deliveries(0).delivery());
    last.set_batch(7);
    if (at_once) last.set_leave(true);
    ASSERT_TRUE(stream->Write(raw::bytes(last.SerializeAsString())));
    if (!at_once) {
      v1::WorkRequest leave;
      leave.set_leave(true);
      ASSERT_TRUE(stream->Write(raw::bytes(leave.SerializeAsString())));
    }
    bool told = false;
    std::string heard;  // what came after the settlement
    while (read()) {
      told = told || (response.batch() == 7 && response.outcomes_size() == 1 && !response.outcomes(0).has_refused());
      heard += response.ShortDebugString() + "\n";
    }
    EXPECT_TRUE(told) << at_once << ": " << heard;
    const auto status = stream->Finish();
    EXPECT_TRUE(status.ok()) << at_once << ": " << status.error_code() << ": " << status.error_message();
  }
  EXPECT_EQ(served.local.groups().group("g")->acknowledged, 2u);
}

TEST(RemoteGroups, WhatIsNoWorkIsRefused) {
  ServedStore served;
  ASSERT_TRUE(served.local.groups().create_group({.name = "g"}));
  const auto channel = raw::channel(served.address());
  const auto ends_with = [&](const std::vector<v1::WorkRequest>& requests) {
    const auto context = raw::context();
    const auto stream = raw::both_ways(*channel, "/evershard.v1.Groups/Work", *context);
    for (const auto& request : requests) (void)stream->Write(raw::bytes(request.SerializeAsString()));
    grpc::ByteBuffer in;
    while (stream->Read(&in)) {
    }
    return stream->Finish();
  };
  v1::WorkRequest join, twice, nobody, greedy, unknown;
  join.mutable_join()->set_group("g");
  nobody.mutable_join()->set_group("nobody");
  greedy.mutable_join()->set_group("g");
  greedy.mutable_join()->set_credit(0);
  unknown.add_settlements()->set_kind(static_cast<v1::WorkRequest::Settlement::Kind>(77));
  EXPECT_EQ(ends_with({v1::WorkRequest()}).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(ends_with({nobody}).error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(ends_with({greedy}).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(ends_with({join, join}).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(ends_with({join, unknown}).error_code(), grpc::INVALID_ARGUMENT);
  v1::WorkRequest renewing, settling;
  for (int i = 0; i <= 10'000; ++i) {
    renewing.add_renew(1);
    settling.add_settlements()->set_position(1);
  }
  EXPECT_EQ(ends_with({join, renewing}).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ends_with({join, settling}).error_code(), grpc::RESOURCE_EXHAUSTED);
  // Who was refused hears it before the group hears that he is gone.
  const auto nobody_works = [&] { return served.local.groups().group("g")->workers.empty(); };
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       !nobody_works() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(nobody_works());
}

}  // namespace
}  // namespace evershard
