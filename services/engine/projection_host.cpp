#include "evershard/services/engine/projection_host.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/engine/event_ids.hpp"
#include "evershard/services/indexes/index_projection.hpp"
#include "evershard/services/indexes/json_depth.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/indexes/query_spec.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"
#include "evershard/services/rows/rocks_projection_store.hpp"

namespace evershard::cluster {

using actors::Definition;

namespace {

constexpr const char* definitions_of = "projection";
constexpr std::size_t page_bytes_max = 8u << 20;  ///< of events: a page ends behind the one that goes beyond

Error no_part_alone(const std::string& name) {
  return {ErrorCode::invalid_argument, in_quotes(name) + " is a part of a table: it is changed with the others"};
}

std::size_t bytes_of(const std::optional<RecordedEvent>& event) {
  return event ? event->payload.size() + event->metadata_bytes().size() : 0;
}

Result<void> check_limit(std::size_t limit) {
  if (limit <= index_page_max) return {};
  return refuse(ErrorCode::too_large, "a page of an index has at most " + std::to_string(index_page_max) +
                                          " entries, not " + std::to_string(limit));
}

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

/// In memory there are no rows of another time.
ProjectionHostOptions naming_events(EventStore& events, ProjectionHostOptions options) {
  if (!options.folder.empty() && !options.engine.event_id_at) options.engine.event_id_at = event_ids_of(events);
  return options;
}

}  // namespace

ProjectionHost::ProjectionHost(EventStore& events, ProcessorKinds kinds, ProjectionHostOptions options)
    : events_(events),
      kinds_(std::move(kinds)),
      options_(naming_events(events, std::move(options))),
      catalogue_(events, definitions_of),
      any_removed_(events),
      begins_("the projections do not go on", options_.engine.warn) {}

void ProjectionHost::begin() {
  begins_.begin([this] { return options_.share ? look_again() : begin_defined(); });
}

Result<void> ProjectionHost::begin_defined() {
  const auto any = events_.aggregates(catalogue_.names().aggregate_type(), std::nullopt, 1);
  if (!any) return refuse(any.error());
  if (any->empty()) return {};
  if (const auto at_work = engine(); !at_work) return refuse(at_work.error());
  return {};
}

bool ProjectionHost::is_readable(const std::string& name, const Result<std::optional<Definition>>& found) {
  const std::lock_guard lock(damaged_mutex_);
  if (found || found.error().code != ErrorCode::corruption) {
    damaged_.erase(name);
    return true;
  }
  if (damaged_.insert(name).second && options_.engine.warn)
    options_.engine.warn(Error(found.error().code, "the definition of projection " + in_quotes(name) +
                                                       " cannot be read, it does not go on: " + found.error().what));
  return false;
}

bool ProjectionHost::is_damaged(const std::string& name) {
  const std::lock_guard lock(damaged_mutex_);
  return damaged_.contains(name);
}

void ProjectionHost::close() {
  begins_.stop();
  std::shared_ptr<ProjectionEngine> engine;
  std::shared_ptr<storage::ProjectionStore> rows;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    engine = std::move(engine_);
    rows = std::move(rows_);
  }
  if (engine) engine->stop();
  engine.reset();
  if (rows) rows->close();
}

Result<std::shared_ptr<ProjectionEngine>> ProjectionHost::engine() {
  const std::lock_guard lock(mutex_);
  if (closed_) return refuse(ErrorCode::unavailable, "the projections are closed");
  if (engine_) return engine_;
  const auto watermark = events_.head();
  if (!watermark) return refuse(watermark.error());
  const auto definitions = this->definitions();
  if (!definitions) return refuse(definitions.error());
  if (!rows_) {
    if (options_.folder.empty()) {
      rows_ = storage::memory_projection_store();
    } else {
      auto opened = storage::open_projection_store({.folder = options_.folder,
                                                    .of = {options_.owner, *watermark, options_.engine.event_id_at},
                                                    .block_cache_bytes = options_.block_cache_bytes,
                                                    .memtables_bytes = options_.memtables_bytes,
                                                    .warn = options_.engine.warn});
      if (!opened) return refuse(std::move(opened).error());
      rows_ = *std::move(opened);
    }
  }
  auto engine = std::make_shared<ProjectionEngine>(events_, rows_, kinds_, options_.engine);
  for (const auto& definition : *definitions) engine->apply(definition);
  if (!options_.share) engine->drop_others([this](const std::string& name) { return is_damaged(name); });
  engine_ = std::move(engine);
  return engine_;
}

Result<std::vector<Definition>> ProjectionHost::definitions() {
  if (!options_.share)
    return catalogue_.list(true, [this](const std::string& name, const Error& why) {
      (void)is_readable(name, refuse(why));  // told and remembered by that
    });
  const auto own = options_.share->here(catalogue_.names().aggregate_type());
  if (!own) return refuse(own.error());
  std::vector<Definition> all;
  for (const auto& info : own->definitions) {
    auto found = catalogue_.find(info.aggregate.value);
    if (!is_readable(info.aggregate.value, found)) continue;
    if (!found) return refuse(std::move(found).error());
    if (*found) all.push_back(**std::move(found));
  }
  return all;
}

Result<void> ProjectionHost::look_again() {
  const auto& share = options_.share;
  const auto& names = catalogue_.names();
  const auto own = share->here(names.aggregate_type());
  if (!own) return refuse(own.error());
  {
    const std::lock_guard lock(mutex_);
    if (!engine_ && own->definitions.empty()) return {};
  }
  const auto at_work = engine();
  if (!at_work) return refuse(at_work.error());
  auto& engine = **at_work;
  const auto all_known = engine.known();
  for (const auto& info : own->definitions) {
    const auto known = all_known.find(info.aggregate.value);
    if (known != all_known.end() && known->second >= info.version) continue;
    const auto found = catalogue_.find(info.aggregate.value);
    if (!is_readable(info.aggregate.value, found)) continue;
    if (!found) return refuse(found.error());
    if (*found && share->is_here(info.aggregate)) engine.apply(**found);
  }
  for (const auto& [name, version] : engine.known()) {
    if (!share->is_here(names.aggregate(name))) engine.release(name);
  }
  // What came here since it was looked has its rows, and goes on with them the next time.
  engine.drop_others([&](const std::string& name) {
    const auto definition = names.aggregate(name);
    return is_damaged(name) ||
           (share->is_here(definition) ? !own->covers(definition) : !share->is_elsewhere(definition));
  });
  engine.retry();
  return {};
}

Result<void> ProjectionHost::settle(const std::string& name) {
  if (!options_.share) return {};
  EVERSHARD_TRY(actors::check_definition_name(definitions_of, name));
  return options_.share->settle(catalogue_.names().aggregate(name));
}

Result<std::shared_ptr<ProjectionEngine>> ProjectionHost::engine_with(const std::string& name) {
  auto at_work = engine();
  if (!at_work || !options_.share || (*at_work)->hosts(name)) return at_work;
  EVERSHARD_TRY(settle(name));
  const auto found = catalogue_.find(name);
  if (!found) return refuse(found.error());
  if (!options_.share->is_here(catalogue_.names().aggregate(name)))
    return refuse(ErrorCode::wrong_shard, "projection " + in_quotes(name) + " is not kept here any more");
  if (*found && !(*found)->dropped) (*at_work)->apply(**found);
  return at_work;
}

std::vector<ProjectionInfo> ProjectionHost::hosted() {
  auto figures = this->figures();
  return figures ? std::move(figures->projections) : std::vector<ProjectionInfo>();
}

Result<ProjectionEngine::Opened> ProjectionHost::open(const std::string& name, const ProjectionEngine::Wanted& wanted) {
  const auto at_work = engine_with(name);
  if (!at_work) return refuse(at_work.error());
  return (*at_work)->open(name, wanted);
}

void ProjectionHost::retry() {
  const std::lock_guard lock(mutex_);
  if (engine_) engine_->retry();
}

Result<Definition> ProjectionHost::definition(const std::string& name, const std::string& kind) {
  auto found = catalogue_.get(name);
  if (!found || found->kind == kind) return found;
  return refuse(ErrorCode::invalid_argument,
                "projection " + in_quotes(name) + " is of kind " + found->kind + ", not " + kind);
}

Result<std::string> ProjectionHost::checked(const std::string& name, const std::string& kind,
                                            const std::string& spec) const {
  EVERSHARD_TRY(actors::check_definition_name(definitions_of, name));
  if (actors::is_nested_too_deeply(spec))
    return refuse(ErrorCode::invalid_argument, "the definition is nested too deeply");
  if (actors::parse_part_name(name)) return refuse(no_part_alone(name));
  const auto known = kinds_.find(kind);
  if (known == kinds_.end())
    return refuse(ErrorCode::invalid_argument, "there are no projections of kind " + in_quotes(kind));
  auto kept = known->second->check(name, spec);
  if (kept && !known->second->has_rows(name, *kept)) return refuse(actors::lies_in_parts(name));
  return kept;
}

Result<ProjectionInfo> ProjectionHost::carry_out(const Definition& definition) {
  const auto at_work = engine();
  if (!at_work) return refuse(at_work.error());
  (*at_work)->apply(definition);
  return describe(definition.name);
}

Result<ProjectionInfo> ProjectionHost::create(const std::string& name, const std::string& kind, const std::string& spec,
                                              IfThere there) {
  const auto kept = checked(name, kind, spec);
  if (!kept) return refuse(kept.error());
  EVERSHARD_TRY(settle(name));
  if (const auto at_work = engine(); !at_work) return refuse(at_work.error());
  const auto made = catalogue_.create(name, kind, *kept, there);
  if (!made) return refuse(made.error());
  return carry_out(*made);
}

Result<ProjectionInfo> ProjectionHost::create_index(const Query& query) {
  EVERSHARD_TRY(query.check());
  const auto name = actors::index_name(query);
  const auto spec = actors::IndexKind::spec_of(query);
  EVERSHARD_TRY(settle(name));
  const auto shared = [&]() -> std::optional<Result<ProjectionInfo>> {
    const auto found = catalogue_.get(name);
    if (!found) return std::nullopt;  // creating it meets whatever is wrong, and says so
    const auto same = actors::IndexKind::query_of(found->newest().spec);
    if (!same || *same != query.canonical())
      return Result<ProjectionInfo>(refuse(ErrorCode::invalid_argument, "the index " + name + " is of another query"));
    return describe(name);
  };
  if (auto there = shared()) return *std::move(there);
  auto made = create(name, actors::IndexKind::name, spec, IfThere::refuse);
  if (made || (made.error().code != ErrorCode::version_conflict && made.error().code != ErrorCode::already_exists))
    return made;
  if (auto there = shared()) return *std::move(there);  // somebody else was faster
  return made;
}

Result<ProjectionInfo> ProjectionHost::create_value_index(const std::string& name, const ValueIndex& index,
                                                          IfThere there) {
  const auto type = actors::value_type_of(index.value);
  if (!type)
    return refuse(ErrorCode::invalid_argument,
                  "values are text, integer, number, boolean or time, not " + in_quotes(index.value));
  if (index.source != "payload" && index.source != "metadata")
    return refuse(ErrorCode::invalid_argument,
                  "a value is in the payload or in the metadata, not in " + in_quotes(index.source));
  const auto spec = actors::checked_value_index(
      {index.types, index.source == "metadata", index.path, *type});  // what is not UTF-8 cannot be written as JSON
  if (!spec) return refuse(spec.error());
  return create(name, actors::ValueIndexKind::name, actors::value_index_spec(*spec), there);
}

Result<ProjectionInfo> ProjectionHost::change(const std::string& name, const std::string& spec,
                                              std::optional<SeqNr> expected) {
  EVERSHARD_TRY(settle(name));
  const auto found = catalogue_.get(name);
  if (!found) return refuse(found.error());
  if (const auto kind = kinds_.find(found->kind);
      kind != kinds_.end() && !kind->second->has_rows(name, found->newest().spec))
    return refuse(actors::lies_in_parts(name));
  const auto kept = checked(name, found->kind, spec);
  if (!kept) return refuse(kept.error());
  if (expected.value_or(found->last) == found->last && actors::same_definition(*kept, found->newest().spec))
    return describe(name);
  const auto changed = catalogue_.change(name, *kept, expected.value_or(found->last));
  if (!changed) return refuse(changed.error());
  return carry_out(*changed);
}

Result<void> ProjectionHost::ask(const std::string& name, Ask what) {
  EVERSHARD_TRY(settle(name));
  const auto found = catalogue_.get(name);
  if (!found) return refuse(found.error());
  if (actors::parse_part_name(name)) return refuse(no_part_alone(name));
  if (const auto kind = kinds_.find(found->kind);
      kind != kinds_.end() && !kind->second->has_rows(name, found->newest().spec))
    return refuse(actors::lies_in_parts(name));
  const auto noted = catalogue_.note(name, verb_of(what), "{}", found->last);
  if (!noted) return refuse(noted.error());
  const auto at_work = engine();
  if (!at_work) return refuse(at_work.error());
  (*at_work)->apply(*noted);
  return {};
}

Result<std::vector<ProjectionInfo>> ProjectionHost::list() {
  std::vector<ProjectionInfo> all;
  const auto any = events_.aggregates(catalogue_.names().aggregate_type(), std::nullopt, 1);
  if (!any) return refuse(any.error());
  if (any->empty()) return all;
  const auto at_work = engine();
  if (!at_work) return refuse(at_work.error());
  const auto watermark = events_.head();
  if (!watermark) return refuse(watermark.error());
  for (auto& info : (*at_work)->describe_all()) all.push_back(ProjectionEngine::told(std::move(info), *watermark));
  return all;
}

Result<ProjectionInfo> ProjectionHost::describe(const std::string& name) {
  if (options_.share) {  // before the look-up, which then finds every version
    if (auto there = engine_with(name); !there) return refuse(std::move(there).error());
  }
  const auto found = catalogue_.find(name);
  if (!found) return refuse(found.error());
  const auto at_work = engine();
  if (!at_work) return refuse(at_work.error());
  if (*found) (*at_work)->apply(**found);  // what was appended by another hand
  const auto defined = catalogue_.get(name);
  if (!defined) return refuse(defined.error());
  const auto watermark = events_.head();
  if (!watermark) return refuse(watermark.error());
  auto info = (*at_work)->describe(name);
  if (!info) return refuse(ErrorCode::not_found, "there is no projection " + in_quotes(name));
  auto told = ProjectionEngine::told(*std::move(info), *watermark);
  told.last = std::max(told.last, defined->last);  // what settles parked events is no change to the engine
  return told;
}

std::optional<ProjectionHost::Figures> ProjectionHost::figures() {
  std::shared_ptr<ProjectionEngine> at_work;
  std::shared_ptr<storage::ProjectionStore> rows;
  {
    const std::lock_guard lock(mutex_);
    at_work = engine_;
    rows = rows_;
  }
  if (!at_work) return std::nullopt;
  Figures figures{{}, rows->disk_bytes()};
  const auto watermark = events_.head().value_or(GlobalPosition{0});
  for (auto& info : at_work->describe_all())
    figures.projections.push_back(ProjectionEngine::told(std::move(info), watermark));
  return figures;
}

Result<ProjectionEngine::Opened> ProjectionHost::open_index(const std::string& name, const std::string& kind,
                                                            const RowsAsked& rows, bool at_the_watermark) {
  ProjectionEngine::Wanted wanted{rows.at_least, rows.timeout, rows.version};
  if (!wanted.at_least && at_the_watermark) {
    const auto watermark = events_.head();
    if (!watermark) return refuse(watermark.error());
    wanted.at_least = *watermark;
  }
  auto opened = open(name, wanted);
  if (opened && opened->of.kind != kind)
    return refuse(ErrorCode::invalid_argument,
                  "projection " + in_quotes(name) + " is of kind " + opened->of.kind + ", not " + kind);
  return opened;
}

Result<void> ProjectionHost::add_events(bool wanted, GlobalPosition position, std::optional<RecordedEvent>& to) {
  if (!wanted) return {};
  auto event = events_.event_at(position);
  if (!event) return refuse(std::move(event).error());
  to = *std::move(event);
  return {};
}

Result<IndexPage> ProjectionHost::read_index(const std::string& name, const IndexRead& read) {
  EVERSHARD_TRY(check_limit(read.limit));
  if (read.start == std::uint64_t{0}) return refuse(ErrorCode::invalid_argument, "an index is numbered from 1");
  const auto opened = open_index(name, actors::IndexKind::name, read.rows, false);
  if (!opened) return refuse(opened.error());
  const auto numbers = actors::read_numbers(*opened->rows, read.start, read.limit, read.direction);
  if (!numbers) return refuse(numbers.error());
  IndexPage page{{}, numbers->count, opened->position};
  std::size_t bytes = 0;
  for (const auto& found : numbers->found) {
    if (bytes > page_bytes_max) break;
    IndexEntry entry{found.number, found.position, {}};
    EVERSHARD_TRY(add_events(read.rows.events, found.position, entry.event));
    bytes += bytes_of(entry.event);
    page.entries.push_back(std::move(entry));
  }
  return page;
}

Result<ValuePage> ProjectionHost::read_values(const std::string& name, const ValueRead& read) {
  EVERSHARD_TRY(check_limit(read.limit));
  const auto opened = open_index(name, actors::ValueIndexKind::name, read.rows, true);
  if (!opened) return refuse(opened.error());
  const auto spec = actors::read_value_index_spec(opened->of.spec);
  if (!spec) return refuse(spec.error());
  auto values = actors::read_values(
      *opened->rows, spec->value, {read.equal, read.from, read.until, read.to, read.direction, read.after}, read.limit);
  if (!values) return refuse(std::move(values).error());
  const auto any_removed = any_removed_();
  if (!any_removed) return refuse(any_removed.error());
  ValuePage page{{}, std::move(values->next), opened->position};
  std::size_t bytes = 0;
  std::string page_end;
  for (auto& found : values->found) {
    if (bytes > page_bytes_max) {
      page.next = page_end;
      break;
    }
    if (read.rows.events) page_end = found.page_end();
    ValueEntry entry{std::move(found.value), found.position, {}};
    EVERSHARD_TRY(add_events(read.rows.events || *any_removed, found.position, entry.event));
    // A value that is gone from its event is not shown by what was made of it before.
    if (entry.event &&
        (entry.event->state == EventState::removed || (entry.event->state == EventState::erased && !spec->metadata)))
      continue;
    if (!read.rows.events) entry.event.reset();
    bytes += bytes_of(entry.event);
    page.entries.push_back(std::move(entry));
  }
  return page;
}

Result<GlobalPosition> ProjectionHost::wait_until(const std::string& name, GlobalPosition position,
                                                  std::chrono::milliseconds timeout) {
  const auto opened = open(name, {position, timeout, {}});
  if (!opened) return refuse(opened.error());
  return opened->position;
}

Result<void> ProjectionHost::vacuum(const storage::Progress& progress, unsigned removed_percent) {
  std::shared_ptr<storage::ProjectionStore> rows;
  {
    const std::lock_guard lock(mutex_);
    rows = rows_;
  }
  if (!rows) return {};
  return rows->vacuum(progress, removed_percent);
}

}  // namespace evershard::cluster
