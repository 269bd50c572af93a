// What calls are named between nodes: a node of an earlier release asks and answers by the same names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/v1/projections.pb.h"

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

TEST(NamesAtHome, WhatIsMadeIfItIsAbsentMayBeMadeTwice) {
  for (const auto* call : calls::projections_calls()) {
    if (std::string(call->at_home == nullptr ? "" : call->at_home) != "projections.create") continue;
    v1::CreateProjectionRequest request;
    EXPECT_EQ(call->again(request), calls::Again::not_done);
    request.set_if_absent(true);
    EXPECT_EQ(call->again(request), calls::Again::always);
  }
}

}  // namespace
}  // namespace evershard::cluster
