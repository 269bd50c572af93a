#include "evershard/services/tables/table_definition.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/table_mapping.hpp"
#include "evershard/storage/journal/checksum.hpp"

namespace evershard::actors {

namespace {

std::vector<std::pair<std::string, ValueSource>> by_field(std::vector<std::pair<std::string, ValueSource>> sources) {
  std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return sources;
}

/// What one part alone cannot decide.
Result<void> check_parts(const TableDefinition& definition) {
  const auto wrong = [&](const std::string& what) {
    return refuse(ErrorCode::invalid_argument, "a table in " + std::to_string(definition.parts) + " parts " + what);
  };
  if (definition.parts == 0 || definition.parts > table_parts_max)
    return refuse(ErrorCode::invalid_argument,
                  "parts is 1 to " + std::to_string(table_parts_max) + ", not " + std::to_string(definition.parts));
  if (definition.parts == 1) return {};
  for (const TableField& field : definition.schema.fields) {
    if (field.role == FieldRole::unique)
      return wrong("has no unique field but its key, and " + in_quotes(field.name) +
                   " is unique: no part knows the others' values");
  }
  const auto* rules = std::get_if<std::vector<MappingRule>>(&definition.made_by);
  if (rules == nullptr) return wrong("is made by rules: a handler may read and change rows of other parts");
  for (std::size_t first = 0; first < rules->size(); ++first) {
    for (std::size_t second = first + 1; second < rules->size(); ++second) {
      const auto &one = (*rules)[first], &other = (*rules)[second];
      const auto shared =
          std::find_first_of(one.types.begin(), one.types.end(), other.types.begin(), other.types.end());
      if (shared == one.types.end() || by_field(one.key) == by_field(other.key)) continue;
      return wrong("has one row for an event, and rules " + std::to_string(first) + " and " + std::to_string(second) +
                   " name " + in_quotes(*shared) + " with different keys: their rows may lie in two parts");
    }
  }
  return {};
}

}  // namespace

std::uint32_t part_of_key(std::string_view key, std::uint32_t parts) {
  return static_cast<std::uint32_t>(storage::checksum(key) % parts);
}

std::string_view name_of(OnFault policy) {
  switch (policy) {
    case OnFault::skip:
      return "skip";
    case OnFault::park:
      return "park";
    case OnFault::fail:
      break;
  }
  return "fail";
}

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::update:
      return "update";
    case ChangeKind::erase:
      return "delete";
    case ChangeKind::increment:
      return "increment";
    case ChangeKind::set_if_absent:
      return "set_if_absent";
    case ChangeKind::upsert:
      break;
  }
  return "upsert";
}

Query TableDefinition::query() const {
  if (const auto* handler = std::get_if<HandlerName>(&made_by)) return handler->query;
  // Rules of the same tags are one item: 64 rules are more than a query takes, together with what the table wants of
  // its own.
  std::map<std::set<Tag>, std::set<std::string>> types_by_tags;
  for (const MappingRule& rule : std::get<std::vector<MappingRule>>(made_by))
    types_by_tags[{rule.tags.begin(), rule.tags.end()}].insert(rule.types.begin(), rule.types.end());
  std::vector<QueryItem> items;
  for (const auto& [tags, types] : types_by_tags)
    items.push_back({{types.begin(), types.end()}, {tags.begin(), tags.end()}, {}});
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
  if (on_error == OnFault::skip)
    return refuse(ErrorCode::invalid_argument, "on_error is fail or park: what does not fit is not left out silently");
  if (const auto* handler = std::get_if<HandlerName>(&made_by)) {
    EVERSHARD_TRY(check_name("handler", handler->name, table_name_bytes_max));
  } else {
    const auto& rules = std::get<std::vector<MappingRule>>(made_by);
    for (const MappingRule& rule : rules) {
      for (const auto& type : rule.types) EVERSHARD_TRY(check_name("event type", type, event_type_bytes_max));
    }
    if (const auto mapping = TableMapping::make(schema, rules); !mapping) return refuse(mapping.error());
  }
  EVERSHARD_TRY(check_parts(*this));
  EVERSHARD_TRY(query().check());
  if (const auto whole = query_of({"$projection", "t"}).check(); !whole)
    return refuse(whole.error().code,
                  whole.error().what + ", of which the table takes one with three terms for itself");
  return {};
}

}  // namespace evershard::actors
