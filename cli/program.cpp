#include "evershard/cli/program.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

namespace pb = google::protobuf;

/// The file, and what it imports.
void add_file(const pb::FileDescriptor& file, RegisteredTypes& to) {
  if (to.files.contains(file.name())) return;
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  to.files.emplace(file.name(), proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) add_file(*file.dependency(i), to);
}

/// Returns: whether the message describes itself; one of Protobuf's lite runtime does not.
bool add_message(const pb::MessageLite& message, RegisteredTypes& to) {
  const auto* full = dynamic_cast<const pb::Message*>(&message);
  if (full == nullptr) return false;
  add_file(*full->GetDescriptor()->file(), to);
  return true;
}

RegisteredTypes types_of(const CommandLineKind& known, const std::string& type) {
  RegisteredTypes types;
  for (const auto& [name, message] : known.events) {
    if (add_message(*message, types)) types.aliases.emplace(name, message->GetTypeName());
  }
  if (known.state != nullptr && add_message(*known.state, types))
    types.states.emplace(type, known.state->GetTypeName());
  return types;
}

/// Where a text names a command to be typed: at its beginning, behind a backtick, in a pipe or as <(COMMAND).
bool begins_a_command(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '`' || text.substr(0, at).ends_with("| ") || text.substr(0, at).ends_with("<(");
}

}  // namespace

Result<Program> Program::of(std::string name, const std::vector<CommandLineKind>& kinds) {
  Program program;
  if (!kinds.empty()) program.name_ = std::move(name);
  for (const auto& known : kinds) {
    if (!known.kind) return refuse(known.kind.error());
    const std::string type((*known.kind)->type());
    if (!program.kinds_.try_emplace(type, Known{*known.kind, types_of(known, type)}).second) {
      return refuse(ErrorCode::invalid_argument,
                    "aggregates of type " + in_quotes(type) + " stand in this program twice");
    }
  }
  return program;
}

std::vector<std::string> Program::aggregate_types() const {
  std::vector<std::string> types;
  for (const auto& [type, known] : kinds_) types.push_back(type);
  return types;
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
