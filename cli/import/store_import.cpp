#include "evershard/cli/import/store_import.hpp"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <unordered_set>
#include <utility>

#include "evershard/doors/umadb/words/uma_names.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t mark_tags = 2;

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

std::uint64_t source_position_of(const RecordedEvent& event) {
  std::uint64_t position = 0;
  for (const auto& tag : event.tags) {
    if (!tag.starts_with(umadb::import_position_tag)) continue;
    std::from_chars(tag.data() + umadb::import_position_tag.size(), tag.data() + tag.size(), position);
  }
  return position;
}

Refused import_stopped() { return refuse(ErrorCode::cancelled, "stopped"); }

/// How many of these make the next append: not too much, its last event with room for the mark.
std::size_t next_append(const std::vector<ImportedEvent>& events, std::size_t from) {
  std::size_t bytes = 0, end = from, good = from;
  for (; end < events.size() && end - from < StoreImport::append_events_max; ++end) {
    const auto& event = events[end].event;
    bytes += event.payload.size() + event.metadata.size();
    if (end > from && bytes > StoreImport::append_bytes_max) break;
    if (event.tags.size() + mark_tags <= tags_max) good = end + 1;
  }
  return good;
}

}  // namespace

StoreImport::StoreImport(ImportSource& source, EventStore& target, std::string name)
    : source_(source), target_(target), tag_(std::string(umadb::import_tag) + std::move(name)) {}

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
  if (*event) mark_ = {source_position_of(**event), (*event)->position};
  return {};
}

Result<std::uint64_t> StoreImport::run(const Progress& progress) {
  EVERSHARD_TRY(find_mark());
  known_ = mark_.source;
  const auto head = source_.head();
  if (!head) return refuse(head.error());
  std::uint64_t stored = 0;
  while (mark_.source < *head) {
    if (!progress(mark_.source, *head)) return import_stopped();
    auto events = source_.read_after(mark_.source, 4 * append_events_max);
    if (!events) return refuse(std::move(events).error());
    if (events->empty()) break;
    for (std::size_t at = 0; at < events->size();) {
      const auto end = next_append(*events, at);
      if (end == at) {
        return refuse(ErrorCode::too_large, "the event at position " + std::to_string((*events)[at].position) +
                                                " has too many tags: an import adds two to the " +
                                                std::to_string(tags_max - mark_tags) + " that it may have");
      }
      const auto from = std::make_move_iterator(events->begin() + static_cast<std::ptrdiff_t>(at));
      EVERSHARD_TRY(store(Events(from, from + static_cast<std::ptrdiff_t>(end - at))));
      stored += end - at;
      at = end;
      if (!progress(mark_.source, *head)) return import_stopped();
    }
  }
  return stored;
}

/// Where an id is another event's already, that event alone gets another one.
Result<void> StoreImport::store(Events events) {
  std::unordered_set<EventId> ids;
  for (auto& each : events) {
    if (!ids.insert(each.event.id).second) source_.give_other_id(each.event);
  }
  const auto appended = append(events);
  const bool known = appended ? appended->duplicate : appended.error().code == ErrorCode::duplicate_event;
  if (!appended && !known) return refuse(appended.error());
  if (!known) {
    mark_ = {events.back().position, appended->last_position};
    return {};
  }
  if (events.size() == 1) {
    source_.give_other_id(events.front().event);
    const auto anew = append(events);
    if (!anew) return refuse(anew.error());
    mark_ = {events.back().position, anew->last_position};
    return {};
  }
  const auto half = std::make_move_iterator(events.begin() + static_cast<std::ptrdiff_t>(events.size() / 2));
  EVERSHARD_TRY(store(Events(std::make_move_iterator(events.begin()), half)));
  return store(Events(half, std::make_move_iterator(events.end())));
}

Result<Appended> StoreImport::append(const Events& events) {
  Append append;
  append.events.reserve(events.size());
  for (const auto& each : events) append.events.push_back(each.event);
  auto& last = append.events.back();
  last.tags.push_back(tag_);
  last.tags.push_back(std::string(umadb::import_position_tag) + std::to_string(events.back().position));
  append.fail_if(Query().tags({tag_}), mark_.here);
  auto appended = target_.append(std::move(append));
  if (!appended && appended.error().code == ErrorCode::condition_failed)
    return refuse(ErrorCode::condition_failed, "another import of this source is under way: " + appended.error().what);
  return appended;
}

/// What others have stored in between is passed over.
Result<ImportCheck> StoreImport::compare(const Progress& progress) {
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
  for (std::uint64_t at = 0; at < mark_.source;) {
    if (!progress(at, mark_.source)) return import_stopped();
    const auto events = source_.read_after(at, 4 * append_events_max);
    if (!events) return refuse(events.error());
    if (events->empty()) break;
    for (const auto& event : *events) {
      if (event.position > mark_.source) break;
      ++check.source_events;
      source_hash.add(event.content);
      for (;;) {
        const auto stored = here.next();
        if (!stored) return refuse(stored.error());
        if (!*stored) break;
        const auto content = source_.content_of(**stored);
        if (content != event.content) continue;
        ++check.stored_events;
        stored_hash.add(content);
        break;
      }
    }
    at = events->back().position;
  }
  check.source_hash = source_hash.text();
  check.stored_hash = stored_hash.text();
  return check;
}

}  // namespace evershard::cli
