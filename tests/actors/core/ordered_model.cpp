#include "tests/actors/core/ordered_model.hpp"

#include <algorithm>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

namespace evershard::actors {

std::string aggregate_on(std::uint32_t shard, std::uint32_t shards, int n) {
  for (int i = 0;; ++i) {
    std::string text = "order-" + std::to_string(i);
    if (sharding::shard_of(sharding::stream_hash(text), shards).value == shard && n-- == 0) return text;
  }
}

std::shared_ptr<Attempt> OrderedModel::attempt(std::uint64_t client, Append append, bool named) {
  auto attempt = std::make_shared<Attempt>();
  attempt->client = client;
  attempt->ack = append.ack;
  auto& prepared = attempt->prepared;
  if (!append.request_id) append.request_id = EventId::derived({}, ++unnamed_);
  for (std::size_t i = 0; i != append.events.size(); ++i) {
    if (!append.events[i].id.given())
      append.events[i].id = EventId::derived(*append.request_id, static_cast<std::uint32_t>(i));
  }
  originals_.emplace(*append.request_id, append);
  prepared.named = named;
  prepared.bytes = 100 * append.events.size();
  prepared.conditions = append.conditions;
  for (const auto& condition : append.conditions) {
    prepared.terms.push_back({sharding::terms_of(condition.query, hasher_), condition.after});
  }
  const auto expectations = append.expectations;
  const auto given = std::make_unique<bool[]>(append.events.size());
  std::fill_n(given.get(), append.events.size(), named);
  prepared.append =
      storage::encode_append(Append{append}, {given.get(), append.events.size()}, shards_, hasher_, Timestamp{});
  for (const auto& expectation : expectations) {
    const auto& aggregates = prepared.append.aggregates;
    const auto at = std::find_if(aggregates.begin(), aggregates.end(),
                                 [&](const auto& a) { return a.id == expectation.aggregate; });
    std::size_t index = static_cast<std::size_t>(at - aggregates.begin());
    if (at == aggregates.end()) {
      const std::string text = expectation.aggregate.text();
      index += prepared.guards.size();
      prepared.guards.push_back({expectation.aggregate, text, hasher_.aggregate(text),
                                 sharding::shard_of(sharding::stream_hash(text), shards_)});
    }
    prepared.expected.push_back({static_cast<std::uint32_t>(index), expectation.version});
  }
  return attempt;
}

std::shared_ptr<Attempt> OrderedModel::part(std::uint64_t client, const Attempt& of, const PartAsked& asked) const {
  auto part = std::make_shared<Attempt>();
  part->client = client;
  part->asked = asked;
  part->prepared.append = of.prepared.append;
  part->prepared.named = of.prepared.named;
  part->prepared.guards = of.prepared.guards;
  for (const auto& expected : of.prepared.expected) {
    if (of.prepared.aggregate(expected.aggregate).shard == asked.shard) part->prepared.expected.push_back(expected);
  }
  return part;
}

Result<std::optional<Appended>> OrderedModel::look_up(Attempt& attempt, GlobalPosition w, bool confirm,
                                                      GlobalPosition window_from) const {
  Prepared& prepared = attempt.prepared;
  prepared.view = w;
  prepared.refusal.reset();
  if (prepared.named) {
    std::size_t found = 0;
    std::optional<GlobalPosition> first;
    for (const auto& event : prepared.append.events) {
      if (!event.id_given || (attempt.asked && event.shard != attempt.asked->shard)) continue;
      for (std::uint64_t p = 1; p <= w.value; ++p) {
        if (events_[p - 1].event.id != event.id) continue;
        ++found;
        if (!first) first = GlobalPosition{p};
      }
    }
    if (found != 0) {
      const auto& stored = events_[first->value - 1];
      const bool same =
          stored.request == prepared.append.request && stored.content_hash == prepared.append.content_hash;
      if (!same && !attempt.asked) return refuse(ErrorCode::duplicate_event, "another request");
      auto answer = find(stored.request, w);
      answer->duplicate = true;
      return answer;
    }
  }
  const std::size_t aggregates = prepared.append.aggregates.size() + prepared.guards.size();
  prepared.heads.resize(aggregates);
  for (std::size_t i = 0; i != aggregates; ++i) prepared.heads[i].version = version(prepared.aggregate(i).id, w);
  for (std::size_t i = 0; i != prepared.terms.size(); ++i) {
    auto& from = prepared.terms[i].from;
    if (from >= w || (from >= window_from && !confirm)) continue;
    if (const auto match = first_match(prepared.conditions[i].query, from, w)) {
      ErrorDetails details;
      details.condition = static_cast<std::uint32_t>(i);
      details.position = *match;
      prepared.refusal = {Error{ErrorCode::condition_failed, "matched", std::move(details)}, *match};
      return std::nullopt;
    }
    from = w;
  }
  return std::nullopt;
}

std::string OrderedModel::add(const storage::EncodedAppend& append, const storage::JournalPlace& place,
                              std::uint32_t event) {
  // Which event of the append: the n-th of its shard.
  std::uint32_t index = 0, n = event;
  while (append.events[index].shard != place.shard || n-- != 0) ++index;
  const Append& original = originals_.at(append.request);
  const auto count = static_cast<std::uint32_t>(original.events.size());
  const std::string what =
      " (request " + append.request.text() + ", position " + std::to_string(last().value + 1) + ")";

  if (under_way_ == 0) {
    if (index != 0) return "I-Atomic: an append begins in its middle" + what;
    if (find(append.request, last())) return "I-Once: stored twice" + what;
    for (const auto& expectation : original.expectations) {
      if (!expectation.version.holds_for(version(expectation.aggregate, last())))
        return "I-Version: placed, and its expected version does not hold" + what;
    }
    for (const auto& condition : original.conditions) {
      if (const auto match = first_match(condition.query, condition.after, last())) {
        return "I-Condition: placed, and position " + std::to_string(match->value) + " matches" + what;
      }
    }
    under_way_ = count;
  } else if (events_.back().request != append.request || events_.back().index + 1 != index) {
    return "I-Together: another event stands within an append" + what;
  }
  --under_way_;
  if (!ids_.insert(append.events[index].id).second) return "I-Once: an id is two events'" + what;
  OrderedEvent ordered{append.request,       index,       append.content_hash, original.events[index],
                       place.seq_nrs[event], place.shard, place.first + event};
  if (ordered.event.aggregate && ordered.seq_nr != version(*ordered.event.aggregate, last()) + 1)
    return "I-Version: seq_nrs are not dense" + what;
  events_.push_back(std::move(ordered));
  return "";
}

SeqNr OrderedModel::version(const AggregateId& aggregate, GlobalPosition up_to) const {
  std::uint64_t version = 0;
  for (std::uint64_t p = 0; p != up_to.value; ++p) version += events_[p].event.aggregate == aggregate;
  return SeqNr{version};
}

std::optional<GlobalPosition> OrderedModel::first_match(const Query& query, GlobalPosition after,
                                                        GlobalPosition up_to) const {
  for (std::uint64_t p = after.value + 1; p <= up_to.value; ++p) {
    const Event& event = events_[p - 1].event;
    if (query.matches(event.type, event.tags, event.aggregate ? &*event.aggregate : nullptr, event.also))
      return GlobalPosition{p};
  }
  return std::nullopt;
}

std::optional<Appended> OrderedModel::find(const RequestId& request, GlobalPosition up_to) const {
  for (std::uint64_t p = 1; p <= up_to.value; ++p) {
    if (events_[p - 1].request != request) continue;
    const Append& original = originals_.at(request);
    Appended answer;
    answer.first_position = GlobalPosition{p};
    answer.last_position = answer.first_position + (original.events.size() - 1);
    for (std::size_t i = 0; i != original.events.size() && p + i <= events_.size(); ++i) {
      const auto& event = events_[p - 1 + i];
      if (!event.event.aggregate) continue;
      const auto known = std::find_if(answer.versions.begin(), answer.versions.end(),
                                      [&](const auto& v) { return v.aggregate == *event.event.aggregate; });
      if (known == answer.versions.end()) {
        answer.versions.push_back({*event.event.aggregate, event.seq_nr});
      } else {
        known->version = event.seq_nr;
      }
    }
    return answer;
  }
  return std::nullopt;
}

}  // namespace evershard::actors
