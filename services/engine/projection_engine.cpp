#include "evershard/services/engine/projection_engine.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/indexes/part_name.hpp"

namespace evershard::cluster {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using actors::Definition;

namespace {

constexpr auto look_up_every = 250ms;  ///< whether somebody who waits can be tried again
constexpr auto make_again_after = 1s;  ///< what could not be made
constexpr auto wait_max = std::chrono::years(1);
constexpr int rows_niceness = 5;  ///< a third of the processor where an append's thread wants it too

/// How many versions before the newest are kept and driven on, for readers that name them: "keep_versions" of the
/// newest's spec.
std::size_t versions_kept(const std::string& spec) {
  const auto json = nlohmann::json::parse(spec, nullptr, false);
  if (!json.is_object()) return 0;
  const auto kept = json.find("keep_versions");
  return kept != json.end() && kept->is_number_unsigned() ? kept->get<std::size_t>() : 0;
}

RunOf run_of(const Definition& definition, const actors::DefinitionVersion& version, SeqNr rows) {
  return {definition.name, definition.kind, version.spec, version.version, rows};
}

SeqNr noted(const Definition& definition, std::string_view verb) {
  const auto found = definition.noted.find(verb);
  return found == definition.noted.end() ? SeqNr{0} : found->second;
}

}  // namespace

namespace {

/// A part goes on to be read as it was until all of its table's have what was built beside.
bool waits_for_others(const Definition& definition) {
  return actors::parse_part_name(definition.name) && actors::waits_to_be_served(definition);
}

}  // namespace

struct ProjectionEngine::OwnLane {
  std::shared_ptr<ProjectionRun> run;
  RunDriver driver;
  std::thread thread{};
  std::atomic<bool> done{false};  ///< the thread needs nothing any more
};

namespace {

/// Rows that catch up can be late, appends are waited for: where both want the processor, those come first. Of this
/// thread, for good. Live rows are waited for as well: behind appends they were a hundred milliseconds late at half
/// load.
/// Where it is not allowed, they work beside the appends.
void come_after_appends() { (void)::setpriority(PRIO_PROCESS, 0, rows_niceness); }

}  // namespace

ProjectionEngine::ProjectionEngine(EventStore& events, std::shared_ptr<storage::ProjectionStore> rows,
                                   ProcessorKinds kinds, EngineOptions options)
    : events_(events),
      owned_rows_(std::move(rows)),
      rows_(*owned_rows_),
      kinds_(std::move(kinds)),
      options_(std::move(options)),
      room_(options.gathered_bytes_max),
      live_driver_(events, rows_, options_.page_events_max, options_.warn) {
  threads_.emplace_back([this] { live(); });
  for (std::size_t i = 0; i < options_.building_at_once; ++i) {
    builders_.push_back(std::make_unique<RunDriver>(events_, rows_, options_.page_events_max, options_.warn));
    threads_.emplace_back([this, &driver = *builders_.back()] {
      come_after_appends();
      while (true) {
        std::shared_ptr<ProjectionRun> run;
        {
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, look_up_every, [&] { return stopping_ || !building_.empty(); });
          if (stopping_) return;
          wake_parked();
          if (building_.empty()) continue;
          run = std::move(building_.front());
          building_.pop_front();
        }
        drive_to_the_end(run, driver);
      }
    });
  }
}

ProjectionEngine::~ProjectionEngine() { stop(); }

void ProjectionEngine::stop() {
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<OwnLane>> lanes;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    lanes.swap(own_lanes_);
    live_driver_.interrupt();
    for (const auto& driver : builders_) driver->interrupt();
    for (const auto& lane : lanes) lane->driver.interrupt();
  }
  changed_.notify_all();
  board_.moved();
  for (auto& thread : threads) thread.join();
  for (const auto& lane : lanes) lane->thread.join();
}

void ProjectionEngine::apply(const Definition& definition) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || definition.versions.empty()) return;
  if (const auto dropped = dropped_.find(definition.name); dropped != dropped_.end()) {
    if (dropped->second >= definition.last) return;
    dropped_.erase(dropped);
  }
  auto& hosted = hosted_[definition.name];
  if (hosted.definition.last >= definition.last) return;
  const bool resumed = noted(definition, actors::verbs::resumed) > noted(hosted.definition, actors::verbs::resumed);
  hosted.definition = definition;
  reconcile(hosted);
  for (const auto& run : hosted.runs) {
    run->pause(definition.paused);
    const auto state = run->status().state;
    if ((resumed && (state == RunState::failed || state == RunState::waiting)) ||
        (state == RunState::paused && !definition.paused))
      run->revive();
  }
  wake_parked();
  if (hosted.definition.dropped) {
    dropped_[definition.name] = definition.last;
    hosted_.erase(definition.name);
  }
  live_driver_.interrupt();
  for (const auto& driver : builders_) driver->interrupt();
  for (const auto& lane : own_lanes_) lane->driver.interrupt();
  changed_.notify_all();
  board_.moved();
}

void ProjectionEngine::release(const std::string& name) {
  const std::lock_guard lock(mutex_);
  dropped_.erase(name);
  const auto found = hosted_.find(name);
  if (found == hosted_.end()) return;
  for (const auto& run : found->second.runs) {
    run->stop();
    std::erase(parked_, run);
    std::erase(building_, run);
    released_[run->family()] = run;
  }
  hosted_.erase(found);
  live_driver_.interrupt();
  for (const auto& driver : builders_) driver->interrupt();
  for (const auto& lane : own_lanes_) lane->driver.interrupt();
  changed_.notify_all();
  board_.moved();
}

bool ProjectionEngine::hosts(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return hosted_.contains(name);
}

std::map<std::string, SeqNr, std::less<>> ProjectionEngine::known() const {
  const std::lock_guard lock(mutex_);
  auto all = dropped_;
  for (const auto& [name, hosted] : hosted_) all.emplace(name, hosted.definition.last);
  return all;
}

void ProjectionEngine::drop_others(const std::function<bool(const std::string&)>& keep) {
  const std::lock_guard lock(mutex_);
  for (const auto& family : rows_.families()) {
    const auto name = family.substr(0, family.rfind('@'));
    // What stays of it is dropped when the rows are opened the next time.
    if (!hosted_.contains(name) && !(keep && keep(name))) (void)rows_.drop_family(family);
  }
}

void ProjectionEngine::retry() {
  const std::lock_guard lock(mutex_);
  make_unmade();
  changed_.notify_all();
}

void ProjectionEngine::make_unmade() {
  for (auto& [name, hosted] : hosted_) {
    for (const auto& [family, of] : std::exchange(hosted.unmade, {})) begin(hosted, of);
  }
  make_unmade_at_ = Clock::now() + make_again_after;
}

void ProjectionEngine::reconcile(Hosted& hosted) {
  const auto& definition = hosted.definition;
  std::vector<RunOf> wanted;
  const auto kind = kinds_.find(definition.kind);
  if (!definition.dropped &&
      (kind == kinds_.end() || kind->second->has_rows(definition.name, definition.newest().spec))) {
    const auto& versions = definition.versions;
    const auto& newest = versions.back();
    const auto newest_of = run_of(definition, newest, newest.rows);
    const auto kept = std::min(versions_kept(newest.spec), versions.size() - 1);
    for (auto i = versions.size() - 1 - kept; i + 1 < versions.size(); ++i)
      wanted.push_back(run_of(definition, versions[i], versions[i].rows));
    const auto begun = rows_.checkpoint(newest_of.family());
    if (newest.beside && !(begun && begun->complete && !waits_for_others(definition))) {
      // Who reads goes on with the newest rows that were complete, until these are.
      std::optional<RunOf> read;
      bool read_complete = false;
      for (const auto& family : rows_.families()) {
        const auto parts = parse_family(family, definition.name);
        if (!parts || parts->second >= newest.rows) continue;
        const auto version = std::ranges::find(versions, parts->first, &actors::DefinitionVersion::version);
        const auto checkpoint = rows_.checkpoint(family);
        if (version == versions.end() || !checkpoint) continue;
        if (waits_for_others(definition) && version->version != actors::served_version(definition))
          continue;  // all parts are read in one version
        if (read && std::pair(checkpoint->complete, parts->second) < std::pair(read_complete, read->rows)) continue;
        read = run_of(definition, *version, parts->second);
        read_complete = checkpoint->complete;
      }
      if (read && std::ranges::find(wanted, read->family(), &RunOf::family) == wanted.end()) wanted.push_back(*read);
    }
    wanted.push_back(newest_of);
    carry_over(hosted, newest_of);
  }
  const auto is_wanted = [&](const std::string& family) {
    return std::ranges::find(wanted, family, &RunOf::family) != wanted.end();
  };

  for (const auto& run : hosted.runs)
    if (!is_wanted(run->family())) end(run);
  std::erase_if(hosted.runs, [](const auto& run) { return run->stopped(); });
  hosted.unmade.clear();
  hosted.why_unmade.clear();
  for (const auto& family : rows_.families())
    // What stays of it is dropped when the rows are opened the next time.
    if (parse_family(family, definition.name) && !is_wanted(family)) (void)rows_.drop_family(family);
  for (const auto& of : wanted) {
    if (std::ranges::find(hosted.runs, of.family(), [](const auto& run) { return run->family(); }) == hosted.runs.end())
      begin(hosted, of);
  }
}

void ProjectionEngine::carry_over(const Hosted& hosted, const RunOf& newest) {
  const auto kind = kinds_.find(newest.kind);
  if (kind == kinds_.end()) return;
  if (std::ranges::find(hosted.runs, newest.family(), [](const auto& run) { return run->family(); }) !=
      hosted.runs.end())
    return;  // it has begun
  const auto there = rows_.checkpoint(newest.family());
  if (there && (there->position != GlobalPosition{0} || !there->state.empty())) return;
  const auto& versions = hosted.definition.versions;
  std::optional<std::pair<std::pair<bool, std::uint64_t>, std::string>> before;  // what was complete, then the newest
  for (const auto& family : rows_.families()) {
    const auto parts = parse_family(family, hosted.definition.name);
    const auto checkpoint = rows_.checkpoint(family);
    if (!parts || !checkpoint || parts->second >= newest.rows) continue;
    // A crash may have left rows of one that was dropped, and had the same name.
    const auto version = std::ranges::find(versions, parts->first, &actors::DefinitionVersion::version);
    if (version == versions.end() || version->spec != newest.spec) continue;
    const std::pair order(checkpoint->complete, parts->second.value);
    if (!before || before->first < order) before.emplace(order, family);
  }
  if (!before) return;
  const auto carry = [&]() -> Result<void> {
    const auto view = rows_.view(before->second);
    if (!view) return refuse(view.error());
    auto changes = kind->second->carried(**view);
    if (!changes) return refuse(std::move(changes).error());
    if (changes->rows.empty()) return {};
    if (!there) EVERSHARD_TRY(rows_.create_family(newest.family(), {.definition = newest.version.value}));
    storage::ProjectionBatch batch;
    batch.families.emplace(newest.family(), *std::move(changes));
    EVERSHARD_TRY(rows_.write(batch));
    rows_.settle(newest.family());  // the rows of before may go at once
    return {};
  };
  if (const auto carried = carry(); !carried && options_.warn)
    options_.warn(Error(carried.error().code, "rows of projection " + in_quotes(hosted.definition.name) +
                                                  " are built without what was known before: " + carried.error().what));
}

void ProjectionEngine::begin(Hosted& hosted, const RunOf& of) {
  const auto not_yet = [&](Error why) {
    hosted.unmade.insert_or_assign(of.family(), of);
    hosted.why_unmade.insert_or_assign(of.family(), std::move(why));
  };
  if (stopping_) return not_yet(Error(ErrorCode::unavailable, "the projections are closed"));
  const auto kind = kinds_.find(of.kind);
  if (kind == kinds_.end())
    return not_yet(Error(ErrorCode::unavailable, "this program knows no projections of kind " + in_quotes(of.kind)));
  // Two would write the same rows: the one of before ends with the page it has.
  if (const auto before = released_.find(of.family()); before != released_.end()) {
    if (!before->second.expired()) return not_yet(Error(ErrorCode::unavailable, "it is still being let go here"));
    released_.erase(before);
  }
  auto processor = kind->second->make(of.name, of.spec);
  if (!processor) return not_yet(std::move(processor).error());
  if (!rows_.checkpoint(of.family())) {
    if (auto made = rows_.create_family(of.family(), {.definition = of.version.value}); !made)
      return not_yet(std::move(made).error());
  }
  auto run = std::make_shared<ProjectionRun>(rows_, board_, room_, of, *std::move(processor), options_.event_id_at);
  run->pause(hosted.definition.paused);
  hosted.runs.push_back(run);
  std::ranges::sort(hosted.runs, {}, [](const auto& one) { return one->of().rows; });
  hosted.why_unmade.erase(of.family());
  if (run->processor().has_users_code()) {
    give_back_lanes();
    auto& lane = *own_lanes_.emplace_back(new OwnLane{run, {events_, rows_, options_.page_events_max, options_.warn}});
    lane.thread = std::thread([this, &lane] {
      drive_alone(lane);
      lane.done = true;
    });
  } else {
    queue(run);
  }
}

/// Their threads come to an end by themselves, once their runs were stopped.
void ProjectionEngine::give_back_lanes() {
  std::erase_if(own_lanes_, [](const auto& lane) {
    if (lane->done) lane->thread.join();
    return lane->done.load();
  });
}

void ProjectionEngine::end(const std::shared_ptr<ProjectionRun>& run) {
  run->stop();
  // What stays of it is dropped when the rows are opened the next time.
  (void)rows_.drop_family(run->family());
  std::erase(parked_, run);
  std::erase(building_, run);
}

/// Nobody works on it.
void ProjectionEngine::queue(const std::shared_ptr<ProjectionRun>& run) {
  if (auto loaded = run->load(); !loaded) {
    run->not_written(std::move(loaded).error());
    return parked_.push_back(run);
  }
  building_.push_back(run);
  changed_.notify_all();
}

void ProjectionEngine::park(const Runs& runs) {
  for (const auto& run : runs) {
    if (run->stopped()) continue;
    const auto state = run->status().state;
    const bool stands = state == RunState::failed || state == RunState::waiting;
    if (run->pause_wanted() && !stands) run->mark(RunState::paused);
    if (run->fit()) {
      run->revive();
      queue(run);
    } else {
      parked_.push_back(run);
    }
  }
}

void ProjectionEngine::wake_parked() {
  if (make_unmade_at_ <= Clock::now()) make_unmade();
  for (const auto& run : std::exchange(parked_, {})) {
    if (run->stopped()) continue;
    if (run->status().state == RunState::waiting && run->retry_at() <= Clock::now() && !run->pause_wanted())
      run->revive();
    if (run->status().state == RunState::paused && !run->pause_wanted()) run->revive();
    if (run->fit()) {
      queue(run);
    } else {
      parked_.push_back(run);
    }
  }
}

void ProjectionEngine::completed() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, hosted] : hosted_)
    if (hosted.runs.size() + hosted.unmade.size() > 1) reconcile(hosted);
}

void ProjectionEngine::drive_to_the_end(const std::shared_ptr<ProjectionRun>& run, RunDriver& driver) {
  auto look_at_others_at = Clock::now() + options_.turn;
  const bool was_complete = run->complete();
  driver.add(run);
  bool caught_up = false, others_wait = false;
  std::optional<Error> error;
  while (driver.size() != 0 && !stopping_ && !caught_up && !others_wait) {
    auto step = driver.step(100ms);
    if (step.error) {
      error = std::move(step.error);
      break;
    }
    caught_up = step.caught_up;
    if (Clock::now() > look_at_others_at) {
      const std::lock_guard lock(mutex_);
      wake_parked();
      others_wait = !building_.empty();
      look_at_others_at = Clock::now() + look_up_every;
    }
  }
  const auto all = driver.take_all();  // writes what was gathered, also before an event that cannot be read
  if (error) run->not_written(*std::move(error));
  {
    const std::lock_guard lock(mutex_);
    if (caught_up && run->fit()) {
      joining_.push_back(run);
      live_driver_.interrupt();
    } else if (others_wait && run->fit()) {
      building_.push_back(run);
    } else {
      park(all);
    }
  }
  changed_.notify_all();
  if (caught_up && !was_complete) completed();
}

void ProjectionEngine::live() {
  while (!stopping_) {
    {
      std::unique_lock lock(mutex_);
      if (live_driver_.size() == 0) changed_.wait(lock, [&] { return stopping_ || !joining_.empty(); });
      for (auto& run : std::exchange(joining_, {})) live_driver_.add(std::move(run));
    }
    if (stopping_ || live_driver_.size() == 0) continue;
    const auto began = Clock::now();
    auto step = live_driver_.step(look_up_every);
    auto out = live_driver_.take_out();
    if (step.error) {
      out = live_driver_.take_all();
      for (const auto& run : out) run->not_written(*step.error);
    }
    if (!out.empty()) {
      const std::lock_guard lock(mutex_);
      park(out);
    }
    if (!step.waited) pause_between_pages(began);
  }
  // The runs are known here: only the driver lets go of them.
  (void)live_driver_.take_all();
}

void ProjectionEngine::drive_alone(OwnLane& lane) {
  auto& run = *lane.run;
  auto& driver = lane.driver;
  while (!stopping_ && !run.stopped()) {
    if (!run.fit()) {
      // The runs are known here: only the driver lets go of them.
      (void)driver.take_all();
      const auto state = run.status().state;
      if (run.pause_wanted() && (state == RunState::building || state == RunState::live)) run.mark(RunState::paused);
      if (state == RunState::waiting && run.retry_at() <= Clock::now() && !run.pause_wanted()) run.revive();
      if (state == RunState::paused && !run.pause_wanted()) run.revive();
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, look_up_every, [&] { return stopping_ || run.stopped() || run.fit(); });
      continue;
    }
    if (driver.size() == 0) {
      if (auto loaded = run.load(); !loaded) {
        run.not_written(std::move(loaded).error());
        continue;
      }
      driver.add(lane.run);
    }
    const bool was_complete = run.complete();
    const auto began = Clock::now();
    auto step = driver.step(look_up_every);
    // The run is known here: only the driver lets go of it.
    (void)driver.take_out();
    if (step.error) {
      // The runs are known here: only the driver lets go of them.
      (void)driver.take_all();
      run.not_written(*std::move(step.error));
    }
    if (run.complete() && !was_complete) completed();
    if (step.caught_up && !step.waited) pause_between_pages(began);
  }
  // The runs are known here: only the driver lets go of them.
  (void)driver.take_all();
  const std::lock_guard lock(mutex_);
  lane.run.reset();
}

void ProjectionEngine::pause_between_pages(Clock::time_point began) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, began + options_.pace, [&] { return stopping_ || hurried_.exchange(0) != 0; });
}

std::shared_ptr<ProjectionRun> ProjectionEngine::serving(const Hosted& hosted) {
  const bool not_the_newest = waits_for_others(hosted.definition);
  for (auto i = hosted.runs.rbegin(); i != hosted.runs.rend(); ++i)
    if ((*i)->complete() && !(not_the_newest && (*i)->of().rows == hosted.definition.newest().rows)) return *i;
  return hosted.runs.empty() ? nullptr : hosted.runs.front();
}

void ProjectionEngine::nudge(const std::shared_ptr<ProjectionRun>& run) {
  if (run->status().state != RunState::live) return;
  const std::lock_guard lock(mutex_);
  hurried_ = 1;
  if (run->processor().has_users_code()) {
    for (const auto& lane : own_lanes_)
      if (lane->run == run) lane->driver.interrupt();
  } else {
    live_driver_.interrupt();
  }
  changed_.notify_all();
}

Result<ProjectionEngine::Opened> ProjectionEngine::open(const std::string& name, const Wanted& wanted) {
  const auto until = Clock::now() + std::min<std::chrono::milliseconds>(wanted.timeout, wait_max);
  while (true) {
    std::shared_ptr<ProjectionRun> run;
    bool is_read = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return refuse(ErrorCode::unavailable, "the projections are closed");
      const auto found = hosted_.find(name);
      if (found == hosted_.end()) return refuse(ErrorCode::not_found, "there is no projection " + in_quotes(name));
      const auto& hosted = found->second;
      if (wanted.version) {
        const auto version =
            std::ranges::find_if(hosted.runs, [&](const auto& one) { return one->of().version == *wanted.version; });
        if (version != hosted.runs.end()) run = *version;
      } else {
        run = serving(hosted);
      }
      if (const auto kind = kinds_.find(hosted.definition.kind);
          !run && kind != kinds_.end() && !kind->second->has_rows(name, hosted.definition.newest().spec))
        return refuse(actors::lies_in_parts(name));
      if (!run && !hosted.why_unmade.empty() && !wanted.version)
        return refuse(ErrorCode::unavailable,
                      "projection " + in_quotes(name) + " cannot run: " + hosted.why_unmade.begin()->second.what);
      if (!run)
        return refuse(ErrorCode::not_found, "projection " + in_quotes(name) + " has no rows of version " +
                                                std::to_string(wanted.version.value_or(SeqNr{0}).value));
      is_read = run == serving(hosted);
    }
    const auto stands = [&] {
      const auto state = run->status().state;
      return run->pause_wanted() || state == RunState::failed || state == RunState::paused;
    };
    const auto not_there = [&](bool in_time, const std::string& what) -> Refused {
      const auto status = run->status();
      const auto where = "projection " + in_quotes(name) + " is at position " + std::to_string(run->position().value);
      const auto why = status.error ? ": " + status.error->what : std::string();
      if (!in_time) return refuse(ErrorCode::timeout, where + " and has not " + what + " in time" + why);
      return refuse(ErrorCode::unavailable, where + " and is " + name_of(status.state) + why);
    };
    if (wanted.caught_up && !is_read && !run->complete()) {
      const bool woken = board_.wait(until, [&] { return run->complete() || run->stopped() || stopping_ || stands(); });
      if (stopping_) return refuse(ErrorCode::unavailable, "the projections are closed");
      if (run->stopped()) continue;
      if (!run->complete()) return not_there(woken, "caught up");
    }
    if (options_.reads_whole_only && is_read && !wanted.at_least && !run->complete()) {
      const auto enough = std::min(until, Clock::now() + options_.whole_wait_max);
      // Whether the run is complete by now is looked at below.
      static_cast<void>(
          board_.wait(enough, [&] { return run->complete() || run->stopped() || stopping_ || stands(); }));
      if (stopping_) return refuse(ErrorCode::unavailable, "the projections are closed");
      if (run->stopped()) continue;
      // Who names a version knows that it stands, and what it has then.
      const bool stands_as_named = wanted.version && stands();
      if (!run->complete() && stands() && !stands_as_named) return not_there(true, "caught up");
      if (!run->complete() && !stands_as_named)
        return refuse(ErrorCode::unavailable, "the rows of projection " + in_quotes(name) +
                                                  " are not all made yet, and are at position " +
                                                  std::to_string(run->position().value) +
                                                  ": wait, or name the position that is enough (at_least)");
    }
    if (wanted.at_least && run->position() < *wanted.at_least) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (auto there = events_.wait_for(*wanted.at_least, std::max(left, 0ms)); !there)
        return refuse(std::move(there).error());
      nudge(run);
      const bool woken = board_.wait(
          until, [&] { return run->position() >= *wanted.at_least || run->stopped() || stopping_ || stands(); });
      if (stopping_) return refuse(ErrorCode::unavailable, "the projections are closed");
      if (run->stopped()) continue;
      if (run->position() < *wanted.at_least)
        return not_there(woken, "reached " + std::to_string(wanted.at_least->value));
    }
    Opened opened{.position = run->position(), .of = run->of(), .complete = run->complete()};
    auto rows = rows_.view(run->family());
    if (!rows && run->stopped()) continue;
    if (!rows) return refuse(std::move(rows).error());
    opened.rows = *std::move(rows);
    opened.position = std::max(opened.position, opened.rows->checkpoint().position);
    return opened;
  }
}

ProjectionEngine::VersionInfo ProjectionEngine::describe(const ProjectionRun& run, const ProjectionRun* serving) const {
  const auto status = run.status();
  VersionInfo info{run.of(),
                   status.state,
                   status.error,
                   status.failed_at,
                   run.position(),
                   run.complete(),
                   &run == serving,
                   run.events(),
                   run.errors(),
                   {},
                   {}};
  if (const auto since = run.busy_since())
    info.busy = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *since);
  if (const auto checkpoint = rows_.checkpoint(run.family())) info.figures = run.processor().figures(checkpoint->state);
  return info;
}

ProjectionEngine::Info ProjectionEngine::describe(const Hosted& hosted) const {
  Info info{hosted.definition, {}};
  const auto read = serving(hosted);
  for (const auto& run : hosted.runs) info.versions.push_back(describe(*run, read.get()));
  for (const auto& [family, of] : hosted.unmade) {
    VersionInfo unmade{.of = of, .state = RunState::waiting};
    if (const auto why = hosted.why_unmade.find(family); why != hosted.why_unmade.end()) unmade.error = why->second;
    info.versions.push_back(std::move(unmade));
  }
  std::ranges::sort(info.versions, {}, [](const auto& version) { return version.of.rows; });
  return info;
}

ProjectionInfo ProjectionEngine::told(Info info, GlobalPosition watermark) {
  ProjectionInfo told{info.definition.name,
                      info.definition.kind,
                      info.definition.newest().spec,
                      info.definition.last,
                      info.definition.paused,
                      watermark,
                      {}};
  for (auto& one : info.versions) {
    ProjectionVersion version;
    version.version = one.of.version;
    version.rows = one.of.rows;
    version.state = name_of(one.state);
    version.complete = one.complete;
    version.serving = one.serving;
    version.position = one.position;
    version.lag = watermark > one.position ? watermark - one.position : 0;
    version.events = one.events;
    version.errors = one.errors;
    version.error = std::move(one.error);
    if (one.failed_at.value != 0) version.failed_at = one.failed_at;
    if (one.busy) version.busy_ms = static_cast<std::uint64_t>(one.busy->count());
    version.figures = std::move(one.figures);
    told.versions.push_back(std::move(version));
  }
  return told;
}

std::vector<ProjectionEngine::Info> ProjectionEngine::describe_all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Info> all;
  for (const auto& [name, hosted] : hosted_) all.push_back(describe(hosted));
  return all;
}

std::optional<ProjectionEngine::Info> ProjectionEngine::describe(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = hosted_.find(name);
  if (found == hosted_.end()) return std::nullopt;
  return describe(found->second);
}

}  // namespace evershard::cluster
