#include "evershard/services/indexes/definition_fold.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/indexes/json_depth.hpp"
#include "evershard/services/indexes/part_name.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t definition_name_bytes_max = 64;

struct DefinitionPayload {
  std::string kind, spec;
};

// An imported one may be anything.
std::optional<DefinitionPayload> read_definition_payload(const std::string& payload) {
  if (is_nested_too_deeply(payload)) return std::nullopt;
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || !json.contains("spec")) return std::nullopt;
  const auto kind = json.find("kind");
  if (kind == json.end() || !kind->is_string()) return std::nullopt;
  return DefinitionPayload{kind->get<std::string>(), json.at("spec").dump()};
}

std::optional<SeqNr> of_its_table(const std::string& payload) {
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object() || !json.contains("of") || !json.at("of").is_number_unsigned()) return std::nullopt;
  return SeqNr{json.at("of").get<std::uint64_t>()};
}

SeqNr last_noted(const Definition& definition, std::string_view verb) {
  const auto found = definition.noted.find(verb);
  return found == definition.noted.end() ? SeqNr{0} : found->second;
}

}  // namespace

DefinitionNames::DefinitionNames(std::string category)
    : category_(std::move(category)), aggregate_type_("$" + category_), event_prefix_("$" + category_) {
  event_prefix_[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(event_prefix_[1])));
}

std::optional<std::string_view> DefinitionNames::verb_of(std::string_view event_type) const {
  if (!event_type.starts_with(event_prefix_) || event_type.size() == event_prefix_.size()) return std::nullopt;
  return event_type.substr(event_prefix_.size());
}

Result<void> check_definition_name(std::string_view role, std::string_view name) {
  if (const auto part = role == "projection" ? parse_part_name(name) : std::nullopt)
    return check_definition_name(role, part->table);
  const auto known = [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= definition_name_bytes_max && name.front() != '.' &&
      std::ranges::all_of(name, known))
    return {};
  return refuse(ErrorCode::invalid_argument,
                std::string(role) + " " + in_quotes(std::string(name)) +
                    " is no name: 1 to 64 of a-z, A-Z, 0-9, '.', '_' and '-', not beginning with a dot");
}

std::string definition_payload(std::string_view kind, std::string_view spec) {
  return nlohmann::json{{"kind", kind}, {"spec", nlohmann::json::parse(spec)}}.dump();
}

bool same_definition(std::string_view a, std::string_view b) {
  const auto one = nlohmann::json::parse(a, nullptr, false), other = nlohmann::json::parse(b, nullptr, false);
  return !one.is_discarded() && !other.is_discarded() && one.dump() == other.dump();  // as text: 1 is not 1.0
}

Result<void> fold(Definition& definition, const DefinitionNames& names, const RecordedEvent& event) {
  definition.last = event.seq_nr;
  const auto verb = names.verb_of(event.type);
  if (!verb) return {};
  auto at = event.seq_nr;
  if (parse_part_name(definition.name)) {
    const auto of = of_its_table(event.payload);
    if (!of)
      return refuse(ErrorCode::corruption,
                    "the definition of a part at position " + std::to_string(event.position.value) + " cannot be read");
    at = *of;
  }
  definition.noted.insert_or_assign(std::string(*verb), at);
  auto& versions = definition.versions;
  if (*verb == verbs::created || *verb == verbs::changed) {
    auto payload = read_definition_payload(event.payload);
    if (!payload)
      return refuse(ErrorCode::corruption,
                    "the definition at position " + std::to_string(event.position.value) + " cannot be read");
    const bool first = *verb == verbs::created;
    if (first) {
      versions.clear();
      definition.dropped = definition.paused = false;
    }
    definition.kind = std::move(payload->kind);
    versions.push_back({at, std::move(payload->spec), at, !first, event.position});
  } else if (*verb == verbs::dropped) {
    definition.dropped = true;
  } else if (*verb == verbs::paused || *verb == verbs::resumed) {
    definition.paused = *verb == verbs::paused;
  } else if ((*verb == verbs::reset || *verb == verbs::rebuilt) && !versions.empty()) {
    versions.back().rows = at;
    versions.back().beside = *verb == verbs::rebuilt;
  }
  return {};
}

bool waits_to_be_served(const Definition& definition) {
  return !definition.versions.empty() && definition.newest().beside &&
         last_noted(definition, verbs::served) < definition.newest().rows;
}

SeqNr served_version(const Definition& definition) {
  if (!waits_to_be_served(definition)) return definition.newest().version;
  // What cleared rows at once was of the newest then, and so was what said that they are read.
  const auto upto = std::max(last_noted(definition, verbs::served), last_noted(definition, verbs::reset));
  auto served = definition.versions.front().version;
  for (const auto& version : definition.versions) {
    if (version.version <= upto) served = version.version;
  }
  return served;
}

}  // namespace evershard::actors
