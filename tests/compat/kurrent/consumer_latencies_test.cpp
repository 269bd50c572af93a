// ConsumerLatencies: the measurements that clients know by their names, of the latest events.

#include "evershard/compat/kurrent/consumer_latencies.hpp"

#include <gtest/gtest.h>

#include <map>

namespace evershard::kurrent {
namespace {

std::map<std::string, std::int64_t> by_name(const ConsumerLatencies& latencies) {
  std::map<std::string, std::int64_t> found;
  for (const auto& each : latencies.measurements()) found[each.name] = each.ms;
  return found;
}

TEST(ConsumerLatencies, SaysNothingOfNothing) { EXPECT_TRUE(ConsumerLatencies().measurements().empty()); }

TEST(ConsumerLatencies, OneIsAllOfThem) {
  ConsumerLatencies latencies;
  latencies.add(std::chrono::milliseconds(7));
  const auto found = by_name(latencies);
  EXPECT_EQ(found.size(), 14u);
  for (const auto& [name, ms] : found) EXPECT_EQ(ms, 7) << name;
}

TEST(ConsumerLatencies, AQuantileIsWhatSoManyAreNotAbove) {
  ConsumerLatencies latencies;
  for (int ms = 100; ms >= 1; --ms) latencies.add(std::chrono::milliseconds(ms));
  const std::map<std::string, std::int64_t> wanted{
      {"Mean", 50},       {"Median", 50},     {"Fastest", 1},      {"Quintile 1", 20}, {"Quintile 2", 40},
      {"Quintile 3", 60}, {"Quintile 4", 80}, {"Quintile 5", 100}, {"90%", 90},        {"95%", 95},
      {"99%", 99},        {"99.5%", 100},     {"99.9%", 100},      {"Highest", 100}};
  EXPECT_EQ(by_name(latencies), wanted);
}

TEST(ConsumerLatencies, AreOfTheLatest) {
  ConsumerLatencies latencies;
  for (std::size_t i = 0; i < ConsumerLatencies::kept_max; ++i) latencies.add(std::chrono::milliseconds(5'000));
  for (std::size_t i = 0; i + 1 < ConsumerLatencies::kept_max; ++i) latencies.add(std::chrono::milliseconds(3));
  EXPECT_EQ(by_name(latencies)["99%"], 3);
  EXPECT_EQ(by_name(latencies)["Highest"], 5'000) << "one is left";
  latencies.add(std::chrono::milliseconds(3));
  EXPECT_EQ(by_name(latencies)["Highest"], 3);
}

}  // namespace
}  // namespace evershard::kurrent
