#include "evershard/api/json/query_json.hpp"

namespace evershard {
namespace {

Result<void> read_item(const JsonValue& from, QueryItem& item) {
  return from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "types") return read_strings(value, item.types);
    if (key == "tags") return read_strings(value, item.tags);
    if (key == "concerning") return read_aggregates(value, item.concerning);
    return from.unknown_key(key, {"types", "tags", "concerning"});
  });
}

}  // namespace

Result<Query> read_query(const JsonValue& from) {
  std::vector<QueryItem> items;
  bool all = false;
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "items") {
      return value.for_each_element([&](const JsonValue& item) { return read_item(item, items.emplace_back()); });
    }
    if (key != "all") return from.unknown_key(key, {"items", "all"});
    if (value.raw() != "true") return value.wrong("must be true, or not there");
    all = true;
    return {};
  }));
  if (all && !items.empty()) return from.wrong("either all or items");

  Query query = all ? Query::all() : Query::of(std::move(items));
  if (auto ok = query.check(); !ok) {
    const std::string path = from.path();
    return refuse(ok.error().code, (path.empty() ? "" : path + ": ") + ok.error().what);
  }
  return query;
}

Result<Query> read_query(std::string_view text, std::string_view name) {
  auto value = JsonValue::parse(text, name);
  if (!value) return refuse(std::move(value).error());
  return read_query(*value);
}

void write_query(JsonText& json, const Query& query) {
  const auto write_strings = [&](const char* key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    json.key(key).begin_array();
    for (const auto& text : texts) json.string(text);
    json.end_array();
  };
  json.begin_object();
  if (query.is_all()) {
    json.key("all").boolean(true).end_object();
    return;
  }
  json.key("items").begin_array();
  for (const auto& item : query.items()) {
    json.begin_object();
    write_strings("types", item.types);
    write_strings("tags", item.tags);
    std::vector<std::string> concerning;
    for (const auto& aggregate : item.concerning) concerning.push_back(aggregate.text());
    write_strings("concerning", concerning);
    json.end_object();
  }
  json.end_array().end_object();
}

Result<void> read_strings(const JsonValue& from, std::vector<std::string>& to) {
  return from.for_each_element([&](const JsonValue& element) -> Result<void> {
    auto text = element.string();
    if (!text) return refuse(std::move(text).error());
    to.push_back(std::move(*text));
    return {};
  });
}

Result<void> read_aggregate(const JsonValue& from, std::optional<AggregateId>& to) {
  auto text = from.string();
  if (!text) return refuse(std::move(text).error());
  auto id = AggregateId::parse(*text);
  if (!id) return refuse(id.error().code, from.path() + ": " + id.error().what);
  to = std::move(*id);
  return {};
}

Result<void> read_aggregates(const JsonValue& from, std::vector<AggregateId>& to) {
  return from.for_each_element([&](const JsonValue& element) -> Result<void> {
    std::optional<AggregateId> id;
    EVERSHARD_TRY(read_aggregate(element, id));
    to.push_back(std::move(*id));
    return {};
  });
}

}  // namespace evershard
