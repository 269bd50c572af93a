#include "evershard/cli/store_info.hpp"

namespace evershard::cli {

void write_info_members(JsonText& json, const StoreInfo& info) {
  json.key("store_id").string(info.store_id).key("fork_id").string(info.fork_id).key("shards").number(info.shards).key("format").number(info.format);
  json.key("hash").number(info.hash).key("created_at").string(info.created_at.text());
}

void add_info_parts(Parts& parts, const StoreInfo& info) {
  parts.emplace_back("store", info.store_id);
  parts.emplace_back("fork", info.fork_id);
  parts.emplace_back("shards", std::to_string(info.shards));
  parts.emplace_back("format version", std::to_string(info.format));
  parts.emplace_back("hash", std::to_string(info.hash));
  parts.emplace_back("created at", info.created_at.text());
}

}  // namespace evershard::cli
