#include "evershard/cli/store/store_info.hpp"

namespace evershard::cli {

void add_info_parts(Parts& parts, const StoreInfo& info) {
  parts.emplace_back("store", info.store_id);
  parts.emplace_back("fork", info.fork_id);
  parts.emplace_back("shards", std::to_string(info.shards));
  parts.emplace_back("format version", std::to_string(info.format));
  parts.emplace_back("hash", std::to_string(info.hash));
  parts.emplace_back("created at", info.created_at.text());
}

}  // namespace evershard::cli
