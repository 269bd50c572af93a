#include "evershard/compat/import/store_import.hpp"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t mark_tags = 2;
constexpr std::uint64_t gone_at_once = 100;     // places in the append of the event behind them
constexpr std::size_t versions_most = 200'000;  // kept; others are asked for again
constexpr int tries_most = 5;                   // of an append whose outcome is unknown
constexpr auto append_again_after = std::chrono::milliseconds(500);

/// Of contents, one behind the other.
class ContentHash {
 public:
  ContentHash() { XXH3_128bits_reset(state_.get()); }
  void add(std::string_view content) {
    const std::uint64_t bytes = content.size();
    XXH3_128bits_update(state_.get(), &bytes, sizeof(bytes));
    XXH3_128bits_update(state_.get(), content.data(), content.size());
  }
  [[nodiscard]] std::string text() const {
    const auto hash = XXH3_128bits_digest(state_.get());
    EventId bytes;  // its text is as good as any
    for (std::size_t i = 0; i < 8; ++i) {
      bytes.bytes[i] = static_cast<std::uint8_t>(hash.high64 >> (56 - 8 * i));
      bytes.bytes[8 + i] = static_cast<std::uint8_t>(hash.low64 >> (56 - 8 * i));
    }
    auto text = bytes.text();
    std::erase(text, '-');
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

SourcePlace source_place_of(const RecordedEvent& event) {
  for (const auto& tag : event.tags) {
    if (tag.starts_with(umadb::import_position_tag))
      return SourcePlace::from(std::string_view(tag).substr(umadb::import_position_tag.size()));
  }
  return {};
}

Refused import_stopped() { return refuse(ErrorCode::cancelled, "stopped"); }

/// It holds the place of an event that is gone.
Event gone_event(const AggregateId& aggregate) {
  Event event;
  event.id = EventId::random();
  event.aggregate = aggregate;
  event.state = EventState::removed;
  return event;
}

/// A node that died may have stored it, and it is not seen yet: neither the mark, nor that aggregates have gone on.
bool may_be_stored(const Error& error, int tries) {
  if (error.code == ErrorCode::condition_failed) return tries > 0;
  return error.code == ErrorCode::timeout || error.code == ErrorCode::unavailable ||
         error.code == ErrorCode::version_conflict;
}

bool is_refused(const ImportedEvent& event) { return event.refused.has_value(); }

ExpectedVersion version_before(std::uint64_t events) {
  return events == 0 ? ExpectedVersion::none() : ExpectedVersion::exactly(events);
}

}  // namespace

StoreImport::StoreImport(ImportSource& source, EventStore& target, StoreImportOptions options)
    : source_(source),
      target_(target),
      options_(std::move(options)),
      tag_(std::string(umadb::import_tag) + options_.name) {}

Result<std::optional<RecordedEvent>> StoreImport::marked(bool first) {
  ReadOptions options;
  options.direction = first ? Direction::forwards : Direction::backwards;
  options.limit = 1;
  auto stream = target_.read(Query().tags({tag_}), options);
  return stream.next();
}

Result<void> StoreImport::find_mark() {
  const auto event = marked(false);
  if (!event) return refuse(event.error());
  if (*event && (*event)->position > mark_.here) mark_ = {source_place_of(**event), (*event)->position};
  return {};
}

Result<std::uint64_t> StoreImport::run(const Progress& progress) {
  EVERSHARD_TRY(find_mark());
  const auto head = source_.head();
  if (!head) return refuse(head.error());
  std::uint64_t stored = 0;
  int tries = 0;
  auto known = mark_.source;  // every event up to there is stored, or left out
  while (known < *head) {
    if (!progress(known.position, head->position)) return import_stopped();
    auto read = source_.read_after(known, 4 * append_events_max);
    if (!read) return refuse(std::move(read).error());
    if (read->empty()) break;
    known = read->back().place;
    const auto refused = options_.skip_refused ? read->end() : std::ranges::find_if(*read, is_refused);
    Events events;
    events.reserve(read->size());
    for (auto event = read->begin(); event != refused; ++event) {
      if (event->refused)
        refused_ = event->place;
      else
        events.push_back({std::move(*event)});
    }
    bool again = false;
    for (std::size_t at = 0; at < events.size();) {
      const auto end = next_append(events, at);
      const auto from = std::make_move_iterator(events.begin() + static_cast<std::ptrdiff_t>(at));
      const auto done =
          end ? store(Events(from, from + static_cast<std::ptrdiff_t>(*end - at))) : Result<void>(refuse(end.error()));
      if (!done) {
        if (!may_be_stored(done.error(), tries) || ++tries == tries_most) return refuse(done.error());
        std::this_thread::sleep_for(append_again_after);
        EVERSHARD_TRY(find_mark());
        versions_.clear();
        known = mark_.source;  // what is seen to be stored by now
        again = true;
        break;
      }
      tries = 0;
      stored += *end - at;
      at = *end;
      if (!progress(mark_.source.position, head->position)) return import_stopped();
    }
    if (!again && refused != read->end()) return refuse(refused->refused->why);
  }
  return stored;
}

/// How many of these make the next append: not too much, its last event with room for the mark.
Result<std::size_t> StoreImport::next_append(Events& events, std::size_t from) {
  std::size_t bytes = 0, count = 0, end = from, good = from;
  for (; end < events.size() && count < append_events_max; ++end) {
    const auto& event = events[end].event.event;
    bytes += event.payload.size() + event.metadata_bytes().size();
    if (end > from && bytes > append_bytes_max) break;
    const auto placed = place(events[end], end == from);
    if (!placed) return refuse(placed.error());
    if (!*placed) break;
    count += 1 + events[end].gone;
    if (event.tags.size() + mark_tags <= tags_max) good = end + 1;
  }
  if (good > from) return good;
  return refuse(ErrorCode::too_large, "the event at position " + events[from].event.place.text() +
                                          " has too many tags: an import adds two to the " +
                                          std::to_string(tags_max - mark_tags) + " that it may have");
}

/// What the next number of an aggregate is here.
Result<std::uint64_t> StoreImport::number_here(const AggregateId& aggregate, std::uint64_t revision) {
  if (const auto known = versions_.find(aggregate); known != versions_.end()) return known->second;
  if (revision == 0) return 0;  // where it is not, the append is refused
  const auto info = target_.aggregate(aggregate);
  if (info) return info->version.value;
  if (info.error().code == ErrorCode::not_found) return 0;
  return refuse(info.error());
}

/// Decides what stands in front of it. False: what comes before it has to be stored first.
Result<bool> StoreImport::place(Placed& placed, bool first) {
  const auto& [event, revision] = std::tie(placed.event.event, placed.event.revision);
  if (placed.placed || !revision || !event.aggregate) return true;
  const auto here = number_here(*event.aggregate, *revision);
  if (!here) return refuse(here.error());
  std::uint64_t gone = *revision > *here ? *revision - *here : 0;
  if (!options_.keep_numbers) {
    if (*revision != *here && renumbered_.insert(*event.aggregate).second) ++numbers_.renumbered;
    gone = 0;
  } else if (*revision < *here) {
    return refuse(ErrorCode::version_conflict,
                  in_quotes(event.aggregate->text(), 600) + " has " + std::to_string(*here) +
                      " events here already, and the next one of the source is its number " +
                      std::to_string(*revision) +
                      ", from 0: numbers are kept into a store without such events; with "
                      "--renumber they are others");
  } else if (gone > gone_at_once) {
    if (!first) return false;
    EVERSHARD_TRY(hold(*event.aggregate, *here, gone - gone_at_once));
    gone = gone_at_once;
  }
  numbers_.places += gone;
  if (versions_.size() >= versions_most) versions_.clear();
  versions_[*event.aggregate] = *revision + 1;
  placed.gone = gone;
  placed.placed = true;
  return true;
}

/// Places that are too many for the append of the event behind them. Where it is broken off, the rest is left to do.
Result<void> StoreImport::hold(const AggregateId& aggregate, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t held = 0; held < count;) {
    Append append;
    const auto most = std::min<std::uint64_t>(count - held, append_events_max);
    for (std::uint64_t i = 0; i < most; ++i) append.events.push_back(gone_event(aggregate));
    append.expect(aggregate, version_before(from + held));
    const auto appended = this->append(std::move(append));
    if (!appended) return refuse(appended.error());
    held += most;
    numbers_.places += most;
  }
  return {};
}

/// Where an id is another event's already, that event alone gets another one.
Result<void> StoreImport::store(Events events) {
  std::unordered_set<EventId> ids;
  for (auto& each : events) {
    if (!each.event.event.id.given() || !ids.insert(each.event.event.id).second) source_.give_other_id(each.event);
  }
  const auto appended = append(events);
  const bool known = appended ? appended->duplicate : appended.error().code == ErrorCode::duplicate_event;
  if (!appended && !known) return refuse(appended.error());
  if (!known) {
    mark_ = {events.back().event.place, appended->last_position};
    return {};
  }
  if (events.size() == 1) {
    source_.give_other_id(events.front().event);
    const auto anew = append(events);
    if (!anew) return refuse(anew.error());
    mark_ = {events.back().event.place, anew->last_position};
    return {};
  }
  const auto half = std::make_move_iterator(events.begin() + static_cast<std::ptrdiff_t>(events.size() / 2));
  EVERSHARD_TRY(store(Events(std::make_move_iterator(events.begin()), half)));
  return store(Events(half, std::make_move_iterator(events.end())));
}

Result<Appended> StoreImport::append(const Events& events) {
  Append append;
  append.events.reserve(events.size());
  std::unordered_set<AggregateId> expected;
  for (const auto& each : events) {
    const auto& event = each.event.event;
    if (options_.keep_numbers && each.event.revision && expected.insert(*event.aggregate).second)
      append.expect(*event.aggregate, version_before(*each.event.revision - each.gone));
    for (std::uint64_t i = 0; i < each.gone; ++i) append.events.push_back(gone_event(*event.aggregate));
    append.events.push_back(event);
  }
  auto& last = append.events.back();
  last.tags.push_back(tag_);
  last.tags.push_back(std::string(umadb::import_position_tag) + events.back().event.place.text());
  return this->append(std::move(append));
}

Result<Appended> StoreImport::append(Append append) {
  append.from_export = needs_export(append);
  const bool has_gone =
      std::ranges::any_of(append.events, [](const Event& event) { return event.state != EventState::live; });
  append.fail_if(Query().tags({tag_}), mark_.here);
  auto appended = target_.append(std::move(append));
  if (appended) return appended;
  const auto& error = appended.error();
  if (error.code == ErrorCode::condition_failed)
    return refuse(ErrorCode::condition_failed, "another import of this source is under way: " + error.what);
  if (error.code == ErrorCode::version_conflict)
    return refuse(ErrorCode::version_conflict,
                  error.what + ": numbers are kept into a store without such events; with --renumber they are others");
  if (has_gone && error.code == ErrorCode::invalid_argument)
    return refuse(ErrorCode::invalid_argument, "events are gone at the source, and their places cannot be held here (" +
                                                   error.what +
                                                   "): with --renumber the events behind them get other numbers");
  return appended;
}

/// What others have stored in between is passed over.
Result<ImportCheck> StoreImport::compare(const Progress& progress, const Refused& refused) {
  ImportCheck check;
  ContentHash source_hash, stored_hash;
  const auto first = marked(true);
  if (!first) return refuse(first.error());
  EVERSHARD_TRY(find_mark());
  ReadOptions options;
  if (*first) {
    options.after = (*first)->position - ((*first)->append_index + 1);
    options.up_to = mark_.here;
  } else {
    options.limit = 0;
  }
  auto here = target_.read(Query::all(), options);
  const auto until = std::max(mark_.source, refused_);
  for (SourcePlace at; at < until;) {
    if (!progress(at.position, until.position)) return import_stopped();
    const auto events = source_.read_after(at, 4 * append_events_max);
    if (!events) return refuse(events.error());
    if (events->empty()) break;
    for (const auto& event : *events) {
      if (event.place > until) break;
      if (event.refused) {
        ++check.refused_events;
        EVERSHARD_TRY(refused(event));
        continue;
      }
      ++check.source_events;
      bool removed = false;
      for (;;) {
        const auto stored = here.next();
        if (!stored) return refuse(stored.error());
        if (!*stored) break;
        removed = (*stored)->state != EventState::live && (*stored)->id == event.event.id;
        if (removed) {
          ++check.stored_events;
          ++check.removed_events;
          break;
        }
        const auto content = source_.content_of(**stored);
        if (content != event.content) continue;
        ++check.stored_events;
        stored_hash.add(content);
        break;
      }
      if (!removed) source_hash.add(event.content);
    }
    at = events->back().place;
  }
  check.source_hash = source_hash.text();
  check.stored_hash = stored_hash.text();
  return check;
}

}  // namespace evershard::cli
