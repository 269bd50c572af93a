#include "evershard/services/groups/host/group_spec.hpp"

#include "evershard/api/json/group_json.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {

std::string write_group_spec(const GroupSpec& spec) {
  JsonText json;
  json.begin_object()
      .key("life")
      .number(spec.life)
      .key("after")
      .number(spec.definition.after.value_or(GlobalPosition{0}).value)
      .key("query");
  write_query(json, spec.definition.query);
  write_group_settings(json, spec.definition.settings);
  json.end_object();
  return json.take();
}

Result<GroupSpec> read_group_spec(std::string_view name, std::string_view text) {
  GroupSpec spec;
  spec.definition.name = std::string(name);
  const auto read = [&]() -> Result<void> {
    const auto json = JsonValue::parse(text);
    if (!json) return refuse(json.error());
    EVERSHARD_TRY(json->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
      if (key == "life" || key == "after") {
        const auto number = value.number();
        if (!number) return refuse(number.error());
        if (key == "life")
          spec.life = *number;
        else
          spec.definition.after = GlobalPosition(*number);
        return {};
      }
      if (key == "query") {
        auto query = read_query(value);
        if (!query) return refuse(std::move(query).error());
        spec.definition.query = *std::move(query);
        return {};
      }
      const auto known = read_group_setting(key, value, spec.definition.settings);
      return known ? Result<void>() : refuse(known.error());
    }));
    return spec.definition.settings.check();
  };
  if (auto done = read(); !done)
    return refuse(ErrorCode::corruption, "the definition of the group " + in_quotes(std::string(name)) +
                                             " cannot be read: " + done.error().what);
  return spec;
}

}  // namespace evershard::cluster
