#include "evershard/services/indexes/query_spec.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/error.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/checksum.hpp"

namespace evershard::actors {
namespace {

using Json = nlohmann::json;

Refused no_query(const std::string& why) {
  return refuse(ErrorCode::invalid_argument, "a query in a definition is {\"all\":true} or {\"items\":[..]}: " + why);
}

Result<std::vector<std::string>> strings_of(const Json& item, const char* key) {
  std::vector<std::string> found;
  const auto list = item.find(key);
  if (list == item.end()) return found;
  if (!list->is_array()) return no_query(std::string(key) + " is a list of strings");
  for (const auto& one : *list) {
    if (!one.is_string()) return no_query(std::string(key) + " is a list of strings");
    found.push_back(one.get<std::string>());
  }
  return found;
}

Result<QueryItem> item_of(const Json& json) {
  if (!json.is_object()) return no_query("an item is an object");
  for (const auto& [key, value] : json.items())
    if (key != "types" && key != "tags" && key != "concerning") return no_query("an item has no " + key);
  auto types = strings_of(json, "types");
  auto tags = strings_of(json, "tags");
  auto concerning = strings_of(json, "concerning");
  if (!types) return refuse(std::move(types).error());
  if (!tags) return refuse(std::move(tags).error());
  if (!concerning) return refuse(std::move(concerning).error());
  QueryItem item{*std::move(types), *std::move(tags), {}};
  for (const auto& text : *concerning) {
    auto aggregate = AggregateId::parse(text);
    if (!aggregate) return refuse(std::move(aggregate).error());
    item.concerning.push_back(*std::move(aggregate));
  }
  return item;
}

}  // namespace

std::string query_spec(const Query& query) {
  if (query.is_all()) return R"({"all":true})";
  auto items = Json::array();
  const auto canonical = query.canonical();
  for (const auto& item : canonical.items()) {
    auto json = Json::object();
    if (!item.types.empty()) json["types"] = item.types;
    if (!item.tags.empty()) json["tags"] = item.tags;
    for (const auto& aggregate : item.concerning) json["concerning"].push_back(aggregate.text());
    items.push_back(std::move(json));
  }
  return Json{{"items", std::move(items)}}.dump();
}

Result<Query> read_query_spec(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.size() != 1) return no_query("it is one of the two");
  if (const auto all = json.find("all"); all != json.end()) {
    if (*all != true) return no_query("all is true");
    return Query::all();
  }
  const auto list = json.find("items");
  if (list == json.end() || !list->is_array()) return no_query("it has no items");
  std::vector<QueryItem> items;
  for (const auto& one : *list) {
    auto item = item_of(one);
    if (!item) return refuse(std::move(item).error());
    items.push_back(*std::move(item));
  }
  auto query = Query::of(std::move(items)).canonical();
  EVERSHARD_TRY(query.check());
  return query;
}

std::string index_name(const Query& query) {
  std::array<char, 20> name{};
  std::snprintf(name.data(), name.size(), "q%016llx",
                static_cast<unsigned long long>(storage::checksum(query_spec(query))));
  return name.data();
}

}  // namespace evershard::actors
