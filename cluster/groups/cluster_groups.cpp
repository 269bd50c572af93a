#include "evershard/cluster/groups/cluster_groups.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/cluster/homes/home_asker.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved_types.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/services/groups/host/group_spec.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/v1/groups.pb.h"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using std::chrono::milliseconds;

constexpr milliseconds asked_for = std::chrono::seconds(10);
constexpr milliseconds listed_for =
    std::chrono::seconds(5);  ///< all of them; a home that does not answer keeps nobody for longer
constexpr milliseconds listed_each = milliseconds(200);           ///< at least
constexpr milliseconds read_again_for = std::chrono::seconds(3);  ///< one event; a call for a worker holds several
constexpr std::size_t silent_remembered_max = 1'000;
constexpr milliseconds goodbye_time = milliseconds(500);

/// Where it is at home, and as what.
GroupHostOptions at_home_by(GroupHostOptions options, ClusterNode& node, HomeCalls& homes,
                            std::function<Result<void>(RecordedEvent&)> open) {
  options.at_home = [&homes](const AggregateId& group) -> Result<std::uint64_t> {
    const auto epoch = homes.epoch(group);
    if (!epoch) return refuse(ErrorCode::wrong_shard, "the group's home is not this node any more");
    return epoch->value;
  };
  options.settled = [&node](const AggregateId& group) { return node.committer().wait_settled(group); };
  options.event_at = [&node, open = std::move(open)](GlobalPosition position,
                                                     std::optional<std::uint64_t> hash) -> Result<RecordedEvent> {
    auto event = node.event_at(position, hash ? std::optional(sharding::shard_of(*hash, node.shards())) : std::nullopt,
                               read_again_for);
    if (event && open) EVERSHARD_TRY(open(*event));
    return event;
  };
  options.keep = [&node](Snapshot state, std::uint64_t term, std::function<void(Result<void>)> done) {
    if (auto ok = check(state, node.limits()); !ok) return done(refuse(std::move(ok).error()));
    node.committer().put_snapshot_here(std::move(state), Epoch(term), std::move(done));
  };
  return options;
}

/// What it hands out of what lies here for a while.
RemoteGroup::Options looking_again(const ClusterGroupsOptions& of, ClusterNode& node) {
  auto options = of.remote;
  options.rewritten = of.host.rewritten;
  options.look = [&node, open = of.open](const RecordedEvent& event) -> Result<std::optional<RecordedEvent>> {
    auto now = node.event_again(event.position, event.aggregate, event.id);
    if (now && open) EVERSHARD_TRY(open(*now));
    if (!now && now.error().code != ErrorCode::not_found) return refuse(std::move(now).error());
    if (!now || now->state == EventState::removed) return std::nullopt;
    return *std::move(now);
  };
  return options;
}

}  // namespace

ClusterGroups::ClusterGroups(ClusterNode& node, HomeCalls& homes, ClusterGroupsOptions options)
    : AskedGroups(std::make_shared<HomeAsker>(homes, "group", HomeTimes{asked_for, asked_for})),
      node_(node),
      homes_(homes),
      options_(std::move(options)),
      catalogue_(node, "group"),
      host_(options_.events != nullptr ? *options_.events : node,
            at_home_by(options_.host, node, homes, options_.open)),
      home_(host_) {
  home_.serve(homes);
  // By the homes: behind them, what they say of what is at home here is as new as what is told.
  homes.watch(this, [look = host_.home_changed()](const NodeCommitter::OpenShards&) { look(); });
}

ClusterGroups::~ClusterGroups() { stop(); }

void ClusterGroups::stop() {
  std::map<std::string, std::shared_ptr<RemoteGroup>> remote;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    remote.swap(remote_);
  }
  homes_.watch(this, {});
  for (const auto& [name, group] : remote) group->stop();
  home_.close();
  host_.stop();
}

void ClusterGroups::tell_who_left() {
  std::vector<std::shared_ptr<RemoteGroup>> remote;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, group] : remote_) remote.push_back(group);
  }
  const auto until = std::chrono::steady_clock::now() + goodbye_time;
  for (const auto& group : remote) group->tell_who_left(until);
}

Result<GroupInfo> ClusterGroups::create_group(GroupDefinition definition, IfThere there) {
  EVERSHARD_TRY(definition.settings.check());
  EVERSHARD_TRY(definition.query.check());
  EVERSHARD_TRY(check_known_types(definition.query));
  return AskedGroups::create_group(std::move(definition), there);
}

Result<GroupInfo> ClusterGroups::change_group(const std::string& name, const GroupSettingsChange& change) {
  EVERSHARD_TRY(change.check());
  return AskedGroups::change_group(name, change);
}

Result<GroupInfo> ClusterGroups::describe(const std::string& name, milliseconds time) {
  pb::DescribeGroupRequest request;
  request.set_name(name);
  pb::GroupInfo response;
  EVERSHARD_TRY(ask_home(homes_, "groups.describe", catalogue_.names().aggregate(name), request, response, time,
                         HomeCalls::Again::always));
  GroupInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

Result<std::vector<GroupInfo>> ClusterGroups::list_groups() {
  const auto definitions = catalogue_.list();
  if (!definitions) return refuse(definitions.error());
  const auto until = std::chrono::steady_clock::now() + listed_for;
  std::vector<GroupInfo> all;
  for (const auto& definition : *definitions) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
    auto info = describe(definition.name, std::max(left, listed_each));
    if (info) {
      all.push_back(*std::move(info));
      continue;
    }
    if (info.error().code == ErrorCode::not_found) continue;  // dropped meanwhile
    auto& failed = all.emplace_back();
    if (auto spec = read_group_spec(definition.name, definition.newest().spec))
      failed.definition = std::move(spec->definition);
    failed.definition.name = definition.name;
    failed.trouble = info.error().what;
  }
  return all;
}

/// Whoever may work asks for names as he likes. Of homes that do not answer some are remembered: see open_session().
void ClusterGroups::forget_unused() {
  const bool all = remote_.size() >= silent_remembered_max;
  std::erase_if(remote_, [all](const auto& one) {
    return one.second.use_count() == 1 && one.second->is_idle() && (all || !one.second->is_silent());
  });
}

std::size_t ClusterGroups::known_elsewhere() {
  const std::lock_guard lock(mutex_);
  return remote_.size();
}

Result<std::shared_ptr<GroupSession>> ClusterGroups::open_session(const std::string& name, const GroupJoin& join,
                                                                  std::function<void()> wake) {
  EVERSHARD_TRY(actors::check_definition_name("group", name));
  const auto aggregate = catalogue_.names().aggregate(name);
  if (homes_.is_home(aggregate)) {
    auto session = host_.open_session(name, join, std::move(wake));
    if (!session && session.error().code == ErrorCode::wrong_shard)
      return refuse(ErrorCode::unavailable, session.error().what);  // just now; it is joined again
    return session;
  }
  std::shared_ptr<RemoteGroup> group;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return refuse(ErrorCode::unavailable, "the node is stopping: groups give nothing out");
    if (!remote_.contains(name)) forget_unused();
    auto& known = remote_[name];
    if (!known)
      known = std::make_shared<RemoteGroup>(
          homes_, aggregate, [&node = node_] { return node.committer().watch().watermark(); },
          looking_again(options_, node_));
    group = known;
  }
  if (!group->is_silent()) return group->open(name, join, std::move(wake));
  // Workers of a home that is away come again and again: they do not hold up a door's threads for whom the rest is
  // there.
  if (trying_.exchange(true))
    return refuse(ErrorCode::unavailable, "the home of the group " + in_quotes(name) + " does not answer");
  auto session = group->open(name, join, std::move(wake));
  trying_ = false;
  return session;
}

}  // namespace evershard::cluster
