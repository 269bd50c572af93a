#include "evershard/actors/projection/table/table_definition.hpp"

#include <map>
#include <set>
#include <utility>

#include "evershard/actors/projection/table/table_mapping.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"

namespace evershard::actors {

std::string_view name_of(OnFault policy) {
  switch (policy) {
    case OnFault::skip: return "skip";
    case OnFault::park: return "park";
    case OnFault::fail: break;
  }
  return "fail";
}

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::update: return "update";
    case ChangeKind::erase: return "delete";
    case ChangeKind::increment: return "increment";
    case ChangeKind::set_if_absent: return "set_if_absent";
    case ChangeKind::upsert: break;
  }
  return "upsert";
}

Query TableDefinition::query() const {
  if (const auto* handler = std::get_if<HandlerName>(&made_by)) return handler->query;
  // Rules of the same tags are one item: 64 rules are more than a query takes, together with what the table wants of its own.
  std::map<std::set<Tag>, std::set<std::string>> types_by_tags;
  for (const MappingRule& rule : std::get<std::vector<MappingRule>>(made_by)) types_by_tags[{rule.tags.begin(), rule.tags.end()}].insert(rule.types.begin(), rule.types.end());
  std::vector<QueryItem> items;
  for (const auto& [tags, types] : types_by_tags) items.push_back({{types.begin(), types.end()}, {tags.begin(), tags.end()}, {}});
  return Query::of(std::move(items)).canonical();
}

Query TableDefinition::query_of(const AggregateId& own) const {
  auto wanted = query();
  if (wanted.is_all()) return wanted;
  auto items = wanted.items();
  items.push_back({{std::string(parked_retried_type), std::string(parked_discarded_type)}, {}, {own}});
  return Query::of(std::move(items));
}

Result<void> TableDefinition::check() const {
  EVERSHARD_TRY(schema.check());
  if (on_error == OnFault::skip) return refuse(ErrorCode::invalid_argument, "on_error is fail or park: what does not fit is not left out silently");
  if (const auto* handler = std::get_if<HandlerName>(&made_by)) {
    EVERSHARD_TRY(check_name("handler", handler->name, table_name_bytes_max));
  } else {
    const auto& rules = std::get<std::vector<MappingRule>>(made_by);
    for (const MappingRule& rule : rules) {
      for (const auto& type : rule.types) EVERSHARD_TRY(check_name("event type", type, event_type_bytes_max));
    }
    if (const auto mapping = TableMapping::make(schema, rules); !mapping) return refuse(mapping.error());
  }
  EVERSHARD_TRY(query().check());
  if (const auto whole = query_of({"$projection", "t"}).check(); !whole) return refuse(whole.error().code, whole.error().what + ", of which the table takes one with three terms for itself");
  return {};
}

}  // namespace evershard::actors
