#include "evershard/storage/journal/records.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/mark_tags.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/event_body.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint8_t record_version = 1;
constexpr std::size_t record_head_bytes = 8;  // version, flags, count, checksum
constexpr std::size_t end_bytes = sizeof(std::uint32_t);
constexpr std::size_t events_max = std::numeric_limits<std::uint16_t>::max();

Refused corrupt_record(ShardId shard, ShardOffset offset, std::string_view what, std::string_view why) {
  ErrorDetails details;
  details.shard = shard;
  details.offset = offset;
  return refuse(ErrorCode::corruption,
                std::string(what) + " at offset " + std::to_string(offset.value) + " of shard " +
                    std::to_string(shard.value) + " is damaged: " + std::string(why),
                std::move(details));
}

/// Of an event's tags, as they are stored, those by which somebody knows how far it has come: sorted as tags are, they
/// stand together.
std::string_view mark_tags_of(std::string_view tags) {
  std::size_t begin = tags.size(), end = 0;
  for (std::size_t at = 0; at < tags.size();) {
    const std::size_t next = at + 1 + static_cast<unsigned char>(tags[at]);
    if (next > tags.size()) break;
    if (is_mark_tag(tags.substr(at + 1, next - at - 1))) {
      begin = std::min(begin, at);
      end = next;
    }
    at = next;
  }
  return begin < end ? tags.substr(begin, end - begin) : std::string_view();
}

std::string stub_body(const EventView& event, EventState state) {
  BodyParts parts{.id = event.id, .occurred_at = {}, .index = event.index, .count = event.count};
  parts.content_hash = event.content_hash;
  parts.request = event.request;
  parts.aggregate_type = event.aggregate_type;
  parts.aggregate_value = event.aggregate_value;
  parts.command_id = event.command_id;
  parts.reply = event.reply;
  parts.tags_bytes = mark_tags_of(event.tags_bytes);
  if (state == EventState::erased) {
    parts.occurred_at = event.occurred_at;
    parts.type = event.type;
    parts.tags_bytes = event.tags_bytes;
    parts.also_bytes = event.also_bytes;
    parts.format = event.format;
    parts.metadata = event.metadata;
  }
  std::string body(body_size(parts), '\0');
  write_body(parts, body.data());
  return body;
}

Result<RecordView::Stored> stored_in(std::string_view bytes, ShardId shard, ShardOffset offset) {
  const auto damaged = [&](std::string_view why) { return corrupt_record(shard, offset, "the event", why); };
  ByteReader reader(bytes);
  const auto sum = reader.fixed<std::uint32_t>();
  const auto state = reader.fixed<std::uint8_t>();
  const SeqNr seq_nr(reader.varint());
  const std::string_view body = reader.rest();
  if (!reader.ok()) return damaged("it is cut short");
  if (state > static_cast<std::uint8_t>(EventState::erased)) return damaged(std::to_string(state) + " is no state");
  const RecordView::Stored stored{checksum(body), seq_nr, static_cast<EventState>(state), body};
  if (event_checksum(stored.body_hash, stored.state, seq_nr, shard, offset) != sum) {
    return damaged("its checksum does not match");
  }
  return stored;
}

}  // namespace

void make_removed(EventView& event) {
  event.state = EventState::removed;
  event.type = event.payload = event.also_bytes = {};
  event.tags_bytes = mark_tags_of(event.tags_bytes);
  event.metadata.reset();
  event.format = PayloadFormat::unspecified;
  event.occurred_at = {};
}

// ---- RecordBuilder

void RecordBuilder::begin(ShardId shard, ShardOffset first) {
  shard_ = shard;
  first_ = first;
  ends_.clear();
  events_.clear();
}

void RecordBuilder::add(std::string_view body, std::uint64_t body_hash, SeqNr seq_nr, EventState state) {
  EVERSHARD_CHECK(ends_.size() < events_max, "a record has at most 65,535 events");
  const std::uint32_t sum = event_checksum(body_hash, state, seq_nr, shard_, first_ + ends_.size());
  std::array<char, sizeof sum + 1 + varint_bytes_max> front;
  char* at = put_fixed(front.data(), sum);
  at = put_fixed(at, static_cast<std::uint8_t>(state));
  at = put_varint(at, seq_nr.value);
  events_.append(front.data(), static_cast<std::size_t>(at - front.data()));
  events_.append(body);
  ends_.push_back(static_cast<std::uint32_t>(events_.size()));
}

std::size_t RecordBuilder::events() const { return ends_.size(); }

std::size_t RecordBuilder::bytes() const { return record_head_bytes + ends_.size() * end_bytes + events_.size(); }

std::string_view RecordBuilder::finish() {
  EVERSHARD_CHECK(!ends_.empty(), "a record has an event");
  EVERSHARD_CHECK(bytes() <= std::numeric_limits<std::uint32_t>::max(), "a record is under 4 GiB");
  const std::string_view table(reinterpret_cast<const char*>(ends_.data()), ends_.size() * end_bytes);
  std::array<char, record_head_bytes> head;
  char* at = put_fixed(head.data(), record_version);
  at = put_fixed(at, std::uint8_t{0});
  at = put_fixed(at, static_cast<std::uint16_t>(ends_.size()));
  put_fixed(at, record_checksum({head.data(), 4}, table, shard_, first_));

  record_.clear();
  record_.reserve(bytes());
  record_.append(head.data(), head.size());
  record_.append(table);
  record_.append(events_);
  return record_;
}

// ---- RecordView

Result<RecordView> RecordView::open(std::string_view bytes, ShardId shard, ShardOffset first) {
  const auto damaged = [&](const std::string& why) { return corrupt_record(shard, first, "the record", why); };
  if (bytes.size() < record_head_bytes) return damaged(std::to_string(bytes.size()) + " bytes are too few");
  const auto version = get_fixed<std::uint8_t>(bytes.data());
  if (version != record_version) return damaged("it has version " + std::to_string(version));
  const std::size_t count = get_fixed<std::uint16_t>(bytes.data() + 2);
  if (count == 0 || bytes.size() < record_head_bytes + count * end_bytes) {
    return damaged(std::to_string(bytes.size()) + " bytes do not hold " + std::to_string(count) + " events");
  }
  const std::string_view table = bytes.substr(record_head_bytes, count * end_bytes);
  if (record_checksum(bytes.substr(0, 4), table, shard, first) != get_fixed<std::uint32_t>(bytes.data() + 4)) {
    return damaged("the checksum of its head does not match");
  }
  if (const auto flags = get_fixed<std::uint8_t>(bytes.data() + 1); flags != 0) {
    return damaged("it has flags " + std::to_string(flags) + ", which this program does not know");
  }
  const std::size_t events = get_fixed<std::uint32_t>(table.data() + table.size() - end_bytes);
  if (record_head_bytes + table.size() + events != bytes.size()) {
    return damaged("it has " + std::to_string(bytes.size()) + " bytes instead of " +
                   std::to_string(record_head_bytes + table.size() + events));
  }

  RecordView view;
  view.bytes_ = bytes;
  view.shard_ = shard;
  view.first_ = first;
  view.count_ = static_cast<std::uint32_t>(count);
  return view;
}

std::size_t RecordView::size() const { return count_; }

Refused RecordView::corrupt(std::size_t index, std::string_view why) const {
  return corrupt_record(shard_, first_ + index, "the event", why);
}

Result<std::string_view> RecordView::bytes_of(std::size_t index) const {
  if (index >= count_) return corrupt(index, "its record has only " + std::to_string(count_) + " events");
  const char* const table = bytes_.data() + record_head_bytes;
  const std::string_view events = bytes_.substr(record_head_bytes + count_ * end_bytes);
  const std::size_t begin = index == 0 ? 0 : get_fixed<std::uint32_t>(table + (index - 1) * end_bytes);
  const std::size_t end = get_fixed<std::uint32_t>(table + index * end_bytes);
  if (begin > end || end > events.size()) return corrupt(index, "its place in the record is none");
  return events.substr(begin, end - begin);
}

Result<RecordView::Stored> RecordView::stored(std::size_t index) const {
  const auto bytes = bytes_of(index);
  if (!bytes) return Refused(bytes.error());
  return stored_in(*bytes, shard_, first_ + index);
}

Result<EventView> RecordView::event(std::size_t index) const {
  const auto bytes = bytes_of(index);
  if (!bytes) return Refused(bytes.error());
  return event_of(*bytes, shard_, first_ + index);
}

Result<EventView> event_of(std::string_view bytes, ShardId shard, ShardOffset offset) {
  auto found = stored_in(bytes, shard, offset);
  if (!found) return Refused(std::move(found).error());
  EventView view;
  view.state = found->state;
  view.seq_nr = found->seq_nr;
  if (!parse_body(found->body, view)) return corrupt_record(shard, offset, "the event", "its parts do not fit");
  return view;
}

void to_view(const EventView& view, GlobalPosition position, const EventLocation& location, RecordedView& to) {
  to.position = position;
  to.shard = location.shard;
  to.offset = location.offset();
  to.id = view.id;
  to.aggregate_type = view.aggregate_type;
  to.aggregate_value = view.aggregate_value;
  to.seq_nr = view.seq_nr;
  to.type = view.type;
  to.tags.clear();
  for_each_tag(view, [&](std::string_view tag) { to.tags.push_back(tag); });
  to.also.clear();
  for_each_also(view, [&](std::string_view type, std::string_view value) { to.also.emplace_back(type, value); });
  to.payload = view.payload;
  to.format = view.format;
  to.metadata = view.metadata;
  to.occurred_at = view.occurred_at;
  to.state = view.state;
  to.append_index = view.index;
  to.append_events = view.count;
}

RecordedEvent to_event(const EventView& view, GlobalPosition position, const EventLocation& location) {
  RecordedView borrowed;
  to_view(view, position, location, borrowed);
  return borrowed.event();
}

Result<std::string> with_stubs(std::string_view record, ShardId shard, ShardOffset first,
                               const std::vector<std::pair<std::uint16_t, EventState>>& stubs) {
  const auto view = RecordView::open(record, shard, first);
  if (!view) return Refused(view.error());
  std::vector<EventState> wanted(view->size(), EventState::live);
  for (const auto& [index, state] : stubs) {
    if (index >= view->size())
      return view->corrupt(index, "its record has only " + std::to_string(view->size()) + " events");
    if (wanted[index] != EventState::removed && state != EventState::live) wanted[index] = state;
  }

  RecordBuilder builder;
  builder.begin(shard, first);
  for (std::size_t i = 0; i < view->size(); ++i) {
    const auto stored = view->stored(i);
    if (!stored) return Refused(stored.error());
    const bool stays = wanted[i] == EventState::live || stored->state == EventState::removed;
    if (stays) {
      builder.add(stored->body, stored->body_hash, stored->seq_nr, stored->state);
      continue;
    }
    const auto event = view->event(i);
    if (!event) return Refused(event.error());
    const std::string body = stub_body(*event, wanted[i]);
    builder.add(body, checksum(body), event->seq_nr, wanted[i]);
  }
  return std::string(builder.finish());
}

Result<std::string> some_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t from,
                                std::size_t until) {
  const auto view = RecordView::open(record, shard, first);
  if (!view) return Refused(view.error());
  RecordBuilder builder;
  builder.begin(shard, first + from);
  for (std::size_t i = from; i < std::min(until, view->size()); ++i) {
    const auto stored = view->stored(i);
    if (!stored) return Refused(stored.error());
    builder.add(stored->body, stored->body_hash, stored->seq_nr, stored->state);
  }
  if (builder.events() == 0)
    return view->corrupt(from, "its record has only " + std::to_string(view->size()) + " events");
  return std::string(builder.finish());
}

Result<std::string> first_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t events) {
  return some_events(record, shard, first, 0, events);
}

Result<std::string> last_events(std::string_view record, ShardId shard, ShardOffset first, std::size_t events) {
  return some_events(record, shard, first, events, std::numeric_limits<std::size_t>::max());
}

}  // namespace evershard::storage
