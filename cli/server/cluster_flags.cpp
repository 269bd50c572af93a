#include "evershard/cli/server/cluster_flags.hpp"

#include <algorithm>
#include <limits>

namespace evershard::cli {

Options cluster_options() { return store_options(); }

tl::expected<Remote, Failure> node_asked(const Invocation& invocation) {
  auto server = invocation.server();
  if (!server) {
    if (invocation.arguments.has("data"))
      return Failed(Failure(ErrorCode::invalid_argument, "a store in a directory is one process, it has no cluster",
                            "name a node that runs: --server HOST:PORT"));
    throw UsageError("which cluster?", "say --server HOST:PORT, the address of any node, or set EVERSHARD_SERVER");
  }
  auto node = Remote::connect(*std::move(server));
  if (!node) return Failed(Failure(std::move(node).error()));
  return std::move(*node);
}

std::vector<ShardId> shards_in(const std::string& text) {
  std::vector<ShardId> shards;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const auto number = whole_number(std::string_view(text).substr(from, comma - from));
    if (!number || *number > std::numeric_limits<std::uint16_t>::max())
      throw UsageError("SHARDS is " + text, "such as 3, or 3,5,8");
    shards.push_back(ShardId{static_cast<std::uint16_t>(*number)});
    from = comma + 1;
  }
  return shards;
}

}  // namespace evershard::cli
