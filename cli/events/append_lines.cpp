#include "evershard/cli/events/append_lines.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "evershard/api/json/input.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::cli {
namespace {

std::string counted(std::uint64_t number, const char* what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

ExpectedVersion version_of(std::uint64_t number) {
  return number == 0 ? ExpectedVersion::none() : ExpectedVersion::exactly(number);
}

/// What is stored before the append is to be what its events' numbers say.
Result<void> expect_numbers(AppendLine& line) {
  std::unordered_map<AggregateId, std::uint64_t> numbers;  // of the event before
  for (std::size_t i = 0; i < line.append.events.size(); ++i) {
    const auto& aggregate = line.append.events[i].aggregate;
    const auto said = line.places[i].seq_nr.value;
    if (!aggregate) continue;
    const auto before = numbers.find(*aggregate);
    if (before == numbers.end()) {
      if (said == 0) continue;
      const bool expected = std::ranges::any_of(line.append.expectations,
                                                [&](const Expectation& each) { return each.aggregate == *aggregate; });
      if (!expected) line.append.expect(*aggregate, version_of(said - 1));
      numbers.emplace(*aggregate, said);
      line.expects_numbers = true;
      continue;
    }
    ++before->second;
    if (said != 0 && said != before->second)
      return refuse(ErrorCode::version_conflict, "event " + line.append.events[i].id.text() + " is number " +
                                                     std::to_string(said) + " of " + in_quotes(aggregate->text(), 600) +
                                                     ", and stands where number " + std::to_string(before->second) +
                                                     " has to");
  }
  return {};
}

}  // namespace

Result<void> AppendLines::check_line(AppendLine& input) const {
  EVERSHARD_TRY(check(input.append, settings_.limits));
  return settings_.keep_numbers ? expect_numbers(input) : Result<void>();
}

void AppendLines::count(std::uint64_t line, const AppendLine& input, const Result<Appended>& result) {
  tally_.last_line = line;
  if (result) {
    ++tally_.lines_stored;
    (result->duplicate ? tally_.events_known : tally_.events_stored) += input.append.events.size();
    return;
  }
  if (tally_.lines_refused++ == 0) {
    tally_.first_refusal = Failure(result.error());
    tally_.first_refusal->line = line;
    tally_.lines_stored_before_refusal = tally_.lines_stored;
  }
  if (!settings_.go_on) stop_ = true;
}

Result<void> AppendLines::put_snapshot(Snapshot snapshot) {
  if (stop_) return {};  // what was sent before was refused, and is told
  const auto there = store_.snapshot(snapshot.aggregate);
  if (!there) return refuse(there.error());
  if (*there && (*there)->version >= snapshot.version) {
    ++tally_.snapshots_known;
    return {};
  }
  EVERSHARD_TRY(store_.put_snapshot(std::move(snapshot)));
  ++tally_.snapshots_stored;
  return {};
}

Result<void> AppendLines::feed(LineReader& reader, std::uint64_t total_bytes, AppendPipeline& pipeline,
                               const AppendPipeline::OnAnswer& on_answer) {
  ProgressLine progress(invocation_.terminal, "read", ProgressLine::Unit::bytes);
  while (!stop_ && !interrupted()) {
    auto line = reader.next();
    if (!line) return refuse(std::move(line).error());
    progress.show(reader.bytes_read(), total_bytes);
    if (interrupted()) return {};  // what came with it may be half a line
    if (line->kind == LineReader::Kind::end || line->kind == LineReader::Kind::stopped) return {};
    if (line->kind == LineReader::Kind::too_long) {
      pipeline.answer(line->number, Error(ErrorCode::too_large, "the line is longer than " +
                                                                    std::to_string(settings_.line_bytes_max) +
                                                                    " bytes; --line-bytes-max raises this"));
      if (!settings_.go_on) return {};
      continue;
    }
    auto append = read_append(line->text, settings_.rules);
    if (append && append->snapshot) {
      pipeline.drain();  // it is of a version that must be there
      if (auto stored = put_snapshot(*std::move(append->snapshot)); !stored) {
        pipeline.answer(line->number, std::move(stored).error());
        if (!settings_.go_on) return {};
      }
      continue;
    }
    const auto ok = append ? check_line(*append) : Result<void>(refuse(append.error()));
    if (auto known = ok && known_ ? known_(*append) : std::nullopt) {
      pipeline.drain();  // nobody else counts now
      if (stop_) return {};
      const Result<Appended> answer = *std::move(known);
      count(line->number, *append, answer);
      on_answer(line->number, *append, answer);
      continue;
    }
    if (ok) {
      pipeline.send(line->number, std::move(*append));
      continue;
    }
    pipeline.answer(line->number, ok.error());
    if (!settings_.go_on) return {};
  }
  return {};
}

Outcome AppendLines::run(const std::string& path, const AppendPipeline::OnAnswer& on_answer) {
  auto input = Input::open(path);
  if (!input) return Failed(Failure(std::move(input).error()));
  LineReader reader(input->descriptor(), settings_.line_bytes_max, [this] { return stop_ || interrupted(); });

  Result<void> fed;
  {
    AppendPipeline pipeline(
        store_, settings_.in_flight,
        [&](std::uint64_t line, const AppendLine& sent, const Result<Appended>& answer) {
          const Result<Appended> result = settle_ ? settle_(sent, answer) : answer;
          count(line, sent, result);
          on_answer(line, sent, result);
          if (invocation_.out.ended()) stop_ = true;
        },
        [this] {
          invocation_.out.flush();
          if (invocation_.out.ended()) stop_ = true;
        });
    fed = feed(reader, input->bytes(), pipeline, on_answer);
    pipeline.drain();
  }
  if (!fed) return Failed(Failure(std::move(fed).error()));
  return outcome();
}

Outcome AppendLines::outcome() const {
  if (invocation_.out.closed()) {
    Failure nobody(ErrorCode::io, "the reader of the answers went away");
    nobody.quiet = true;
    return Failed(std::move(nobody));
  }
  if (tally_.first_refusal) {
    Failure failure = *tally_.first_refusal;
    const auto before = tally_.lines_stored_before_refusal;
    const auto behind = tally_.lines_stored - before;
    failure.error.what += "; " + counted(before, "line") + " stored before it";
    if (settings_.go_on) {
      failure.error.what +=
          ", " + std::to_string(behind) + " behind it; " + counted(tally_.lines_refused, "line") + " refused in all";
    } else if (behind > 0) {
      failure.error.what += ", " + std::to_string(behind) + " behind it that were on their way";
    }
    failure.figures = {
        {"lines_stored_before", before}, {"lines_stored_behind", behind}, {"lines_refused", tally_.lines_refused}};
    return Failed(std::move(failure));
  }
  if (interrupted()) {
    Failure failure(ErrorCode::cancelled, "stopped behind line " + std::to_string(tally_.last_line) + ": " +
                                              counted(tally_.lines_stored, "line") + " stored, " +
                                              counted(tally_.events_stored, "new event"));
    failure.figures = {{"last_line", tally_.last_line},
                       {"events_stored", tally_.events_stored},
                       {"events_known", tally_.events_known}};
    return Failed(std::move(failure));
  }
  return {};
}

void add_line_flags(Options& options) {
  const AppendLines::Settings defaults;
  options
      .number("in-flight", "N", "appends in flight at once; 1 sends a line when the one before it is answered",
              defaults.in_flight.appends)
      .size("line-bytes-max", "a longer line is refused", {.least = 1}, defaults.line_bytes_max)
      .flag("continue", "go on after a refused line; without it, the first one ends the command");
}

AppendLines::Settings line_settings_of(const Arguments& arguments) {
  AppendLines::Settings settings;
  settings.in_flight.appends = arguments.number_at_least("in-flight", 1);
  settings.line_bytes_max = *arguments.size("line-bytes-max");
  settings.go_on = arguments.has("continue");
  return settings;
}

}  // namespace evershard::cli
