// Where answers to appends are sent from: decided by the appends in flight, not by whatever else is open.

#include <future>
#include <thread>

#include "evershard/doors/grpc/calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

/// The thread in which an append that nothing waits for is answered.
std::thread::id answering_thread(door::Calls& calls) {
  std::promise<std::thread::id> answered;
  calls.append(Append{}.event("a-1", "T", "{}"), [&](const Result<Appended>& result) {
    EXPECT_TRUE(result) << result.error().what;
    answered.set_value(std::this_thread::get_id());
  });
  return answered.get_future().get();
}

std::thread::id only_thread_of(cluster::WorkPool& pool) {
  std::promise<std::thread::id> told;
  pool.run([&] { told.set_value(std::this_thread::get_id()); });
  return told.get_future().get();
}

TEST(DoorCalls, AnswerAtOnceWithAnyNumberOfStreamsOpen) {
  ServedStore server;
  cluster::WorkPool answers(1);
  door::Calls calls("grpc", *server.served, answers, 256, 16u << 20, 20u << 20, {});
  calls.under_way = 1'000;  // subscriptions: they are calls too
  for (int i = 0; i < 20; ++i) EXPECT_NE(answering_thread(calls), only_thread_of(answers));
  EXPECT_EQ(calls.appends_in_flight, 0u);
}

TEST(DoorCalls, AnswerFromAnotherThreadWhereManyAppendsAreInFlight) {
  ServedStore server;
  cluster::WorkPool answers(1);
  door::Calls calls("grpc", *server.served, answers, 256, 16u << 20, 20u << 20, {});
  calls.appends_in_flight = door::Calls::answered_at_once_max - 1;
  EXPECT_NE(answering_thread(calls), only_thread_of(answers));
  calls.appends_in_flight = door::Calls::answered_at_once_max;
  EXPECT_EQ(answering_thread(calls), only_thread_of(answers));
  EXPECT_EQ(calls.appends_in_flight, door::Calls::answered_at_once_max);
}

}  // namespace
}  // namespace evershard
