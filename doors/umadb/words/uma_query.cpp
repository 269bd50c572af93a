#include "evershard/doors/umadb/words/uma_query.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/sort_once_each.hpp"

namespace evershard::umadb {
namespace {

constexpr std::size_t types_of_an_item_max = query_terms_max / 2;

bool can_be(std::string_view name, std::size_t bytes_max) {
  return !name.empty() && name.size() <= bytes_max && name.find('\0') == std::string_view::npos;
}

/// Items of ours for one of theirs. None: nothing can match it.
std::vector<QueryItem> items_of(const ::umadb::v1::QueryItem& item) {
  std::vector<Tag> tags(item.tags().begin(), item.tags().end());
  sort_once_each(tags);
  if (tags.size() > tags_max) return {};
  if (!std::all_of(tags.begin(), tags.end(), [](const auto& tag) { return can_be(tag, tag_bytes_max); })) return {};
  if (item.types().empty()) return {{{}, std::move(tags), {}}};
  std::vector<std::string> types(item.types().begin(), item.types().end());
  sort_once_each(types);
  std::erase_if(types, [](const auto& type) { return !can_be(type, event_type_bytes_max); });
  std::vector<QueryItem> items;
  for (std::size_t at = 0; at < types.size(); at += types_of_an_item_max) {
    const auto from = types.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(types_of_an_item_max, types.size() - at);
    items.push_back({{from, from + static_cast<std::ptrdiff_t>(count)}, tags, {}});
  }
  return items;
}

}  // namespace

UmaQuery UmaQuery::all() {
  UmaQuery made;
  made.parts_.push_back(Query::all());
  return made;
}

UmaQuery UmaQuery::of(const ::umadb::v1::Query& query) {
  const auto& asked = query.items();
  const auto asks_nothing = [](const auto& item) { return item.types().empty() && item.tags().empty(); };
  if (asked.empty() || std::any_of(asked.begin(), asked.end(), asks_nothing)) return all();
  UmaQuery made;
  std::vector<QueryItem> items;
  std::size_t terms = 0;
  const auto end_part = [&] {
    if (!items.empty()) made.parts_.push_back(Query::of(std::exchange(items, {})));
    terms = 0;
  };
  for (const auto& item : asked) {
    for (auto& part : items_of(item)) {
      const auto more = part.types.size() + part.tags.size();
      if (items.size() == query_items_max || terms + more > query_terms_max) end_part();
      terms += more;
      items.push_back(std::move(part));
    }
  }
  end_part();
  return made;
}

Result<Query> UmaQuery::one() const {
  if (parts_.empty()) return Query::all();
  if (parts_.size() == 1) return parts_.front();
  return refuse(ErrorCode::too_large, "the query is over what a read may have: " + std::to_string(query_items_max) +
                                          " items, " + std::to_string(query_terms_max) + " types and tags");
}

Result<void> UmaQuery::forbid(GlobalPosition after, std::size_t most, std::vector<AppendCondition>& conditions) const {
  if (conditions.size() + parts_.size() > most) {
    return refuse(ErrorCode::too_large, "the condition is over what an append may have: " + std::to_string(most) +
                                            " times " + std::to_string(query_items_max) + " items and " +
                                            std::to_string(query_terms_max) + " types and tags");
  }
  for (const auto& part : parts_) conditions.push_back({part, after});
  return {};
}

}  // namespace evershard::umadb
