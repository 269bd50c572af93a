// What tests of live aggregates look at: answers and events, shortly.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <evershard/actor_kit.hpp>

#include "tests/actors/aggregate/small_bank.hpp"

namespace evershard {

using namespace std::chrono_literals;
using namespace small;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

inline const AggregateId one{"account", "1"};

/// `30`, `30 again` (a duplicate), `no: only 30` (rejected), `timeout`.
template <class Reply>
std::string shown(const Answer<Reply>& answer) {
  if (answer.rejected()) return "no: " + answer.rejection();
  if (answer.failed()) return std::string(name_of(answer.error().code));
  std::string text;
  if constexpr (requires { answer->n; }) {
    text = std::to_string(answer->n);
  } else {
    text = "told";
  }
  return text + (answer.duplicate() ? " again" : "");
}

/// Asked on the way to what the test is about.
template <class Reply>
void must(const Answer<Reply>& answer) {
  EXPECT_TRUE(answer.replied()) << shown(answer);
}

template <class Reply>
bool ready(const std::future<Answer<Reply>>& future) {
  return future.wait_for(0s) == std::future_status::ready;
}
/// `-`: not answered.
template <class Reply>
std::string shown(std::future<Answer<Reply>>& future) {
  return ready(future) ? shown(future.get()) : "-";
}

/// `deposited 5`, in order.
inline std::vector<std::string> shown(const std::vector<RecordedEvent>& events) {
  std::vector<std::string> texts;
  for (const auto& event : events) texts.push_back(event.type + " " + event.payload);
  return texts;
}

/// What the stored events of an account come to.
inline std::int64_t replayed(const std::vector<RecordedEvent>& events) {
  std::int64_t balance = 0;
  for (const auto& event : events) {
    if (event.type == "deposited") balance += std::stoll(event.payload);
    if (event.type == "withdrawn") balance -= std::stoll(event.payload);
  }
  return balance;
}

/// A kit with accounts.
struct KitWithAccounts : ActorKit {
  explicit KitWithAccounts(ActorKitOptions options = {}, HostOptions hosted = {}) : ActorKit(options) {
    EXPECT_TRUE(host<SmallBank>(hosted));
  }
  AggregateRef<SmallBank> account(std::string_view value = "1") { return get<SmallBank>(value); }
};

}  // namespace evershard
