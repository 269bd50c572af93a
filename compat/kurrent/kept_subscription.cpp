#include "evershard/compat/kurrent/kept_subscription.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "evershard/api/settled_place.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/compat/kurrent/virtual_streams.hpp"

namespace evershard::kurrent {
namespace {

constexpr const char* defined_type = "$PersistentSubscription";
constexpr const char* dropped_type = "$PersistentSubscriptionDeleted";
constexpr std::uint32_t progress_revision = 2;
constexpr std::uint32_t revision_by_keys = 1;  ///< with each key, and each reason, by itself

/// Of a derived stream consumers are shown links, which have ids of their own.
EventIdStanding shown_standing_in(EventStore& events, const std::optional<Derived>& derived) {
  return [standing = standing_in(events), derived](GlobalPosition position) {
    auto id = standing(position);
    if (id && *id && derived) **id = derived->link_id(**id, position);
    return id;
  };
}

/// How far a stream goes: the last revision there is. Absent: none.
Result<std::optional<std::uint64_t>> last_revision_of(EventStore& events, const AggregateId& aggregate) {
  const auto info = events.aggregate(aggregate);
  if (info) return std::optional(info->version.value - 1);
  if (info.error().code == ErrorCode::not_found) return std::optional<std::uint64_t>();
  return refuse(info.error());
}

}  // namespace

Result<std::optional<KeptSubscription>> load_subscription(EventStore& events, const AggregateId& kept_in,
                                                          SeqNr& version) {
  KeptSubscription kept;
  SeqNr created;
  version = SeqNr{0};
  auto stream = events.read(kept_in, {});
  for (const auto& event : stream) {
    version = event.seq_nr;
    if (event.type == dropped_type) {
      created = SeqNr{0};
      continue;
    }
    if (!kept.definition.ParseFromString(event.payload))
      return refuse(ErrorCode::corruption, "the persistent subscription in " + kept_in.text() + " cannot be read");
    if (created.value == 0) created = event.seq_nr;
  }
  if (stream.error()) return refuse(*stream.error());
  if (created.value == 0) return std::optional<KeptSubscription>();
  kept.version = version;
  kept.counts_links = !kept.definition.links_by_position();
  const auto snapshot = events.snapshot(kept_in);
  if (!snapshot) return refuse(snapshot.error());
  // What was kept of one of the same name that was deleted is not this one's.
  if (*snapshot && (*snapshot)->version >= created) {
    esps::KeptProgress progress;
    const auto revision = (*snapshot)->schema_revision;
    if (revision > progress_revision || revision == 0 || !progress.ParseFromString((*snapshot)->payload) ||
        progress.parked_steps_size() != progress.parked_reasons_size())
      return refuse(ErrorCode::corruption,
                    "how far the persistent subscription in " + kept_in.text() + " is cannot be read");
    kept.counts_links = revision == revision_by_keys;
    if (progress.has_checkpoint()) kept.progress.checkpoint = progress.checkpoint();
    kept.progress.settled.insert(progress.settled().begin(), progress.settled().end());
    kept.progress.reasons.restore({progress.reasons().begin(), progress.reasons().end()});
    for (const auto& parked : progress.parked()) kept.progress.park(parked.key(), parked.reason());
    std::uint64_t key = 0;
    for (const auto step : progress.settled_steps()) kept.progress.settled.insert(key += step);
    key = 0;
    for (int i = 0; i != progress.parked_steps_size(); ++i) {
      const auto reason = progress.parked_reasons(i);
      if (reason > static_cast<std::uint32_t>(progress.reasons_size()))
        return refuse(ErrorCode::corruption,
                      "how far the persistent subscription in " + kept_in.text() + " is cannot be read");
      kept.progress.park(key += progress.parked_steps(i),
                         reason == 0 ? std::string_view() : progress.reasons(static_cast<int>(reason) - 1));
    }
    kept.progress.reasons.drop_unused();
    kept.progress.place.set_fork(progress.fork());
    for (const auto& mark : progress.marks()) {
      EventId id;
      if (mark.event().size() != id.bytes.size()) continue;
      std::ranges::copy(mark.event(), id.bytes.begin());
      kept.progress.place.add({GlobalPosition(mark.position()), id, mark.key()});
    }
  }
  return std::optional(std::move(kept));
}

Result<void> number_by_positions(EventStore& events, KeptSubscription& kept) {
  const auto derived = Derived::from(name_of(kept.definition.options()).stream);
  if (!std::exchange(kept.counts_links, false) || !derived) return {};
  auto& was = kept.progress;
  std::map<std::uint64_t, std::uint64_t> number_of;  // by the count of a link
  if (kept.definition.has_after() && !was.checkpoint) number_of[kept.definition.after()];
  if (was.checkpoint) number_of[*was.checkpoint];
  for (const auto count : was.settled) number_of[count];
  for (const auto& [count, reason] : was.parked) number_of[count];
  std::uint64_t counted = 0;
  auto next = number_of.begin();
  auto stream = events.read(derived->query());
  for (const auto& event : stream) {
    if (next == number_of.end()) break;
    if (!derived->takes(event) || counted++ != next->first) continue;
    next->second = Derived::number_at(event.position);
    ++next;
  }
  if (stream.error()) return refuse(*stream.error());
  // What was counted and is not there was removed since. Its number then is the last that is known to be behind it.
  for (auto last = next == number_of.begin() ? 0 : std::prev(next)->second; next != number_of.end(); ++next)
    next->second = last;
  PersistentSubscription::Progress numbered;
  numbered.place = was.place;
  if (was.checkpoint) numbered.checkpoint = number_of.at(*was.checkpoint);
  for (const auto count : was.settled) numbered.settled.insert(number_of.at(count));
  for (const auto& [count, reason] : was.parked) numbered.park(number_of.at(count), was.reasons.of(reason));
  if (kept.definition.has_after() && !was.checkpoint) kept.definition.set_after(number_of.at(kept.definition.after()));
  was = std::move(numbered);
  return {};
}

Result<std::string> settle_progress(EventStore& events, KeptSubscription& kept, std::string_view fork) {
  auto& progress = kept.progress;
  const auto was = std::exchange(progress.place, KeptPlace(std::string(fork)));
  const auto& options = kept.definition.options();
  const auto stream = name_of(options).stream;
  const auto derived = Derived::from(stream);
  const auto marks = was.marks();
  std::optional<std::uint64_t> last;
  std::string why;
  if (const auto aggregate = aggregate_of(stream); !options.has_all() && marks.empty() && aggregate) {
    // Of a release that named no events: a revision that the stream does not have is of another history.
    const auto there = last_revision_of(events, *aggregate);
    if (!there) return refuse(there.error());
    if (progress.reached() <= *there) return why;
    last = *there;
    why = "revision " + std::to_string(*progress.reached()) + " is not in the stream, of fork " + std::string(fork) +
          " of the store: the store was restored; the place falls back to the stream's end";
  } else {
    auto reached = marks.empty() ? GlobalPosition{0} : marks.back().position;
    if (const auto key = progress.reached(); key && (options.has_all() || derived))
      reached = derived ? Derived::position_of(*key) : GlobalPosition(*key);
    const auto settled = settle_place(events, was, reached, fork, shown_standing_in(events, derived));
    if (!settled) return refuse(settled.error());
    for (const auto& mark : marks) {
      if (settled->stands || (settled->last && mark.position <= settled->last->position)) progress.place.add(mark);
    }
    if (settled->stands) return why;
    if (options.has_all())
      last = settled->position.value;
    else if (derived && settled->position.value != 0)
      last = Derived::number_at(settled->position);
    else if (settled->last)
      last = settled->last->key;
    why = settled->why;
  }
  progress.fall_back(last);
  return why;
}

Result<SeqNr> write_subscription(EventStore& events, const AggregateId& kept_in, SeqNr expected,
                                 const std::optional<esps::KeptDefinition>& definition) {
  EVERSHARD_TRY(AggregateId::check(kept_in));
  Event event;
  event.id = EventId::random();
  event.aggregate = kept_in;
  event.type = definition ? defined_type : dropped_type;
  if (definition) {
    auto numbered = *definition;
    numbered.set_links_by_position(true);
    event.payload = numbered.SerializeAsString();
  }
  Append append;
  append.events.push_back(std::move(event));
  append.expectations.push_back(
      {kept_in, expected.value == 0 ? ExpectedVersion::none() : ExpectedVersion::exactly(expected)});
  const auto appended = events.append(std::move(append));
  if (!appended) return refuse(appended.error());
  return appended->versions.front().version;
}

Snapshot snapshot_of(const AggregateId& kept_in, SeqNr version, const PersistentSubscription::Progress& progress) {
  esps::KeptProgress message;
  if (progress.checkpoint) message.set_checkpoint(*progress.checkpoint);
  std::uint64_t before = 0;
  for (const auto key : progress.settled) message.add_settled_steps(key - std::exchange(before, key));
  for (const auto text : progress.reasons.texts()) message.add_reasons(std::string(text));
  before = 0;
  for (const auto& [key, reason] : progress.parked) {
    message.add_parked_steps(key - std::exchange(before, key));
    message.add_parked_reasons(static_cast<std::uint32_t>(reason));
  }
  message.set_fork(progress.place.fork());
  for (const auto& at : progress.place.marks()) {
    auto& mark = *message.add_marks();
    mark.set_position(at.position.value);
    mark.set_event(at.event.bytes.data(), at.event.bytes.size());
    mark.set_key(at.key);
  }
  return {kept_in, version, message.SerializeAsString(), PayloadFormat::unspecified, progress_revision, {}, {}};
}

}  // namespace evershard::kurrent
