#include "evershard/services/groups/host/group_host.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "evershard/api/settled_place.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved_types.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/groups/group_state_bytes.hpp"
#include "evershard/services/groups/host/hosted_group.hpp"
#include "evershard/services/groups/host/hosted_session.hpp"

namespace evershard::cluster {

using actors::GroupState;
using actors::GroupStateBytes;

namespace {

constexpr std::size_t worker_name_bytes_max = 200;
constexpr std::uint32_t credit_max = 10'000;
constexpr int change_tries_max = 100;

Error groups_closed() { return {ErrorCode::unavailable, "the store is closing: groups give nothing out"}; }

/// Below 2^53: a number that every reader of JSON takes as it is.
std::uint64_t new_life() {
  std::random_device random;
  return ((static_cast<std::uint64_t>(random()) << 32 | random()) >> 11) | 1;
}

/// Whether a change of a definition that was refused with this may be made all the same, now or later.
bool may_be_made(const Error& error) {
  return error.code != ErrorCode::not_found && error.code != ErrorCode::version_conflict &&
         error.code != ErrorCode::invalid_argument && error.code != ErrorCode::too_large;
}

GroupState new_state(const GroupSpec& spec) {
  return {spec.definition.settings, spec.definition.after.value_or(GlobalPosition{0}), new_life(),
          static_cast<std::uint64_t>(Timestamp::now().micros)};
}

/// A store that was restored to a moment, or copied from one, may have another history behind it than the one that was
/// read. Returns: what is to be said of it; empty: nothing.
Result<std::string> settle_history(EventStore& store, GroupState& state, const std::string& kept_fork,
                                   const std::string& fork) {
  auto place = state.place();
  place.set_fork(kept_fork);
  // Where nothing was read, it stands where it began: in front of its own definition.
  const auto reached = state.read_to() == state.start() ? GlobalPosition{0} : state.read_to();
  const auto settled = settle_place(store, place, reached, fork, standing_in(store));
  if (!settled) return refuse(settled.error());
  if (settled->stands) return std::string();
  state.cut_back(settled->position, group_time());
  return settled->why;
}

}  // namespace

GroupHost::GroupHost(EventStore& store, GroupHostOptions options)
    : store_(store), options_(std::move(options)), catalogue_(store, "group"), bell_(std::make_shared<GroupBell>()) {}

GroupHost::~GroupHost() { stop(); }

Result<std::uint64_t> GroupHost::at_home(const std::string& name) const {
  EVERSHARD_TRY(actors::check_definition_name("group", name));
  if (!options_.at_home) return std::uint64_t{0};
  return options_.at_home(catalogue_.names().aggregate(name));
}

Result<GroupHost::Group> GroupHost::load(const actors::Definition& definition, std::uint64_t term) {
  auto spec = read_group_spec(definition.name, definition.newest().spec);
  if (!spec) return refuse(std::move(spec).error());
  auto state = new_state(*spec);
  const auto aggregate = catalogue_.names().aggregate(definition.name);
  const auto snapshot = store_.snapshot(aggregate);
  if (!snapshot) return refuse(snapshot.error());
  if (*snapshot) {
    auto kept = GroupStateBytes::decode((*snapshot)->payload, spec->definition.settings, group_time(), group_wall_ms(),
                                        new_life(), static_cast<std::uint64_t>(Timestamp::now().micros));
    if (!kept)
      return refuse(kept.error().code,
                    "the group " + in_quotes(definition.name) + ": " + kept.error().what + "; reset it to begin anew");
    if (kept->kept.incarnation == spec->life) {
      state = std::move(kept->state);
      const auto fell_back = settle_history(store_, state, kept->kept.fork_id, options_.fork_id);
      if (!fell_back) return refuse(fell_back.error());
      if (!fell_back->empty() && options_.warn)
        options_.warn({ErrorCode::invalid_argument, "the group " + in_quotes(definition.name) + ": " + *fell_back});
    }
  }
  return std::make_shared<HostedGroup>(HostedGroup::Parts{store_, bell_, options_, aggregate, term}, *std::move(spec),
                                       definition.last, std::move(state));
}

Result<GroupHost::Group> GroupHost::look_up(const std::string& name, std::uint64_t term) {
  if (options_.settled) EVERSHARD_TRY(options_.settled(catalogue_.names().aggregate(name)));
  const auto definition = catalogue_.get(name);
  if (!definition) return refuse(definition.error());
  return load(*definition, term);
}

Result<GroupHost::Group> GroupHost::find(const std::string& name) {
  const auto term = at_home(name);
  if (!term) return refuse(term.error());
  std::unique_lock lock(mutex_);
  // One loads it, who else wants it waits; the others' groups go on.
  loaded_.wait(lock, [&] { return stopped_ || !loading_.contains(name); });
  if (stopped_) return refuse(groups_closed());
  Group old;
  if (const auto found = groups_.find(name); found != groups_.end()) {
    if (found->second->term() == *term) return found->second;
    old = std::move(found->second);  // it was elsewhere in between
    groups_.erase(found);
  }
  loading_.insert(name);
  lock.unlock();
  if (old) old->end(moved(name));
  auto group = look_up(name, *term);
  lock.lock();
  loading_.erase(name);
  loaded_.notify_all();
  if (stopped_) return refuse(groups_closed());
  if (group) groups_.emplace(name, *group);
  if (options_.at_home) bell_->ring(&GroupBell::work);  // it may have moved meanwhile
  return group;
}

Error GroupHost::moved(const std::string& name) {
  return {ErrorCode::not_found, "the group " + in_quotes(name) + " has another home now: join it again"};
}

void GroupHost::let_go(const std::string& name, const Error& why, std::optional<std::uint64_t> term) {
  Group group;
  {
    std::unique_lock lock(mutex_);
    // What is being loaded may be what is to go. Of who has moved, whoever loads it rings.
    if (term && loading_.contains(name)) return;
    loaded_.wait(lock, [&] { return !loading_.contains(name); });
    const auto found = groups_.find(name);
    if (found == groups_.end() || (term && found->second->term() != *term)) return;
    group = std::move(found->second);
    groups_.erase(found);
  }
  group->end(why);
}

Error GroupHost::changed_or_not(const std::string& name, Error why) {
  if (may_be_made(why))
    let_go(name, {ErrorCode::not_found,
                  "the group " + in_quotes(name) + " may have been changed, reset or dropped: join it again"});
  return why;
}

Result<GroupInfo> GroupHost::now_it_is(const std::string& name) {
  auto info = group(name);
  if (info || info.error().code == ErrorCode::not_found) return info;
  return refuse(ErrorCode::timeout, "the group " + in_quotes(name) +
                                        " was changed; how it is now could not be looked up: " + info.error().what);
}

Result<GroupInfo> GroupHost::info_of(const HostedGroup& group) {
  const auto head = store_.head();
  if (!head) return refuse(head.error());
  return group.info(*head);
}

/// Behind what nobody has seen, events to come would be left out without a word.
Result<GlobalPosition> GroupHost::start_of(std::optional<GlobalPosition> after) {
  auto head = store_.head();
  if (!head) return refuse(std::move(head).error());
  if (!after) return *head;
  if (*after > *head && options_.at_home) {  // another node may have shown what this one has not heard of yet
    if (auto there = store_.wait_for(*after, behind_itself_max); there) head = there;
  }
  if (*after <= *head) return *after;
  return refuse(ErrorCode::invalid_argument, "a group cannot begin behind position " + std::to_string(after->value) +
                                                 ": the head is " + std::to_string(head->value));
}

Result<GroupInfo> GroupHost::create_group(GroupDefinition definition, IfThere there) {
  EVERSHARD_TRY(at_home(definition.name));
  EVERSHARD_TRY(definition.settings.check());
  EVERSHARD_TRY(definition.query.check());
  EVERSHARD_TRY(check_known_types(definition.query));
  const auto start = start_of(definition.after);
  if (!start) return refuse(start.error());
  definition.after = *start;
  definition.query = definition.query.canonical();
  const auto name = definition.name;
  const auto same = [&](const std::string& newest) {
    const auto known = read_group_spec(name, newest);
    return known && known->definition.query == definition.query && known->definition.settings == definition.settings;
  };
  const auto created = catalogue_.create(name, "group", write_group_spec({definition, new_life()}), there, same);
  if (!created) return refuse(created.error());
  return now_it_is(name);
}

Result<GroupInfo> GroupHost::change_group(const std::string& name, const GroupSettingsChange& change) {
  EVERSHARD_TRY(change.check());
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  for (int tries = 1;; ++tries) {
    const auto definition = catalogue_.get(name);
    if (!definition) return refuse(definition.error());
    auto spec = read_group_spec(name, definition->newest().spec);
    if (!spec) return refuse(std::move(spec).error());
    if (change.order && *change.order != spec->definition.settings.order) {
      return refuse(ErrorCode::invalid_argument,
                    "the order of a group does not change: drop it, or create another one");
    }
    const auto before = spec->definition.settings;
    change.apply(spec->definition.settings);
    if (spec->definition.settings == before) return now_it_is(name);  // no event for what changes nothing
    const auto changed = catalogue_.change(name, write_group_spec(*spec), definition->last);
    // Somebody else changed it in between: what is named here goes on top of that.
    if (!changed && changed.error().code == ErrorCode::version_conflict && tries < change_tries_max) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(std::min(tries, 20)));  // on a cluster it may not be readable yet
      continue;
    }
    if (!changed) return refuse(changed_or_not(name, changed.error()));
    group = find(name);  // another one, if it was reset or moved
    if (group) (*group)->change(*spec, changed->last);
    return now_it_is(name);
  }
}

Result<GroupInfo> GroupHost::reset_group(const std::string& name, std::optional<GlobalPosition> after) {
  EVERSHARD_TRY(at_home(name));
  const auto definition = catalogue_.get(name);
  if (!definition) return refuse(definition.error());
  auto spec = read_group_spec(name, definition->newest().spec);
  if (!spec) return refuse(std::move(spec).error());
  const auto start = start_of(after);
  if (!start) return refuse(start.error());
  spec->definition.after = *start;
  spec->life = new_life();
  const auto changed = catalogue_.change(name, write_group_spec(*spec), definition->last);
  if (!changed) return refuse(changed_or_not(name, changed.error()));
  let_go(name, {ErrorCode::not_found, "the group " + in_quotes(name) + " was reset: join it again"});
  return now_it_is(name);
}

Result<void> GroupHost::drop_group(const std::string& name) {
  EVERSHARD_TRY(at_home(name));
  const auto dropped = catalogue_.drop(name);
  if (!dropped) return refuse(changed_or_not(name, dropped.error()));
  let_go(name, {ErrorCode::not_found, "the group " + in_quotes(name) + " was dropped"});
  return {};
}

Result<std::vector<GroupInfo>> GroupHost::list_groups() {
  const auto definitions = catalogue_.list();
  if (!definitions) return refuse(definitions.error());
  std::vector<GroupInfo> all;
  for (const auto& definition : *definitions) {
    auto info = group(definition.name);
    if (info) {
      all.push_back(*std::move(info));
      continue;
    }
    if (info.error().code == ErrorCode::not_found) continue;  // dropped meanwhile
    // Listed all the same: one that cannot be read must not hide the others.
    auto& failed = all.emplace_back();
    if (auto spec = read_group_spec(definition.name, definition.newest().spec))
      failed.definition = std::move(spec->definition);
    failed.definition.name = definition.name;
    failed.trouble = info.error().what;
  }
  return all;
}

std::vector<GroupInfo> GroupHost::figures() {
  bool loaded = false;
  {
    const std::lock_guard lock(mutex_);
    loaded = all_loaded_;
  }
  if (!loaded && list_groups()) {
    const std::lock_guard lock(mutex_);
    all_loaded_ = true;
  }
  const auto head = store_.head();
  std::vector<GroupInfo> all;
  for (const auto& group : hosted()) all.push_back(group->info(head.value_or(GlobalPosition{0})));
  return all;
}

Result<GroupInfo> GroupHost::group(const std::string& name) {
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  return info_of(**group);
}

Result<std::vector<ParkedEvent>> GroupHost::parked_events(const std::string& name, GlobalPosition after,
                                                          std::size_t limit) {
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  return (*group)->parked(after, limit);
}

Result<std::uint64_t> GroupHost::replay_parked(const std::string& name, std::optional<GlobalPosition> position) {
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  start();
  return (*group)->replay(position);
}

Result<std::uint64_t> GroupHost::discard_parked(const std::string& name, std::optional<GlobalPosition> position) {
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  start();
  return (*group)->discard(position);
}

Result<std::shared_ptr<GroupSession>> GroupHost::open_session(const std::string& name, const GroupJoin& join,
                                                              std::function<void()> wake) {
  return open_hosted(name, join, std::move(wake));
}

Result<std::shared_ptr<HostedSession>> GroupHost::open_hosted(const std::string& name, const GroupJoin& join,
                                                              std::function<void()> wake) {
  if (join.credit == 0 || join.credit > credit_max) {
    return refuse(ErrorCode::invalid_argument, "a credit of " + std::to_string(join.credit) +
                                                   " events: it is from 1 to " + std::to_string(credit_max));
  }
  if (join.name.size() > worker_name_bytes_max || !is_utf8(join.name)) {
    return refuse(ErrorCode::invalid_argument,
                  "a worker's name is UTF-8 of at most " + std::to_string(worker_name_bytes_max) + " bytes");
  }
  auto group = find(name);
  if (!group) return refuse(std::move(group).error());
  start();
  const auto worker = (*group)->join(join, std::move(wake));
  if (!worker) return refuse(worker.error());
  return std::make_shared<HostedSession>(*group, *worker);
}

}  // namespace evershard::cluster
