#include "evershard/cli/program.hpp"

#include "evershard/actors/model/protobuf.hpp"
#include "evershard/api/json/message_json.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

RegisteredTypes types_of(const AggregateKind& kind) {
  RegisteredTypes types;
  const auto& known = kind.types();
  for (const auto& event : known.events) {
    if (event.type.message != nullptr && add_compiled(*event.type.message, types))
      types.aliases.emplace(event.name, protobuf_name(*event.type.message));
  }
  if (known.state.message != nullptr && add_compiled(*known.state.message, types))
    types.states.emplace(std::string(kind.type()), protobuf_name(*known.state.message));
  return types;
}

/// Where a text names a command to be typed: at its beginning, behind a backtick, in a pipe or as <(COMMAND).
bool begins_a_command(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '`' || text.substr(0, at).ends_with("| ") || text.substr(0, at).ends_with("<(");
}

}  // namespace

Result<Program> Program::of(std::string name, const std::vector<CommandLineKind>& kinds,
                            const std::vector<CommandLineProcess>& processes) {
  Program program;
  if (!kinds.empty() || !processes.empty()) program.name_ = std::move(name);
  const auto add = [&](const std::shared_ptr<const AggregateKind>& kind, bool of_process,
                       std::function<HostOptions()> options = {}) -> Result<void> {
    const std::string type(kind->type());
    if (program.kinds_.try_emplace(type, Known{kind, types_of(*kind), of_process, std::move(options)}).second)
      return {};
    return refuse(ErrorCode::invalid_argument, "aggregates of type " + in_quotes(type) +
                                                   " stand in this program twice; instances of a process are some too");
  };
  for (const auto& known : kinds) {
    if (!known.kind) return refuse(known.kind.error());
    EVERSHARD_TRY(add(*known.kind, false, known.options));
  }
  for (const auto& process : processes) {
    if (!process.definition) return refuse(process.definition.error());
    EVERSHARD_TRY(add((*process.definition)->kind, true));
    program.processes_.push_back({*process.definition, process.options, process.effects});
  }
  return program;
}

std::vector<std::string> Program::aggregate_types() const {
  std::vector<std::string> types;
  for (const auto& [type, known] : kinds_) types.push_back(type);
  return types;
}

std::vector<server::ServedKind> Program::kinds() const {
  std::vector<server::ServedKind> kinds;
  for (const auto& [type, known] : kinds_) {
    if (!known.of_process) kinds.push_back({known.kind, known.options});
  }
  return kinds;
}

bool Program::is_of_process(std::string_view aggregate_type) const {
  const auto at = kinds_.find(aggregate_type);
  return at != kinds_.end() && at->second.of_process;
}

std::shared_ptr<const AggregateKind> Program::kind(std::string_view aggregate_type) const {
  const auto at = kinds_.find(aggregate_type);
  return at == kinds_.end() ? nullptr : at->second.kind;
}

Result<void> Program::add_types(PayloadTypes& types) const {
  for (const auto& [type, known] : kinds_) {
    auto own = PayloadTypes::of(known.types);
    if (!own) return refuse(std::move(own).error());
    types.put_own(type, std::move(*own));
  }
  return {};
}

std::string Program::said(std::string text) const {
  constexpr std::string_view usual = "evershard ";
  for (std::size_t at = text.find(usual); at != std::string::npos && name_ != "evershard"; at = text.find(usual, at)) {
    if (begins_a_command(text, at))
      text.replace(at, usual.size() - 1, name_), at += name_.size();
    else
      at += usual.size();
  }
  return text;
}

}  // namespace evershard::cli
