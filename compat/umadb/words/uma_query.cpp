#include "evershard/compat/umadb/words/uma_query.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/sort_once_each.hpp"

namespace evershard::umadb {
namespace {

bool can_be(std::string_view name, std::size_t bytes_max) {
  return !name.empty() && name.size() <= bytes_max && name.find('\0') == std::string_view::npos;
}

/// Absent: nothing can match it.
std::optional<QueryItem> item_of(const ::umadb::v1::QueryItem& item) {
  std::vector<Tag> tags(item.tags().begin(), item.tags().end());
  sort_once_each(tags);
  if (tags.size() > tags_max) return std::nullopt;
  if (!std::all_of(tags.begin(), tags.end(), [](const auto& tag) { return can_be(tag, tag_bytes_max); }))
    return std::nullopt;
  std::vector<std::string> types(item.types().begin(), item.types().end());
  sort_once_each(types);
  std::erase_if(types, [](const auto& type) { return !can_be(type, event_type_bytes_max); });
  if (types.empty() && !item.types().empty()) return std::nullopt;
  return QueryItem{std::move(types), std::move(tags), {}};
}

}  // namespace

std::optional<Query> query_of(const ::umadb::v1::Query& query) {
  const auto& asked = query.items();
  const auto asks_nothing = [](const auto& item) { return item.types().empty() && item.tags().empty(); };
  if (asked.empty() || std::any_of(asked.begin(), asked.end(), asks_nothing)) return Query::all();
  std::vector<QueryItem> items;
  for (const auto& item : asked)
    if (auto made = item_of(item)) items.push_back(*std::move(made));
  if (items.empty()) return std::nullopt;
  return Query::of(std::move(items));
}

}  // namespace evershard::umadb
