// `evershard retention truncate`, `remove`, `run`, `log`: what of a history is removed, and what was.

#include <limits>

#include "evershard/api/json/retention_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/removal/retention_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

Options retention_truncate_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1")
      .argument("BEFORE", "events below this number are removed; BEFORE and later ones stay");
  options.flag(
      "uncovered",
      "remove events also where no snapshot covers them; the aggregate's state can then no longer be computed");
  add_retention_flags(options, true);
  return options;
}

Outcome run_retention_truncate(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  const auto before = whole_number(invocation.arguments.required("BEFORE"));
  if (!before)
    throw UsageError("BEFORE is " + invocation.arguments.required("BEFORE"),
                     "the number of the first event that stays");
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  return look_then_do(invocation, "the events of " + aggregate.text() + " below " + std::to_string(*before),
                      NothingFound::done, [&](const RetentionOrder& order, Progress progress) {
                        TruncateOptions options;
                        static_cast<RetentionOrder&>(options) = order;
                        options.uncovered = invocation.arguments.has("uncovered");
                        return retention.truncate_aggregate(aggregate, SeqNr{*before}, options, std::move(progress));
                      });
}

Options retention_remove_options() {
  Options options = store_options();
  options.argument("AGGREGATE", "the aggregate, such as order-1");
  add_retention_flags(options, true);
  return options;
}

Outcome run_retention_remove(const Invocation& invocation) {
  const auto aggregate = invocation.arguments.aggregate("AGGREGATE");
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  return look_then_do(invocation, "all events and snapshots of " + aggregate.text(), NothingFound::done,
                      [&](const RetentionOrder& order, Progress progress) {
                        return retention.remove_aggregate(aggregate, order, std::move(progress));
                      });
}

Options retention_erase_options() {
  Options options = store_options();
  options.argument("SUBJECT", "the subject, as the events name it");
  add_retention_flags(options, true);
  return options;
}

Outcome run_retention_erase(const Invocation& invocation) {
  const auto subject = invocation.arguments.required("SUBJECT");
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  return look_then_do(invocation, "the key of " + in_quotes(subject) + ", and all payloads sealed with it",
                      NothingFound::asked, [&](const RetentionOrder& order, Progress progress) {
                        return retention.erase_subject(subject, order, std::move(progress));
                      });
}

Options retention_run_options() {
  Options options = store_options();
  add_retention_flags(options, true);
  return options;
}

Outcome run_retention_run(const Invocation& invocation) {
  auto opened = invocation.open();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  return look_then_do(invocation, "what the policies say", NothingFound::asked,
                      [&](const RetentionOrder& order, Progress progress) {
                        return retention.apply_retention(order, std::move(progress));
                      });
}

Options retention_log_options() {
  Options options = store_options();
  options.number("after", "NUMBER", "only entries after this one", 0)
      .number("limit", "N", "show at most this many", 1'000);
  return options;
}

Outcome run_retention_log(const Invocation& invocation) {
  auto opened = invocation.look();
  if (!opened) return Failed(std::move(opened).error());
  auto& retention = opened->retention();
  const auto limit = std::min<std::uint64_t>(invocation.arguments.number_at_least("limit", 1),
                                             std::numeric_limits<std::uint32_t>::max());
  // One entry more than is shown tells whether there are more.
  auto log = retention.retention_log(SeqNr{invocation.arguments.number("after").value_or(0)},
                                     static_cast<std::size_t>(limit) + 1);
  if (!log) return Failed(Failure(std::move(log).error()));
  const bool more = log->size() > limit;
  if (more) log->pop_back();
  ListPrinter list(invocation, {{"number", true}, {"position", true}, {"at"}, {"what"}, {"says"}});
  for (const auto& entry : *log) {
    if (invocation.for_people()) {
      list.row({std::to_string(entry.number.value), std::to_string(entry.position.value), entry.at.text(), entry.what,
                entry.json});
      continue;
    }
    JsonText json;
    write_retention_entry(json, entry);
    list.json(json.text());
  }
  list.finish();
  if (more)
    say_there_is_more("--after " + std::to_string(log->back().number.value) +
                      " goes on, --limit is how many are shown");
  return {};
}

}  // namespace

Command retention_truncate_command() {
  return {"retention truncate",
          "retention",
          "Removes an aggregate's events below a number. Its version stays.",
          "evershard retention truncate order-1 100 --reason 'older than ten years' --data shop",
          retention_truncate_options,
          run_retention_truncate,
          nullptr,
          "The next append continues with the next number."};
}
Command retention_remove_command() {
  return {"retention remove",
          "retention",
          "Removes an aggregate: all its events and snapshots.",
          "evershard retention remove customer-7 --reason 'asked for it' --data shop",
          retention_remove_options,
          run_retention_remove,
          nullptr,
          "The aggregate is hidden until its next event."};
}
Command retention_erase_command() {
  return {"retention erase",
          "retention",
          "Destroys a subject's key. Nobody can read its payloads any more.",
          "evershard retention erase person-17 --reason 'article 17' --data shop --keys shop-keys",
          retention_erase_options,
          run_retention_erase,
          nullptr,
          "The payloads in backups cannot be read any more either."};
}
Command retention_run_command() {
  return {"retention run",
          "retention",
          "Applies all policies now. Finishes removals that were interrupted.",
          "evershard retention run --yes --data shop",
          retention_run_options,
          run_retention_run,
          nullptr,
          "It also removes expired snapshots."};
}
Command retention_log_command() {
  return {"retention log",
          "retention",
          "Lists what was removed: when, by whom and why.",
          "evershard retention log --data shop",
          retention_log_options,
          run_retention_log};
}

}  // namespace evershard::cli
