#include "evershard/actors/projection/definition_fold.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t definition_name_bytes_max = 64;

struct DefinitionPayload {
  std::string kind, spec;
};

std::optional<DefinitionPayload> read_definition_payload(const std::string& payload) {
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || !json.contains("spec")) return std::nullopt;
  const auto kind = json.find("kind");
  if (kind == json.end() || !kind->is_string()) return std::nullopt;
  return DefinitionPayload{kind->get<std::string>(), json.at("spec").dump()};
}

}  // namespace

DefinitionNames::DefinitionNames(std::string category) : category_(std::move(category)), aggregate_type_("$" + category_), event_prefix_("$" + category_) {
  event_prefix_[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(event_prefix_[1])));
}

std::optional<std::string_view> DefinitionNames::verb_of(std::string_view event_type) const {
  if (!event_type.starts_with(event_prefix_) || event_type.size() == event_prefix_.size()) return std::nullopt;
  return event_type.substr(event_prefix_.size());
}

Result<void> check_definition_name(std::string_view role, std::string_view name) {
  const auto known = [](unsigned char c) { return (std::isalnum(c) != 0 && c < 0x80) || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= definition_name_bytes_max && name.front() != '.' && std::ranges::all_of(name, known)) return {};
  return refuse(ErrorCode::invalid_argument, std::string(role) + " " + in_quotes(std::string(name)) + " is no name: 1 to 64 of a-z, A-Z, 0-9, '.', '_' and '-', not beginning with a dot");
}

std::string definition_payload(std::string_view kind, std::string_view spec) {
  return nlohmann::json{{"kind", kind}, {"spec", nlohmann::json::parse(spec)}}.dump();
}

Result<void> fold(Definition& definition, const DefinitionNames& names, const RecordedEvent& event) {
  definition.last = event.seq_nr;
  const auto verb = names.verb_of(event.type);
  if (!verb) return {};
  definition.noted.insert_or_assign(std::string(*verb), event.seq_nr);
  auto& versions = definition.versions;
  if (*verb == verbs::created || *verb == verbs::changed) {
    auto payload = read_definition_payload(event.payload);
    if (!payload) return refuse(ErrorCode::corruption, "the definition at position " + std::to_string(event.position.value) + " cannot be read");
    const bool first = *verb == verbs::created;
    if (first) {
      versions.clear();
      definition.dropped = definition.paused = false;
    }
    definition.kind = std::move(payload->kind);
    versions.push_back({event.seq_nr, std::move(payload->spec), event.seq_nr, !first, event.position});
  } else if (*verb == verbs::dropped) {
    definition.dropped = true;
  } else if (*verb == verbs::paused || *verb == verbs::resumed) {
    definition.paused = *verb == verbs::paused;
  } else if ((*verb == verbs::reset || *verb == verbs::rebuilt) && !versions.empty()) {
    versions.back().rows = event.seq_nr;
    versions.back().beside = *verb == verbs::rebuilt;
  }
  return {};
}

}  // namespace evershard::actors
