#include "evershard/services/tables/host/parted_tables.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/indexes/json_depth.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/host/host_tables.hpp"
#include "evershard/services/tables/host/table_definition_json.hpp"
#include "evershard/services/tables/host/table_kind.hpp"
#include "evershard/services/tables/parted_select.hpp"

namespace evershard::cluster {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using actors::Definition;

namespace {

constexpr std::chrono::milliseconds look_again_after{
    50};  ///< while something is to be swapped, or a definition is to be heard of
constexpr std::chrono::milliseconds pause_max{1'000};  ///< and nothing comes of it
constexpr auto heard_of_within = 5s;                   ///< a definition that another node knows
constexpr std::size_t settled_at_once_max = 10'000;
constexpr int tries_max = 3;  ///< of a change that another hand was faster than

std::string_view verb_of(Projections::Ask what) {
  switch (what) {
    case Projections::Ask::pause:
      return actors::verbs::paused;
    case Projections::Ask::resume:
      return actors::verbs::resumed;
    case Projections::Ask::reset:
      return actors::verbs::reset;
    case Projections::Ask::rebuild:
      return actors::verbs::rebuilt;
    case Projections::Ask::drop:
      return actors::verbs::dropped;
  }
  return {};
}

bool is_parted(const Definition& definition) {
  return definition.kind == table_kind && !definition.versions.empty() && !actors::parse_part_name(definition.name) &&
         table_parts(definition.newest().spec) > 1;
}

Error of_part(const std::string& table, std::size_t part, Error error) {
  error.what = "part " + std::to_string(part) + " of table " + in_quotes(table) + ": " + error.what;
  return error;
}

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()), 0ms);
}
Clock::time_point deadline_of(std::chrono::milliseconds timeout) {
  return Clock::now() + std::min<std::chrono::milliseconds>(timeout, 24h);
}

/// Another hand was faster, or what this node has read was not the newest: it is read again in a moment.
bool is_tried_again(const Error& error, int tries) {
  if (error.code != ErrorCode::version_conflict || tries == tries_max) return false;
  std::this_thread::sleep_for(look_again_after);
  return true;
}

/// Of a part's versions the one that a read of that version gets.
const ProjectionVersion* read_of(const ProjectionInfo& info, std::uint32_t part, SeqNr version) {
  const ProjectionVersion* found = nullptr;
  for (const auto& one : info.versions) {
    if (one.part == part && one.version == version && (found == nullptr || one.serving)) found = &one;
  }
  return found;
}

/// What is told of all parts together: the state that most wants to be looked at.
int weight_of(const std::string& state) {
  if (state == "failed") return 4;
  if (state == "waiting") return 3;
  if (state == "paused") return 2;
  return state == "building" ? 1 : 0;
}

}  // namespace

PartedTables::PartedTables(EventStore& events, Projections& projections, Tables& tables, PartedTablesOptions options)
    : events_(events),
      projections_(projections),
      tables_(tables),
      options_(std::move(options)),
      catalogue_(events, "projection"),
      threads_(options_.threads) {}

void PartedTables::begin() {
  looker_ = std::thread([this] { look(); });
}

void PartedTables::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (looker_.joinable()) looker_.join();
}

// Definitions.

Result<PartedTables::Known> PartedTables::look_up(const std::string& name) {
  Known known;
  if (!actors::parse_part_name(name)) {
    const auto found = catalogue_.find(name);
    if (!found) return refuse(found.error());
    if (*found && !(*found)->dropped && is_parted(**found)) {
      auto parted = std::make_shared<Parted>();
      parted->definition = **found;
      parted->parts = table_parts((*found)->newest().spec);
      parted->serves = actors::served_version(**found);
      for (const auto& version : (*found)->versions) {
        auto definition = read_table_definition(version.spec, name);
        if (!definition) return refuse(std::move(definition).error());
        parted->shapes.emplace(version.version, std::make_shared<const actors::TableShape>(
                                                    std::move(definition->schema), version.version.value));
      }
      known = std::move(parted);
    }
    if (!*found || (*found)->dropped) {
      const std::lock_guard lock(mutex_);
      known_.erase(name);
      return known;
    }
  }
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(name, known);
  return known;
}

std::optional<PartedTables::Known> PartedTables::remembered(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

template <class T, class Whole, class InParts>
Result<T> PartedTables::as_it_lies(const std::string& name, Whole whole, InParts in_parts) {
  auto before = remembered(name);
  bool fresh = !before;
  for (const auto deadline = Clock::now() + heard_of_within;;) {
    Known known;
    if (before) {
      known = *std::exchange(before, std::nullopt);
    } else {
      auto found = look_up(name);
      if (!found) return refuse(std::move(found).error());
      known = *std::move(found);
    }
    Result<T> outcome = known ? in_parts(*known) : whole();
    if (outcome) return outcome;
    const auto code = outcome.error().code;
    // It lies in parts, says its home, and this node has not heard of that yet.
    if (!known && actors::says_that_it_lies_in_parts(outcome.error()) && Clock::now() < deadline) {
      std::this_thread::sleep_for(look_again_after);
      fresh = true;
      continue;
    }
    if (code != ErrorCode::not_found || std::exchange(fresh, true)) return outcome;
  }
}

template <class T, class Once>
Result<std::vector<T>> PartedTables::of_all(const std::string& table, std::uint32_t parts, Once once) {
  std::vector<std::optional<Result<T>>> outcomes(parts);
  std::atomic<bool> failed{false};
  threads_.each(parts, [&](std::size_t part) {
    if (failed) return;  // nothing comes of it any more
    outcomes[part] = once(static_cast<std::uint32_t>(part));
    if (!*outcomes[part]) failed = true;
  });
  std::vector<T> all;
  for (std::size_t part = 0; part < outcomes.size(); ++part) {
    if (outcomes[part] && !*outcomes[part]) return refuse(of_part(table, part, std::move(*outcomes[part]).error()));
  }
  for (auto& outcome : outcomes) all.push_back(**std::move(outcome));
  return all;
}

Result<GlobalPosition> PartedTables::note_all(const std::string& name, std::uint32_t parts, SeqNr last,
                                              std::string_view verb, const std::string& payload) {
  const auto& names = catalogue_.names();
  Append append;
  const auto note = [&](const std::string& whose, SeqNr at, std::string text) {
    Event event;
    event.aggregate = names.aggregate(whose);
    event.type = names.event_type(verb);
    event.payload = std::move(text);
    event.format = PayloadFormat::json;
    append.event(std::move(event)).expect(names.aggregate(whose), ExpectedVersion::exactly(at));
  };
  note(name, last, payload);
  auto of_parts = nlohmann::json::parse(payload);
  of_parts["of"] = last.value + 1;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const auto own = actors::part_name(name, part);
    const auto info = events_.aggregate(names.aggregate(own));
    if (!info && info.error().code != ErrorCode::not_found) return refuse(of_part(name, part, info.error()));
    note(own, info ? info->version : SeqNr{0}, of_parts.dump());
  }
  const auto done = events_.append(std::move(append));
  if (!done) return refuse(done.error());
  const std::lock_guard lock(mutex_);
  known_.erase(name);
  return done->last_position;
}

void PartedTables::tell_all(const std::string& name, std::uint32_t parts) {
  // Asking has a home take it at once; one that is away finds it by itself within a second.
  (void)projections_.describe(name);
  threads_.each(parts, [&](std::size_t part) {
    // As above, of its parts.
    (void)projections_.describe(actors::part_name(name, static_cast<std::uint32_t>(part)));
  });
  {
    const std::lock_guard lock(mutex_);
    look_now_ = true;  // now that it is hosted as it was changed
  }
  changed_.notify_all();
}

Result<ProjectionInfo> PartedTables::create(const std::string& name, const std::string& kind, const std::string& spec,
                                            IfThere there) {
  if (kind != table_kind || actors::is_nested_too_deeply(spec)) return projections_.create(name, kind, spec, there);
  const auto definition = read_table_definition(spec, name);
  if (!definition || definition->parts == 1 || actors::parse_part_name(name))  // which says what is wrong with it
    return projections_.create(name, kind, spec, there);
  for (int tries = 1;; ++tries) {
    const auto kept = table_definition_json(*definition);
    const auto known = catalogue_.there_already(name, kind, kept, there);
    if (!known) return refuse(known.error());
    if (*known) return as_changed(name, definition->parts);
    const auto found = catalogue_.find(name);
    if (!found) return refuse(found.error());
    const auto made = note_all(name, definition->parts, *found ? (*found)->last : SeqNr{0}, actors::verbs::created,
                               actors::definition_payload(kind, kept));
    if (made) break;
    if (!is_tried_again(made.error(), tries)) return refuse(made.error());
  }
  tell_all(name, definition->parts);
  return as_changed(name, definition->parts);
}

Result<ProjectionInfo> PartedTables::as_changed(const std::string& name, std::uint32_t parts) {
  auto info = describe_parts(name, parts);
  if (!info)
    return refuse(ErrorCode::timeout,
                  "the projection " + in_quotes(name) + " was written and cannot be read yet: " + info.error().what);
  return info;
}

Result<ProjectionInfo> PartedTables::change(const std::string& name, const std::string& spec,
                                            std::optional<SeqNr> expected) {
  const auto asked =
      actors::is_nested_too_deeply(spec)
          ? Result<actors::TableDefinition>(refuse(ErrorCode::invalid_argument, "the definition is nested too deeply"))
          : read_table_definition(spec, name);
  return as_it_lies<ProjectionInfo>(
      name,
      [&]() -> Result<ProjectionInfo> {
        const auto found = catalogue_.find(name);
        if (found && *found && !(*found)->dropped && (*found)->kind == table_kind && asked && asked->parts != 1) {
          return refuse(ErrorCode::invalid_argument, "table " + in_quotes(name) +
                                                         " lies in one part, and stays so: drop it and create it in " +
                                                         std::to_string(asked->parts));
        }
        return projections_.change(name, spec, expected);
      },
      [&](const Parted&) -> Result<ProjectionInfo> {
        for (int tries = 1;; ++tries) {
          const auto now = look_up(name);
          if (!now) return refuse(now.error());
          if (!*now) return refuse(ErrorCode::not_found, "the projection " + in_quotes(name) + " was dropped");
          const auto& table = **now;
          if (!asked) return refuse(asked.error());
          if (asked->parts != table.parts) {
            return refuse(ErrorCode::invalid_argument,
                          "table " + in_quotes(name) + " lies in " + std::to_string(table.parts) + " parts, not " +
                              std::to_string(asked->parts) + ", and stays so: drop it and create it anew");
          }
          const auto last = expected.value_or(table.definition.last);
          if (last == table.definition.last &&
              actors::same_definition(table_definition_json(*asked), table.definition.newest().spec))
            return as_changed(name, table.parts);
          const auto made = note_all(name, table.parts, last, actors::verbs::changed,
                                     actors::definition_payload(table_kind, table_definition_json(*asked)));
          if (made) {
            tell_all(name, table.parts);
            return as_changed(name, table.parts);
          }
          if (!is_tried_again(made.error(), tries) || last != table.definition.last) return refuse(made.error());
        }
      });
}

Result<void> PartedTables::ask(const std::string& name, Ask what) {
  const auto asked = as_it_lies<bool>(
      name,
      [&]() -> Result<bool> {
        EVERSHARD_TRY(projections_.ask(name, what));
        return true;
      },
      [&](const Parted&) -> Result<bool> {
        for (int tries = 1;; ++tries) {
          const auto now = look_up(name);
          if (!now) return refuse(now.error());
          if (!*now) return refuse(ErrorCode::not_found, "the projection " + in_quotes(name) + " was dropped");
          const auto made = note_all(name, (*now)->parts, (*now)->definition.last, verb_of(what), "{}");
          if (made) {
            tell_all(name, (*now)->parts);
            return true;
          }
          if (!is_tried_again(made.error(), tries)) return refuse(made.error());
        }
      });
  if (!asked) return refuse(asked.error());
  return {};
}

Result<GlobalPosition> PartedTables::settle(const std::string& name, const std::vector<GlobalPosition>& positions,
                                            bool discard) {
  return as_it_lies<GlobalPosition>(
      name, [&] { return discard ? tables_.discard_parked(name, positions) : tables_.retry_parked(name, positions); },
      [&](const Parted&) -> Result<GlobalPosition> {
        if (positions.empty()) return GlobalPosition{};
        if (positions.size() > settled_at_once_max)
          return refuse(ErrorCode::too_large,
                        "at most " + std::to_string(settled_at_once_max) + " parked events at once");
        auto payload = nlohmann::json::object();
        for (const auto position : positions) payload["positions"].push_back(position.value);
        for (int tries = 1;; ++tries) {
          const auto now = look_up(name);
          if (!now) return refuse(now.error());
          if (!*now) return refuse(ErrorCode::not_found, "the projection " + in_quotes(name) + " was dropped");
          auto made =
              note_all(name, (*now)->parts, (*now)->definition.last, discard ? "Discarded" : "Retried", payload.dump());
          if (made || !is_tried_again(made.error(), tries)) return made;
        }
      });
}

// How they are.

ProjectionInfo PartedTables::with_parts(ProjectionInfo table, std::uint32_t parts,
                                        const std::function<Result<ProjectionInfo>(std::uint32_t)>& part_info) const {
  table.versions.clear();
  for (std::uint32_t part = 0; part < parts; ++part) {
    const auto home = options_.home_of ? options_.home_of(actors::part_name(table.name, part)) : 0;
    auto info = part_info(part);
    if (!info) {
      ProjectionVersion version;
      version.version = version.rows = table.last;
      version.state = "waiting";
      version.lag = table.watermark.value;
      version.error = std::move(info).error();
      info = ProjectionInfo{};
      info->versions.push_back(std::move(version));
    }
    for (auto& version : info->versions) {
      version.part = part;
      version.home = home;
      table.versions.push_back(std::move(version));
    }
  }
  std::ranges::stable_sort(table.versions, {}, [](const auto& one) { return one.rows; });
  return table;
}

Result<ProjectionInfo> PartedTables::describe_parts(const std::string& name, std::uint32_t parts) {
  auto table = projections_.describe(name);
  if (!table) return table;
  std::vector<std::optional<Result<ProjectionInfo>>> infos(parts);
  threads_.each(parts, [&](std::size_t part) {
    infos[part] = projections_.describe(actors::part_name(name, static_cast<std::uint32_t>(part)));
  });
  return with_parts(*std::move(table), parts, [&](std::uint32_t part) { return *std::move(infos[part]); });
}

Result<ProjectionInfo> PartedTables::describe(const std::string& name) {
  return as_it_lies<ProjectionInfo>(
      name,
      [&]() -> Result<ProjectionInfo> {
        auto info = projections_.describe(name);
        if (info && info->kind == table_kind && !actors::parse_part_name(name) && table_parts(info->spec) > 1)
          return refuse(actors::lies_in_parts(name));
        return info;
      },
      [&](const Parted& table) { return describe_parts(name, table.parts); });
}

Result<std::vector<ProjectionInfo>> PartedTables::list() {
  auto all = projections_.list();
  if (!all) return all;
  std::map<std::string, ProjectionInfo> of_parts;
  std::vector<ProjectionInfo> told;
  for (auto& info : *all) {
    if (actors::parse_part_name(info.name)) {
      auto name = info.name;
      of_parts.insert_or_assign(std::move(name), std::move(info));
    } else {
      told.push_back(std::move(info));
    }
  }
  for (auto& info : told) {
    const auto parts = info.kind == table_kind ? table_parts(info.spec) : 1;
    if (parts == 1) continue;
    const std::string name = info.name;
    info = with_parts(std::move(info), parts, [&](std::uint32_t part) -> Result<ProjectionInfo> {
      const auto found = of_parts.find(actors::part_name(name, part));
      if (found == of_parts.end()) return refuse(ErrorCode::unavailable, "its home does not know it yet");
      return std::move(found->second);
    });
  }
  return told;
}

Result<GlobalPosition> PartedTables::wait_until(const std::string& name, GlobalPosition position,
                                                std::chrono::milliseconds timeout) {
  const auto deadline = deadline_of(timeout);
  return as_it_lies<GlobalPosition>(
      name, [&] { return projections_.wait_until(name, position, until(deadline)); },
      [&](const Parted& table) -> Result<GlobalPosition> {
        const auto reached = of_all<GlobalPosition>(name, table.parts, [&](std::uint32_t part) {
          return projections_.wait_until(actors::part_name(name, part), position, until(deadline));
        });
        if (!reached) return refuse(reached.error());
        return std::ranges::min(*reached);
      });
}

Result<TableInfo> PartedTables::describe_table_of(const Parted& table, const TableReading& reading) {
  const auto& name = table.definition.name;
  const auto version = reading.version.value_or(table.serves);
  const auto defined = std::ranges::find(table.definition.versions, version, &actors::DefinitionVersion::version);
  if (defined == table.definition.versions.end())
    return refuse(ErrorCode::not_found,
                  "table " + in_quotes(name) + " has no version " + std::to_string(version.value));
  const auto projection = describe_parts(name, table.parts);
  if (!projection) return refuse(projection.error());
  TableInfo info;
  info.projection = name;
  info.version = version;
  info.schema = table.shapes.at(version)->schema;
  info.definition = defined->spec;
  if (const auto definition = read_table_definition(defined->spec, name))
    info.definition = table_definition_json(*definition);
  info.complete = true;
  bool first = true;
  for (std::uint32_t part = 0; part < table.parts; ++part) {
    const auto* one = read_of(*projection, part, version);
    ProjectionVersion missing;
    missing.state = "waiting";
    for (const auto& other : projection->versions) {
      if (one == nullptr && other.part == part && other.error) missing.error = other.error;
    }
    if (one == nullptr) one = &missing;
    info.position = first ? one->position : std::min(info.position, one->position);
    info.complete = info.complete && one->complete;
    if (first || weight_of(one->state) > weight_of(info.state)) info.state = one->state;
    if (one->error && info.error.empty()) info.error = "part " + std::to_string(part) + ": " + one->error->what;
    for (const auto& [figure, value] : one->figures) {
      const auto sum = std::ranges::find(info.figures, figure, &std::pair<std::string, std::uint64_t>::first);
      if (sum == info.figures.end())
        info.figures.emplace_back(figure, value);
      else
        sum->second += value;
    }
    first = false;
  }
  return info;
}

Result<TableInfo> PartedTables::describe_table(const std::string& table, TableReading reading) {
  return as_it_lies<TableInfo>(
      table, [&] { return tables_.describe_table(table, reading); },
      [&](const Parted& parted) { return describe_table_of(parted, reading); });
}

Result<std::vector<TableInfo>> PartedTables::list_tables() {
  const auto all = list();
  if (!all) return refuse(all.error());
  return tables_among(*all, [this](const std::string& name) { return describe_table(name, {}); });
}

// What they hold.

Result<TablePage> PartedTables::select(const std::string& table, TableSelect select, TableReading reading) {
  const auto deadline = deadline_of(reading.timeout);
  auto found = as_it_lies<TablePage>(
      table, [&] { return tables_.select(table, select, reading); },
      [&](const Parted& known) -> Result<TablePage> {
        auto of_version = reading;
        of_version.version = reading.version.value_or(known.serves);
        const auto shape = known.shapes.find(*of_version.version);
        if (shape == known.shapes.end())
          return refuse(ErrorCode::not_found,
                        "table " + in_quotes(table) + " has no version " + std::to_string(of_version.version->value));
        const auto parted = actors::PartedSelect::make(*shape->second, select, known.parts);
        if (!parted) return refuse(parted.error());
        const auto ask = [&](std::uint32_t part, const TableSelect& asked) {
          auto within = of_version;
          within.timeout = until(deadline);
          return tables_.select(actors::part_name(table, part), asked, within);
        };
        if (const auto only = parted->only()) {
          auto page = ask(*only, select);
          if (!page) return refuse(of_part(table, *only, std::move(page).error()));
          return page;
        }
        auto pages =
            of_all<TablePage>(table, known.parts, [&](std::uint32_t part) { return ask(part, parted->for_part()); });
        if (!pages) return refuse(std::move(pages).error());
        return parted->merge(*std::move(pages));
      });
  if (found || found.error().code != ErrorCode::not_found || reading.version) return found;
  // It is there, and a part has nothing of the version that all are read in: its rows were lost while another version
  // is built.
  if (const auto known = remembered(table); known && *known)
    return refuse(ErrorCode::unavailable, std::move(found).error().what);
  return found;
}

Result<TablePlan> PartedTables::explain(const std::string& table, TableSelect select, TableReading reading) {
  return as_it_lies<TablePlan>(
      table, [&] { return tables_.explain(table, select, reading); },
      [&](const Parted& known) -> Result<TablePlan> {
        const auto shape = known.shapes.find(reading.version.value_or(known.serves));
        if (shape == known.shapes.end())
          return refuse(ErrorCode::not_found, "table " + in_quotes(table) + " has no such version");
        const auto parted = actors::PartedSelect::make(*shape->second, select, known.parts);
        if (!parted) return refuse(parted.error());
        return parted->plan();
      });
}

Result<std::vector<ParkedRow>> PartedTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  return as_it_lies<std::vector<ParkedRow>>(
      table, [&] { return tables_.parked(table, after, limit); },
      [&](const Parted& known) -> Result<std::vector<ParkedRow>> {
        auto all = of_all<std::vector<ParkedRow>>(table, known.parts, [&](std::uint32_t part) {
          return tables_.parked(actors::part_name(table, part), after, limit);
        });
        if (!all) return refuse(std::move(all).error());
        std::vector<ParkedRow> merged;
        for (std::uint32_t part = 0; part < known.parts; ++part) {
          for (auto& row : (*all)[part]) {
            row.part = part;
            merged.push_back(std::move(row));
          }
        }
        std::ranges::sort(merged, {}, &ParkedRow::position);
        if (merged.size() > limit) merged.resize(limit);
        return merged;
      });
}

// Swapping.

void PartedTables::look() {
  auto pause = look_again_after;
  for (std::unique_lock lock(mutex_);;) {
    if (closing_) return;
    look_now_ = false;
    lock.unlock();
    const bool more = swap_what_is_ready();
    lock.lock();
    const auto woken = [this] { return closing_ || look_now_; };
    pause = more && !look_now_ ? std::min(2 * pause, pause_max) : look_again_after;
    if (more)
      changed_.wait_for(lock, pause, woken);
    else if (options_.look_every.count() != 0)
      changed_.wait_for(lock, options_.look_every, woken);
    else
      changed_.wait(lock, woken);
  }
}

bool PartedTables::swap_what_is_ready() {
  bool more = false;
  if (!options_.hosted) return false;
  for (const auto& info : options_.hosted()) {
    if (info.kind != table_kind || actors::parse_part_name(info.name) || table_parts(info.spec) == 1) continue;
    if (const auto swapped = swapped_.find(info.name); swapped != swapped_.end() && swapped->second >= info.last)
      continue;
    const auto found = catalogue_.find(info.name);
    if (!found) say_unswapped(info.name, found.error());
    if (!found || !*found || (*found)->dropped) continue;
    const auto& definition = **found;
    if (!actors::waits_to_be_served(definition)) {
      swapped_.insert_or_assign(info.name, definition.last);
      continue;
    }
    more = true;
    const auto parts = table_parts(definition.newest().spec);
    const auto built = describe_parts(info.name, parts);
    if (!built) {
      say_unswapped(info.name, built.error());
      continue;
    }
    const auto ready = std::ranges::count_if(
        built->versions, [&](const auto& one) { return one.rows == definition.newest().rows && one.complete; });
    if (static_cast<std::uint32_t>(ready) < parts) continue;
    if (const auto done = note_all(info.name, parts, definition.last, actors::verbs::served, "{}")) {
      unswapped_.erase(info.name);
      tell_all(info.name, parts);
    } else {
      say_unswapped(info.name, done.error());
    }
  }
  return more;
}

void PartedTables::say_unswapped(const std::string& name, const Error& error) {
  auto& said = unswapped_[name];
  if (std::exchange(said, error.what) == error.what || !options_.warn) return;
  options_.warn(Error(error.code, "what was built beside table " + in_quotes(name) +
                                      " cannot be served yet, and is tried again: " + error.what));
}

}  // namespace evershard::cluster
