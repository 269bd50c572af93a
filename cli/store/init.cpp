// `evershard init`: a new store.

#include <system_error>

#include "evershard/api/json/administration_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::cli {
namespace {

/// What LocalOptions::shards = 0 means for a new store.
constexpr std::uint64_t shards_default = 16;

Options init_options() {
  Options options = data_options();
  options.number("shards", "N", "how many shards; this cannot be changed later", shards_default)
      .flag("if-absent", "do nothing if the store exists and has as many shards");
  return options;
}

Outcome run_init(const Invocation& invocation) {
  const auto shards = invocation.arguments.number_at_least("shards", 1);
  if (shards > shards_max)
    throw UsageError("--shards is " + std::to_string(shards) + ": the most is " + std::to_string(shards_max));
  const auto directory = invocation.data_dir();
  std::error_code error;
  const bool there = std::filesystem::exists(directory, error) && !std::filesystem::is_empty(directory, error);
  if (there && !invocation.arguments.has("if-absent")) {
    return Failed(Failure(ErrorCode::invalid_argument, in_quotes(directory.string(), 300) + " is not empty",
                          "a store needs a directory of its own; --if-absent accepts a store that is there"));
  }

  LocalOptions open;
  open.data_dir = directory;
  open.shards = static_cast<std::uint32_t>(shards);
  open.create = !there;
  auto store = Local::open(std::move(open));
  if (!store) return Failed(Failure(std::move(store).error()));
  const StoreInfo info = store->stats().value().info;
  JsonText json;
  json.begin_object().key("data").string(directory.string());
  write_info_members(json, info);
  json.key("created").boolean(!there).end_object();
  Parts parts{{there ? "found" : "created", directory.string()}};
  add_info_parts(parts, info);
  print_one(invocation, json, parts);
  return {};
}

}  // namespace

Command init_command() {
  return {"init",       "store", "Creates a store in an empty directory.", "evershard init --data shop --shards 16",
          init_options, run_init};
}

}  // namespace evershard::cli
