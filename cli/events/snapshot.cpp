// `evershard snapshot put, get, list`.

#include <limits>

#include "evershard/api/json/event_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/payload_flags.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/type_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

std::uint32_t number32(const char* name, std::uint64_t number) {
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError("--" + std::string(name) + " is " + std::to_string(number) + ": the most is 4294967295");
  }
  return static_cast<std::uint32_t>(number);
}

constexpr DurationRule ttl_rule{
    BareNumber::seconds, {}, std::chrono::seconds(std::numeric_limits<std::uint32_t>::max()), std::chrono::seconds(1)};

Options put_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate whose state it is, such as order-1");
  options.value("version", "NR", "the aggregate's version that the state belongs to; it must exist");
  add_payload_flags(options);
  options
      .number("schema-revision", "NUMBER",
              "the state's schema; a reader that knows another one replays the events instead",
              Snapshot{}.schema_revision)
      .value("keep", "N",
             "how many snapshots to keep beside the latest; 0: none; without it, older ones stay as they are")
      .duration("ttl", "how long this retained copy is shown; the latest one is always shown", ttl_rule)
      .value("subject", "NAME",
             "the person whose data the payload is; it is encrypted with a key that `retention erase` destroys");
  return options;
}

Outcome put(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  Snapshot snapshot;
  snapshot.aggregate = arguments.aggregate("AGGREGATE");
  snapshot.version = SeqNr(arguments.number_at_least("version", 1));
  if (const auto revision = arguments.number("schema-revision"))
    snapshot.schema_revision = number32("schema-revision", *revision);
  if (const auto keep = arguments.number("keep")) snapshot.keep = number32("keep", *keep);
  if (const auto ttl = arguments.duration("ttl")) snapshot.ttl = std::chrono::duration_cast<std::chrono::seconds>(*ttl);
  snapshot.subject = arguments.text("subject").value_or("");
  if (snapshot.subject.empty() && arguments.has("subject"))
    throw UsageError("--subject is empty", "nothing would be sealed; leave it out where the payload is nobody's");
  if (!arguments.has("payload") && !arguments.has("payload-file"))
    throw UsageError("which state? Give --payload or --payload-file");
  auto payload = payload_of(arguments);
  if (!payload) return Failed(Failure(std::move(payload).error()));
  snapshot.payload = std::move(payload->bytes);
  snapshot.format = payload->format;

  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());
  const AggregateId aggregate = snapshot.aggregate;
  const SeqNr version = snapshot.version;
  if (auto stored = store->put_snapshot(std::move(snapshot)); !stored)
    return Failed(Failure(std::move(stored).error()));
  JsonText json;
  json.begin_object().key("aggregate").string(aggregate.text()).key("version").number(version.value).end_object();
  print_one(invocation, json,
            {{"stored", "the snapshot of " + aggregate.text() + " at version " + std::to_string(version.value)}});
  return {};
}

Options get_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  options.value("version", "NR", "the newest snapshot at or before this version; without it, the latest")
      .value("up-to", "POSITION", "the newest snapshot as of this position of the store")
      .flag("raw", "show the payload's bytes alone");
  add_type_flags(options);
  return options;
}

Outcome get(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto aggregate = arguments.aggregate("AGGREGATE");
  const auto version = arguments.number("version");
  const auto up_to = position_of(arguments, "up-to");
  if (version) arguments.refuse_beside("--version", {"up-to"});
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());

  auto found = up_to     ? store->snapshot_as_of(aggregate, *up_to)
               : version ? store->snapshot(aggregate, SeqNr(*version))
                         : store->snapshot(aggregate);
  if (!found) return Failed(Failure(std::move(found).error()));
  if (!*found)
    return Failed(
        Failure(ErrorCode::not_found, "there is no such snapshot of aggregate " + in_quotes(aggregate.text())));
  const RecordedSnapshot& snapshot = **found;
  if (arguments.has("raw")) {
    invocation.out.write(snapshot.payload);
    return {};
  }
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  JsonText json;
  write_snapshot(json, snapshot, *types);
  print_one(invocation, json,
            {{"aggregate", snapshot.aggregate.text()},
             {"version", std::to_string(snapshot.version.value)},
             {"position", std::to_string(snapshot.position.value)},
             {"schema revision", std::to_string(snapshot.schema_revision)},
             {"taken at", snapshot.taken_at.text()},
             {"expires at", snapshot.expires_at ? snapshot.expires_at->text() : "never"},
             {"latest", snapshot.latest ? "yes" : "no"},
             {"payload", payload_cell(snapshot, *types)}});
  return {};
}

Options list_snapshots_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  add_type_flags(options);
  return options;
}

Outcome list_snapshots(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  auto snapshots = store->snapshots(aggregate);
  if (!snapshots) return Failed(Failure(std::move(snapshots).error()));

  ListPrinter printer(invocation, {{"VERSION", true},
                                   {"POSITION", true},
                                   {"REVISION", true},
                                   {"TAKEN AT"},
                                   {"EXPIRES AT"},
                                   {"LATEST"},
                                   {"PAYLOAD"}});
  JsonText json;
  for (const auto& snapshot : *snapshots) {
    if (invocation.for_people()) {
      printer.row({std::to_string(snapshot.version.value), std::to_string(snapshot.position.value),
                   std::to_string(snapshot.schema_revision), snapshot.taken_at.text(),
                   snapshot.expires_at ? snapshot.expires_at->text() : "never", snapshot.latest ? "yes" : "",
                   payload_cell(snapshot, *types)});
    } else {
      json.clear();
      write_snapshot(json, snapshot, *types);
      printer.json(json.text());
    }
  }
  printer.finish();
  return {};
}

}  // namespace

Command snapshot_put_command() {
  return {"snapshot put",
          "data",
          "Stores an aggregate's state at one of its versions.",
          R"(evershard snapshot put order-1 --data shop --version 3 --payload '{"total":12}' --keep 5)",
          put_options,
          put};
}
Command snapshot_get_command() {
  return {"snapshot get",
          "data",
          "Shows an aggregate's snapshot: the latest, or an earlier one.",
          "evershard snapshot get order-1 --data shop --version 2",
          get_options,
          get};
}
Command snapshot_list_command() {
  return {"snapshot list",
          "data",
          "Lists an aggregate's snapshots.",
          "evershard snapshot list order-1 --data shop",
          list_snapshots_options,
          list_snapshots};
}

}  // namespace evershard::cli
