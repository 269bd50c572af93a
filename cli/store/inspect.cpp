// `evershard inspect`: raw keys and records, decoded, of a store that is not open.

#include <limits>

#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/local/maintenance.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

std::string families_text() {
  std::string text;
  for (const auto& name : raw_families()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Options inspect_options() {
  Options options = data_options();
  static const std::string families = "which rows: " + families_text();
  options.value("family", "NAME", families.c_str(), InspectOptions{}.family)
      .such_as(raw_families())
      .value("shard", "N", "only rows of this shard; for journal and runs")
      .value("prefix", "HEX", "only keys that begin with these bytes, in hex")
      .value("limit", "N", "show at most this many rows; without it, all");
  return options;
}

std::string prefix_of(const std::string& text) {
  auto bytes = bytes_of_hex(text);
  if (!bytes) throw UsageError("--prefix is " + in_quotes(text) + ": it must be pairs of hex digits");
  return *std::move(bytes);
}

Outcome run_inspect(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  InspectOptions asked;
  asked.family = arguments.text("family").value_or(asked.family);
  asked.prefix = prefix_of(arguments.text("prefix").value_or(""));
  if (const auto shard = arguments.number("shard")) {
    if (*shard > std::numeric_limits<ShardId::rep>::max()) throw UsageError("--shard is out of range");
    asked.shard = ShardId(static_cast<ShardId::rep>(*shard));
  }
  const std::uint64_t limit = arguments.number("limit").value_or(std::numeric_limits<std::uint64_t>::max());
  const auto directory = invocation.data_dir();

  ListPrinter printer(invocation, {{"KEY", false, 80}, {"BYTES", true}, {"VALUE"}});
  JsonText json;
  std::uint64_t rows = 0;
  const auto see = [&](const RawRow& row) {
    if (rows == limit) return false;
    ++rows;
    if (invocation.for_people()) {
      printer.row({row.key, std::to_string(row.value_bytes), row.value});
    } else {
      json.clear();
      json.begin_object().key("family").string(row.family).key("key_hex").string(row.key_hex).key("key").raw(row.key);
      json.key("value_bytes").number(row.value_bytes).key("value").raw(row.value).end_object();
      printer.json(json.text());
    }
    return !interrupted() && !invocation.out.ended();
  };
  auto done = limit == 0 ? Result<void>{} : inspect(directory, asked, see);
  printer.finish();
  if (!done) return Failed(Failure(std::move(done).error()));
  if (interrupted()) return Failed(Failure(ErrorCode::cancelled, "stopped after " + std::to_string(rows) + " rows"));
  return {};
}

}  // namespace

Command inspect_command() {
  return {"inspect",
          "store",
          "Shows the raw keys and records of a store that is not open.",
          "evershard inspect --data shop --family journal --shard 3 --limit 10",
          inspect_options,
          run_inspect};
}

}  // namespace evershard::cli
