#include "evershard/services/copy/copy_filter.hpp"

#include <utility>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {
namespace {

/// FNV-1a, 64 bits: it names a copy, nothing more; the whole filter is compared when a copy goes on.
std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  std::string hex;
  for (int digit = 15; digit >= 0; --digit) hex += "0123456789abcdef"[(hash >> (4 * digit)) & 15];
  return hex;
}

}  // namespace

Result<CopyFilter> CopyFilter::of(Query query, std::set<AggregateId> aggregates) {
  EVERSHARD_TRY(query.check());
  for (const auto& aggregate : aggregates) {
    EVERSHARD_TRY(AggregateId::check(aggregate));
    if (is_own_aggregate(aggregate.type))
      return refuse(ErrorCode::invalid_argument,
                    "aggregate " + in_quotes(aggregate.text()) + " is the store's own: it is not copied");
  }
  CopyFilter filter;
  filter.query_ = query.canonical();
  filter.aggregates_ = std::move(aggregates);
  return filter;
}

Query CopyFilter::reads() const {
  if (!query_.is_all() || aggregates_.empty() || aggregates_.size() > query_items_max) return query_;
  std::vector<QueryItem> items;
  for (const auto& aggregate : aggregates_) items.push_back({{}, {}, {aggregate}});
  return Query::of(std::move(items));
}

bool CopyFilter::takes(const RecordedEvent& event) const {
  if (!is_history(event) || event.type == retention::aggregate_removed) return false;
  if (!aggregates_.empty() && !(event.aggregate && aggregates_.contains(*event.aggregate))) return false;
  return query_.matches(event);
}

std::string CopyFilter::text() const {
  JsonText json;
  json.begin_object().key("query");
  write_query(json, query_);
  json.key("aggregates").begin_array();
  for (const auto& aggregate : aggregates_) json.string(aggregate.text());
  json.end_array().end_object();
  return json.take();
}

std::string CopyFilter::name_of_copy(std::string_view source_store_id) const {
  std::string name(source_store_id);
  if (query_.is_all() && aggregates_.empty()) return name;
  return name + '-' + short_hash(text());
}

}  // namespace evershard::cluster
