// `evershard import`: what `evershard export` wrote, or what a running store of another kind has, into a store; run
// again, it goes on where it stopped.

#include <algorithm>

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/append_lines.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/compat/import/refused_file.hpp"
#include "evershard/compat/import/store_import.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/copy/known_events.hpp"

namespace evershard::cli {
namespace {

Options import_options() {
  Options options = store_options();
  options.argument("FILE", "a file that `export` wrote, or JSON Lines whose events have ids; - is standard input",
                   false);
  add_line_flags(options);
  options
      .value("from", "URL",
             "instead of a FILE: a running store of another kind, umadb://HOST:PORT or kurrentdb://HOST:PORT; it is "
             "read as "
             "its own clients do, and compared at the end")
      .value("name", "NAME",
             "what the import is called in the target, which knows by it how far it has come; without it, as its URL, "
             "without the password")
      .flag("renumber",
            "events get the numbers that come next in their aggregates, whatever theirs were: for an export of some "
            "events, and KurrentDB's streams with gaps; without it, another number is refused")
      .value("skip-refused", "FILE",
             "leave out events that cannot be stored here; each becomes a line of JSON in this FILE, with the reason")
      .value("from-token", "TOKEN", "the source's API key; KurrentDB's is USER:PASSWORD")
      .value("from-tls-ca", "FILE", "speak TLS to the source, whose certificate this CA has signed");
  return options;
}

bool same(const Event& given, const RecordedEvent& stored) {
  // What the store itself keeps comes out of it as a place that is taken. Exports of once took more for its own.
  const bool own = is_own(stored) && stored.type != retention::aggregate_removed;
  return (own && given.state == EventState::removed && given.id == stored.id) || cluster::is_known(given, stored);
}

/// Whether all of the append stands in the store, together and in order, and one of its events at `position`.
std::optional<GlobalPosition> first_of_stored(EventStore& store, const AppendLine& input, bool keep_numbers,
                                              GlobalPosition position) {
  const auto found = store.event_at(position);
  if (!found) return std::nullopt;  // then the refusal stands that made the import look
  const Append& append = input.append;
  std::uint64_t index = 0;
  while (index < append.events.size() && append.events[index].id != found->id) ++index;
  if (index == append.events.size() || position.value <= index) return std::nullopt;
  const GlobalPosition first = position - index;
  for (std::uint64_t i = 0; i < append.events.size(); ++i) {
    const auto stored = store.event_at(first + i);
    if (!stored || !same(append.events[i], *stored)) return std::nullopt;
    const auto said = input.places[i].seq_nr;
    if (keep_numbers && append.events[i].aggregate && said.value != 0 && said != stored->seq_nr) return std::nullopt;
  }
  return first;
}

/// What was answered is compared too: an append that is known already has the numbers that it got once.
Result<void> check_numbers(const AppendLine& input, const Appended& appended) {
  for (const auto& [aggregate, version] : appended.versions) {
    for (std::size_t i = input.append.events.size(); i-- > 0;) {
      if (input.append.events[i].aggregate != aggregate) continue;
      const auto said = input.places[i].seq_nr;
      if (said.value != 0 && said != version)
        return refuse(ErrorCode::version_conflict, "number " + std::to_string(said.value) + " of " +
                                                       in_quotes(aggregate.text(), 600) + " is number " +
                                                       std::to_string(version.value) + " here");
      break;
    }
  }
  return {};
}

Result<Appended> told_of_numbers(Error error) {
  error.what +=
      ": an export of everything goes into a store without events of its aggregates; with --renumber what it takes "
      "gets the numbers that come next";
  return refuse(std::move(error));
}

/// A store knows a request again by the request's id, which an export does not carry: importing into the store that was
/// exported would be refused. The same events in the same place are known, whoever stored them.
Result<Appended> settle(EventStore& store, const AppendLine& input, bool keep_numbers, Result<Appended> result) {
  if (result) {
    const auto kept = keep_numbers ? check_numbers(input, *result) : Result<void>();
    return kept ? std::move(result) : told_of_numbers(kept.error());
  }
  if (result.error().code == ErrorCode::version_conflict && keep_numbers) return told_of_numbers(result.error());
  const bool duplicate =
      result.error().code == ErrorCode::duplicate_event && result.error().details && result.error().details->position;
  if (!duplicate) return result;
  const auto first = first_of_stored(store, input, keep_numbers, *result.error().details->position);
  if (!first) return result;
  Appended known;
  known.first_position = *first;
  known.last_position = *first + (input.append.events.size() - 1);
  known.duplicate = true;
  return known;
}

/// A place of the store's own, in the store that it comes from: it is looked for by its position, since its id is not
/// where that of an event without an aggregate is.
std::optional<Appended> known_place(EventStore& store, const AppendLine& input) {
  const auto& events = input.append.events;
  if (input.places.empty() || input.places.front().position.value == 0) return std::nullopt;
  for (const auto& event : events) {
    if (event.state != EventState::removed || event.aggregate) return std::nullopt;
  }
  const auto first = first_of_stored(store, input, false, input.places.front().position);
  if (!first) return std::nullopt;
  Appended known;
  known.first_position = *first;
  known.last_position = *first + (events.size() - 1);
  known.duplicate = true;
  return known;
}

std::uint64_t moved(const AppendLine& input, const Appended& appended) {
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < input.places.size(); ++i) {
    const auto was = input.places[i].position;
    if (was.value != 0 && was != appended.first_position + i) ++moved;
  }
  return moved;
}

Outcome import_from(const Invocation& invocation, EventStore& store, const std::string& url) {
  const auto& arguments = invocation.arguments;
  auto source = open_source(url, {arguments.text("from-token").value_or(""), arguments.text("from-tls-ca").value_or(""),
                                  arguments.has("renumber")});
  if (!source) return Failed(std::move(source).error());
  std::unique_ptr<RefusedFile> left;  // what is left out
  if (auto path = arguments.text("skip-refused")) {
    auto file = RefusedFile::create(*std::move(path));
    if (!file) return Failed(std::move(file).error());
    left = *std::move(file);
  }
  StoreImport import(
      **source, store,
      {arguments.text("name").value_or((*source)->name()), !arguments.has("renumber"), arguments.has("skip-refused")});
  const auto shown = [&](const char* what) {
    return [line = std::make_shared<ProgressLine>(invocation.terminal, what)](std::uint64_t done, std::uint64_t total) {
      line->show(done, total);
      return !interrupted();
    };
  };
  const auto stopped = [](const Error& error) {
    return error.code == ErrorCode::cancelled
               ? Failed(Failure(error.code, error.what, "run it again to go on where it stopped"))
               : Failed(Failure(error));
  };
  const auto stored = import.run(shown("importing"));
  if (!stored) return stopped(stored.error());
  const auto check = import.compare(
      shown("comparing"), [&](const ImportedEvent& event) { return left ? left->write(event) : Result<void>(); });
  if (!check) return stopped(check.error());
  if (auto kept = left ? left->keep() : Result<void>(); !kept) return Failed(std::move(kept).error());
  const auto head = store.head();
  const auto known = check->stored_events - std::min(check->stored_events, *stored);
  const auto left_out = (*source)->left_out();
  const auto numbers = import.numbers();
  JsonText json;
  json.begin_object().key("events_stored").number(*stored).key("events_known").number(known);
  json.key("events_left_out")
      .number(left_out)
      .key("events_refused")
      .number(check->refused_events)
      .key("events_removed_here")
      .number(check->removed_events)
      .key("places_held")
      .number(numbers.places);
  json.key("aggregates_renumbered").number(numbers.renumbered);
  json.key("source_events").number(check->source_events).key("same_events").number(check->stored_events);
  json.key("source_hash").string(check->source_hash).key("stored_hash").string(check->stored_hash);
  json.key("head").number(head ? head->value : 0).end_object();
  print_one(invocation, json,
            {{"new events", grouped(*stored)},
             {"known already", grouped(known)},
             {"the server's own, left out", grouped(left_out)},
             {"cannot be stored here, left out", grouped(check->refused_events)},
             {"stored, and removed here since", grouped(check->removed_events)},
             {"places of events that are gone", grouped(numbers.places)},
             {"aggregates with other numbers", grouped(numbers.renumbered)},
             {"events of the source", grouped(check->source_events)},
             {"found the same here", grouped(check->stored_events)},
             {"hash of the source's", check->source_hash},
             {"hash of those here", check->stored_hash},
             {"head of the store", grouped(head ? head->value : 0)}});
  if (check->same()) return {};
  return Failed(Failure(ErrorCode::corruption, "what is stored is not what the source has"));
}

Outcome run_import(const Invocation& invocation) {
  const auto url = invocation.arguments.text("from");
  if (url.has_value() == invocation.arguments.text("FILE").has_value())
    throw UsageError("a FILE is imported, or what --from names: exactly one of both is given");
  if (url && invocation.arguments.has("continue"))
    throw UsageError("--continue is about lines of a FILE, and not about --from");
  for (const auto* of_source : {"name", "skip-refused", "from-token", "from-tls-ca"}) {
    if (!url && invocation.arguments.has(of_source))
      throw UsageError(std::string("--") + of_source + " goes with --from, and not with a FILE");
  }
  auto settings = line_settings_of(invocation.arguments);
  settings.rules = LineRules::import;
  settings.keep_numbers = !invocation.arguments.has("renumber");
  settings.limits = Limits::most();  // what another store took, this one takes
  LocalOptions open;
  open.limits = settings.limits;
  auto store = invocation.open(Invocation::Keys::created, std::move(open));
  if (!store) return Failed(std::move(store).error());

  if (url) return import_from(invocation, *store, *url);
  std::uint64_t events_moved = 0;
  AppendLines lines(
      invocation, *store, settings,
      [&](const AppendLine& input, Result<Appended> result) {
        return settle(*store, input, settings.keep_numbers, std::move(result));
      },
      [&](const AppendLine& input) { return known_place(*store, input); });
  const Outcome outcome = lines.run(*invocation.arguments.text("FILE"),
                                    [&](std::uint64_t, const AppendLine& input, const Result<Appended>& result) {
                                      if (result) events_moved += moved(input, *result);
                                    });

  const auto& tally = lines.tally();
  const auto head = store->head();
  JsonText json;
  json.begin_object().key("lines_stored").number(tally.lines_stored).key("events_stored").number(tally.events_stored);
  json.key("events_known").number(tally.events_known).key("events_moved").number(events_moved);
  json.key("snapshots_stored").number(tally.snapshots_stored).key("snapshots_known").number(tally.snapshots_known);
  json.key("lines_refused").number(tally.lines_refused).key("head").number(head ? head->value : 0).end_object();
  print_one(invocation, json,
            {{"new events", grouped(tally.events_stored)},
             {"known already", grouped(tally.events_known)},
             {"at another position than exported", grouped(events_moved)},
             {"new snapshots", grouped(tally.snapshots_stored)},
             {"lines refused", grouped(tally.lines_refused)},
             {"head of the store", grouped(head ? head->value : 0)}});
  return outcome;
}

}  // namespace

Command import_command() {
  return {"import",
          "data",
          "Stores what `export` wrote, or a running UmaDB or KurrentDB; goes on.",
          "evershard export --data shop | evershard import - --data copy",
          import_options,
          run_import};
}

}  // namespace evershard::cli
