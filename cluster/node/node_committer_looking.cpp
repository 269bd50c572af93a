// Look-ups: what this store knows, and what only other nodes do.

#include "evershard/cluster/node/node_committer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/actors/core/named_ids.hpp"
#include "evershard/cluster/node/awaited.hpp"

namespace evershard::cluster {
namespace {

using actors::WriterActions;

Error matched_elsewhere(std::size_t condition, GlobalPosition position) {
  ErrorDetails details;
  details.condition = static_cast<std::uint32_t>(condition);
  details.position = position;
  return {ErrorCode::condition_failed,
          "condition " + std::to_string(condition) + " failed: the event at position " +
              std::to_string(position.value) + " matches it",
          std::move(details)};
}

constexpr std::size_t no_condition = std::numeric_limits<std::size_t>::max();

/// Which condition a refusal is of.
std::size_t condition_of(const actors::Prepared::Refusal& refusal) {
  if (refusal.error.code != ErrorCode::condition_failed || !refusal.error.details) return no_condition;
  return refusal.error.details->condition ? *refusal.error.details->condition : no_condition;
}

/// Of what is stored on other nodes the version is not known here.
bool whole(const Appended& stored) {
  return std::ranges::none_of(stored.versions, [](const auto& version) { return version.version == SeqNr{0}; });
}

std::vector<GlobalPosition> from_of(const actors::Prepared& prepared) {
  std::vector<GlobalPosition> from;
  for (const auto& term : prepared.terms) from.push_back(term.from);
  return from;
}

}  // namespace

bool NodeCommitter::needs_others(const actors::Prepared& prepared, const std::vector<GlobalPosition>& from) const {
  if (prepared.refusal) return condition_of(*prepared.refusal) != no_condition;
  for (std::size_t i = 0; i != prepared.terms.size(); ++i)
    if (prepared.terms[i].from != from[i]) return true;
  return !prepared.guards.empty();
}

/// The versions of aggregates that lie elsewhere are asked for.
void NodeCommitter::answer_stored(const AttemptPtr& attempt, Appended stored, NodeDone<Appended> done) {
  if (whole(stored)) return done(std::move(stored));
  asking_->run([this, attempt, stored = std::move(stored), done = std::move(done)]() mutable {
    done(versions_elsewhere(attempt->prepared, std::move(stored)));
  });
}

Result<Appended> NodeCommitter::versions_elsewhere(const actors::Prepared& prepared, Appended stored) {
  const auto& events = prepared.append.events;
  std::vector<std::size_t> missing;
  std::vector<HeadWanted> wanted;
  for (std::size_t a = 0; a != stored.versions.size(); ++a) {
    if (stored.versions[a].version != SeqNr{0}) continue;
    GlobalPosition last;
    for (std::size_t i = 0; i != events.size(); ++i)
      if (events[i].aggregate == a) last = stored.first_position + i;
    missing.push_back(a);
    wanted.push_back({&prepared.append.aggregates[a], last});
  }
  auto heads = heads_of(wanted);
  if (!heads) return refuse(std::move(heads).error());
  for (std::size_t i = 0; i != missing.size(); ++i) stored.versions[missing[i]].version = (*heads)[i].version;
  return stored;
}

/// An append that a cut has placed, of which only the versions on other nodes are not known.
Result<std::optional<Appended>> NodeCommitter::placed(const actors::Prepared& prepared, GlobalPosition first) {
  Appended stored;
  stored.first_position = first;
  stored.last_position = first + (prepared.append.events.size() - 1);
  for (const auto& aggregate : prepared.append.aggregates) stored.versions.push_back({aggregate.id, SeqNr{0}});
  auto whole = versions_elsewhere(prepared, std::move(stored));
  if (!whole) return refuse(std::move(whole).error());
  return std::optional<Appended>(std::move(*whole));
}

/// What this store knows; whatever it has to ask other nodes for, it asks in a thread that may wait.
void NodeCommitter::look_up(const AttemptPtr& attempt, bool confirm) {
  const auto found = [this, attempt](Result<std::optional<Appended>> result) {
    post([this, attempt, result = std::move(result)]() mutable {
      if (dead_) return;
      WriterActions next;
      writers_->looked_up(attempt, std::move(result), next);
      carry_out(std::move(next));
    });
  };
  if (attempt->asked) {
    const auto known = preparer_.look_up_part(attempt->prepared);
    if (!known) return found(refuse(known.error()));
    return found(*known ? std::optional(Appended{}) : std::nullopt);
  }
  auto from = from_of(attempt->prepared);
  auto stored = preparer_.look_up(attempt->prepared, confirm);
  if (!stored) return found(std::move(stored));
  const bool by_names = confirm && attempt->prepared.named && !attempt->prepared.names_whole;
  if (*stored ? whole(**stored) : !by_names && !needs_others(attempt->prepared, from)) return found(std::move(stored));
  asking_->run([this, attempt, found, by_names, from = std::move(from), stored = std::move(*stored)]() mutable {
    if (stored) {
      auto versions = versions_elsewhere(attempt->prepared, std::move(*stored));
      return found(versions ? Result<std::optional<Appended>>(std::move(*versions))
                            : refuse(std::move(versions).error()));
    }
    if (by_names) {
      if (auto names = names_elsewhere(attempt->prepared); !names) return found(refuse(std::move(names).error()));
    }
    auto others = look_elsewhere(attempt->prepared, from);
    found(others ? Result<std::optional<Appended>>(std::nullopt) : refuse(std::move(others).error()));
  });
}

/// A refusal that is found here is confirmed elsewhere; what holds here may not hold there.
Result<void> NodeCommitter::look_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from) {
  EVERSHARD_TRY(match_elsewhere(prepared, from));
  if (!prepared.refusal) EVERSHARD_TRY(heads_elsewhere(prepared));
  return {};
}

/// A condition that was raised to the view by this node's own events holds only if no other node's match it either; and
/// of one that is broken here, the first event that breaks it may lie elsewhere.
Result<void> NodeCommitter::match_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from) {
  const std::size_t broken = prepared.refusal ? condition_of(*prepared.refusal) : no_condition;
  if (prepared.refusal && broken == no_condition) return {};
  for (std::size_t i = 0; i < prepared.terms.size() && i <= broken; ++i) {
    const bool is_broken = i == broken;
    if (!is_broken && prepared.terms[i].from == from[i]) continue;
    const auto up_to = is_broken ? prepared.refusal->rests_on - 1 : prepared.view;
    if (up_to <= from[i]) continue;
    NodePageAsked asked;
    asked.query = prepared.conditions[i].query;
    asked.after = from[i];
    asked.up_to = up_to;
    auto match = first_elsewhere(asked);
    if (!match) return refuse(std::move(match).error());
    if (!*match) continue;
    prepared.refusal = {matched_elsewhere(i, (*match)->position), (*match)->position};
    // Raised is only what nothing matches, here and elsewhere: a refusal may be looked up once more.
    for (std::size_t raised = i; raised != from.size(); ++raised) prepared.terms[raised].from = from[raised];
    return {};
  }
  return {};
}

/// What is here was looked for here; what another node's shards have is another request's: one with the same events
/// lies on the same shards. Errors: duplicate_event; what asking the others ends with
Result<void> NodeCommitter::names_elsewhere(const actors::Prepared& prepared) {
  NodePageAsked asked;
  asked.query = Query{}.types({"$named"});  // no event's: what a node of an earlier release looks for instead
  asked.up_to = prepared.view;
  actors::any_name_of_the_store(prepared.append, [&](std::size_t, const EventId& id) {
    asked.names.push_back(id);
    return false;
  });
  if (asked.names.empty()) return {};
  auto found = first_elsewhere(asked);
  if (!found) return refuse(std::move(found).error());
  if (!*found) return {};
  ErrorDetails details;
  details.position = (*found)->position;
  const auto& append = prepared.append;
  const bool of_event = std::ranges::any_of(append.events, [&](const auto& event) { return event.id == (*found)->id; });
  return refuse(ErrorCode::duplicate_event,
                (of_event ? "event " + (*found)->id.text() : "request " + append.request.text()) +
                    " is stored already, at position " + std::to_string((*found)->position.value) +
                    ", with other content or by another append",
                std::move(details));
}

/// The first event of all other nodes.
Result<std::optional<RecordedEvent>> NodeCommitter::first_elsewhere(const NodePageAsked& asked) {
  std::map<std::uint32_t, std::vector<ShardId>> others;
  const auto owners = this->owners();
  for (std::size_t s = 0; s != owners.size(); ++s)
    if (owners[s] != options_.self.node) others[owners[s]].push_back(ShardId{static_cast<std::uint16_t>(s)});
  std::vector<Awaited<NodePage>> answers;
  for (const auto& [node, shards] : others) {
    if (node == 0) return refuse(no_owner(shards.front()));
    auto of_node = asked;
    of_node.shards = shards;
    of_node.events_max = 1;
    network_.read(node, std::move(of_node), answers.emplace_back(node, shards.front()).done());
  }
  const auto until = Clock::now() + options_.wait_max;
  std::optional<RecordedEvent> first;
  for (auto& answer : answers) {
    auto page = answer.wait(until);
    if (!page) return refuse(std::move(page).error());
    if (!page->events.empty() && (!first || page->events.front().position < first->position))
      first = std::move(page->events.front());
  }
  return first;
}

/// All are asked at once.
Result<std::vector<AggregateInfo>> NodeCommitter::heads_of(const std::vector<HeadWanted>& wanted) {
  std::vector<Awaited<AggregateInfo>> answers;
  for (const auto& head : wanted) {
    const auto node = owner(head.aggregate->shard);
    if (node == 0) return refuse(no_owner(head.aggregate->shard));
    auto done = answers.emplace_back(node, head.aggregate->shard).done();
    if (node != options_.self.node)
      network_.head(node, {head.aggregate->id, head.up_to}, std::move(done));
    else
      done(reader_.head({head.aggregate->id, head.up_to}));
  }
  const auto until = Clock::now() + options_.wait_max;
  std::vector<AggregateInfo> heads;
  for (auto& answer : answers) {
    auto head = answer.wait(until);
    if (!head) return refuse(std::move(head).error());
    heads.push_back(std::move(*head));
  }
  return heads;
}

Result<void> NodeCommitter::heads_elsewhere(actors::Prepared& prepared) {
  std::vector<std::size_t> guards;
  std::vector<HeadWanted> wanted;
  for (std::size_t i = 0; i != prepared.guards.size(); ++i) {
    if (!is_elsewhere(prepared.guards[i].shard)) continue;
    guards.push_back(prepared.append.aggregates.size() + i);
    wanted.push_back({&prepared.guards[i], prepared.view});
  }
  auto heads = heads_of(wanted);
  if (!heads) return refuse(std::move(heads).error());
  for (std::size_t i = 0; i != guards.size(); ++i)
    prepared.heads[guards[i]] = {(*heads)[i].version, (*heads)[i].last_position};
  return {};
}

bool NodeCommitter::is_elsewhere(ShardId shard) const { return owner(shard) != options_.self.node; }

}  // namespace evershard::cluster
