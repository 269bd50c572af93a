// What calls are named between nodes: a node of an earlier release asks and answers by the same names. And how long
// they wait at a home.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/cluster/homes/home_asker.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/v1/projections.pb.h"
#include "evershard/v1/tables.pb.h"

namespace evershard::cluster {
namespace {

/// NAME, with how long a home that is away is waited for, and whether pages come in parts.
template <class Of>
std::vector<std::string> named_at_home(const calls::Calls<Of>& calls) {
  std::vector<std::string> names;
  for (const auto* call : calls) {
    if (call->at_home == nullptr) continue;
    const auto again = call->again(*call->request());
    names.push_back(std::string(call->at_home) + (again == calls::Again::read       ? " read"
                                                  : again == calls::Again::not_done ? " not_done"
                                                                                    : " always"));
    if (call->in_parts) names.back() += " in_parts";
  }
  return names;
}

TEST(NamesAtHome, AreThoseOfEarlierReleases) {
  EXPECT_THAT(named_at_home(calls::tables_calls()),
              ::testing::UnorderedElementsAre("tables.select read", "tables.explain read", "tables.describe read",
                                              "tables.parked read in_parts", "tables.settle not_done"));
  EXPECT_THAT(named_at_home(calls::projections_calls()),
              ::testing::UnorderedElementsAre("projections.create_index always",
                                              "projections.create_value_index not_done", "projections.create not_done",
                                              "projections.change not_done", "projections.ask not_done",
                                              "projections.describe read", "projections.read_index read in_parts",
                                              "projections.read_values read in_parts", "projections.wait read"));
  EXPECT_THAT(
      named_at_home(calls::groups_calls()),
      ::testing::UnorderedElementsAre("groups.create not_done", "groups.change not_done", "groups.reset not_done",
                                      "groups.drop not_done", "groups.describe always", "groups.parked always",
                                      "groups.replay not_done", "groups.discard not_done"));
}

/// The call that is named so at a home. Fails where there is none.
template <class Of>
const calls::CallOf<Of>& call_named(const calls::Calls<Of>& calls, const std::string& name) {
  const auto found =
      std::ranges::find_if(calls, [&](const auto* call) { return call->at_home != nullptr && call->at_home == name; });
  EVERSHARD_CHECK(found != calls.end(), "a test names a call that there is");
  return **found;
}

TEST(NamesAtHome, WhatIsMadeIfItIsAbsentMayBeMadeTwice) {
  const auto& call = call_named(calls::projections_calls(), "projections.create");
  v1::CreateProjectionRequest request;
  EXPECT_EQ(call.again(request), calls::Again::not_done);
  request.set_if_absent(true);
  EXPECT_EQ(call.again(request), calls::Again::always);
}

/// Tells how long it may wait.
class WaitedTables final : public calls::AskedTables {
 public:
  WaitedTables() : AskedTables(nullptr) {}
  Result<TablePage> select(const std::string&, TableSelect, TableReading reading) override {
    waited = reading.timeout;
    return TablePage{};
  }
  Result<TablePlan> explain(const std::string&, TableSelect, TableReading reading) override {
    waited = reading.timeout;
    return TablePlan{};
  }
  std::chrono::milliseconds waited{};
};

// A table that has moved is made anew at its new home: that takes a moment.
TEST(NamesAtHome, RowsThatAreBeingMadeAreWaitedFor) {
  WaitedTables tables;
  for (const char* const name : {"tables.select", "tables.explain"}) {
    const auto& call = call_named(calls::tables_calls(), name);
    const auto answered = [&](const std::string& request) {
      tables.waited = {};
      EXPECT_TRUE(answered_at_home(call, request, [&](auto& in, auto& out, std::chrono::milliseconds wait) {
        return call.answer(tables, in, out, wait);
      })) << name;
      return tables.waited;
    };
    EXPECT_EQ(answered({}), std::chrono::seconds(5)) << name;
  }
  v1::SelectRequest request;
  request.mutable_at_least()->set_timeout_ms(300);
  EXPECT_TRUE(answered_at_home(call_named(calls::tables_calls(), "tables.select"), request.SerializeAsString(),
                               [&](auto&, auto&, std::chrono::milliseconds wait) -> Result<void> {
                                 EXPECT_EQ(wait, std::chrono::milliseconds(300));
                                 return {};
                               }));
}

}  // namespace
}  // namespace evershard::cluster
