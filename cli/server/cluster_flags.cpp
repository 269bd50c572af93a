#include "evershard/cli/server/cluster_flags.hpp"

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

}  // namespace evershard::cli
