// `evershard aggregate state`: an aggregate's state at any version: exact where this is the command line of the
// aggregate's own program; else as far as it is written down: the newest snapshot, and the events behind it.

#include <algorithm>
#include <limits>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_indent.hpp"
#include "evershard/api/json/own_events.hpp"
#include "evershard/cli/aggregates/exact_state.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/cli/store/type_flags.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::cli {
namespace {

Options state_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  options.value("version", "NR", "the state at this version; without it, at the latest")
      .value("up-to", "POSITION", "as of this position of the store")
      .value("limit", "N", "show at most this many events after the snapshot; without it, all");
  add_type_flags(options);
  return options;
}

void state_options_with_aggregates(Options& options) {
  options.flag("no-replay", "show the newest snapshot and the events after it as they are stored; apply nothing");
}

/// Of what the store keeps for processes: what they keep of themselves, and the user's part of an instance's state.
/// Absent: it is neither.
Result<std::optional<StateText>> state_of_ours(EventStore& store, const RecordedSnapshot& snapshot,
                                               const PayloadTypes& types) {
  if (auto own = decoded_own(snapshot)) {
    if (!*own) return refuse(std::move(*own).error());
    return StateText{std::move((*own)->json), std::move((*own)->message)};
  }
  if (snapshot.format != PayloadFormat::protobuf) return std::nullopt;
  const auto of_process = is_of_process(store, snapshot.aggregate.type);
  if (!of_process) return refuse(of_process.error());
  if (!*of_process) return std::nullopt;
  auto instance = state_of_instance(snapshot.aggregate.type, snapshot.payload, types);
  if (!instance) return refuse(std::move(instance).error());
  return StateText{std::move(instance->json), std::move(instance->message), instance->base64, instance->unknown_fields};
}

tl::expected<StateText, Failure> state_of(EventStore& store, const RecordedSnapshot& snapshot,
                                          const PayloadTypes& types, bool as_stored) {
  const std::string& type = snapshot.aggregate.type;
  if (!as_stored) {
    auto ours = state_of_ours(store, snapshot, types);
    if (!ours) return Failed(Failure(std::move(ours).error(), "--as-stored shows the bytes"));
    if (*ours) return **std::move(ours);
  }
  auto text = state_text(type, snapshot.payload, snapshot.format, types, as_stored);
  if (text) return std::move(*text);
  if (text.error().code == ErrorCode::not_found) {
    return Failed(Failure(std::move(text).error(), "`evershard types add FILE.pb --state " + type +
                                                       "=package.Message` registers it; --as-stored shows the bytes"));
  }
  return Failed(Failure(text.error().code,
                        "the snapshot at version " + std::to_string(snapshot.version.value) + ": " + text.error().what,
                        "is it of another schema revision than the message that is registered? It has revision " +
                            std::to_string(snapshot.schema_revision) + "; --as-stored shows the bytes"));
}

/// What is shown in front of the events. Where nothing was replayed, `snapshot` and `state` are there together, or
/// neither.
struct Head {
  AggregateId aggregate;
  Moment at;
  std::optional<RecordedSnapshot> snapshot{};
  StateText state{};
  bool replayed = false;  ///< `state` is that of `at`, made by the program; `snapshot` is what it began with
  std::string snapshot_not_used{};
  std::uint64_t events_gone =
      0;  ///< of those behind the state, and behind the aggregate's last removal: removed. Counted where people read it

  [[nodiscard]] bool has_state() const { return replayed || snapshot; }
  [[nodiscard]] bool exact() const { return has_state() && events_after() == 0; }
  [[nodiscard]] std::uint64_t snapshot_version() const { return snapshot ? snapshot->version.value : 0; }
  [[nodiscard]] std::uint64_t state_version() const { return replayed ? at.version.value : snapshot_version(); }
  [[nodiscard]] std::uint64_t events_after() const { return at.version.value - state_version(); }
};

/// Without the end of its object: the events follow.
std::string json_of(const Head& head) {
  JsonText json;
  json.begin_object().key("aggregate").string(head.aggregate.text());
  json.key("version").number(head.at.version.value).key("position").number(head.at.position.value);
  json.key("state").raw(head.has_state() ? head.state.json : "null");
  if (head.state.base64) json.key("state_encoding").string("base64");
  if (!head.state.message.empty()) json.key("decoded_as").string(head.state.message);
  if (head.state.unknown_fields) json.key("unknown_fields").boolean(true);
  json.key("state_version").number(head.state_version()).key("exact").boolean(head.exact());
  if (head.replayed) json.key("replayed_from").number(head.snapshot_version());
  if (!head.snapshot_not_used.empty()) json.key("snapshot_not_used").string(head.snapshot_not_used);
  json.key("snapshot");
  write_snapshot_facts(json, head.snapshot);
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

std::string kind_of_state(const StateText& state, bool as_stored) {
  if (state.base64)
    return as_stored ? ", its bytes in base64"
                     : ", its bytes in base64: they are neither JSON nor a message that is known";
  return (state.message.empty() ? "" : ", " + state.message) +
         (state.unknown_fields ? ", and fields that are not registered" : "");
}

/// The sentence that says which state `events` make, or that too many of them are gone.
std::string what_they_make(const Head& head, const std::string& events) {
  const std::string state = "the state of version " + std::to_string(head.at.version.value);
  if (head.events_gone == 0) return events + ": " + state + " is what they make" + (head.snapshot ? " of it" : "");
  return events + "; " + std::to_string(head.events_gone) + " of them " + (head.events_gone == 1 ? "was" : "were") +
         " removed: " + state + " cannot be made any more";
}

/// How to get what is not shown.
std::string where_exact(const Program& program, const std::string& type) {
  if (program.kind(type)) return "no: that is without --no-replay";
  if (program.has_aggregates())
    return "no: only what knows its `apply` can make it, and " + type + " is not among this program's aggregates";
  return "no: only the aggregate's own program can make it, as `evershard::command_line<...>(argc, argv)`; see "
         "docs/types.md";
}

void print_for_people(const Invocation& invocation, const Head& head) {
  const std::string version = std::to_string(head.at.version.value), after = std::to_string(head.events_after());
  Parts parts{{"aggregate", head.aggregate.text()},
              {"version", version + ", at position " + std::to_string(head.at.position.value)}};
  if (head.has_state())
    parts.emplace_back("state", "of version " + std::to_string(head.state_version()) +
                                    kind_of_state(head.state, invocation.arguments.has("as-stored")));
  else
    parts.emplace_back("state", "unknown: no snapshot at or before this version");
  if (head.snapshot) {
    parts.emplace_back("snapshot", "schema revision " + std::to_string(head.snapshot->schema_revision) + ", taken at " +
                                       head.snapshot->taken_at.text() +
                                       (head.snapshot->latest ? ", the latest" : ", a retained copy"));
  }
  if (!head.snapshot_not_used.empty()) parts.emplace_back("not used", head.snapshot_not_used);
  if (head.replayed) {
    parts.emplace_back("exact",
                       "yes: replayed by this program from " +
                           (head.snapshot ? "the snapshot of version " + std::to_string(head.snapshot_version())
                                          : std::string("the first event on")));
  } else if (head.snapshot) {
    parts.emplace_back("events after", head.events_after() == 0 ? "none: this is the state of version " + version
                                                                : what_they_make(head, after));
  } else {
    parts.emplace_back("events", what_they_make(head, after + ", from the first on"));
  }
  if (!head.exact()) parts.emplace_back("exact", where_exact(invocation.program, head.aggregate.type));
  print_one(invocation, {}, parts);
  if (head.has_state())
    invocation.out.write('\n' + (head.state.base64 ? head.state.json : lines_shown(indented(head.state.json))) + '\n');
  if (head.events_after() > 0) invocation.out.write("\n");
}

/// A removed aggregate begins anew behind its removal: what is gone before it is of no state.
Result<std::uint64_t> events_gone(EventStream events) {
  std::uint64_t gone = 0;
  while (!interrupted()) {
    auto event = events.next();
    if (!event) return refuse(std::move(event).error());
    if (!*event) break;
    if ((*event)->state == EventState::removed)
      ++gone;
    else if ((*event)->type == retention::aggregate_removed)
      gone = 0;
  }
  return gone;
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
  if (invocation.for_people())
    table.flush();
  else
    invocation.out.write("]}\n");
  return outcome;
}

/// What the program makes of the events.
Outcome replay_state(const Invocation& invocation, EventStore& store, const PayloadTypes& types, Head& head) {
  auto exact = exact_state(invocation, store, head.aggregate, head.at, types);
  if (!exact) return Failed(std::move(exact).error());
  head.replayed = true;
  head.snapshot = std::move(exact->snapshot);
  head.state = std::move(exact->text);
  head.snapshot_not_used = std::move(exact->snapshot_not_used);
  return {};
}

/// What is written down.
Outcome look_up_state(const Invocation& invocation, EventStore& store, const PayloadTypes& types, Head& head) {
  auto snapshot = store.snapshot(head.aggregate, head.at.version);
  if (!snapshot) return Failed(Failure(std::move(snapshot).error()));
  head.snapshot = std::move(*snapshot);
  if (!head.snapshot) return {};
  auto state = state_of(store, *head.snapshot, types, invocation.arguments.has("as-stored"));
  if (!state) return Failed(std::move(state).error());
  head.state = std::move(*state);
  return {};
}

Outcome run_state(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  Head head{arguments.aggregate("AGGREGATE"), {}};
  std::optional<std::uint64_t> version;
  if (arguments.has("version")) version = arguments.number_at_least("version", 1);
  const auto up_to = position_of(arguments, "up-to");
  if (version) arguments.refuse_beside("--version", {"up-to"});
  const std::uint64_t limit = arguments.number("limit").value_or(std::numeric_limits<std::uint64_t>::max());

  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  auto moment = moment_of(*store, head.aggregate, version, up_to);
  if (!moment) return Failed(Failure(std::move(moment).error()));
  head.at = *moment;
  const bool replayable = invocation.program.kind(head.aggregate.type) != nullptr;
  auto filled = replayable && !arguments.has("no-replay") ? replay_state(invocation, *store, *types, head)
                                                          : look_up_state(invocation, *store, *types, head);
  if (!filled) return filled;

  const auto behind = [&](std::uint64_t at_most) {
    return store->read(head.aggregate, StreamOptions{.from = SeqNr(head.state_version() + 1),
                                                     .limit = std::min(at_most, head.events_after())});
  };
  if (invocation.for_people() && head.events_after() > 0) {
    const auto gone = events_gone(behind(head.events_after()));
    if (!gone) return Failed(Failure(gone.error()));
    head.events_gone = *gone;
  }
  if (invocation.for_people())
    print_for_people(invocation, head);
  else
    invocation.out.write(json_of(head));
  return print_events(invocation, behind(limit), *types);
}

}  // namespace

Command aggregate_state_command() {
  return {"aggregate state",
          "aggregates",
          "Shows an aggregate's state at any version, as JSON.",
          "evershard aggregate state bank_account-1 --data shop --version 7",
          state_options,
          run_state,
          state_options_with_aggregates,
          "The state is exact in the program that has the aggregate built in. Elsewhere it is the newest snapshot, "
          "followed by the events after it."};
}

}  // namespace evershard::cli
