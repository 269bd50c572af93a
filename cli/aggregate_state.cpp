// `evershard aggregate state`: an aggregate's state at any version, as far as it is written down: the newest snapshot, and the
// events behind it, which only the aggregate's own program can fold into it.

#include <algorithm>
#include <limits>

#include "evershard/cluster/exchange/base64.hpp"
#include "evershard/cli/commands.hpp"
#include "evershard/cluster/exchange/event_json.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cluster/exchange/json_indent.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/query_flags.hpp"
#include "evershard/cli/store_info.hpp"
#include "evershard/cli/type_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

Options state_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "such as order-1");
  options.value("version", "NR", "at this version; without it, the latest")
      .value("up-to", "POSITION", "as of this position in the store")
      .value("limit", "N", "at most so many of the events behind the snapshot; without it, all");
  add_type_flags(options);
  return options;
}

/// The point in an aggregate's life that is looked at.
struct Moment {
  SeqNr version;
  GlobalPosition position;
};

Result<Moment> moment_of(EventStore& store, const AggregateId& aggregate, std::optional<std::uint64_t> version, std::optional<GlobalPosition> up_to) {
  auto info = store.aggregate(aggregate, up_to);
  if (!info) return refuse(std::move(info).error());
  if (!version || *version == info->version.value) return Moment{info->version, info->last_position};
  if (*version > info->version.value) {
    return refuse(ErrorCode::not_found, "aggregate " + in_quotes(aggregate.text(), 700) + " is at version " + std::to_string(info->version.value) +
                                            "; it has no version " + std::to_string(*version) + " yet");
  }
  auto stream = store.read(aggregate, StreamOptions{.from = SeqNr(*version), .limit = 1});
  auto event = stream.next();
  if (!event) return refuse(std::move(event).error());
  if (!*event) return refuse(ErrorCode::not_found, "there is no version " + std::to_string(*version) + " of " + in_quotes(aggregate.text(), 700));
  return Moment{SeqNr(*version), (*event)->position};
}

/// A snapshot's payload as JSON.
struct State {
  std::string json;     ///< base64 in quotes where `base64`
  std::string message;  ///< empty: it is no Protobuf
  bool base64 = false;
  bool unknown_fields = false;
};

tl::expected<State, Failure> state_of(const RecordedSnapshot& snapshot, const PayloadTypes& types, bool as_stored) {
  if (shown_as_json(snapshot.payload, snapshot.format)) return State{snapshot.payload, {}};
  if (as_stored || snapshot.format != PayloadFormat::protobuf) return State{'"' + to_base64(snapshot.payload) + '"', {}, true};
  const std::string& type = snapshot.aggregate.type;
  const auto message = types.message_of_state(type);
  if (!message) {
    return Failed(Failure(ErrorCode::not_found, "no message is registered for the state of " + in_quotes(type, 200),
                          "`evershard types add FILE.pb --state " + type + "=package.Message` registers it; --as-stored shows the bytes"));
  }
  auto read = types.read(*message, snapshot.payload);
  if (!read) {
    return Failed(Failure(read.error().code, "the snapshot at version " + std::to_string(snapshot.version.value) + ": " + read.error().what,
                          "is it of another schema revision than " + *message + "? It has revision " + std::to_string(snapshot.schema_revision) +
                              "; --as-stored shows the bytes"));
  }
  return State{std::move(read->json), *message, false, read->unknown_fields};
}

/// What is shown in front of the events. `snapshot` and `state` are there together, or neither.
struct Head {
  AggregateId aggregate;
  Moment at;
  std::optional<RecordedSnapshot> snapshot;
  State state;

  [[nodiscard]] std::uint64_t state_version() const { return snapshot ? snapshot->version.value : 0; }
  [[nodiscard]] std::uint64_t events_after() const { return at.version.value - state_version(); }
};

/// Without the end of its object: the events follow.
std::string json_of(const Head& head) {
  JsonText json;
  json.begin_object().key("aggregate").string(head.aggregate.text());
  json.key("version").number(head.at.version.value).key("position").number(head.at.position.value);
  json.key("state").raw(head.snapshot ? head.state.json : "null");
  if (head.state.base64) json.key("state_encoding").string("base64");
  if (!head.state.message.empty()) json.key("decoded_as").string(head.state.message);
  if (head.state.unknown_fields) json.key("unknown_fields").boolean(true);
  json.key("state_version").number(head.state_version());
  json.key("snapshot");
  if (head.snapshot) {
    json.begin_object().key("position").number(head.snapshot->position.value).key("schema_revision").number(head.snapshot->schema_revision);
    json.key("payload_format").number(static_cast<std::uint32_t>(head.snapshot->format)).key("taken_at").string(head.snapshot->taken_at.text());
    json.key("latest").boolean(head.snapshot->latest).end_object();
  } else {
    json.raw("null");
  }
  json.key("events_after").number(head.events_after()).key("events").begin_array();
  return json.take();
}

/// Many lines, each harmless to a terminal.
std::string lines_shown(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    shown += (at == 0 ? "" : "\n") + fitted(text.substr(at, end - at), end - at);
    at = end + 1;
  }
  return shown;
}

void print_for_people(const Invocation& invocation, const Head& head) {
  Parts parts{{"aggregate", head.aggregate.text()},
              {"version", std::to_string(head.at.version.value) + ", at position " + std::to_string(head.at.position.value)}};
  const std::string after = std::to_string(head.events_after());
  if (head.snapshot) {
    parts.emplace_back("state", "of version " + std::to_string(head.state_version()) + (head.state.message.empty() ? "" : ", " + head.state.message) +
                                    (head.state.unknown_fields ? ", and fields that are not registered" : ""));
    parts.emplace_back("snapshot", "schema revision " + std::to_string(head.snapshot->schema_revision) + ", taken at " + head.snapshot->taken_at.text() +
                                       (head.snapshot->latest ? ", the latest" : ", a retained copy"));
    parts.emplace_back("events after", head.events_after() == 0 ? "none: this is the state of version " + std::to_string(head.at.version.value)
                                                                : after + ": the state of version " + std::to_string(head.at.version.value) + " is what they make of it");
  } else {
    parts.emplace_back("state", "unknown: no snapshot at or before this version");
    parts.emplace_back("events", after + ", from the first on: the state of version " + std::to_string(head.at.version.value) + " is what they make");
  }
  print_one(invocation, {}, parts);
  if (head.snapshot && head.state.base64) invocation.out.write('\n' + head.state.json + "\n");
  else if (head.snapshot) invocation.out.write('\n' + lines_shown(indented(head.state.json)) + '\n');
  if (head.events_after() > 0) invocation.out.write("\n");
}

Outcome print_events(const Invocation& invocation, EventStream stream, const PayloadTypes& types) {
  EventPrinter table(invocation, types);
  JsonText json;
  bool first = true;
  Outcome outcome;
  for (;;) {
    auto event = stream.next();
    if (!event) outcome = Failed(Failure(std::move(event).error()));
    if (!event || !*event || invocation.out.ended()) break;
    if (invocation.for_people()) {
      table.event(**event);
    } else {
      json.clear();
      write_event(json, **event, types);
      invocation.out.write((first ? "" : ",") + json.text());
      first = false;
    }
    if (interrupted()) {
      outcome = Failed(Failure(ErrorCode::cancelled, "stopped at version " + std::to_string((*event)->seq_nr.value)));
      break;
    }
  }
  if (invocation.for_people()) table.flush();
  else invocation.out.write("]}\n");
  return outcome;
}

Outcome run_state(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  Head head{arguments.aggregate("AGGREGATE"), {}, {}, {}};
  std::optional<std::uint64_t> version;
  if (arguments.has("version")) version = arguments.number_at_least("version", 1);
  const auto up_to = position_of(arguments, "up-to");
  if (version) arguments.refuse_beside("--version", {"up-to"});
  const std::uint64_t limit = arguments.number("limit").value_or(std::numeric_limits<std::uint64_t>::max());

  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  auto moment = moment_of(*store, head.aggregate, version, up_to);
  if (!moment) return Failed(Failure(std::move(moment).error()));
  head.at = *moment;
  auto snapshot = store->snapshot(head.aggregate, head.at.version);
  if (!snapshot) return Failed(Failure(std::move(snapshot).error()));
  head.snapshot = std::move(*snapshot);
  if (head.snapshot) {
    auto state = state_of(*head.snapshot, *types, arguments.has("as-stored"));
    if (!state) return Failed(std::move(state).error());
    head.state = std::move(*state);
  }

  if (invocation.for_people()) print_for_people(invocation, head);
  else invocation.out.write(json_of(head));
  return print_events(invocation,
                      store->read(head.aggregate, StreamOptions{.from = SeqNr(head.state_version() + 1), .limit = std::min(limit, head.events_after())}),
                      *types);
}

}  // namespace

Command aggregate_state_command() {
  return {"aggregate state", "reading", "Shows an aggregate's state at any version: its newest snapshot as JSON, and the events behind it.",
          "evershard aggregate state bank_account-1 --data shop --version 7", state_options, run_state};
}

}  // namespace evershard::cli
