// Orders and accounts whose payloads are somebody's, on a cluster with keys.

#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/services/erasure/sealed_bank.hpp"

namespace evershard {

inline constexpr auto sealing_patience = embedding_patience;
inline constexpr std::string_view street = "St James's Square";

inline Event placed(const std::string& order, const std::string& subject) {
  Event event;
  event.aggregate = AggregateId{"order", order};
  event.type = "Placed";
  event.payload = R"({"to":"Ada, )" + std::string(street) + R"(","total":)" + order + "}";
  event.format = PayloadFormat::json;
  event.tags = {"placed"};
  event.subject = subject;
  return event;
}

inline bool on_disk(const std::filesystem::path& folder, std::string_view bytes) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    if (content.find(bytes) != std::string::npos) return true;
  }
  return false;
}

/// Ten orders, every other one Ada's, written at both nodes.
inline GlobalPosition place_orders(EmbeddingCluster& cluster) {
  GlobalPosition last;
  for (int i = 0; i < 10; ++i) {
    const auto done = append_patiently(cluster.node(1 + static_cast<std::uint32_t>(i) % 2),
                                       Append{}.event(placed(std::to_string(i), i % 4 < 2 ? "ada" : "")));
    EXPECT_TRUE(done) << done.error().what;
    if (done) last = done->last_position;
  }
  return last;
}

}  // namespace evershard
