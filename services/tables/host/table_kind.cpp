#include "evershard/services/tables/host/table_kind.hpp"

#include "evershard/protocol/reserved_types.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/host/table_definition_json.hpp"

namespace evershard::cluster {

Result<std::string> TableKind::check(const std::string& name, const std::string& spec) const {
  const auto definition = read_table_definition(spec, name);
  if (!definition) return refuse(definition.error());
  EVERSHARD_TRY(check_known_types(definition->query()));
  if (const auto* rules = std::get_if<std::vector<actors::MappingRule>>(&definition->made_by)) {
    for (const auto& rule : *rules) {
      for (const auto& type : rule.types) EVERSHARD_TRY(check_known_type(type));
    }
  }
  return table_definition_json(*definition);
}

bool TableKind::has_rows(const std::string& name, const std::string& spec) const {
  return actors::parse_part_name(name) || table_parts(spec) == 1;
}

Result<std::unique_ptr<actors::Processor>> TableKind::make(const std::string& name, const std::string& spec) const {
  auto definition = read_table_definition(spec, name);
  if (!definition) return refuse(std::move(definition).error());
  actors::TableHandler handler;
  if (const auto* asked = std::get_if<actors::HandlerName>(&definition->made_by))
    handler = handlers_->find(asked->name);
  auto made = actors::TableProjection::make(name, std::move(*definition), std::move(handler), event_at_,
                                            reader_ ? reader_() : actors::PayloadAsJson());
  if (!made) return refuse(std::move(made).error());
  return std::unique_ptr<actors::Processor>(std::move(*made));
}

}  // namespace evershard::cluster
