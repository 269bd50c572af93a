// `evershard types add, list, remove`: which Protobuf messages a store's payloads are.

#include "evershard/api/json/types_file.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/cli/store/type_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

using Names = std::map<std::string, std::string>;

std::string joined_by(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

void write_strings(JsonText& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const auto& text : texts) json.string(text);
  json.end_array();
}

/// Which names stand for a message.
std::vector<std::string> standing_for(const std::string& message, const Names& names) {
  std::vector<std::string> found;
  for (const auto& [name, meant] : names) {
    if (meant == message) found.push_back(name);
  }
  return found;
}

/// What is registered afterwards.
void report(const Invocation& invocation, const RegisteredTypes& types, std::size_t messages,
            const std::vector<std::string>& changed, const char* what_changed) {
  JsonText json;
  json.begin_object();
  write_strings(json, what_changed, changed);
  json.key("files").number(types.files.size()).key("messages").number(messages);
  write_names(json, "aliases", types.aliases);
  write_names(json, "states", types.states);
  json.end_object();
  Parts parts{{what_changed, changed.empty() ? "(nothing new)" : joined_by(changed, ", ")},
              {"messages", std::to_string(messages)}};
  for (const auto& [name, message] : types.aliases) parts.emplace_back("events " + name, message);
  for (const auto& [name, message] : types.states) parts.emplace_back("state of " + name, message);
  print_one(invocation, json, parts);
}

Options add_options() {
  Options options = data_options();
  options.argument("FILE.pb", "the output of `protoc --include_imports --descriptor_set_out`; - is standard input",
                   false);
  add_name_flags(options);
  options.flag("replace", "replace files and names that are registered and differ");
  return options;
}

std::vector<std::string> differences(const RegisteredTypes& before, const RegisteredTypes& after) {
  std::vector<std::string> changed;
  const auto look = [&](const Names& old, const Names& now, const char* prefix) {
    for (const auto& [name, value] : now) {
      const auto at = old.find(name);
      if (at == old.end() || at->second != value) changed.push_back(prefix + name);
    }
  };
  look(before.files, after.files, "");
  look(before.aliases, after.aliases, "alias ");
  look(before.states, after.states, "state ");
  return changed;
}

Outcome add(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto file = arguments.text("FILE.pb");
  auto more = names_of(arguments);
  if (!more) return Failed(Failure(std::move(more).error()));
  if (!file && more->empty()) throw UsageError("which types? Give FILE.pb, --alias or --state");
  if (file) {
    auto read = descriptors_in(*file);
    if (!read) return Failed(Failure(std::move(read).error()));
    more->files = std::move(read->files);
  }

  auto store = invocation.open();  // held open, so that nobody else changes its types meanwhile
  if (!store) return Failed(std::move(store).error());
  auto before = load_types(invocation.data_dir());
  if (!before) return Failed(Failure(std::move(before).error()));
  RegisteredTypes types = *before;
  if (auto merged = merge(types, *more, arguments.has("replace") ? Clash::newer_wins : Clash::refused); !merged) {
    return Failed(Failure(std::move(merged).error(), "--replace puts the new one in its place"));
  }
  auto usable = PayloadTypes::of(types);
  if (!usable) return Failed(Failure(std::move(usable).error()));
  if (types != *before) {
    if (auto saved = save_types(invocation.data_dir(), types); !saved) return Failed(Failure(std::move(saved).error()));
  }
  report(invocation, types, usable->messages().size(), differences(*before, types), "registered");
  return {};
}

Options list_types_options() { return data_options(); }

Outcome list_types(const Invocation& invocation) {
  if (auto there = invocation.look_for_store(); !there) return there;
  auto types = load_types(invocation.data_dir());
  if (!types) return Failed(Failure(std::move(types).error()));
  auto usable = PayloadTypes::of(*types);
  if (!usable) return Failed(Failure(std::move(usable).error()));

  ListPrinter printer(invocation, {{"MESSAGE"}, {"STATE OF"}, {"ALSO STORED AS"}, {"FILE"}, {"FIELDS"}});
  JsonText json;
  for (const auto& message : usable->messages()) {
    const auto states = standing_for(message.name, types->states), aliases = standing_for(message.name, types->aliases);
    if (invocation.for_people()) {
      std::vector<std::string> fields;
      for (const auto& [name, type] : message.fields) fields.push_back(type + ' ' + name);
      printer.row(
          {message.name, joined_by(states, " "), joined_by(aliases, " "), message.file, joined_by(fields, ", ")});
      continue;
    }
    json.clear();
    json.begin_object().key("message").string(message.name);
    write_strings(json, "state_of", states);
    write_strings(json, "aliases", aliases);
    json.key("file").string(message.file).key("fields").begin_object();
    for (const auto& [name, type] : message.fields) json.key(name).string(type);
    json.end_object().end_object();
    printer.json(json.text());
  }
  printer.finish();
  return {};
}

Options remove_options() {
  Options options = data_options();
  options.values("file", "NAME", "a .proto file from `evershard types list`, with its messages")
      .values("alias", "TYPE", "an event type's message")
      .values("state", "TYPE", "the message of an aggregate type's snapshots")
      .flag("all", "everything, even if it is damaged");
  return options;
}

Outcome remove(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const bool all = arguments.has("all");
  if (all)
    arguments.refuse_beside("--all", {"file", "alias", "state"});
  else if (!arguments.has("file") && !arguments.has("alias") && !arguments.has("state"))
    throw UsageError("which types? Give --file, --alias, --state or --all");

  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  auto types = all ? Result<RegisteredTypes>(RegisteredTypes{}) : load_types(invocation.data_dir());
  if (!types) return Failed(Failure(std::move(types).error(), "--all takes them away, damaged or not"));
  std::vector<std::string> removed;
  for (const auto& [flag, names] :
       {std::pair<const char*, Names*>{"file", &types->files}, {"alias", &types->aliases}, {"state", &types->states}}) {
    for (const auto& name : arguments.texts(flag)) {
      if (names->erase(name) == 0)
        return Failed(
            Failure(ErrorCode::not_found, "no " + std::string(flag) + ' ' + in_quotes(name, 300) + " is registered"));
      removed.push_back(*flag == 'f' ? name : std::string(flag) + ' ' + name);
    }
  }
  if (all) removed.emplace_back("everything");
  auto usable = PayloadTypes::of(*types);
  if (!usable)
    return Failed(Failure(ErrorCode::invalid_argument, "something that stays needs it: " + usable.error().what));
  if (auto saved = save_types(invocation.data_dir(), *types); !saved) return Failed(Failure(std::move(saved).error()));
  report(invocation, *types, usable->messages().size(), removed, "removed");
  return {};
}

}  // namespace

Command types_add_command() {
  return {"types add",
          "types",
          "Registers Protobuf messages, so that payloads are shown as JSON.",
          "evershard types add bank.pb --data shop --alias deposited.v1=bank.Deposited",
          add_options,
          add};
}
Command types_list_command() {
  return {"types list",
          "types",
          "Lists registered messages and the types they stand for.",
          "evershard types list --data shop",
          list_types_options,
          list_types};
}
Command types_remove_command() {
  return {"types remove",
          "types",
          "Removes registered files and names. Payloads stay as they are.",
          "evershard types remove --data shop --alias deposited.v1",
          remove_options,
          remove};
}

}  // namespace evershard::cli
