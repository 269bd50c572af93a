#include "evershard/cli/store/type_flags.hpp"

#include "evershard/api/json/input.hpp"
#include "evershard/api/json/types_file.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"

namespace evershard::cli {
namespace {

/// `stored.name=package.Message`: a message's name has no equals sign, a stored name may.
std::pair<std::string, std::string> pair_of(const std::string& flag, const std::string& text) {
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError("--" + flag + " is " + text, "it looks like stored_name=package.Message");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void put_name(std::map<std::string, std::string>& names, const std::string& flag,
              std::pair<std::string, std::string> pair) {
  const auto [at, first] = names.insert(std::move(pair));
  if (!first) throw UsageError("--" + flag + " names " + at->first + " twice");
}

}  // namespace

void add_name_flags(Options& options) {
  options
      .values("alias", "TYPE=MESSAGE", "events of this type are this message; without it, the message of the same name")
      .values("state", "TYPE=MESSAGE", "snapshots of aggregates of this type are this message");
}

void add_type_flags(Options& options) {
  options.value("descriptors", "FILE.pb",
                "more types for this command, from a file that protoc --descriptor_set_out made");
  add_name_flags(options);
  options.flag("as-stored", "show payloads as bytes; ignore registered types");
}

Result<RegisteredTypes> names_of(const Arguments& arguments) {
  RegisteredTypes types;
  for (const auto& text : arguments.texts("alias")) {
    auto pair = pair_of("alias", text);
    EVERSHARD_TRY(check_name("event type", pair.first, event_type_bytes_max));
    put_name(types.aliases, "alias", std::move(pair));
  }
  for (const auto& text : arguments.texts("state")) {
    auto pair = pair_of("state", text);
    EVERSHARD_TRY(AggregateId::check({pair.first, "x"}));
    put_name(types.states, "state", std::move(pair));
  }
  return types;
}

Result<RegisteredTypes> descriptors_in(std::string_view file) {
  auto input = Input::open(std::string(file));
  if (!input) return refuse(std::move(input).error());
  auto bytes = input->read_all(descriptor_set_bytes_max);
  if (!bytes) return refuse(std::move(bytes).error());
  return read_descriptor_set(*bytes, file);
}

/// What the store has registered, wherever it is.
static Result<RegisteredTypes> registered_types(const Invocation& invocation) {
  auto server = invocation.server();
  if (!server) return load_types(invocation.data_dir());
  auto store = Remote::connect(*std::move(server));
  if (!store) return refuse(std::move(store).error());
  auto bytes = store->types();
  if (!bytes) return refuse(std::move(bytes).error());
  return bytes->empty() ? Result<RegisteredTypes>(RegisteredTypes{}) : decode_types(*bytes, "the server's types");
}

tl::expected<PayloadTypes, Failure> payload_types(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  if (arguments.has("as-stored")) {
    arguments.refuse_beside("--as-stored", {"descriptors", "alias", "state"});
    return PayloadTypes();
  }
  auto given = names_of(arguments);
  if (!given) return Failed(Failure(std::move(given).error()));
  if (const auto file = arguments.text("descriptors")) {
    auto read = descriptors_in(*file);
    if (!read) return Failed(Failure(std::move(read).error()));
    given->files = std::move(read->files);
  }
  auto types = registered_types(invocation);
  if (!types) {
    if (types.error().code != ErrorCode::corruption) return Failed(Failure(std::move(types).error()));
    return Failed(Failure(std::move(types).error(),
                          "--as-stored reads without types; `evershard types remove --all` removes the damaged ones"));
  }
  if (auto merged = merge(*types, *given, Clash::newer_wins); !merged)
    return Failed(Failure(std::move(merged).error()));
  auto usable = PayloadTypes::of(*types);
  if (!usable) return Failed(Failure(std::move(usable).error()));
  if (auto own = invocation.program.add_types(*usable); !own) return Failed(Failure(std::move(own).error()));
  return std::move(*usable);
}

}  // namespace evershard::cli
