#include "evershard/protocol/query.hpp"

#include <algorithm>
#include <tuple>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/sort_once_each.hpp"

namespace evershard {
namespace {

template <class T>
void add(std::vector<T>& to, std::vector<T> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

std::size_t terms_of(const QueryItem& item) { return item.types.size() + item.tags.size() + item.concerning.size(); }

std::size_t terms_of(const std::vector<QueryItem>& items) {
  std::size_t terms = 0;
  for (const auto& item : items) terms += terms_of(item);
  return terms;
}

Refused too_many(const char* what, std::size_t count, std::size_t most) {
  return refuse(ErrorCode::too_large,
                "the query has " + std::to_string(count) + " " + what + ", the limit is " + std::to_string(most));
}

Result<void> check(const QueryItem& item) {
  for (const auto& type : item.types) {
    EVERSHARD_TRY(check_name("query: event type", type, event_type_bytes_max, ErrorCode::invalid_query));
  }
  for (const auto& tag : item.tags) {
    EVERSHARD_TRY(check_name("query: tag", tag, tag_bytes_max, ErrorCode::invalid_query));
  }
  for (const auto& aggregate : item.concerning) {
    if (auto ok = AggregateId::check(aggregate); !ok) {
      const auto code = ok.error().code == ErrorCode::too_large ? ErrorCode::too_large : ErrorCode::invalid_query;
      return refuse(code, "query: " + ok.error().what);
    }
  }
  return {};
}

template <class Range, class T>
bool contains(const Range& range, const T& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

/// Tags: of strings or views. `concerns`: whether an aggregate is the event's own, or one of `also`.
template <class Tags, class Concerns>
bool item_matches(const QueryItem& item, std::string_view type, const Tags& tags, const Concerns& concerns) {
  return (item.types.empty() || contains(item.types, type)) &&
         std::ranges::all_of(item.tags, [&](const Tag& tag) { return contains(tags, tag); }) &&
         std::ranges::all_of(item.concerning, concerns);
}

}  // namespace

Query Query::all() {
  Query query;
  query.all_ = true;
  return query;
}

Query Query::of(std::vector<QueryItem> items) {
  Query query;
  query.items_ = std::move(items);
  return query;
}

QueryItem& Query::last_item() {
  if (items_.empty()) items_.emplace_back();
  return items_.back();
}

Query& Query::types(std::vector<std::string> types) & {
  add(last_item().types, std::move(types));
  return *this;
}

Query& Query::tags(std::vector<Tag> tags) & {
  add(last_item().tags, std::move(tags));
  return *this;
}

Query& Query::concerning(std::vector<AggregateId> aggregates) & {
  add(last_item().concerning, std::move(aggregates));
  return *this;
}

Query& Query::or_() & {
  static_cast<void>(last_item());  // an `or` with nothing before it leaves an empty item, which check() refuses
  items_.emplace_back();
  return *this;
}

Query Query::canonical() const {
  Query query = *this;
  for (auto& item : query.items_) {
    sort_once_each(item.types);
    sort_once_each(item.tags);
    sort_once_each(item.concerning);
  }
  const auto parts = [](const QueryItem& item) { return std::tie(item.types, item.tags, item.concerning); };
  std::sort(query.items_.begin(), query.items_.end(),
            [&](const QueryItem& a, const QueryItem& b) { return parts(a) < parts(b); });
  query.items_.erase(std::unique(query.items_.begin(), query.items_.end()), query.items_.end());
  return query;
}

Result<void> Query::check() const {
  if (all_) {
    if (items_.empty()) return {};
    return refuse(ErrorCode::invalid_query, "the query asks for everything and for " + std::to_string(items_.size()) +
                                                " items besides: use one or the other");
  }
  if (items_.empty()) {
    return refuse(ErrorCode::invalid_query, "the query has no items: everything is asked for by name, with all");
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (terms_of(items_[i]) == 0) {
      return refuse(ErrorCode::invalid_query,
                    "item " + std::to_string(i) + " of the query is empty: it names no type, tag or aggregate");
    }
  }

  if (items_.size() > query_items_max || terms_of(items_) > query_terms_max) {
    const Query once = canonical();
    if (once.items_.size() > query_items_max) return too_many("items", once.items_.size(), query_items_max);
    if (const auto terms = terms_of(once.items_); terms > query_terms_max)
      return too_many("terms", terms, query_terms_max);
  }
  for (const auto& item : items_) EVERSHARD_TRY(evershard::check(item));
  return {};
}

bool Query::matches(std::string_view type, std::span<const Tag> tags, const AggregateId* aggregate,
                    std::span<const AggregateId> also) const {
  const auto concerns = [&](const AggregateId& id) {
    return (aggregate != nullptr && *aggregate == id) || contains(also, id);
  };
  return all_ ||
         std::ranges::any_of(items_, [&](const QueryItem& item) { return item_matches(item, type, tags, concerns); });
}

bool Query::matches(const RecordedEvent& event) const {
  return matches(event.type, event.tags, event.aggregate ? &*event.aggregate : nullptr, event.also);
}

bool Query::matches(const RecordedView& event) const {
  const auto concerns = [&](const AggregateId& id) {
    return event.is_of(id) || contains(event.also, std::pair<std::string_view, std::string_view>(id.type, id.value));
  };
  return all_ || std::ranges::any_of(items_, [&](const QueryItem& item) {
           return item_matches(item, event.type, event.tags, concerns);
         });
}

}  // namespace evershard
